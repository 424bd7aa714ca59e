"""`forewarn version`: what runs here."""

import platform
from importlib import metadata

import click

from forewarn import __version__, wire
from forewarn.cli.console import emit, json_option

PARTS = ("prometheus-client", "nvidia-ml-py", "kafka-python", "protobuf", "msgspec", "numpy")


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


@click.command()
@json_option
def version(as_json: bool) -> None:
    """Print the versions of Forewarn, its wire format and its main libraries."""
    facts = {
        "forewarn": __version__,
        "wire": str(wire.VERSION),
        "python": platform.python_version(),
    }
    facts |= {name: _installed(name) for name in PARTS}
    if as_json:
        emit(facts)
        return
    for name, value in facts.items():
        click.echo(f"{name:<18} {value}")
