import pytest


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Sent the report on the 8th.", "state: the project's state files or its journal"),
        ("Redis must run with AOF on.", "lesson: the shared tier"),
        ("We decided on Postgres.", "lesson: the conversation tier"),
        ("PayPal link is in env/paypal.txt", "lesson: a reference note beside the shared tier"),
        ("The OrderStatus enum has the values a and b.", "repository: it can be looked up there"),
        ("The admin password is Rj7%kk20Lq", "secret: an env file outside git"),
    ],
)
@pytest.mark.requirement("S2-02")
def test_route_says_where_why_and_how(amp, text, place):
    code, out, err = amp("route", text)
    assert (code, err) == (0, "")
    first, why, *rest = out.splitlines()
    assert first == place
    assert why.startswith("why:  ")
    assert rest[-1].startswith("save: ")


def test_the_question_is_asked(amp):
    out = amp("route", "The OrderStatus enum has the values a and b.").out
    assert "ask:  What was non-obvious about it? Save that instead.\n" in out
    assert "ask:" not in amp("route", "Redis must run with AOF on.").out


def test_route_reads_stdin(amp):
    assert amp("route", "-", stdin="We decided on Postgres.\n").out.startswith("lesson: the conversation tier\n")


def test_route_takes_a_text_that_begins_with_a_dash(amp):
    assert amp("route", "- Redis must run with AOF on.").out.startswith("lesson: the shared tier\n")


def test_route_as_json(amp):
    answer = amp("route", "She prefers tea.", "--json").json()
    assert answer == {
        "version": 1,
        "place": "lesson",
        "tier": "shared",
        "note_type": "user",
        "reason": "It tells who the owner is and how they like to work (“She prefers”).",
        "question": None,
        "sure": True,
        "command": "amp note new user SLUG --tier shared --description 'She prefers tea.' --why WHY --how HOW",
    }


def test_a_secret_is_not_repeated(amp):
    for arguments in ([], ["--json"]):
        assert "Rj7%kk20Lq" not in amp("route", "The admin password is Rj7%kk20Lq", *arguments).out


def test_what_plays_with_the_terminal_is_shown(amp):
    assert "\x1b" not in amp("route", "Sent \x1b[31mthe report on the 8th.").out


def test_route_needs_no_project_and_makes_nothing(amp):
    amp("route", "Redis must run with AOF on.")
    assert amp.tree() == {}
    assert "route" in amp("help", "--all").out


def test_a_route_without_text_is_a_mistake(amp):
    amp("route").refuses(2, "missing argument")


def test_remember_says_its_doubts_on_stderr(amp):
    (amp.root / ".scaffolding").mkdir()
    code, out, err = amp("remember", "Sent the report on the 8th.")
    assert code == 0
    assert out.startswith("remembered: ")
    assert err.count("\n") == 1
    assert "`echo 'Sent the report on the 8th.' >> journal.md`" in err


def test_note_new_says_its_doubts_on_stderr(amp):
    answer = amp("note", "new", "project", "it", "--description", "All 214 tests pass.", "--why", "w", "--how", "h")
    assert answer.code == 0
    assert "`amp note remove project_it`" in answer.err
