"""What all tests share: hypothesis draws the same examples in every run, without a clock."""

from hypothesis import settings

settings.register_profile("forewarn", deadline=None, derandomize=True, database=None)
settings.load_profile("forewarn")
