"""What stands on disk in place of memory: recall says so and goes on, writers refuse and leave every byte as it was."""

import os
import subprocess

import pytest

from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/dev/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/c1/agent-memory/context.md"
VERBS_OVER_ALL = {
    "search well": (0, 4),
    "list": (0, 4),
    "status": (0, 4),
    "check": (0, 1),
    "check --fix": (0, 1),
    "index": (0, 4),
    "index --check": (0, 1),
    "note list": (0, 4),
    "review": (0, 4),
    "prune": (0, 4),
    "watch --once": (0, 4),
    "distill": (0, 4),
}
SAY_NOTHING_OF_CONVERSATIONS = ("index", "index --check", "note list", "watch --once")
SAY_NO_TEXT = {verb for verb in VERBS_OVER_ALL if verb not in ("search well", "list", "review")}
READERS: list[tuple[str, ...]] = [("show",), ("list",), ("status",), ("doctor", "dev"), ("where",)]
WRITERS: list[tuple[str, ...]] = [
    ("remember", "new fact"),
    ("remember", "new fact", "--section", "New"),
    ("remember", "new fact", "--dated", "--make-room"),
]


def dev_is_well(amp):
    amp.write(AGENT, "# D\n\n- well and seen\n")


def as_file(data):
    return lambda path: path.write_bytes(data)


def as_link(target):
    return lambda path: path.symlink_to(target)


def as_folder(path):
    path.mkdir()
    (path / "inside.md").write_text("- inside\n")


def as_secret(path):
    outside = path.parents[4] / "secret.md"
    outside.write_text("- outside and secret\n")
    path.symlink_to(outside)


def as_socket(path):
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(path.parent, os.O_RDONLY)
        before = os.open(".", os.O_RDONLY)
        os.fchdir(here)  # a socket's path has only about a hundred bytes
        try:
            server.bind(path.name)
        finally:
            os.fchdir(before)
            os.close(here)
            os.close(before)


UNREADABLE = {
    "latin-1": (as_file(b"# S\n\n- caf\xe9\n"), ":3: byte 0xE9 is not UTF-8; save the file as UTF-8"),
    "utf-16": (as_file("# S\n\n- café\n".encode("utf-16")), ": is UTF-16, not UTF-8; save it as UTF-8"),
    "utf-16-without-mark": (as_file("# S\n\n- café\n".encode("utf-16-le")), None),
    "cut-in-a-character": (as_file(b"# S\n\n- \xf0\x9f\x98"), ":3: byte 0xF0 is not UTF-8"),
    "folder": (as_folder, ": is a folder, not a file; move it away"),
    "pipe": (os.mkfifo, ": is a named pipe, not a file; move it away"),
    "socket": (as_socket, "not a file; move it away"),
    "dangling-link": (
        as_link("nowhere.md"),
        ": a link to nowhere.md, which does not exist; mend the link or remove it",
    ),
    "loop": (as_link("KNOWLEDGE.md"), ": a loop of links; replace it by the file itself"),
    "link-outside": (as_secret, "which leads outside the project"),
    "link-to-a-device": (as_link("/dev/zero"), "which leads outside the project"),
    "link-to-a-folder": (as_link(".."), "is a folder, not a file"),
}
"""What cannot be read: how it is made, and what is said of it."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_stated_and_the_rest_is_given(amp, kind):
    """B52, B80. Nothing raises, nothing hangs, nothing is changed."""
    make, words = UNREADABLE[kind]
    dev_is_well(amp)
    (amp.root / SHARED).parent.mkdir(parents=True)
    make(amp.root / SHARED)
    before = amp.tree(amp.home)

    recalled = amp.process("recall", "dev")
    assert recalled.code == 0
    assert "- well and seen" in recalled.out
    assert "secret" not in recalled.out.replace("secret.md", "")
    if words is not None:
        assert words in recalled.err
        assert recalled.err.count("\n") == 1
        assert f"(not read: {recalled.err.removeprefix('amp: ').rstrip()})" in recalled.out.replace("&lt;", "<")
        for args in WRITERS:
            amp(*args).refuses(4, SHARED, words)
        amp("show").refuses(4, SHARED, words)
        amp("show", "--left-out").refuses(4, words)
        for args in READERS[1:4]:
            answer = amp(*args)
            assert answer.code == 4
            assert words in answer.out + answer.err
            assert "agent:dev" in answer.out
            amp(*args, "--json").json(4)
    for args in WRITERS:
        assert amp(*args).code == 4
    assert amp("init").out == f"kept     {SHARED}\n"
    kept = amp.tree(amp.home)
    kept.pop("project/.scaffolding/.gitattributes", None)
    assert kept == before


ODD = {
    "nothing": b"",
    "blanks": b" \n\t\n\n",
    "nul": b"# S\n\n- a\0b\n",
    "escape": b"# S\n\n- \x1b[31mred\n",
    "lone-cr": b"# S\r\r- one\r- two\r",
    "mixed-endings": b"# S\n\n- one\r\n- two\n- three\r",
    "mark": b"\xef\xbb\xbf# S\r\n\r\n- one\r\n",
    "only-a-mark": b"\xef\xbb\xbf",
    "conflict": b"# S\n\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n",
    "long-line": b"# S\n\n- " + b"x" * 60_000 + b"\n",
    "open-fence": b"# S\n\n```\n- a\n",
    "open-comment": b"# S\n\n<!-- \n- a\n",
    "open-front-matter": b"---\nname: x\n- a\n",
    "deep": b"".join(b"  " * depth + b"- x\n" for depth in range(200)),
    "quotes": b">" * 5000 + b" x\n",
    "brackets": b"# S\n\n- " + b"[" * 20_000 + b"\n",
    "separators": "# S\n\n- a\u2028b\u0085c\x0cd\n".encode(),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ODD)
def test_an_odd_document_is_read_by_every_verb_and_written_or_refused(amp, kind):
    dev_is_well(amp)
    amp.write(SHARED, ODD[kind])
    before = amp.tree()
    recalled = amp("recall", "dev")
    assert (recalled.code, "- well and seen" in recalled.out) == (0, True)
    for args in READERS:
        answer = amp(*args)
        assert answer.code in (0, int(args[0] == "doctor")), answer
        amp(*args, "--json").json(answer.code)
    assert amp.tree() == before
    for args in WRITERS:
        before = amp.tree()
        answer = amp(*args)
        after = amp.tree()
        if answer.code:
            assert answer.code in (3, 4)
            answer.refuses(answer.code, SHARED)
            assert after == before
        else:
            assert ODD[kind].strip() in after[SHARED][1]
            assert after[AGENT] == before[AGENT]


def test_merge_conflicts_are_recalled_with_a_warning_and_never_rewritten(amp):
    """B78."""
    amp.write(SHARED, ODD["conflict"])
    answer = amp("recall")
    assert answer.err == f"amp: {SHARED} holds merge conflict markers; both sides are recalled\n"
    assert "- a" in answer.out
    assert "- b" in answer.out
    amp("remember", "x").refuses(4, f"{SHARED}:3: unresolved merge conflict; resolve it first")


def test_a_file_with_merge_conflicts_is_not_imported_and_its_markers_are_no_entries(amp):
    amp.write(SHARED, ODD["conflict"])
    for args in (("import", SHARED, "--to", "agent:dev", "--apply"), ("convert", SHARED, "out.jsonl")):
        amp(*args).refuses(4, f"{SHARED}:3: unresolved merge conflict; resolve it first")
    for verb in ("list", "export shared --format jsonl", "review"):
        answer = amp(*verb.split())
        assert not any(mark in answer.out for mark in ("<<<<<<<", "=======", ">>>>>>>")), verb


def test_a_nul_is_shown_and_never_rewritten(amp):
    amp.write(SHARED, ODD["nul"])
    assert "- a\\x00b" in amp("recall").out
    amp("remember", "x").refuses(4, f"{SHARED}:3: holds a NUL character; take it out first")


@pytest.mark.slow
def test_a_huge_file_is_recalled_in_part_and_written_never(amp, sized):
    """B83: whole large files are read into memory."""
    count = sized(100_000, 1_000_000, 1_000_000)
    dev_is_well(amp)
    amp.write(
        SHARED,
        b"# S\n\n" + b"".join(b"- fact %d of a page that has grown beyond all bounds\n" % n for n in range(count)),
    )
    before = (amp.root / SHARED).stat()
    recalled = amp.process("recall", "dev")
    assert recalled.code == 0
    assert "- well and seen" in recalled.out
    assert f"of {count + 2}" in recalled.out
    for args in WRITERS:
        amp(*args).refuses(4, f"{SHARED}: is too large to be a page of memory; split it up by hand")
    assert amp("list").err == f"amp: {SHARED}: is too large to be a page of memory; split it up by hand\n"
    assert "not readable" in amp("status").out
    doctor = amp("doctor")
    assert doctor.code == 4
    assert f"{count + 2:,} lines; that is not a page of memory any more; split it up by hand" in doctor.out
    after = (amp.root / SHARED).stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)


@pytest.mark.slow
def test_show_of_a_huge_file_ends(amp, sized):
    count = sized(30_000, 150_000, 150_000)
    amp.write(SHARED, b"# S\n\n" + b"- a fact\n" * count)
    answer = amp.process("show")
    assert answer.code == 0
    assert answer.out.endswith(f"{count + 2}  - a fact\n")
    command = amp("recall").out.partition("`amp ")[2].partition("`")[0]
    assert amp.process(*command.split()).code == 0


# -- the whole store ---------------------------------------------------------------------------------------------------


def test_a_store_that_is_a_file_is_one_line_for_everyone(amp):
    """B80."""
    amp.write(".scaffolding", "a file\n")
    before = amp.tree()
    recalled = amp("recall", "dev")
    assert recalled.code == 0
    problem = ".scaffolding: cannot be read: there is a file where a folder should be; move it away"
    assert recalled.err == f"amp: {problem}\n"
    assert recalled.out.count(f"(not read: {problem})") == 2
    for args in (["remember", "x"], ["init"], ["init", "--ignore"], ["show"], ["list"], ["status"]):
        amp(*args).refuses(4, ".scaffolding", "there is a file where a folder should be; move it away")
    assert amp.tree() == before


PARTS = [
    ".scaffolding/agent-memory",
    ".scaffolding/agent-memory/shared",
    ".scaffolding/agent-memory/agents",
    ".scaffolding/agent-memory/agents/dev",
    ".scaffolding/conversations",
    ".scaffolding/.amp",
    ".scaffolding/.amp/locks",
    ".scaffolding/amp.toml/x",
]


@pytest.mark.slow
@each_row("kind", ["file", "dangling-link", "pipe"], fresh=True)
@each_row("part", PARTS, fresh=True)
def test_something_else_in_a_folders_place_is_one_line(amp, part, kind):
    """B80: `.scaffolding` is a file; MEMORY.md is a folder."""
    path = amp.root / part
    path.parent.mkdir(parents=True)
    {"file": as_file(b"x"), "dangling-link": as_link("nowhere"), "pipe": os.mkfifo}[kind](path)
    before = amp.tree()
    for args in (("recall", "dev", "--conversation", "c1"), *READERS, *WRITERS, ("remember", "x", "--agent", "dev")):
        answer = amp(*args)
        assert answer.code in (0, 4), answer
        assert all(line.startswith("amp: ") for line in answer.err.splitlines())
        if args[0] == "recall":
            assert answer.code == 0
        if answer.code and args[0] in ("remember", "show"):
            answer.refuses(4)
    lost = [name for name in before if before[name] != amp.tree().get(name)]
    assert lost == []


@pytest.mark.slow
def test_what_nobody_may_read_is_one_line(public_amp):
    """B80, as a user without rights."""
    amp = public_amp
    amp("remember", "kept from you")
    amp("remember", "well and seen", "--agent", "dev")
    amp.give_to_nobody()
    for hidden, in_the_way in (
        (SHARED, SHARED),
        (os.path.dirname(SHARED), os.path.dirname(SHARED)),
        (".scaffolding", ".scaffolding"),
    ):
        path = amp.root / hidden
        mode = path.stat().st_mode
        before = amp.tree()
        path.chmod(0)
        recalled = amp.as_nobody("recall", "dev")
        assert recalled.code == 0
        assert "permission denied; change the permissions" in recalled.out
        assert "kept from you" not in recalled.out
        for args in (["remember", "x"], ["show"]):
            amp.as_nobody(*args).refuses(4, in_the_way, "permission denied")
        for verb in ("list", "status", "doctor"):
            answer = amp.as_nobody(verb)
            assert answer.code == 4
            assert "permission denied" in answer.out + answer.err
        path.chmod(mode)
        assert amp.tree() == before


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0, 0o111, 0o444], ids=["closed", "not-listed", "not-entered"])
@pytest.mark.parametrize(
    "owner", [os.path.dirname(AGENT), os.path.dirname(CONVERSATION)], ids=["agent", "conversation"]
)
def test_one_folder_that_nobody_may_read_costs_no_other(public_amp, owner, mode):
    amp = public_amp
    amp("remember", "well and seen")
    amp("remember", "well and seen too", "--agent", "other")
    amp.write(".scaffolding/agent-memory/agents/other/user_x.md", "---\ndescription: a note well seen\n---\nx\n")
    amp("remember", "kept from you", "--agent", "dev")
    amp.write(f"{os.path.dirname(AGENT)}/user_y.md", "---\ndescription: kept from you\n---\ny\n")
    amp("remember", "kept from you", "--conversation", "c1")
    amp("index")
    amp.give_to_nobody()
    before, usual = amp.tree(), (amp.root / owner).stat().st_mode
    (amp.root / owner).chmod(mode)
    for verb, codes in VERBS_OVER_ALL.items():
        answer = amp.as_nobody(*verb.split())
        assert answer.code in codes, (verb, answer)
        assert "well and seen" in answer.out or verb in SAY_NO_TEXT, (verb, answer)
        if mode != 0o111 and verb not in SAY_NOTHING_OF_CONVERSATIONS:
            assert "permission denied" in answer.out + answer.err, (verb, answer)
    answer = amp.as_nobody("search", "well seen", "--as", "other")
    assert "permission denied" not in answer.err
    assert "a note well seen" in answer.out
    (amp.root / owner).chmod(usual)
    assert amp.tree() == before


@pytest.mark.slow
@each_row("verb", [verb for verb, codes in VERBS_OVER_ALL.items() if 4 in codes], fresh=True)
def test_a_verb_over_all_ends_with_4_where_one_file_cannot_be_read(amp, verb):
    amp("remember", "well and seen")
    assert amp(*verb.split()).code == 0
    for path in (AGENT, f"{os.path.dirname(AGENT)}/user_x.md", CONVERSATION):
        amp.write(path, "")
        (amp.root / path).write_bytes(b"- seen \xff\n")
    answer = amp(*verb.split())
    assert (answer.code, "is not UTF-8" in answer.out + answer.err) == (4, True)


NOT_FILES = {
    "pipe": os.mkfifo,
    "socket": as_socket,
    "device": as_link("/dev/zero"),
    "folder": as_folder,
    "loop": as_link("MEMORY.md"),
}
NAMES = {
    "backslash": b"a\\b",
    "line-feed": b"a\nb",
    "escape": b"a\x1b[31mb",
    "latin-1": b"caf\xe9",
    "tag": "a\U000e0041".encode(),
}
BAD_NAMES = [(owner, name) for owner in (AGENT, CONVERSATION) for name in NAMES]


def serves_the_rest(amp, seldom=("distill", "index --check", "prune")):
    """Check that each verb ends in order, says what it knows of the good file, and writes no byte that is not text."""
    for verb, codes in VERBS_OVER_ALL.items():
        answer = amp(*verb.split())
        assert answer.code in codes or verb in seldom, (verb, answer)
        assert "well and seen" in answer.out or verb in SAY_NO_TEXT, (verb, answer)
        assert all(line.isprintable() for line in (answer.out + answer.err).split("\n")), (verb, answer)
    assert amp("remember", "a new fact").code == 0
    assert amp("note", "new", "feedback", "x", "--description", "d", "--why", "w", "--how", "h").code == 0


@pytest.mark.slow
@each_row("kind", NOT_FILES, fresh=True)
def test_what_is_no_file_is_named_and_costs_no_other(amp, kind):
    """A plain open of a device or a pipe never ends: whoever reads goes through the one door, the watcher too."""
    amp("remember", "well and seen")
    for path in (AGENT, f"{os.path.dirname(SHARED)}/user_x.md"):
        (amp.root / path).parent.mkdir(parents=True, exist_ok=True)
        NOT_FILES[kind](amp.root / path)
    serves_the_rest(amp)
    told = amp("watch", "--once").err
    assert "agent:dev: " in told
    assert AGENT in told


@each_row(
    "command",
    [
        *("import x", "import x --to shared --apply", "adopt x", "harvest x --as dev --conversation c1", "merge x x x"),
        *("convert x y.json", "record list --store x", "record verify --store x", "view --output x --force"),
        *("export --output x --format jsonl", "record remember Fact. --identity x"),
    ],
    fresh=True,
)
def test_a_pipe_that_a_person_names_is_refused_and_waited_for_by_nobody(amp, command):
    os.mkfifo(amp.root / "x")
    assert amp(*command.split()).code in (2, 3, 4)


@pytest.mark.slow
@each_row("name", NAMES, fresh=True)
def test_an_odd_name_of_a_note_is_named_or_listed_and_costs_no_other(amp, name):
    amp("remember", "well and seen")
    odd = os.path.join(os.fsencode(amp.root), os.fsencode(os.path.dirname(SHARED)), b"user_" + NAMES[name] + b".md")
    with open(odd, "wb") as file:
        file.write(b"---\nname: x\ndescription: the odd one\n---\nx\n")
    serves_the_rest(amp)
    answer = amp("index")
    assert ("the odd one" in amp("recall").out) == (name != "latin-1")
    assert (answer.code, "not UTF-8; rename it" in answer.err) == ((4, True) if name == "latin-1" else (0, False))
    assert amp("index", "--check").code == (name == "latin-1")


@pytest.mark.slow
@pytest.mark.parametrize(("owner", "name"), BAD_NAMES)
def test_an_odd_name_of_a_folder_is_named_and_costs_no_other(amp, owner, name):
    amp("remember", "well and seen")
    tier, _, rest = owner.partition("dev" if "dev" in owner else "c1")
    odd = os.fsencode(f"{amp.root}/{tier}") + NAMES[name] + os.fsencode(rest)
    os.makedirs(os.path.dirname(odd))
    with open(odd, "wb") as file:
        file.write(b"# S\n\n- odd\n")
    serves_the_rest(amp)
    assert amp("list").code == 4
    assert "rename it" in amp("list").err or "rename its folder" in amp("list").err


def test_a_search_says_what_it_could_not_read_and_finds_the_rest(amp):
    amp("remember", "well and seen")
    assert amp("search", "seen", "--json").json()["problems"] == []
    amp.write(AGENT, "")
    (amp.root / AGENT).write_bytes(b"- seen \xff\n")
    answer = amp("search", "seen")
    assert (answer.code, "well and seen" in answer.out) == (4, True)
    assert f"amp: {AGENT}:1: byte 0xFF is not UTF-8" in answer.err
    found = amp("search", "seen", "--json").json(4)
    assert (len(found["hits"]), len(found["problems"])) == (1, 1)
    assert amp("search", "seen", "--as", "other").code == 0


@pytest.mark.slow
def test_a_file_that_is_write_protected_is_not_written(public_amp):
    amp = public_amp
    amp("remember", "kept")
    amp.give_to_nobody()
    (amp.root / SHARED).chmod(0o444)
    before = amp.tree()
    amp.as_nobody("remember", "x").refuses(4, SHARED, "permission denied")
    assert "- kept" in amp.as_nobody("recall").out
    assert amp.tree() == before
    (amp.root / SHARED).chmod(0o644)
    assert amp.as_nobody("remember", "x").code == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can become another user")
def test_a_folder_that_is_write_protected_is_not_written(public_amp):
    amp = public_amp
    amp("remember", "kept")
    before = amp.tree()
    assert "- kept" in amp.as_nobody("recall").out
    assert amp.as_nobody("remember", "x").code == 4
    assert amp.as_nobody("init", "--agent", "dev").code == 4
    assert amp.as_nobody("init").code in (0, 4)
    empty = amp.root / "empty"
    empty.mkdir()
    amp.as_nobody("init", "--root", "empty").refuses(4, "permission denied")
    amp.as_nobody("init", "--root", "empty/new").refuses(4, "the project root was not created: permission denied")
    empty.rmdir()
    assert amp.tree() == before


@pytest.fixture
def read_only(amp):
    """The project, once it stands on a file system that cannot be written: a mount of its own, made read-only."""

    def mount(*options):
        return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0

    if os.geteuid() != 0 or not mount("-t", "tmpfs", "amp-test", str(amp.root)):
        pytest.skip("only the superuser of a whole machine mounts file systems")
    try:
        yield lambda: mount("-o", "remount,ro", str(amp.root))
    finally:
        subprocess.run(["umount", "--lazy", str(amp.root)], check=True)


def test_a_read_only_file_system_is_read_and_not_written(amp, read_only):
    amp("init", "--agent", "dev")
    amp("remember", "kept")
    amp.write(SHARED.replace("shared", "agents/new").replace("KNOWLEDGE", "OTHER"), "x")
    before = amp.tree()
    if not read_only():
        pytest.skip("the mount cannot be made read-only")
    assert "- kept" in amp("recall", "dev").out
    for args in READERS:
        assert amp(*args).code == 0
    for args in (*WRITERS, ("remember", "x", "--agent", "dev"), ("init", "--agent", "new"), ("init", "--ignore")):
        amp(*args).refuses(4, "the file system is read-only; write somewhere else or mount it writable")
    amp("init", "--root", "new").refuses(4, "the project root was not created: the file system is read-only")
    assert amp("init").code == 0
    assert amp.tree() == before


def test_an_empty_read_only_folder_is_no_error_to_read(amp, read_only):
    if not read_only():
        pytest.skip("the mount cannot be made read-only")
    assert amp("recall", "dev") == (0, "", "")
    for args in READERS:
        assert amp(*args).code == 0
    for args in (*WRITERS, ("init",)):
        amp(*args).refuses(4, "the file system is read-only")


def test_an_odd_file_of_the_index_leaves_the_memory_beside_it(amp):
    amp("remember", "The zebra fact.")
    os.mkfifo(amp.root / ".scaffolding/agent-memory/shared/INDEX.md")
    answer = amp("recall")
    assert "- The zebra fact." in answer.out
    assert "INDEX.md: is a named pipe, not a file; move it away" in answer.err


def test_what_stands_in_place_of_the_records_leaves_the_documents_to_be_found(amp):
    amp("remember", "The zebra fact.")
    amp.write(".scaffolding/agent-memory/records", "x")
    answer = amp("search", "zebra")
    assert answer.code == 4
    assert "The zebra fact." in answer.out
    assert "agent-memory/records: cannot be read" in answer.err
    page = amp("view", "--output", "-").out
    assert "The zebra fact." in page
    assert "agent-memory/records: cannot be read" in page
