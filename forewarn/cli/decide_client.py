"""Speaks to decide: through its HTTP interface, else (to read only) through its database file."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from forewarn.balance import Balance
from forewarn.config import Settings, state_directory
from forewarn.errors import ForewarnError
from forewarn.incident import Incident

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = 10.0
# What the interface says to programs, and what a person at a terminal types instead.
TYPED = {
    "GET /incidents/{id}": "`forewarn incident show ID`",
    "GET /incidents": "`forewarn incident list`",
}


class NotFoundError(ForewarnError):
    """No such incident."""

    exit_code = 3


class UnreachableError(ForewarnError):
    """Decide does not answer."""

    exit_code = 4


class DecideClient:
    """Lists, shows and judges incidents of the decide stage that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self._base, self._budget = f"http://{settings.decide.listen}", settings.detect.budget
        own = settings.decide.database or state_directory() / "decide.sqlite"
        self._database = Path(own)

    def find(self, **filters: str | int) -> list[Incident]:
        """Return incidents, latest change first; filters as of `GET /incidents`."""
        wanted = {key: value for key, value in filters.items() if value not in {"", None}}
        body = self._request("GET", "/incidents", params=wanted)
        if body is not None:
            return msgspec.json.decode(body, type=list[Incident])
        return self._read(wanted)

    def get(self, prefix: str) -> Incident:
        """Return the incident whose id begins with `prefix`. Raises NotFoundError."""
        body = self._request("GET", _path(prefix))
        if body is not None:
            return msgspec.json.decode(body, type=Incident)
        found: Incident | None = self._store().get(prefix.upper())
        if found is None:
            raise NotFoundError(f"no incident {prefix!r}; see `forewarn incident list`")
        return found

    def balance(self, days: float, until_unix_nano: int) -> Balance:
        """Return what became of the budget in the `days` before a time."""
        body = self._request("GET", "/budget", params={"days": days, "until": until_unix_nano})
        if body is not None:
            return msgspec.json.decode(body, type=Balance)
        from detector.incidents.balance import BudgetQuery, balance

        return balance(self._store(), self._budget, BudgetQuery(days=days, until=until_unix_nano))

    def act(self, prefix: str, action: str, body: Mapping[str, object]) -> Incident:
        """Acknowledge, resolve, confirm or refute. Raises UnreachableError when decide is down."""
        answer = self._request("POST", f"{_path(prefix)}/{action}", json=dict(body))
        if answer is None:
            raise UnreachableError(
                f"decide does not answer at {self._base}: it alone may write; start "
                "`forewarn decide` or `forewarn up`, or set decide.listen in the configuration"
            )
        return msgspec.json.decode(answer, type=Incident)

    def _request(self, method: str, path: str, **arguments: Any) -> bytes | None:
        """Return the body, or None when nobody answers."""
        import httpx

        try:
            own = httpx.request(
                method, self._base + path, timeout=TIMEOUT_SECONDS, trust_env=False, **arguments
            )
        except httpx.TransportError as error:
            logger.debug("decide at %s: %s", self._base, error)
            return None
        if own.is_success:
            return own.content
        raise _refusal(own.status_code, own.content)

    def _store(self) -> Any:
        from detector.incidents.store import Store

        if not self._database.exists():
            raise UnreachableError(
                f"decide does not answer at {self._base} and there is no database at "
                f"{self._database}; start `forewarn up`, or name the configuration with --config"
            )
        click.echo(f"decide does not answer; reading {self._database}", err=True)
        return Store(self._database, read_only=True)

    def _read(self, wanted: Mapping[str, str | int]) -> list[Incident]:
        from detector.incidents.store import Query

        fields = dict(wanted)
        if "since" in fields:
            fields["since_unix_nano"] = fields.pop("since")
        found: list[Incident] = self._store().find(msgspec.convert(fields, Query))
        return found


def _path(prefix: str) -> str:
    """Return where the API keeps an incident. Raises NotFoundError for what no id begins with."""
    if not prefix.isascii() or not prefix.isalnum():
        raise NotFoundError(f"{prefix[:64]!r} begins no id; see `forewarn incident list`")
    return f"/incidents/{prefix}"


def _refusal(status: int, content: bytes) -> ForewarnError:
    try:
        problem = msgspec.json.decode(content, type=dict[str, str])
    except (msgspec.DecodeError, msgspec.ValidationError):
        problem = {"error": content[:200].decode(errors="replace")}
    text = "; ".join(filter(None, (problem.get("error"), problem.get("fix"))))
    for request, verb in TYPED.items():
        text = text.replace(request, verb)
    return NotFoundError(text) if status == 404 else ForewarnError(text)
