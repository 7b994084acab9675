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
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from types import FrameType
from urllib.parse import parse_qsl

from ..errors import AgentMemoryError, InvalidArgument, MissingExtra, StorageError
from ..layout import SCAFFOLDING
from ..project.access import Actor
from ..records.record import Record
from ..workspace import Workspace
from . import changes
from .html import policy, render
from .page import gather

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
_EVERY = 1.0
"""Seconds between two looks for what other programs have written."""

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass
class LivePage:
    """The page of one reader, and what they may do on it.

    Attributes:
        opens: opens the workspace, again for each request.
        records: returns the records of the project.
        actor: whose rights hold for all that is shown and done.
        port: the port it is served at; part of the name of its cookie, since cookies know no ports.
        is_read_only: whether nothing can be changed on it.
        token: what a request must have; random.
        is_over: whether the server is stopping, so that no tab keeps it.
    """

    opens: Callable[[], Workspace]
    records: Callable[[], Sequence[Record]]
    actor: Actor
    port: int
    is_read_only: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    is_over: bool = False
    _notice: tuple[str, str] = ("", "")

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
        """The application: the page, an entry, a change, and the events."""
        routes = [Route("/", self._guarded(self._page)), Route("/events", self._guarded(self._events))]
        if not self.is_read_only:
            routes.append(Route("/entry", self._guarded(self._entry)))
            routes.append(Route("/change", self._guarded(self._change), methods=["POST"]))
        return Starlette(routes=routes)

    # -- who may ask ---------------------------------------------------------------------------------------------------

    def _guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            made = self._refusal(request) or await answer(request)
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
        if origin is not None and origin not in (f"http://{host}" for host in hosts):
            return PlainTextResponse("Requests of other pages are refused.\n", 403)
        if self._is(self.token, request.query_params.get("token", "")) and request.method == "GET":
            made = RedirectResponse("/", 303)
            made.set_cookie(self._cookie, self.token, httponly=True, samesite="strict")
            return made
        if not self._is(self.token, request.cookies.get(self._cookie, "")):
            return PlainTextResponse("Open the address that `amp view` printed: it has the token.\n", 403)
        return None

    @property
    def _cookie(self) -> str:
        return f"amp_view_{self.port}"

    @staticmethod
    def _is(token: str, given: str) -> bool:
        return hmac.compare_digest(token.encode(), given.encode("utf-8", "replace"))

    # -- what they get -------------------------------------------------------------------------------------------------

    async def _page(self, request: Request) -> Response:
        def make() -> bytes:
            asked = request.query_params
            bound = asked.get("max_chars", "")
            page = gather(
                self.opens(),
                self.actor,
                date.today(),
                self.records(),
                task=asked.get("task", ""),
                max_chars=int(bound) if bound.isdecimal() and 0 < len(bound) < 10 and int(bound) else None,
            )
            notice = ("", "")
            if "quiet" not in request.query_params:  # what a tab fetches by itself tells nobody anything
                notice, self._notice = self._notice, notice
            return render("page", page=page, without=(), live=self, notice=notice)

        return await self._html(make)

    async def _entry(self, request: Request) -> Response:
        wanted = request.query_params.get("id", "")

        def make() -> bytes:
            here = self.opens()
            try:
                entry = here.entry(wanted, self.actor)
            except InvalidArgument:
                gone = changes.one_gone(here, self.actor, wanted)
                return render("entry", entry=None, gone=gone, text="", live=self)
            return render("entry", entry=entry, gone=None, text=changes.without_bullet(entry), live=self)

        return await self._html(make)

    async def _change(self, request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LARGEST_FORM:
                return PlainTextResponse("This form is too large.\n", 413)
        try:
            fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20))
        except ValueError:
            return PlainTextResponse("This form cannot be read.\n", 400)
        if not self._is(self.form_token, fields.get("token", "")):
            return PlainTextResponse("This form is not of this page; open the page again.\n", 403)
        if fields.get("step") == "Apply":
            try:
                wanted = changes.Wanted.of(fields)
                self._notice = await run_in_threadpool(lambda: changes.apply(self.opens(), self.actor, wanted))
            except AgentMemoryError as error:
                return self._refused(error)
            return RedirectResponse("/", 303)

        def make() -> bytes:
            wanted = changes.Wanted.of(fields)
            return render("plan", wanted=wanted, steps=changes.plan(self.opens(), self.actor, wanted), live=self)

        return await self._html(make)

    async def _html(self, make: Callable[[], bytes]) -> Response:
        try:
            return Response(await run_in_threadpool(make), media_type="text/html")
        except AgentMemoryError as error:
            return self._refused(error)

    def _refused(self, error: AgentMemoryError) -> Response:
        return Response(render("refused", message=str(error), live=self), 409, media_type="text/html")

    async def _events(self, request: Request) -> Response:
        async def tell() -> AsyncIterator[str]:
            folder = os.path.join(await run_in_threadpool(lambda: self.opens().path), SCAFFOLDING)
            before = await run_in_threadpool(_seen_in, folder)
            yield "retry: 2000\n\n"
            while not (self.is_over or await request.is_disconnected()):
                await asyncio.sleep(_EVERY)
                now = await run_in_threadpool(_seen_in, folder)
                yield "data: changed\n\n" if now != before else ": nothing\n\n"
                before = now

        return StreamingResponse(tell(), media_type="text/event-stream")


def _seen_in(folder: str) -> int:
    """Return a number that is another one when any file has been written, made or removed."""
    seen = []
    for above, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".amp"]
        for name in files:
            try:
                info = os.lstat(os.path.join(above, name))
            except OSError:
                continue
            seen.append((above, name, info.st_mtime_ns, info.st_size))
    return hash(tuple(sorted(seen)))


def bind(port: int) -> socket.socket:
    """Take a port of this machine, where requests wait from now on; 0 is any that is free.

    Raises:
        StorageError: another program has it.
    """
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
    settings = uvicorn.Config(
        page.app, log_level="critical", access_log=False, server_header=False, timeout_graceful_shutdown=5
    )
    _Server(settings, page).run(sockets=[bound])


class _Server(uvicorn.Server):
    def __init__(self, settings: uvicorn.Config, page: LivePage) -> None:
        super().__init__(settings)
        self._page = page

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let the tabs go, which wait for events, and stop."""
        self._page.is_over = True
        super().handle_exit(sig, frame)
