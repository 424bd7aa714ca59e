"""Texts that people read exist in English and Chinese, and are carried together."""

from typing import Literal

import msgspec

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


class Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One text in both languages; an empty language falls back to the other."""

    en: str = ""
    zh: str = ""

    def say(self, language: Language) -> str:
        """Return the text in `language`, or in the other one where it is missing."""
        if language == "zh":
            return self.zh or self.en
        return self.en or self.zh
