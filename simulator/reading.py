"""Reads scenario files: TOML to Structs; whatever is wrong is said with file and key."""

import tomllib
from pathlib import Path
from typing import Any

import msgspec

from forewarn.config_errors import explain
from forewarn.errors import ConfigError
from simulator.check import check
from simulator.scenario import Scenario

SCENARIOS = Path(__file__).with_name("scenarios")
SCHEMA_PATH = Path(__file__).with_name("scenario.schema.json")


def load(path: Path) -> Scenario:
    """Read a scenario file.

    Raises:
        ConfigError: naming file, key and what is expected there.

    """
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is no UTF-8 text: {error.reason}") from error


def parse(text: str, where: str = "scenario") -> Scenario:
    """Read a scenario from TOML text; `where` names it in errors. Raises ConfigError."""
    try:
        scenario = msgspec.convert(tomllib.loads(text), Scenario)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: no TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {explain(error, Scenario)}") from error
    check(scenario, where)
    return scenario


def built_in() -> dict[str, Path]:
    """Return the scenario files that ship with the package, by name."""
    return {path.stem: path for path in sorted(SCENARIOS.glob("*.toml"))}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, generated from the Structs."""
    return msgspec.json.schema(Scenario)


def schema_text() -> str:
    """Return what `scenario.schema.json` must hold."""
    encoded = msgspec.json.encode(schema(), order="deterministic")
    return msgspec.json.format(encoded, indent=2).decode() + "\n"
