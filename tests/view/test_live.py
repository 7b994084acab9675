"""The live page: who gets an answer, what is done on it, and what is refused in place."""

import asyncio
import os
import re
from collections.abc import MutableMapping
from contextlib import nullcontext
from datetime import date
from typing import Any
from urllib.parse import urlencode

import pytest

from agent_memory_protocol import Actor, Memory, Tier, Workspace
from agent_memory_protocol.errors import StorageError
from agent_memory_protocol.records.record import LIVE
from agent_memory_protocol.secrets.mask import masked
from agent_memory_protocol.view import live
from agent_memory_protocol.view.actions import without_bullet
from agent_memory_protocol.view.page import mark_of
from agent_memory_protocol.view.pulse import state_of

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
            "asgi": {"version": "3.0", "spec_version": "2.4"},
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

    def document(self, query: str = "") -> str:
        """Return the page of the shared document."""
        return self.ask(f"/document?of=shared{query}")[2]

    def post(self, verb: str, entry: str, step: str, **fields: str) -> tuple[int, str]:
        """Send the form of a verb; where it leads to another page, return the address of that."""
        token = fields.pop("token", self.page.form_token)
        body = urlencode({"token": token, "verb": verb, "id": entry, "step": step, **fields})
        status, told, text = self.ask("/change", method="POST", body=body)
        return status, told.get("location", text)


@pytest.fixture
def here(tmp_path) -> Workspace:
    made = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    made.init(agents=["dev", "tester"])
    made.remember("The port is 8080.", tier=Tier.SHARED, section="Net")
    made.remember("The port is 9090.", tier=Tier.SHARED, section="Net")
    made.remember("Only dev knows.", tier=Tier.AGENT, agent="dev")
    return made


def browser(here: Workspace, actor: Actor | None = None, *, is_read_only: bool = False) -> Browser:
    return Browser(
        live.LivePage(lambda: here, lambda: nullcontext(None), actor or Actor(), 8123, is_read_only=is_read_only)
    )


def texts(here: Workspace) -> list[str]:
    return [entry.text for entry in here.entries()]


def id_of(here: Workspace, words: str) -> str:
    return next(entry.id for entry in here.entries() if words in entry.text)


@pytest.mark.slow
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
    assert "shared" in text
    for page in (text, at.document(), at.document("&judged=1")):
        assert at.page.token not in page
        Seen(page).check(live=True)
    assert "The port is 8080." in at.document()


@pytest.mark.slow
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
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    ],
    ids=str,
)
def test_a_request_without_the_right_token_host_or_origin_gets_nothing(here, sent):
    at = browser(here)
    sent = {name: value.replace("TOKEN", at.page.token) for name, value in sent.items()}
    body = urlencode({"token": at.page.form_token, "verb": "Forget", "id": id_of(here, "8080"), "step": "Apply"})
    before = texts(here)
    for path in ("/", "/?token=guess", "/events", "/entry?id=0", "/change", "/none"):
        status, told, text = at.ask(path, method="POST" if path == "/change" else "GET", body=body, **sent)
        assert (status, "set-cookie" in told, "8080" in text) == (403, False, False), path
    assert texts(here) == before


@pytest.mark.slow
def test_what_is_not_there_is_told_with_the_headers_of_every_answer_and_only_to_the_reader(here):
    at = browser(here)
    for method, path, expected in (("GET", "/none", 404), ("GET", "/../../etc/passwd", 404), ("PUT", "/", 405)):
        status, told, _ = at.ask(path, method=method)
        assert status == expected
        assert told["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in told["content-security-policy"]
        assert at.ask(path, method=method, cookie="")[0] == 403
    status, _, text = at.ask("/", **{"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})
    assert (status, "shared" in text) == (200, True)  # a link that a person follows


def test_a_change_needs_a_form_of_the_page(here):
    at = browser(here)
    before = texts(here)
    for token in ("", at.page.token, "guess"):
        assert at.post("Forget", id_of(here, "8080"), "Apply", token=token)[0] == 403
    assert at.ask("/change", method="GET")[0] == 405
    assert at.ask("/change", method="POST", body="x" * 300_000)[0] == 413
    assert texts(here) == before


def test_two_entries_that_disagree_are_decided_where_review_tells_of_them(here):
    here.remember("The queue is Redis.", tier=Tier.SHARED, section="Net")
    here.remember("The queue is not Redis.", tier=Tier.SHARED, section="Net")
    at = browser(here)
    text = at.ask("/upkeep?kind=opposite")[2]
    Seen(text).check(live=True)
    one, other = (entry.id for entry in here.entries() if "queue" in entry.text)
    sides = re.findall(r'name="id" value="(\w+)"><input type="hidden" name="other" value="(\w+)"', text)
    assert sorted(sides) == sorted([(one, other), (other, one)])
    assert 'name="other"' not in browser(here, is_read_only=True).ask("/upkeep")[2]


@pytest.mark.slow
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


@pytest.mark.slow
def test_recall_is_shown_for_a_task_and_a_budget(here):
    path = here.path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    path.write_text(path.read_text() + "".join(f"- Fact {number} of {'much ' * 20}\n" for number in range(60)))
    at = browser(here)
    assert "left out of this document: 0" in at.document()
    text = at.document("&max_chars=1500&task=port")
    block = text.partition('<pre tabindex="0">')[2].partition("</pre>")[0]
    assert "The port is 8080." in block
    assert len(block) < 2_000
    left_out = re.search(r"left out of this document: (\d\d)", text)
    assert left_out
    assert text.count("Recall leaves this out.") == int(left_out[1])
    Seen(text).check(live=True)
    for odd in ("0", "%C2%B2", "1", "-5", "x", "9" * 20):
        assert "left out of this document" in at.document(f"&max_chars={odd}&from={odd}&notes={odd}"), odd


@pytest.mark.slow
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
        at.document("&task=%22%3E%3Cscript%3E"),
        at.ask("/search?q=%22%3E%3Cscript%3E")[2],
        at.ask("/compare?base=%22%3E%3Cscript%3E")[2],
    ):
        Seen(text).check(live=True)


CHANGES = {
    "Forget": {},
    "Edit": {"text": "The port is 7070."},
    "Resolve": {"other": "9090"},
    "Date": {"dated": "2026-05-02"},
    "Date off": {"dated": ""},
    "Date first": {"dated": "2026-05-02"},
    "Dispute": {"other": "Redis"},
    "Dispute first": {"other": "9090"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_what_was_done_is_undone_once_to_the_byte(here, name):
    path = here.path / here.target(Actor(), tier=Tier.SHARED).path
    path.write_text(
        "# S\n\n## Net\n\n* The port is 8080.\n    - nested\n\n1. The port is 9090.\n\n- Redis needs AOF.\n"
    )
    at = browser(here)
    entry, other = id_of(here, "8080"), id_of(here, "9090")
    if name != "Date first":
        here.edit(entry, dated=date(2026, 5, 1))
    if name not in ("Dispute first", "Date off"):
        here.dispute(entry, other, reason="both cannot be")
    before, about = path.read_text(), [one.about.disputed_with for one in here.entries()]
    verb = name.partition(" ")[0]
    fields = {key: id_of(here, value) if key == "other" else value for key, value in CHANGES[name].items()}
    status, address = at.post(verb, entry, "Apply", **fields)
    assert status == 303
    assert path.read_text() != before
    page = at.ask(address.partition("#")[0])[2]
    Seen(page).check(live=True)
    assert undo(at, address)[0] == 303
    assert (path.read_text(), [one.about.disputed_with for one in here.entries()]) == (before, about)
    assert undo(at, address)[0] == 409
    assert path.read_text() == before


def undo(at: Browser, address: str) -> tuple[int, str]:
    """Press Undo on the page that tells of a change."""
    (key,) = re.findall(r"done=(\w+)", address)
    return at.post("", "", "Undo", done=key)


def test_undo_does_not_overwrite_what_others_wrote_since(here):
    at = browser(here)
    entry, other = id_of(here, "8080"), id_of(here, "9090")
    address = at.post("Date", entry, "Apply", dated="2026-05-02")[1]
    here.remember("Written since.", tier=Tier.SHARED)
    here.edit(entry, dated=date(2026, 5, 3))
    status, text = undo(at, address)
    assert (status, "was changed meanwhile" in text) == (409, True)
    assert here.entry(entry).date == date(2026, 5, 3)
    address = at.post("Dispute", entry, "Apply", other=other)[1]
    here.edit(other, "The port is 7070.")
    assert undo(at, address)[0] == 409
    assert any("7070" in one for one in texts(here))


@pytest.mark.slow
def test_an_old_text_that_holds_a_secret_cannot_come_back_and_the_plan_says_so(here):
    path = here.path / here.target(Actor(), tier=Tier.SHARED).path
    path.write_text(f"# S\n\n- The key is AKIA{'Q' * 8}{'7' * 8}.\n- Another fact.\n")
    at = browser(here)
    entry = id_of(here, "AKIA")
    assert (
        "It cannot be undone: the old text holds" in at.post("Edit", entry, "Plan", text="The key is in the vault.")[1]
    )
    offered = here.entry(entry).text.removeprefix("- ")
    assert (
        "copied from where a secret is not shown"
        in at.post("Edit", entry, "Apply", text=f"{masked(offered)} Really.")[1]
    )
    assert offered in path.read_text()
    address = at.post("Edit", entry, "Apply", text="The key is in the vault.")[1]
    assert 'value="Undo"' not in at.ask(address.partition("#")[0])[2]
    assert "What you apply can be undone." in at.post("Edit", id_of(here, "Another"), "Plan", text="Same.")[1]


@pytest.mark.slow
def test_a_note_and_a_line_of_the_index_come_back_and_go_again(here):
    target = here.target(Actor(), tier=Tier.SHARED)
    here.new_note("feedback", "tests", description="Run them.", why="They fail.", how="Run pytest.", target=target)
    here.remove_note("tests", target=target)
    path = here.path / target.path
    standing = path.read_text()
    path.write_text(f"{standing}\n## Under it\n\n- [By hand](by_hand.md) - a line of its own\n")
    here.remember("A fact that lasts.", tier=Tier.SHARED, section="Net")
    path.write_text(path.read_text().replace("- [By hand](by_hand.md) - a line of its own\n", ""))
    here.sync(apply=True)
    at = browser(here)
    gone = here.restorable()
    assert len(gone) == 2
    for one in gone:
        files = sorted(path.parent.glob("*.md"))
        before = [file.read_text().rstrip() for file in files]
        status, address = at.post("Restore", one.archived.taken.id, "Apply")
        assert status == 303
        assert [file.read_text().rstrip() for file in sorted(path.parent.glob("*.md"))] != before
        assert undo(at, address)[0] == 303
        assert [file.read_text().rstrip() for file in files] == before
        assert sorted(path.parent.glob("*.md")) == files


def test_what_has_left_comes_back_and_that_is_undone_too(here):
    at = browser(here)
    entry = id_of(here, "8080")
    here.forget([entry])
    assert "It was wrong" not in at.ask("/history")[2]
    status, text = at.post("Restore", entry, "Plan")
    assert (status, "comes back to shared" in text) == (200, True)
    address = at.post("Restore", entry, "Apply")[1]
    assert id_of(here, "8080") == entry
    key = re.search(r"done=(\w+)", address)
    assert key
    assert at.post("", "", "Undo", done=key[1])[0] == 303
    assert not any("8080" in one for one in texts(here))


def test_a_date_that_another_tab_gave_is_not_overwritten(here):
    at = browser(here)
    entry = here.entry(id_of(here, "8080"))
    seen = mark_of(entry)
    assert at.post("Date", entry.id, "Apply", dated="2026-05-01", seen=seen)[0] == 303
    before = texts(here)
    status, text = at.post("Date", entry.id, "Apply", dated="2026-04-01", seen=seen)
    assert (status, "was changed meanwhile" in text) == (409, True)
    assert texts(here) == before


def test_outdated_entries_are_pruned_by_rows_and_come_back(here):
    path = here.path / here.target(Actor(), tier=Tier.SHARED).path
    path.write_text(path.read_text() + "".join(f"- [2020-01-0{day}] Old {day}.\n" for day in range(1, 4)))
    at = browser(here)
    text = at.ask("/prune")[2]
    Seen(text).check(live=True)
    ids = {words: id_of(here, words) for words in ("Old 1", "Old 2", "Old 3")}
    assert all(one in text for one in ids.values())
    before = texts(here)
    status, text = at.post("Prune", ids["Old 2"], "Plan", older="90d")
    assert (status, "Old 2." in text, "Old 1." in text) == (200, True, False)
    assert texts(here) == before
    status, address = at.post("Prune", ids["Old 2"], "Apply", older="90d")
    assert [one for one in before if one not in texts(here)] == ["- [2020-01-02] Old 2."]
    assert at.post("Prune", ids["Old 2"], "Apply", older="90d")[0] == 409
    assert at.post("", "", "Undo", done=address.partition("done=")[2])[0] == 303
    assert texts(here) == before


def test_more_than_half_of_a_document_is_pruned_only_where_that_is_said(here):
    path = here.path / here.target(Actor("tester")).path
    path.write_text("# T\n\n- [2020-01-01] Old.\n")
    at = browser(here)
    assert "More than half would go" in at.ask("/prune?of=agent:tester")[2]
    status, text = at.post("Prune", id_of(here, "Old."), "Apply")
    assert (status, "more than half" in text) == (409, True)
    assert at.post("Prune", id_of(here, "Old."), "Apply", force="yes")[0] == 303


def test_what_conversations_taught_is_distilled_by_rows_and_taken_back(here):
    for name in ("c1", "c2", "c3"):
        here.remember("The gotcha: xdist hides output.", tier=Tier.CONVERSATION, conversation=name)
    at = browser(here)
    text = at.ask("/distill")[2]
    Seen(text).check(live=True)
    chosen = re.search(r'name="id" value="(\w+)"', text)
    assert chosen
    before = texts(here)
    assert "xdist hides output" in at.post("Distill", chosen[1], "Plan")[1]
    assert texts(here) == before
    status, address = at.post("Distill", chosen[1], "Apply")
    assert status == 303
    assert len(texts(here)) == len(before) + 1
    assert at.post("", "", "Undo", done=address.partition("done=")[2])[0] == 303
    assert texts(here) == before


def test_a_proposal_is_refused_and_that_is_taken_back(here):
    for name in ("c1", "c2", "c3"):
        for text in ("The gotcha: xdist hides output.", "The gotcha: the cache is cold at nine."):
            here.remember(text, tier=Tier.CONVERSATION, conversation=name)
    at = browser(here)
    ids = [one.id for one in here.plan_distillation().candidates]
    assert "is not proposed again" in at.post("Refuse", ids[0], "Plan")[1]
    here.refuse("distill", here.plan_distillation().candidates, ids[1:2])
    address = at.post("Refuse", ids[0], "Apply")[1]
    assert not {ids[0], ids[1]} & {one.id for one in here.plan_distillation().candidates}
    assert undo(at, address)[0] == 303
    assert ids[0] in {one.id for one in here.plan_distillation().candidates}
    assert ids[1] not in {one.id for one in here.plan_distillation().candidates}


def test_a_distillation_is_not_taken_back_over_what_others_wrote_since(here):
    for name in ("c1", "c2", "c3"):
        here.remember("The gotcha: xdist hides output.", tier=Tier.CONVERSATION, conversation=name)
    at = browser(here)
    address = at.post("Distill", here.plan_distillation().candidates[0].id, "Apply")[1]
    here.remember("Written since.", tier=Tier.SHARED)
    status, text = undo(at, address)
    assert (status, "was changed by others since" in text) == (409, True)
    assert any("Written since." in one for one in texts(here))


@pytest.mark.slow
def test_prune_looks_with_every_option_of_the_command(here):
    path = here.path / here.target(Actor(), tier=Tier.SHARED).path
    path.write_text(
        "# S\n\n- [until 2020-01-01] Has expired.\n- [2020-01-01] Is old.\n- Lasts.\n- Lasts, too.\n"
        "\n## Sprint 2020-01-01\n\n- Under a heading.\n"
    )
    here.sync(apply=True)
    at = browser(here)

    def offered(query: str) -> set[str]:
        text = at.ask(f"/prune?{query}")[2]
        Seen(text).check(live=True)
        return {one.text.partition("] ")[2] or one.text[2:] for one in here.entries() if f'value="{one.id}"' in text}

    assert offered("") == {"Has expired.", "Is old."}
    assert offered("what=expired") == {"Has expired."}
    assert offered("sections=yes") == {"Has expired.", "Is old.", "Under a heading."}
    assert offered("older=2020-01-01") == {"Has expired."}
    assert offered("limit=yes") == {"Has expired."}
    assert offered("of=agent:dev") == set()
    assert "is not an age" in at.ask("/prune?older=soon")[2]
    under = id_of(here, "Under a heading")
    before = path.read_text()
    assert at.post("Prune", under, "Plan")[0] == 409
    status, address = at.post("Prune", under, "Apply", sections="yes")
    assert status == 303, address
    assert "Under a heading" not in path.read_text()
    assert undo(at, address)[0] == 303
    assert path.read_text() == before


RECORD_CHANGES = ("Archive", "Reactivate", "Resolve", "Dispute")


@pytest.mark.slow
@pytest.mark.parametrize("is_disputed", [False, True], ids=["free", "disputed"])
@pytest.mark.parametrize("verb", RECORD_CHANGES)
def test_what_was_done_to_records_is_undone_and_the_plan_says_how(here, verb, is_disputed):
    folder = here.path / ".scaffolding" / "agent-memory"
    opens = lambda: Memory(folder, consolidate_every=0)  # noqa: E731
    with opens() as memory:
        one, other = (memory.remember(text).record_id for text in ("Rounded per line.", "Rounded at the end."))
        if verb == "Reactivate":
            memory.archive(one, "old")
        elif is_disputed:
            memory.dispute(one, other, "two teams")

    def held() -> set[tuple[str, bool]]:
        with opens() as memory:
            return {(record.body, record.transition is not None) for record in memory.records() if record.state in LIVE}

    before = held()
    at = Browser(live.LivePage(lambda: here, opens, Actor(), 8123))
    fields = {"other": other} if verb in ("Resolve", "Dispute") else {}
    says_how = "under another id" in at.post(verb, one, "Plan", **fields)[1]
    assert says_how == (verb != "Reactivate")
    assert held() == before
    status, address = at.post(verb, one, "Apply", **fields)
    assert status == 303
    page = at.ask(address)[2]
    Seen(page).check(live=True)
    if verb == "Dispute" and is_disputed:  # nothing was changed
        assert 'value="Undo"' not in page
        return
    assert held() != before
    assert undo(at, address)[0] == 303
    assert held() == before
    assert undo(at, address)[0] == 409


@pytest.mark.slow
def test_a_document_with_a_conflict_is_shown_and_no_plan_is_made_for_it(here):
    path = here.path / here.target(Actor(), tier=Tier.SHARED).path
    entry = id_of(here, "8080")
    path.write_text(f"{path.read_text()}<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n")
    at = browser(here)
    assert "The port is 8080." in at.document()
    for verb, fields in (("Edit", {"text": "The port is 7070."}), ("Forget", {}), ("Date", {"dated": "2026-05-01"})):
        status, text = at.post(verb, entry, "Plan", **fields)
        assert (status, "unresolved merge conflict" in text) == (409, True)


def test_two_tabs_do_not_overwrite_each_other(here):
    one, other = browser(here), browser(here)
    entry = id_of(here, "8080")
    assert one.post("Edit", entry, "Apply", text="First.")[0] == 303
    status, text = other.post("Edit", entry, "Apply", text="Second.")
    assert (status, 'role="alert"' in text, "First." in text or "got another text" in text) == (409, True, True)
    assert "First." in " ".join(texts(here))
    assert "Second." not in " ".join(texts(here))


@pytest.mark.slow
def test_refusals_are_those_of_the_workspace_and_shown_in_place(here):
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    at = browser(here)
    entry = id_of(here, "8080")
    before = texts(here)
    for step in ("Plan", "Apply"):
        status, text = at.post("Edit", entry, step, text=f"The token is {token}.")
        assert (status, 'role="alert"' in text, token in text) == (409, True, False)
        Seen(text).check(live=True)
        assert at.post("Date", entry, step, dated="tomorrow")[0] == 409
        assert at.post("Resolve", entry, step, other=entry)[0] == (200 if step == "Plan" else 409)
        assert at.post("Drop", entry, step)[0] == 409
        assert browser(here, Actor("tester")).post("Forget", id_of(here, "Only dev"), step)[0] == 409
    assert texts(here) == before


@pytest.mark.slow
def test_the_rights_of_the_reader_hold_for_every_view(here):
    at = browser(here, Actor("tester"))
    name = id_of(here, "Only dev")
    here.remember("Gone from dev.", tier=Tier.AGENT, agent="dev")
    here.forget([id_of(here, "Gone from dev")])
    views = [
        *("/", "/document?of=agent:dev", "/document?of=agent%3Adev&judged=1&task=dev", f"/entry?id={name}"),
        *("/search?q=dev+knows", "/history", "/history?of=agent:dev", "/upkeep", "/records", "/prune?of=agent:dev"),
        *("/distill", "/compare?base=HEAD"),
    ]
    for view in views:
        text = at.ask(view)[2]
        assert "nly dev" not in text, view
        assert "one from dev" not in text, view
        Seen(text).check(live=True)
    mine = browser(here, Actor("dev"))
    for view in ("/document?of=agent:dev", f"/entry?id={name}", "/search?q=dev+knows"):
        assert "Only dev knows." in mine.ask(view)[2], view
    assert "Gone from dev." in mine.ask("/history")[2]


@pytest.mark.slow
def test_a_read_only_page_has_nothing_that_changes(here):
    at = browser(here, is_read_only=True)
    here.dispute(id_of(here, "8080"), id_of(here, "9090"))
    here.forget([id_of(here, "Only dev")])
    entry = id_of(here, "8080")
    for view in ("/", "/document?of=shared", f"/entry?id={entry}", "/history", "/upkeep", "/records", "/search?q=port"):
        text = at.ask(view)[2]
        Seen(text).check(live=True)
        assert 'method="post"' not in text, view
        assert "/prune" not in text, view
    assert f"amp resolve {entry}" in at.document()
    assert at.ask("/prune")[0] == at.ask("/distill")[0] == 404
    assert at.post("Forget", id_of(here, "8080"), "Apply")[0] == 404
    assert any("8080" in one for one in texts(here))


def test_a_write_of_another_program_is_seen_and_local_state_is_not(here):
    folder = str(here.path / ".scaffolding")
    before = state_of(folder)
    (here.path / ".scaffolding" / ".amp").mkdir(exist_ok=True)
    (here.path / ".scaffolding" / ".amp" / "x").write_text("x")
    assert state_of(folder) == before
    path = here.path / here.remember("News.", tier=Tier.SHARED).path
    news, info = state_of(folder), path.stat()
    assert news != before
    path.write_text(path.read_text().replace("News", "Olds"))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert state_of(folder) != news


def test_a_port_that_is_taken_is_refused_in_one_line():
    with live.bind(0) as bound, pytest.raises(StorageError, match="--port"):
        live.bind(bound.getsockname()[1])


@pytest.mark.slow
@pytest.mark.parametrize("text", ["one", "one\n\n    code\nmore", "one\n- two\n  - three", "[2026-01-01] one"])
def test_the_text_that_is_offered_for_editing_makes_the_same_entry(here, text):
    here.remember(text, tier=Tier.AGENT, agent="tester")
    (entry,) = here.entries(targets=[here.target(Actor("tester"))])
    here.edit(entry.id, "another")
    (changed,) = here.entries(targets=[here.target(Actor("tester"))])
    here.edit(changed.id, without_bullet(entry))
    assert entry.text in texts(here)


@pytest.mark.slow
def test_looking_counts_nothing_as_used(here):
    (here.path / ".scaffolding" / "amp.toml").write_text("[recall]\ncount = true\n")
    at = browser(here)
    for view in ("/", "/document?of=shared&task=port", "/search?q=port", f"/entry?id={id_of(here, '8080')}"):
        assert at.ask(view)[0] == 200
    assert not any(counted for *_, counted in here.usage())
    here.search("port")
    assert any(counted for *_, counted in here.usage())
    assert "found 1" in at.document()


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb", ["entries", "status", "recall", "notes", "check", "review", "restorable", "git_notes", "diff"]
)
def test_whatever_fails_a_person_gets_a_page_with_one_line_and_the_terminal_one(here, monkeypatch, capsys, verb):
    at = browser(here)

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault\nof two lines")

    monkeypatch.setattr(Workspace, verb, fails)
    told = 0
    for path in (
        "/",
        "/document?of=shared&judged=1",
        "/upkeep",
        "/history",
        "/search?q=port",
        "/compare",
        "/prune",
        "/distill",
    ):
        status, _, text = at.ask(path)
        assert (status, "</main>" in text, "Traceback" in text) == (200, True, False)
        Seen(text).check(live=True)
        told += "This could not be shown, which is a fault of amp: ZeroDivisionError: a fault of two lines." in text
    assert told
    told_here = capsys.readouterr().err.splitlines()
    assert told_here
    assert all(
        re.fullmatch(r"amp: view: .*: ZeroDivisionError: a fault of two lines \(\w+\.py:\d+\)", one)
        for one in told_here
    )


@pytest.mark.slow
def test_a_change_that_fails_says_that_it_may_have_been_done(here, monkeypatch, capsys):
    at = browser(here)
    entry = id_of(here, "8080")

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(Workspace, "forget", fails)
    status, text = at.post("Forget", entry, "Apply")
    assert (status, "It may have been done: look before you try again." in text) == (500, True)
    Seen(text).check(live=True)
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.slow
def test_a_page_that_breaks_half_way_ends_with_the_reason(here, monkeypatch, capsys):
    at = browser(here)

    def fails(*_: object) -> None:
        raise ZeroDivisionError("<b>a fault</b>")

    monkeypatch.setattr("agent_memory_protocol.view.html.as_html", fails)
    status, _, text = at.ask("/document?of=shared")
    assert status == 200
    assert "ZeroDivisionError: &lt;b&gt;a fault" in text
    assert text.endswith("</html>\n")
    assert len(capsys.readouterr().err.splitlines()) == 1
