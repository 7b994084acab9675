"""`amp view`: the page goes where it is asked to go, and no file is lost to it."""

import pytest


@pytest.fixture
def told(amp):
    amp("remember", "A fact for all.")
    amp("remember", "A fact of dev.", "--agent", "dev")
    return amp


def test_the_page_goes_into_a_file_or_to_stdout(told):
    answer = told("view", "--output", "m.html", "--today", "2026-06-01")
    assert (answer.code, answer.out) == (0, "")
    assert "wrote m.html" in answer.err
    page = (told.root / "m.html").read_text(encoding="utf-8")
    assert told("view", "--output", "-", "--today", "2026-06-01").out == page
    assert "A fact for all." in page
    assert "2026-06-01" in page


def test_a_file_that_is_there_is_replaced_only_by_force(told):
    told.write("m.html", "mine")
    told("view", "--output", "m.html").refuses(3, "--force")
    assert (told.root / "m.html").read_text() == "mine"
    assert told("view", "--output", "m.html", "--force").code == 0
    assert "A fact for all." in (told.root / "m.html").read_text()


def test_an_agent_sees_its_own_page_and_writes_none_over_memory(told):
    assert "A fact of dev." in told("view", "--output", "-", "--as", "dev").out
    assert "A fact of dev." not in told("view", "--output", "-", "--as", "other").out
    before = told.tree()
    told("view", "--output", ".scaffolding/x.html", "--as", "dev").refuses(3, ".scaffolding")
    assert told.tree() == before


def test_records_and_their_states_are_on_the_page(told):
    assert 'id="records"' not in told("view", "--output", "-").out
    told("export", "shared", "--output", "facts.ndjson")
    assert told("import", "facts.ndjson", "--apply").code == 0
    page = told("view", "--output", "-").out
    assert 'id="records"' in page
    assert 'class="card record active"' in page


def test_without_a_file_one_line_says_what_to_add(told):
    told("view").refuses(2, "--output")


def test_what_cannot_be_read_is_said_on_the_page(told):
    told.write(".scaffolding/agent-memory/agents/bad/MEMORY.md", b"# M\n\n- \xff\n")
    answer = told("view", "--output", "-")
    assert answer.code == 0
    assert "What could not be read" in answer.out
    assert "A fact of dev." in answer.out
