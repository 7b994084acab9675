"""A shell's text is read as a shell would: commands, redirections, here-documents, quotes; never for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.guard.shell import read_commands
from agent_memory_protocol.guard.words import ANY
from tests.each_row import each_row

READ = [
    ("echo hi > a.md", [["echo", "hi"]], [("a.md", False)]),
    ("echo hi >> a.md 2>&1", [["echo", "hi"]], [("a.md", True)]),
    ("echo hi 2> err >| 'a b.md'", [["echo", "hi"]], [("err", False), ("a b.md", False)]),
    ("run &> all", [["run"]], [("all", False)]),
    ("run >& all", [["run"]], [("all", False)]),
    ("run >&2 2>&- <&0", [["run"]], []),
    ("a && b || c; d | e & f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]], []),
    ("(cd x && rm y)", [["cd", "x"], ["rm", "y"]], []),
    ("if test; then rm x; else rm y; fi", [["test"], ["rm", "x"], ["rm", "y"], ["fi"]], []),
    ("rm x # not > this", [["rm", "x"]], []),
    ("echo a#b", [["echo", "a#b"]], []),
    ("echo 'it > is' \"a > b\" \\> c", [["echo", "it > is", "a > b", ">", "c"]], []),
    ("r\\m 'a'\"b\"c", [["rm", "abc"]], []),
    ("rm \\\n  x", [["rm", "x"]], []),
    (r"""rm $'\x2ea'/$'\056b' $'it\'s' "$'c'" é$'\xe9\u20ac'""", [["rm", ".a/.b", "it's", "$'c'", "éé€"]], []),
    (r"printf $'a\tb\n' $'\xZ' $'open", [["printf", "a\tb\n", r"\xZ", "open"]], []),
    ("F=a.md; rm $F ${F}", [["rm", "a.md", "a.md"]], []),
    ("export F=a.md && rm \"$F\" '$F'", [["export", "F=a.md"], ["rm", "a.md", "$F"]], []),
    ("rm $UNKNOWN/x", [["rm", "$UNKNOWN/x"]], []),
    ("echo $(rm a; rm b) `rm c`", [["rm", "a"], ["rm", "b"], ["rm", "c"], ["echo", "$(rm a; rm b)", "`rm c`"]], []),
    ('echo "now $(date > a.md)"', [["date"], ["echo", "now $(date > a.md)"]], [("a.md", False)]),
    ("tee >(cat > z)", [["cat"], ["tee", ">(cat > z)"]], [("z", False)]),
    ("cat > a <<EOF\nb > c\nrm d\nEOF\nrm e", [["cat"], ["rm", "e"]], [("a", False)]),
    ("cat <<-'E' > a\n\tx\n\tE\nrm y", [["cat"], ["rm", "y"]], [("a", False)]),
    ("> a", [[]], [("a", False)]),
]


@each_row("text, words, writes", READ, ids=[text for text, _, _ in READ])
def test_a_text_is_read_as_a_shell_would(text, words, writes):
    found = read_commands(text)
    assert [command.words for command in found] == words
    assert [write for command in found for write in command.writes] == writes


def test_a_here_document_and_a_here_string_feed_their_command():
    (first, second, third) = read_commands("a <<X <<Y\none\nX\ntwo\nY\nb <<< 'three'; c")
    assert (first.feed, second.feed, third.feed) == ("one\ntwo\n", "three\n", "")


def test_variables_in_front_of_a_command_are_for_it_alone():
    (first, second) = read_commands("A=1 B='x y' run $A; run $A")
    assert (first.sets, first.words) == ({"A": "1", "B": "x y"}, ["run", ANY])
    assert second.words == ["run", ANY]


def test_what_a_loop_does_it_does_for_each_value():
    found = read_commands("for f in a b c; do echo x > $f; done")
    assert {path for command in found for path, _ in command.writes} == {"{a,b,c}"}


UNKNOWN = [
    'f() { rm "$1"; }; f .scaffolding/x',
    "w() { rm $TO; }; TO=.scaffolding/x; w",
    "ls .scaffolding/x | while read f; do rm $f; done",
    "F=.scaffolding/x; G=$(date); rm ${!G}",
]


@each_row("text", UNKNOWN)
def test_what_only_a_run_could_tell_is_any_path_that_the_text_names(text):
    removing = next(command for command in read_commands(text) if command.words[:1] == ["rm"])
    assert removing.words == ["rm", ANY]
    assert ".scaffolding/x" in removing.around


OPEN_ENDS = ["'", '"', "`", "$(", "${", "$((", "<<", "<<X", "<<'", "a <<X\nb", "\\", ">", "2>", "&>", ">(", "a=(", "$'"]


@each_row("text", OPEN_ENDS)
def test_what_is_never_closed_is_read_to_its_end(text):
    read_commands(f"echo a {text}")
    read_commands(text * 200)


_PARTS = st.sampled_from(
    [*OPEN_ENDS, *" \n;|&(){}#=", "echo", "rm x", "$A", "'a'", '"b"', "EOF", "for i in a b", "do", "done", ")", "}"]
)


@given(st.lists(_PARTS, max_size=30).map("".join))
def test_any_text_is_read(text):
    for command in read_commands(text):
        assert command.words or command.writes


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=5))
def test_quoted_words_are_read_back(words):
    quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in ["echo", *words])
    assert [command.words for command in read_commands(quoted)] == [["echo", *words]]


@pytest.mark.slow
def test_a_long_text_is_read_in_time_that_grows_with_it():
    assert len(read_commands("rm 'a b'; " * 20_000)) == 20_000
    assert read_commands("$(" * 5_000) is not None
    assert read_commands("echo " + "x" * 1_000_000)[0].words[1] == "x" * 1_000_000
