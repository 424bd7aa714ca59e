"""Texts in two languages."""

import pytest

from forewarn.language import LANGUAGES, Language, Text


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_is_said_in_the_language_asked_for(language: Language) -> None:
    assert Text(en="en", zh="zh").say(language) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_missing_language_falls_back_to_the_other(language: Language) -> None:
    assert Text(en="only").say(language) == Text(zh="only").say(language) == "only"
