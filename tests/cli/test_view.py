"""`amp view`: the page goes where it is asked to go, and no file is lost to it."""

import signal
import subprocess
import urllib.request

import pytest


@pytest.fixture
def told(amp):
    amp("remember", "A fact for all.")
    amp("remember", "A fact of dev.", "--agent", "dev")
    return amp


@pytest.mark.slow
def test_the_page_goes_into_a_file_or_to_stdout(told):
    answer = told("view", "--output", "m.html")
    assert (answer.code, answer.out) == (0, "")
    assert "wrote m.html" in answer.err
    page = (told.root / "m.html").read_text(encoding="utf-8")
    assert told("view", "--output", "-").out == page
    assert "A fact for all." in page


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


def test_a_port_that_cannot_be_is_refused(told):
    told("view", "--port", "65536").refuses(2, "--port")


def test_what_cannot_be_read_is_said_on_the_page(told):
    told.write(".scaffolding/agent-memory/agents/bad/MEMORY.md", b"# M\n\n- \xff\n")
    answer = told("view", "--output", "-")
    assert answer.code == 0
    assert "What could not be read" in answer.out
    assert "A fact of dev." in answer.out


@pytest.mark.slow
def test_the_first_line_is_the_address_of_the_page_and_ctrl_c_ends_it(told):
    command = [told.script, "view", "--no-open", "--read-only", "--as", "dev"]
    with subprocess.Popen(
        command,
        cwd=told.root,
        env=told.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            keeps_cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with keeps_cookies.open(address, timeout=30) as answer:
                page = answer.read().decode()
            with keeps_cookies.open(f"{address.partition('?')[0]}document?target=agent:dev", timeout=30) as answer:
                page += answer.read().decode()
            waiting = keeps_cookies.open(f"{address.partition('?')[0]}events", timeout=30)
            assert waiting.readline() == b"retry: 2000\n"
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=30)
            waiting.close()
        finally:
            server.kill()
    assert "A fact of dev." in page
    assert address.startswith("http://127.0.0.1:")
    assert (server.returncode, out, err.strip()) == (130, "", "amp: stopped")
