"""The live page: who gets an answer, what is done on it, and what is refused in place."""

import asyncio
import re
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlencode

import pytest

from agent_memory_protocol import Actor, Tier, Workspace
from agent_memory_protocol.errors import StorageError
from agent_memory_protocol.view import live
from agent_memory_protocol.view.changes import without_bullet

from .seen import Seen

HOST = "127.0.0.1:8123"


class Browser:
    """A browser with one page open: it keeps the cookie, and sends what a form has."""

    def __init__(self, page: live.LivePage) -> None:
        self.page = page
        self.cookie = f"amp_view_8123={page.token}"

    def ask(self, path: str, *, method: str = "GET", body: str = "", **headers: str) -> tuple[int, dict[str, str], str]:
        """Send a request to the application, and return the status, the headers and the text of its answer."""
        sent = {"host": HOST, "cookie": self.cookie, **headers}
        target, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "root_path": "",
            "path": target,
            "raw_path": target.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        }
        answers: list[MutableMapping[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body.encode(), "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            answers.append(message)

        asyncio.run(self.page.app(scope, receive, send))
        told = {name.decode(): value.decode() for name, value in answers[0]["headers"]}
        return answers[0]["status"], told, b"".join(one.get("body", b"") for one in answers[1:]).decode()

    def post(self, verb: str, entry: str, step: str, **fields: str) -> tuple[int, str]:
        token = fields.pop("token", self.page.form_token)
        body = urlencode({"token": token, "verb": verb, "id": entry, "step": step, **fields})
        status, _, text = self.ask("/change", method="POST", body=body)
        return status, text


@pytest.fixture
def here(tmp_path) -> Workspace:
    made = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    made.init(agents=["dev", "tester"])
    made.remember("The port is 8080.", tier=Tier.SHARED, section="Net")
    made.remember("The port is 9090.", tier=Tier.SHARED, section="Net")
    made.remember("Only dev knows.", tier=Tier.AGENT, agent="dev")
    return made


def browser(here: Workspace, actor: Actor | None = None, *, is_read_only: bool = False) -> Browser:
    return Browser(live.LivePage(lambda: here, list, actor or Actor(), 8123, is_read_only=is_read_only))


def texts(here: Workspace) -> list[str]:
    return [entry.text for entry in here.entries()]


def id_of(here: Workspace, words: str) -> str:
    return next(entry.id for entry in here.entries() if words in entry.text)


def test_the_printed_address_gives_the_cookie_and_the_cookie_gives_the_page(here):
    at = browser(here)
    cookie, at.cookie = at.cookie, ""
    status, told, _ = at.ask(at.page.address.partition(HOST)[2])
    assert (status, told["location"]) == (303, "/")
    assert told["set-cookie"].startswith(cookie)
    assert "HttpOnly" in told["set-cookie"]
    assert "SameSite=strict" in told["set-cookie"]
    at.cookie = cookie
    status, told, text = at.ask("/")
    assert status == 200
    assert "frame-ancestors 'none'" in told["content-security-policy"]
    assert told["cache-control"] == "no-store"
    assert "The port is 8080." in text
    assert at.page.token not in text
    Seen(text).check(live=True)


@pytest.mark.parametrize(
    "sent",
    [
        {"cookie": ""},
        {"cookie": "amp_view_8123=guess"},
        {"cookie": "amp_view_8124=TOKEN"},
        {"host": "evil.example:8123"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:9"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9"},
    ],
    ids=str,
)
def test_a_request_without_the_right_token_host_or_origin_gets_nothing(here, sent):
    at = browser(here)
    sent = {name: value.replace("TOKEN", at.page.token) for name, value in sent.items()}
    body = urlencode({"token": at.page.form_token, "verb": "Forget", "id": id_of(here, "8080"), "step": "Apply"})
    before = texts(here)
    for path in ("/", "/?token=guess", "/events", "/entry?id=0", "/change"):
        status, told, text = at.ask(path, method="POST" if path == "/change" else "GET", body=body, **sent)
        assert (status, "set-cookie" in told, "8080" in text) == (403, False, False), path
    assert texts(here) == before


def test_a_change_needs_a_form_of_the_page(here):
    at = browser(here)
    before = texts(here)
    for token in ("", at.page.token, "guess"):
        assert at.post("Forget", id_of(here, "8080"), "Apply", token=token)[0] == 403
    assert at.ask("/change", method="GET")[0] == 405
    assert at.ask("/change", method="POST", body="x" * 300_000)[0] == 413
    assert texts(here) == before


@pytest.mark.parametrize(
    ("verb", "fields", "left"),
    [
        ("Forget", {"reason": "moved"}, ["9090"]),
        ("Edit", {"text": "The port is 7070."}, ["7070", "9090"]),
        ("Resolve", {"other": "9090"}, ["9090"]),
        ("Date", {"dated": "2026-05-01"}, ["[2026-05-01] The port is 8080", "9090"]),
        ("Dispute", {"other": "9090"}, ["[disputed] The port is 8080", "[disputed] The port is 9090"]),
    ],
)
def test_a_plan_changes_nothing_and_to_apply_it_does_what_it_said(here, verb, fields, left):
    at = browser(here)
    entry, other = id_of(here, "8080"), id_of(here, "9090")
    fields = {name: other if name == "other" else value for name, value in fields.items()}
    before = texts(here)
    status, text = at.post(verb, entry, "Plan", **fields)
    assert status == 200
    Seen(text).check(live=True)
    assert "The port is 8080." in text
    assert texts(here) == before
    assert at.post(verb, entry, "Apply", **fields)[0] == 303
    shared = [one for one in texts(here) if "port" in one]
    assert len(shared) == len(left)
    assert all(words in one for words, one in zip(left, shared, strict=True))


def test_recall_is_shown_for_a_task_and_a_budget(here):
    path = here.path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    path.write_text(path.read_text() + "".join(f"- Fact {number} of {'much ' * 20}\n" for number in range(60)))
    at = browser(here)
    assert "Left out:" not in at.ask("/")[2]
    text = at.ask("/?max_chars=1500&task=port")[2]
    block = text.partition('<pre tabindex="0">')[2].partition("</pre>")[0]
    assert "The port is 8080." in block
    assert len(block) < 2_000
    assert re.search(r"Left out: \d\d", text)
    Seen(text).check(live=True)
    assert at.ask("/?max_chars=0")[0] == at.ask("/?max_chars=%C2%B2")[0] == at.ask("/?max_chars=1")[0] == 200


def test_nothing_of_a_hostile_entry_runs_where_it_is_changed(here):
    attack = '</textarea></form><script>alert(1)</script> "><img src=x onerror=alert(1)>'
    path = here.path / here.target(Actor("dev")).path
    path.write_text(f"# D\n\n- {attack}\n")
    at = browser(here)
    for text in (
        at.ask(f"/entry?id={id_of(here, 'alert')}")[2],
        at.post("Forget", id_of(here, "alert"), "Plan", reason=attack, other=attack)[1],
        at.post("Edit", id_of(here, "8080"), "Plan", text=attack)[1],
        at.post("Date", id_of(here, "8080"), "Plan", dated=attack)[1],
        at.ask("/?task=%22%3E%3Cscript%3E")[2],
    ):
        Seen(text).check(live=True)


def test_what_was_forgotten_is_undone(here):
    at = browser(here)
    entry = id_of(here, "8080")
    at.post("Forget", entry, "Apply")
    assert "notice" not in at.ask("/?quiet")[2].partition("</style>")[2].partition("<script")[0]
    text = at.ask("/")[2]
    undo = re.search(r'name="verb" value="Restore"><input type="hidden" name="id" value="(\w+)"', text)
    assert undo
    assert "It comes back to shared." in at.ask(f"/entry?id={entry}")[2]
    assert at.post("Restore", undo[1], "Apply")[0] == 303
    assert id_of(here, "8080") == entry


def test_two_tabs_do_not_overwrite_each_other(here):
    one, other = browser(here), browser(here)
    entry = id_of(here, "8080")
    assert one.post("Edit", entry, "Apply", text="First.")[0] == 303
    status, text = other.post("Edit", entry, "Apply", text="Second.")
    assert (status, 'role="alert"' in text) == (409, True)
    assert "First." in " ".join(texts(here))
    assert "Second." not in " ".join(texts(here))


def test_refusals_are_those_of_the_workspace_and_shown_in_place(here):
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    at = browser(here)
    entry = id_of(here, "8080")
    before = texts(here)
    for step in ("Plan", "Apply"):
        status, text = at.post("Edit", entry, step, text=f"The token is {token}.")
        assert (status, 'role="alert"' in text, token in text) == (409, True, False)
        assert at.post("Date", entry, step, dated="tomorrow")[0] == 409
        assert at.post("Resolve", entry, step, other=entry)[0] == (200 if step == "Plan" else 409)
        assert at.post("Drop", entry, step)[0] == 409
        assert browser(here, Actor("tester")).post("Forget", id_of(here, "Only dev"), step)[0] == 409
    assert texts(here) == before


def test_the_rights_of_the_reader_hold_for_every_view(here):
    at = browser(here, Actor("tester"))
    assert "Only dev knows." not in at.ask("/")[2]
    status, _, text = at.ask(f"/entry?id={id_of(here, 'Only dev')}")
    assert (status, "Only dev knows." in text) == (409, False)
    assert "Only dev knows." in browser(here, Actor("dev")).ask("/")[2]


def test_a_read_only_page_has_nothing_that_changes(here):
    at = browser(here, is_read_only=True)
    text = at.ask("/")[2]
    Seen(text).check(live=True)
    assert 'method="post"' not in text
    assert "/entry" not in text
    assert at.ask(f"/entry?id={id_of(here, '8080')}")[0] == 404
    assert at.post("Forget", id_of(here, "8080"), "Apply")[0] == 404
    assert any("8080" in one for one in texts(here))


def test_a_write_of_another_program_is_seen_and_local_state_is_not(here):
    folder = str(here.path / ".scaffolding")
    before = live._seen_in(folder)
    (here.path / ".scaffolding" / ".amp").mkdir(exist_ok=True)
    (here.path / ".scaffolding" / ".amp" / "x").write_text("x")
    assert live._seen_in(folder) == before
    here.remember("News.", tier=Tier.SHARED)
    assert live._seen_in(folder) != before


def test_a_port_that_is_taken_is_refused_in_one_line():
    with live.bind(0) as bound, pytest.raises(StorageError, match="--port"):
        live.bind(bound.getsockname()[1])


@pytest.mark.parametrize("text", ["one", "one\n\n    code\nmore", "one\n- two\n  - three", "[2026-01-01] one"])
def test_the_text_that_is_offered_for_editing_makes_the_same_entry(here, text):
    here.remember(text, tier=Tier.AGENT, agent="tester")
    (entry,) = here.entries(targets=[here.target(Actor("tester"))])
    here.edit(entry.id, "another")
    (changed,) = here.entries(targets=[here.target(Actor("tester"))])
    here.edit(changed.id, without_bullet(entry))
    assert entry.text in texts(here)
