"""Reads requests of decide's interface: what a person may ask, and what is refused."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, TypeVar

import msgspec
from starlette.requests import Request

from detector.incidents.actions import Action, Judgement, acknowledge, confirm, refute, resolve
from detector.incidents.balance import BudgetQuery
from detector.incidents.store import Query

LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_BODY_BYTES = 64 * 1024
MAX_LIMIT = 1000
_T = TypeVar("_T")


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who acknowledges or resolves, and why."""

    by: str
    note: str = ""


class RequestError(Exception):
    """A request that is refused: status, what is wrong, how to mend it."""

    def __init__(self, status: HTTPStatus, error: str, fix: str) -> None:
        super().__init__(error)
        self.status, self.error, self.fix = status, error, fix


class _Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    state: str = ""
    entity: str = ""
    cluster: str = ""
    since: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    limit: int = 100


def query_of(request: Request) -> Query:
    """Read the filters of a list. Raises RequestError."""
    try:
        own = msgspec.convert(dict(request.query_params), _Parameters, strict=False)
    except msgspec.ValidationError as error:
        raise RequestError(
            HTTPStatus.BAD_REQUEST,
            f"query: {error}",
            "use state, entity, cluster, since (ns since 1970) and limit",
        ) from error
    limit = max(1, min(own.limit, MAX_LIMIT))
    return Query(own.state, own.entity, own.cluster, own.since, limit)


def budget_query_of(request: Request) -> BudgetQuery:
    """Read the window of a balance. Raises RequestError."""
    try:
        return msgspec.convert(dict(request.query_params), BudgetQuery, strict=False)
    except msgspec.ValidationError as error:
        fix = "use days (up to 60) and until (ns since 1970)"
        raise RequestError(HTTPStatus.BAD_REQUEST, f"query: {error}", fix) from error


def refuse_strangers(request: Request) -> None:
    """Refuse what a page of another origin could make a browser send. Raises RequestError.

    Such a post has another Host (a rebound name), an Origin that is not this server, or a type
    other than JSON (which a browser may send without asking first).
    """
    refuse_other_names(request)
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.url.netloc}":
        raise RequestError(
            HTTPStatus.FORBIDDEN, "posts from another origin are refused", "use the CLI"
        )
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RequestError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body is not JSON by its type",
            "send content-type: application/json",
        )  # fmt: skip


def refuse_other_names(request: Request) -> None:
    """Refuse a Host that is not this machine: a name of somebody else that leads here."""
    if request.url.hostname not in LOCAL_NAMES:
        raise RequestError(
            HTTPStatus.FORBIDDEN, "this host name is not served", "use http://127.0.0.1"
        )


async def body_of(request: Request) -> bytes:
    """Read the body, at most 64 KiB. Raises RequestError."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise RequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the body is too large", "send at most 64 KiB"
            )
    return body


def _judging(make: Callable[[Judgement], Action]) -> Callable[[bytes], Action]:
    return lambda body: make(_decoded(body, Judgement))


def _saying(make: Callable[[str, str], Action]) -> Callable[[bytes], Action]:
    def read(body: bytes) -> Action:
        said = _decoded(body, Said)
        return make(said.by, said.note)

    return read


def _decoded(body: bytes, type_: type[_T]) -> _T:
    try:
        return msgspec.json.decode(body, type=type_)
    except msgspec.DecodeError as error:
        fields = ", ".join(type_.__struct_fields__)  # type: ignore[attr-defined]
        raise RequestError(HTTPStatus.BAD_REQUEST, f"body: {error}", f"fields: {fields}") from error


# POST /incidents/{id}/{word}: how its body becomes an action.
ACTIONS: dict[str, Callable[[bytes], Action]] = {
    "acknowledge": _saying(acknowledge),
    "resolve": _saying(resolve),
    "confirm": _judging(confirm),
    "refute": _judging(refute),
}
