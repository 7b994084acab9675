"""The live page: a server on this machine alone, for one reader, who is fixed when it starts.

Any page that a browser has open can send requests to this machine. So each needs the token that only the printed
address has; the Host must be ours, whatever name an attacker's server resolves to; and a change must come from a form
of our own page.
"""

import asyncio
import hmac
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import date
from functools import partial
from hashlib import sha256
from threading import Lock, Thread
from types import FrameType
from urllib.parse import parse_qsl, urlencode

from ..errors import AgentMemoryError, InvalidArgument, MissingExtra, RefusedText, SecretFound, StorageError
from ..layout import SCAFFOLDING
from ..project.access import Actor
from ..values import dataclass
from ..workspace import Workspace
from . import actions, views
from .actions import Records
from .html import policy, render, stream
from .page import tell_failure
from .pulse import Pulse, state_of

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
    from starlette.routing import Route
except ModuleNotFoundError:
    raise MissingExtra("the live page needs a server: pip install 'agent-memory-protocol[view]'") from None

ADDRESS = "127.0.0.1"
_LARGEST_FORM = 200_000
_HTML = "text/html; charset=utf-8"
_FORM_IS_ON = {
    **dict.fromkeys(actions.ENTRY_VERBS, "entry"),
    "Restore": "history",
    "Prune": "prune",
    "Distill": "distill",
    "Refuse": "distill",
}
_NOTHING_WRONG: views.Values = {"refusal": "", "problems": ()}
_MOST_FIELDS = 5_000
_DONE_KEPT = 20  # So many changes can be taken back from the page
_EVERY = 0.1  # Seconds between two looks whether others have written
_SILENCE = 50  # So many looks pass before a tab is told that there is nothing, which shows whether it is there still

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no referrer at all, a browser sends no Origin with a form
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass
class LivePage:
    """The page of one reader, and what they may do on it."""

    opens: Callable[[], Workspace]  # opens the workspace, again for each request
    records: Records  # opens the records of the project; None inside where it has none
    actor: Actor  # whose rights hold for all that is shown and done
    port: int  # the port it is served at; part of the name of its cookie, since cookies know no ports
    is_read_only: bool = False  # whether nothing can be changed on it
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))  # what a request must have; random
    is_over: bool = False  # whether the server is stopping, so that no tab keeps it
    _done: dict[str, actions.Deed] = field(default_factory=dict)
    _undoing: Lock = field(default_factory=Lock)
    _kept: views.KeptAnswers = field(default_factory=views.KeptAnswers)
    _root: str = field(init=False)
    _pulse: Pulse = field(init=False)

    def __post_init__(self) -> None:
        self._root = str(self.opens().path)
        self._pulse = Pulse(self._folder)

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}"

    @property
    def form_token(self) -> str:
        """What each form of the page has. The token itself is in no page."""
        return sha256(f"form {self.token}".encode()).hexdigest()

    @property
    def app(self) -> Starlette:
        """The application: the views, a change, and the events."""
        shown = views.VIEWS if self.is_read_only else {**views.VIEWS, **views.CHANGING}
        routes = [Route(f"/{name}", self._guarded(partial(self._view, name, look))) for name, look in shown.items()]
        routes.append(Route("/events", self._guarded(self._events)))
        if not self.is_read_only:
            routes.append(Route("/change", self._guarded(self._change), methods=["POST"]))
        # A stranger does not learn what is served, either.
        failed = {status: self._guarded(partial(self._nothing, status)) for status in (404, 405)}
        return Starlette(routes=routes, exception_handlers=failed)

    @property
    def menu(self) -> list[tuple[str, str]]:
        """The views that a person can turn to, by address and name."""
        labels = {"": "Overview", "upkeep": "Check and review", "prune": "Prune", "distill": "Distill"}
        labels |= {"history": "History", "records": "Records", "compare": "Compare"}
        return [row for row in labels.items() if not (self.is_read_only and row[0] in views.CHANGING)]

    def warm(self) -> None:
        """Find what the first view shows before anyone asks."""
        with suppress(AgentMemoryError):
            views.overview(self._asked({}))

    def stop(self) -> None:
        """Let the tabs go, which wait for events."""
        self.is_over = True
        self._pulse.stop()

    # -- who may ask ---------------------------------------------------------------------------------------------------

    def _guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
        async def guarded(request: Request, _: Exception | None = None) -> Response:
            made = self._refusal(request)
            try:
                made = made or await answer(request)
            except Exception as error:  # noqa: BLE001 a person gets a page, whatever went wrong
                said = tell_failure(error, request.url.path)
                made = Response(render("refused", message=said, is_unsure=True, **self._frame()), 500, media_type=_HTML)
            made.headers.update(_HEADERS)
            made.headers["Content-Security-Policy"] = f"{policy(live=True)}; frame-ancestors 'none'"
            return made

        return guarded

    def _refusal(self, request: Request) -> Response | None:
        """Return what a request gets that has no right to an answer; None for one that has."""
        hosts = [f"{name}:{self.port}" for name in (ADDRESS, "localhost")]
        origin = request.headers.get("origin")
        if request.headers.getlist("host") not in ([host] for host in hosts):
            return PlainTextResponse("This address is not served here.\n", 403)
        is_asked = request.headers.get("sec-fetch-mode", "navigate") == "navigate" or self._is_own(request)
        if not is_asked or (origin is not None and origin not in (f"http://{host}" for host in hosts)):
            return PlainTextResponse("Requests of other pages are refused.\n", 403)
        if self._is(self.token, request.query_params.get("token", "")) and request.method == "GET":
            made = RedirectResponse("/", 303)
            made.set_cookie(self._cookie, self.token, httponly=True, samesite="strict")
            return made
        if not self._is(self.token, request.cookies.get(self._cookie, "")):
            return PlainTextResponse("Open the address that `amp view` printed: it has the token.\n", 403)
        return None

    @staticmethod
    def _is_own(request: Request) -> bool:
        """Say whether the browser tells that our own page asks: to one at another port it sends our cookie, too."""
        return request.headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")

    @property
    def _cookie(self) -> str:
        return f"amp_view_{self.port}"

    @staticmethod
    def _is(token: str, given: str) -> bool:
        return hmac.compare_digest(token.encode(), given.encode("utf-8", "replace"))

    # -- what they get -------------------------------------------------------------------------------------------------

    async def _nothing(self, status: int, _: Request) -> Response:
        return PlainTextResponse("Nothing is served here.\n", status)

    async def _view(self, name: str, look: Callable[[views.Query], views.Values], request: Request) -> Response:
        query = dict(request.query_params)

        def answer() -> views.Values:
            try:
                return {**_NOTHING_WRONG, **look(self._asked(query))}
            except AgentMemoryError as error:
                return {"refusal": str(error)}
            except Exception as error:  # noqa: BLE001
                return {"refusal": tell_failure(error, f"/{name}")}

        frame = {**await run_in_threadpool(self._frame), "at": name, "q": query.get("q", "")}
        key = query.get("done", "")
        frame |= {"done": self._done.get(key), "key": key}
        pieces = stream(name or "overview", look=answer, **frame)
        return StreamingResponse(pieces, media_type=_HTML)

    def _asked(self, query: Mapping[str, str]) -> views.Query:
        here, today = self.opens(), date.today()
        state = (today, state_of(self._folder))
        return views.Query(
            here, self.actor, today, query, self.records, lambda name, make: self._kept.get(name, state, make)
        )

    async def _change(self, request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LARGEST_FORM:
                return PlainTextResponse("This form is too large.\n", 413)
        try:
            fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return PlainTextResponse("This form cannot be read.\n", 400)
        given = dict(fields)
        if not self._is(self.form_token, given.get("token", "")):
            return PlainTextResponse("This form is not of this page; open the page again.\n", 403)
        step = {"Apply": self._apply, "Undo": self._undo}.get(given.get("step", ""), self._plan)
        try:
            return await run_in_threadpool(step, fields)
        except AgentMemoryError as error:
            said = str(error)
            if isinstance(error, SecretFound | RefusedText):  # what was typed is shown again, a secret is not
                fields = [(name, value) for name, value in fields if name in ("verb", "id")]
        return Response(await run_in_threadpool(self._refused, said, fields), 409, media_type=_HTML)

    def _refused(self, message: str, fields: Sequence[tuple[str, str]]) -> bytes:
        """Return the page that the form is on, with why it was refused and what was typed."""
        given = dict(fields)
        at = _form_of(given.get("verb", ""), given.get("id", ""))
        try:
            look = {**views.VIEWS, **views.CHANGING}[at] if at else None
            found = look and {**_NOTHING_WRONG, **look(self._asked({**given, "q": ""}))}
        except AgentMemoryError:
            found = None
        if found is None:
            return render("refused", message=message, is_unsure=False, **self._frame())
        return render(at, look=lambda: found, **{**self._frame(), "at": at, "refused": message, "given": given})

    def _plan(self, fields: Sequence[tuple[str, str]]) -> Response:
        wanted = actions.Wanted.of_form(fields)
        plan = self._changes().plan(wanted)
        at = _form_of(wanted.verb, wanted.id)
        back = f"/{at}?{urlencode({'id': wanted.id})}" if at == "entry" else f"/{at}"
        return Response(render("plan", wanted=wanted, plan=plan, back=back, **self._frame()), media_type=_HTML)

    def _apply(self, fields: Sequence[tuple[str, str]]) -> Response:
        doing = self._changes()
        done = doing.apply(actions.Wanted.of_form(fields))
        return self._tell(replace(done, undo=[*done.undo], notes=(*done.notes, *doing.here.notices)))

    def _undo(self, fields: Sequence[tuple[str, str]]) -> Response:
        key = dict(fields).get("done", "")
        with self._undoing:
            done = self._done.get(key)
            if done is None or not done.undo:
                raise InvalidArgument("this was taken back already, or the page was started again since")
            while done.undo:  # a step that is refused can be tried again
                done.undo[0]()
                del done.undo[0]
            del self._done[key]
        return self._tell(actions.Deed("It is as it was.", done.back_to.partition("#")[0]))

    def _tell(self, done: actions.Deed) -> Response:
        """Show what was done, on the page where it can be seen."""
        key = secrets.token_hex(8)
        self._done[key] = done
        for old in [*self._done][:-_DONE_KEPT]:
            del self._done[old]
        path, hash_sign, place = done.back_to.partition("#")
        return RedirectResponse(f"{path}{'&' if '?' in path else '?'}done={key}{hash_sign}{place}", 303)

    def _changes(self) -> actions.Changes:
        return actions.Changes(self.opens(), self.actor, date.today(), self.records)

    def _frame(self) -> dict[str, object]:
        """Return what is around every page."""
        return {
            "live": self,
            "state": state_of(self._folder),
            "project": os.path.basename(self._root),
            "at": "",
            "q": "",
            "reader": self.actor,
            "done": None,
            "key": "",
            "refused": "",
            "given": {},
        }

    @property
    def _folder(self) -> str:
        return os.path.join(self._root, SCAFFOLDING)

    async def _events(self, request: Request) -> Response:
        self._pulse.start()

        async def tell() -> AsyncIterator[str]:
            told = self._pulse.count
            yield "retry: 2000\n\n"
            now_there = str(await run_in_threadpool(lambda: state_of(self._folder)))
            if request.query_params.get("since", now_there) != now_there:
                yield "data: changed\n\n"
            silence = 0
            while not (self.is_over or await request.is_disconnected()):
                await asyncio.sleep(_EVERY)
                now, silence = self._pulse.count, silence + 1
                if now != told or silence > _SILENCE:
                    yield "data: changed\n\n" if now != told else ": nothing\n\n"
                    told, silence = now, 0

        return StreamingResponse(tell(), media_type="text/event-stream")


def _form_of(verb: str, name: str) -> str:
    """Return the view that has the form of a verb; "" without one."""
    return "records" if actions.is_record(name) else _FORM_IS_ON.get(verb, "")


def bind(port: int) -> socket.socket:
    """Take a port of this machine, where requests wait from now on; 0 is any that is free."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # there it would let two programs share the port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((ADDRESS, port))
        bound.listen()  # who is told the address may come before the server has started
    except OSError as error:
        bound.close()
        raise StorageError(f"port {port} cannot be used: {error.strerror}; name another with --port") from error
    return bound


def serve(page: LivePage, bound: socket.socket) -> None:
    """Serve until it is stopped."""
    Thread(target=page.warm, daemon=True).start()
    PageServer(page).run(sockets=[bound])


class PageServer(uvicorn.Server):
    """What serves a page; see `serve`."""

    def __init__(self, page: LivePage) -> None:
        super().__init__(
            uvicorn.Config(
                page.app, log_level="critical", access_log=False, server_header=False, timeout_graceful_shutdown=5
            )
        )
        self._page = page

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let the tabs go, which wait for events, and stop."""
        self._page.stop()
        super().handle_exit(sig, frame)
