"""The HTTP interface of decide on loopback: incidents, what people say of them, /metrics.

It asks for no password, so it serves this machine only, and takes no post that a web page of
another origin could make a browser send.
"""

from http import HTTPStatus
from typing import Protocol

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from detector.incidents.actions import Action, ActionError
from detector.incidents.balance import balance
from detector.incidents.database import StoreError
from detector.incidents.requests import (
    ACTIONS,
    RequestError,
    body_of,
    budget_query_of,
    query_of,
    refuse_other_names,
    refuse_strangers,
)
from detector.incidents.store import Store
from forewarn.incident import Incident


class Desk(Protocol):
    """Where actions go: the single writer."""

    @property
    def budget(self) -> float:
        """Return the budget: false incidents a day."""

    def act(self, prefix: str, action: Action) -> Incident:
        """Do it; raise StoreError or ActionError."""


class _Problem(msgspec.Struct, frozen=True):
    error: str
    fix: str


class Api:
    """The handlers; reads run in threads, and the desk takes one action after the other."""

    def __init__(self, desk: Desk, store: Store, registry: CollectorRegistry) -> None:
        self._desk, self._store, self._registry = desk, store, registry

    def application(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                Route("/incidents", self.incidents),
                Route("/incidents/{id}", self.incident),
                Route("/incidents/{id}/{action}", self.act, methods=["POST"]),
                Route("/budget", self.budget),
                Route("/metrics", self.metrics),
                Route("/-/ready", self.ready),
                Route("/-/healthy", self.healthy),
            ],
            exception_handlers={
                RequestError: _refused,
                ActionError: _impossible,
                StoreError: _failed,
                HTTPException: _unknown,
            },
        )

    def incidents(self, request: Request) -> Response:
        """List incidents, latest change first."""
        refuse_other_names(request)
        return _json(self._store.find(query_of(request)))

    def incident(self, request: Request) -> Response:
        """Show one incident whole."""
        refuse_other_names(request)
        return _json(self._found(request))

    def budget(self, request: Request) -> Response:
        """Say what was spent of the budget."""
        refuse_other_names(request)
        return _json(balance(self._store, self._desk.budget, budget_query_of(request)))

    async def act(self, request: Request) -> Response:
        """Do what a person asks for; answer with the new revision."""
        word = request.path_params["action"]
        if word not in ACTIONS:
            raise RequestError(HTTPStatus.NOT_FOUND, f"no action {word!r}", ", ".join(ACTIONS))
        refuse_strangers(request)
        action = ACTIONS[word](await body_of(request))
        found = await run_in_threadpool(self._found, request)
        return _json(await run_in_threadpool(self._desk.act, found.id, action))

    def _found(self, request: Request) -> Incident:
        prefix = request.path_params["id"]
        found = self._store.get(prefix)
        if found is None:
            raise RequestError(
                HTTPStatus.NOT_FOUND, f"no incident {prefix!r}", "see GET /incidents"
            )
        return found

    def metrics(self, request: Request) -> Response:
        """Show metrics in Prometheus' text format."""
        return Response(
            generate_latest(self._registry), headers={"content-type": CONTENT_TYPE_LATEST}
        )

    def healthy(self, request: Request) -> Response:
        """Say that the process answers."""
        return Response("ok\n", media_type="text/plain")

    def ready(self, request: Request) -> Response:
        """Say that the database answers too."""
        self._store.offsets()
        return Response("ok\n", media_type="text/plain")


def _json(value: object, status: int = HTTPStatus.OK) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _refused(_: Request, error: Exception) -> Response:
    known = error if isinstance(error, RequestError) else None
    status = known.status if known else HTTPStatus.BAD_REQUEST
    return _json(_Problem(str(error), known.fix if known else ""), status)


def _impossible(_: Request, error: Exception) -> Response:
    fix = "look at its state and causes: GET /incidents/{id}"
    return _json(_Problem(str(error), fix), HTTPStatus.CONFLICT)


def _failed(_: Request, error: Exception) -> Response:
    fix = "give more of the id, or see decide's log"
    return _json(_Problem(str(error), fix), HTTPStatus.CONFLICT)


def _unknown(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
    fix = "GET /incidents, /incidents/{id}, /budget, /metrics; POST /incidents/{id}/" + "|".join(
        ACTIONS
    )
    return _json(_Problem(HTTPStatus(status).phrase, fix), status)
