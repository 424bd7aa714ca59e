"""Says what is wrong in a file of settings, in TOML's words: the key, what was expected, a hint."""

import difflib
import re
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

# msgspec's words for types, and TOML's.
WORDS = {"str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false",
         "object": "a table", "array": "an array", "null": "nothing"}  # fmt: skip


def explain(error: msgspec.ValidationError, root: type[msgspec.Struct]) -> str:
    """Return `key: what is wrong` for an error met while converting to `root`; holds no value."""
    message, _, place = str(error).partition(" - at ")
    place = re.sub(r"^\$\.?", "", place.strip("`"))
    if unknown := re.search(r"unknown field `(.+)`", message):
        return _unknown(place, unknown[1], _type_at(root, place))
    if missing := re.search(r"missing required field `(.+)`", message):
        return f"{place or 'file'}: {missing[1]} is missing"
    found = _type_at(root, place)
    if message.startswith("Invalid enum value"):
        words = ", ".join(repr(word) for word in get_args(found))
        return f"{place}: must be one of {words}"
    keys = getattr(found, "__struct_fields__", ())
    hint = f"; its keys: {', '.join(keys)}" if keys else ""
    return f"{place or 'file'}: {_in_words(message)}{hint}"


def _unknown(place: str, key: str, table: Any) -> str:
    full = f"{place}.{key}" if place else key
    near = difflib.get_close_matches(key, table.__struct_fields__, n=1)
    hint = f"did you mean {near[0]}?" if near else "remove it or see docs/configuration.md"
    return f"{full}: unknown key; {hint}"


def _in_words(message: str) -> str:
    """Turn "Expected `str`, got `int`" into "expected a string, got a whole number"."""
    text = re.sub(r"`(\w+)", lambda match: "`" + WORDS.get(match[1], match[1]), message)
    return text.replace("`", "").replace("E", "e", 1)


def _type_at(root: type[msgspec.Struct], place: str) -> Any:
    """Return the type that stands at `agent.kernel_log` or `webhook[0].secret`."""
    found: Any = root
    for step in re.findall(r"\w+|\[[^]]*\]", place):
        found = _member(found) if step.startswith("[") else get_type_hints(found)[step]
    return found


def _member(container: Any) -> Any:
    """Return the type of the members of a tuple, or of the values of a dict."""
    return get_args(container)[-1 if get_origin(container) is dict else 0]
