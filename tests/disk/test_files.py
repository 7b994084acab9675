"""Reading and listing: what lies inside the root is found, what is wrong is named, nothing outside is touched."""

import errno
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.disk import walk
from agent_memory_protocol.disk.files import Content, Root, TooLarge, decode, is_there, split_bom
from agent_memory_protocol.errors import AgentMemoryError, DamagedFile, InvalidArgument, StorageError
from tests.each_row import each_row
from tests.process import as_nobody, open_descriptors


@pytest.fixture(params=["descriptors", "paths"])
def project(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, beside one that must not be reached; with the system's descriptors, and without them."""
    if request.param == "paths":
        monkeypatch.setattr(walk, "USE_DESCRIPTORS", False)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret")
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def root(project: Path) -> Iterator[Root]:
    with Root.open(str(project)) as opened:
        yield opened


def complaint(action: Callable[[], object], kind: type[Exception] = DamagedFile) -> str:
    with pytest.raises(kind) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message
    return message


# -- the root ------------------------------------------------------------------------------------------------------


def test_a_root_that_does_not_exist_is_named(project: Path) -> None:
    assert "missing: there is no such folder" in complaint(lambda: Root.open(str(project / "missing")), StorageError)


def test_a_root_that_is_a_file_is_named(project: Path) -> None:
    (project / "file").touch()
    assert "file: this is a file" in complaint(lambda: Root.open(str(project / "file")), StorageError)


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_no_root_is_opened_from_an_empty_or_impossible_text(path: str) -> None:
    assert complaint(lambda: Root.open(path), InvalidArgument)


def test_a_root_behind_a_link_is_opened(project: Path, tmp_path: Path) -> None:
    (project / "a.md").write_text("a")
    (project / "b.md").symlink_to(project / "a.md")
    (tmp_path / "alias").symlink_to("project")
    with Root.open(str(tmp_path / "alias")) as root:
        assert root.path == str(tmp_path / "alias")
        assert [content.data for name in ("a.md", "b.md") if (content := root.read((name,)))] == [b"a", b"a"]


def test_a_relative_root_has_an_absolute_path(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    with Root.open(".") as root:
        assert root.path == str(project)


def test_scaffolding_that_is_a_file_is_named(project: Path, root: Root) -> None:
    (project / ".scaffolding").write_text("x")
    parts = (".scaffolding", "agent-memory", "shared", "KNOWLEDGE.md")
    assert complaint(lambda: root.read(parts)) == (
        ".scaffolding: cannot be read: there is a file where a folder should be; move it away"
    )


# -- reading -------------------------------------------------------------------------------------------------------


def test_a_file_is_read_whole_with_its_size_mode_and_stamp(project: Path, root: Root) -> None:
    file = project / "a" / "b" / "c.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"one\r\ntwo")
    file.chmod(0o640)
    content = root.read(("a", "b", "c.md"))
    assert content is not None
    info = file.stat()
    assert (content.data, content.size, content.mode) == (b"one\r\ntwo", 8, 0o640)
    assert content.stamp == (info.st_ino, 8, info.st_mtime_ns)


@each_row("parts", [("x.md",), ("no", "x.md"), ("no", "no", "no", "x.md")], fresh=True)
def test_what_does_not_exist_is_nothing(root: Root, parts: tuple[str, ...]) -> None:
    assert root.read(parts) is None
    assert not root.exists(parts)


def test_a_file_made_after_a_first_look_is_found(project: Path, root: Root) -> None:
    assert root.read(("a", "x.md")) is None
    (project / "a").mkdir()
    (project / "a" / "x.md").write_text("x")
    content = root.read(("a", "x.md"))
    assert content is not None
    assert content.data == b"x"


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / "a.md"
    file.write_bytes(b"x" * 100)
    real = os.read

    def grow(fd: int, size: int) -> bytes:
        if file.stat().st_size == 100:
            with file.open("ab") as more:
                more.write(b"y" * 100)
        return real(fd, size)

    monkeypatch.setattr(os, "read", grow)
    content = root.read(("a.md",))
    assert content is not None
    assert content.data == b"x" * 100 + b"y" * 100
    assert content.stamp[1] == 100  # so replacing it says that it has changed


def test_short_reads_are_put_together(project: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a.md").write_bytes(b"0123456789")
    real = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: real(fd, min(size, 3)))
    content = root.read(("a.md",))
    assert content is not None
    assert content.data == b"0123456789"


def test_a_file_over_the_limit_is_not_read(project: Path, root: Root) -> None:
    (project / "a.md").write_bytes(b"x" * 11)
    assert isinstance(root.read(("a.md",), limit=11), Content)
    message = complaint(lambda: root.read(("a.md",), limit=10), TooLarge)
    assert message == "a.md: has 11 bytes, more than the 10 that are read; make it smaller, or move it away"


def test_a_file_that_grows_without_end_while_it_is_read_is_given_up(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.md").write_bytes(b"x")
    monkeypatch.setattr(os, "read", lambda _, size: b"x" * size)
    assert complaint(lambda: root.read(("a.md",), limit=1 << 22), TooLarge).startswith("a.md: has ")


@each_row("name", ["", ".", "..", "a/b", "/", "a\0b", "\ud800"], fresh=True)
def test_a_name_that_is_a_path_or_no_text_is_refused(root: Root, name: str) -> None:
    for action in (root.read, root.exists, root.folder, root.locate):
        for parts in ((name,), (name, "x.md")):
            assert "cannot be the name" in complaint(lambda a=action, p=parts: a(p), InvalidArgument)  # type: ignore[misc]


@each_row("name", ["José", "Jose\u0301", "日本語.md", "💡", "a b", "-rf", "x\ny", "C:x", "a\\b"], fresh=True)
def test_names_may_be_any_text_that_the_system_takes(project: Path, root: Root, name: str) -> None:
    (project / name).mkdir()
    (project / name / name).write_text("x")
    content = root.read((name, name))
    assert content is not None
    assert content.data == b"x"
    assert root.list_folders(()) == [name]
    assert root.list_files((name,)) == [name]


def test_a_name_whose_bytes_are_no_text_is_listed_and_opened_by_no_one(project: Path, root: Root) -> None:
    (project / "caf\udce9").mkdir()
    (project / "caf\udce9" / "x.md").write_text("x")
    assert root.list_folders(()) == ["caf\udce9"]
    for parts in (("caf\udce9", "x.md"), ("caf\udce9",)):
        for action in (root.read, root.exists, root.locate):
            told = complaint(lambda a=action, p=parts: a(p))  # type: ignore[misc]
            assert told == "caf\\udce9: has a name that is not UTF-8; rename it"


def test_a_name_that_would_break_the_line_of_a_message_is_escaped(project: Path, root: Root) -> None:
    (project / "x\n\u202e.md").mkdir()
    assert complaint(lambda: root.read(("x\n\u202e.md",))) == r"x\n\u202e.md: is a folder, not a file; move it away"


# -- what is not a file -----------------------------------------------------------------------------------------------


def test_a_folder_in_a_files_place_is_named(project: Path, root: Root) -> None:
    (project / "MEMORY.md").mkdir()
    assert complaint(lambda: root.read(("MEMORY.md",))) == "MEMORY.md: is a folder, not a file; move it away"


def test_a_named_pipe_is_named_and_does_not_hang(project: Path, root: Root) -> None:
    os.mkfifo(project / "pipe.md")
    assert complaint(lambda: root.read(("pipe.md",))) == "pipe.md: is a named pipe, not a file; move it away"


def test_a_socket_is_named(project: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.md")
        assert "socket" in complaint(lambda: root.read(("s.md",)))


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser makes devices")
def test_a_device_is_named(project: Path, root: Root) -> None:
    os.mknod(project / "zero.md", 0o20644, os.makedev(1, 5))
    assert complaint(lambda: root.read(("zero.md",))) == "zero.md: is a device, not a file; move it away"


def test_a_pipe_in_a_folders_place_is_named(project: Path, root: Root) -> None:
    os.mkfifo(project / "pipe")
    assert "there is a file where a folder should be" in complaint(lambda: root.read(("pipe", "x.md")))


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_may_not_be_read_is_named(what: str) -> None:
    # Not in tmp_path: only its owner may enter that.
    with tempfile.TemporaryDirectory() as name:
        with_folder = Path(name)
        (with_folder / "a").mkdir()
        (with_folder / "a" / "x.md").write_text("x")
        with_folder.chmod(0o755)
        (with_folder / "a" / "x.md" if what == "file" else with_folder / "a").chmod(0)

        def read() -> str:
            with Root.open(str(with_folder)) as root:
                return complaint(lambda: root.read(("a", "x.md")))

        place = "a/x.md" if what == "file" else "a"
        assert as_nobody(read).startswith(f"{place}: cannot be read: permission denied; ")
        (with_folder / "a").chmod(0o755)


@each_row("number", [errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENOMEM, 99999], fresh=True)
@each_row("function", ["open", "fstat", "read"], fresh=True)
def test_a_system_error_while_reading_is_one_line_and_leaks_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, number: int, function: str
) -> None:
    (project / "a").mkdir()
    (project / "a" / "x.md").write_text("x")
    with Root.open(str(project)) as root:
        root.read(("a", "x.md"))
        before = open_descriptors()

        def fail(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patch:
            patch.setattr(os, function, fail)
            message = complaint(lambda: root.read(("a", "x.md")))
        assert message.startswith("a/x.md: cannot be read: ")
        assert open_descriptors() == before
        assert root.read(("a", "x.md")) is not None


# -- links ---------------------------------------------------------------------------------------------------------


def test_links_that_stay_inside_are_followed(project: Path, root: Root) -> None:
    (project / "docs" / "deep").mkdir(parents=True)
    (project / "docs" / "deep" / "real.md").write_text("real")
    (project / "mem").mkdir()
    (project / "mem" / "relative.md").symlink_to("../docs/deep/real.md")
    (project / "mem" / "absolute.md").symlink_to(project / "docs" / "deep" / "real.md")
    (project / "mem" / "chain.md").symlink_to("absolute.md")
    (project / "folder").symlink_to("docs/deep")
    (project / "mem" / "roundabout.md").symlink_to("../folder/../deep/../../folder/real.md")
    (project / "mem" / "by-the-outside.md").symlink_to("../../project/docs/deep/real.md")
    (project / "again").symlink_to(".")
    for parts in (
        ("mem", "relative.md"),
        ("mem", "absolute.md"),
        ("mem", "chain.md"),
        ("mem", "roundabout.md"),
        ("mem", "by-the-outside.md"),
        ("folder", "real.md"),
        ("again", "again", "folder", "real.md"),
    ):
        content = root.read(parts)
        assert content is not None, parts
        assert content.data == b"real"


def test_a_missing_file_behind_a_linked_folder_is_nothing(project: Path, root: Root) -> None:
    (project / "docs").mkdir()
    (project / "mem").symlink_to("docs")
    assert root.read(("mem", "x.md")) is None
    assert root.read(("mem", "sub", "x.md")) is None


@each_row("absolute", [True, False], ids=["absolute", "relative"], fresh=True)
@each_row("kind", ["file", "folder", "folder above", "chain"], fresh=True)
def test_links_that_lead_outside_are_refused(project: Path, root: Root, kind: str, absolute: bool) -> None:
    outside = str(project.parent / "outside") if absolute else "../outside"
    parts: tuple[str, ...] = ("x.md",)
    if kind == "file":
        (project / "x.md").symlink_to(f"{outside}/secret.md")
    elif kind == "chain":
        (project / "y.md").symlink_to(f"{outside}/secret.md")
        (project / "x.md").symlink_to("y.md")
    else:
        target, parts = (outside, ("x", "secret.md")) if kind == "folder" else ("..", ("x", "outside", "secret.md"))
        (project / "x").symlink_to(target)
    message = complaint(lambda: root.read(parts))
    assert message.startswith(f"{parts[0]}: a link to ")
    assert "which leads outside the project; " in message


def test_links_that_lead_outside_are_followed_when_the_person_says_so(project: Path) -> None:
    outside = project.parent / "outside"
    (outside / "deeper").symlink_to("more")
    (outside / "more").mkdir()
    (outside / "more" / "y.md").write_text("y")
    (outside / "back.md").symlink_to(project / "own.md")
    (project / "own.md").write_text("own")
    (project / "file.md").symlink_to("../outside/secret.md")
    (project / "folder").symlink_to(outside)
    (project / "up").symlink_to("/")
    cases = {
        ("file.md",): b"secret",
        ("folder", "secret.md"): b"secret",
        ("folder", "deeper", "y.md"): b"y",
        ("folder", "back.md"): b"own",
        ("up", *outside.parts[1:], "secret.md"): b"secret",
    }
    with Root.open(str(project), external_links=True) as root:
        for parts, data in cases.items():
            content = root.read(parts)
            assert content is not None, parts
            assert content.data == data
        assert root.read(("folder", "none.md")) is None
        assert root.list_folders(()) == ["folder", "up"]


@each_row("target", ["none.md", "none/x.md", "/nowhere/x.md", "../none.md"], fresh=True)
def test_a_dangling_link_is_no_missing_file(project: Path, root: Root, target: str) -> None:
    (project / "x.md").symlink_to(target)
    (project / "x").symlink_to(target)
    reason = f"a link to {target}, which does not exist; mend the link or remove it"
    assert complaint(lambda: root.read(("x.md",))) == f"x.md: {reason}"
    assert complaint(lambda: root.read(("x", "y.md"))) == f"x: {reason}"
    assert root.exists(("x.md",))


def test_a_loop_of_links_is_named(project: Path, root: Root) -> None:
    (project / "a").symlink_to("b")
    (project / "b").symlink_to("a")
    (project / "self.md").symlink_to("self.md")
    for parts, place in ((("a",), "a"), (("a", "x.md"), "a"), (("self.md",), "self.md")):
        message = complaint(lambda p=parts: root.read(p))  # type: ignore[misc]
        assert message == f"{place}: a loop of links; replace it by the file itself"


def test_a_link_to_what_is_no_file_is_named(project: Path, root: Root) -> None:
    (project / "folder").mkdir()
    os.mkfifo(project / "pipe")
    (project / "a.md").symlink_to("folder")
    (project / "b.md").symlink_to("pipe")
    (project / "c.md").symlink_to(".")
    (project / "d.md").symlink_to("pipe/x")
    assert "is a folder, not a file" in complaint(lambda: root.read(("a.md",)))
    assert "is a named pipe, not a file" in complaint(lambda: root.read(("b.md",)))
    assert "is a folder, not a file" in complaint(lambda: root.read(("c.md",)))
    assert "there is a file where a folder should be" in complaint(lambda: root.read(("d.md",)))


_names = st.sampled_from(["a", "b", "c"])
_targets = st.one_of(
    st.sampled_from(["a/b", "b/a", "c", "b/c/a", "b", "b/c", "a", "../c", "../b/a", "../b", "../../c", ".", "b/../c"]),
    st.sampled_from(["../out/a", "../../out/a", "../out", "../p/c", "../../p/b", "c/..", "d"]),
    st.lists(st.sampled_from(["a", "b", "c", "..", "."]), min_size=1, max_size=4).map("/".join),
)
_trees = st.lists(
    st.tuples(
        st.lists(_names, min_size=1, max_size=2),
        st.sampled_from(["link", "absolute", "file", "folder"]),
        _targets,
    ),
    min_size=1,
    max_size=6,
)


def plant(top: Path, tree: list[tuple[list[str], str, str]]) -> None:
    """Make what the tree says, as far as it can be made inside `top`."""
    # Where the tree leaves room, files for its links to lead to.
    for parts, kind, target in [*tree, *((name.split("/"), "file", "") for name in ("a/b", "b/a", "c", "b/c/a"))]:
        place = top.joinpath(*parts)
        with suppress(OSError, RuntimeError):
            if not place.parent.resolve().is_relative_to(top):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if kind == "folder":
                place.mkdir()
            elif kind == "file":
                with place.open("x") as file:
                    file.write("/".join(parts))
            else:
                place.symlink_to(top / target if kind == "absolute" else target)


@pytest.mark.parametrize("descriptors", [True, False], ids=["descriptors", "paths"])
@given(tree=_trees, chosen=st.integers(0, 5), more=st.sampled_from([[], ["a"], ["b"], ["c"], ["c", "a"]]))
def test_any_path_reads_what_the_kernel_reads_or_nothing(
    descriptors: bool, tree: list[tuple[list[str], str, str]], chosen: int, more: list[str]
) -> None:
    path = [*tree[chosen % len(tree)][0], *more]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        top = Path(os.path.realpath(folder), "p")
        top.mkdir()
        top.with_name("out").mkdir()
        top.with_name("out").joinpath("a").write_text("outside")
        plant(top, tree)
        asked = top.joinpath(*path)
        before = open_descriptors()
        patch.setattr(walk, "USE_DESCRIPTORS", descriptors)
        with Root.open(str(top)) as root:
            try:
                content = root.read(tuple(path))
            except DamagedFile:
                content = None
        assert open_descriptors() == before
        if content is not None:
            assert asked.resolve().is_relative_to(top)
            assert content.data == asked.read_bytes()
        elif os.path.isfile(asked):
            # Refused though the system would read it: then somewhere on the way a link leads outside.
            on_the_way = [top.joinpath(*path[:depth]) for depth in range(1, len(path) + 1)]
            assert not all(place.resolve().is_relative_to(top) for place in on_the_way)


# -- listing -------------------------------------------------------------------------------------------------------


def test_a_listing_tells_folders_from_everything_else(project: Path, root: Root) -> None:
    notes = project / "notes"
    notes.mkdir()
    for name in ("b.md", "a.md", ".a.md.0123456789abcdef.amp-tmp"):
        (notes / name).touch()
    (notes / "x.md").mkdir()
    os.mkfifo(notes / "pipe.md")
    (notes / "dangling.md").symlink_to("none")
    (notes / "loop.md").symlink_to("loop.md")
    (notes / "to-folder").symlink_to("x.md")
    (notes / "to-file.md").symlink_to("a.md")
    (notes / "to-outside").symlink_to(project.parent / "outside")
    assert root.list_folders(("notes",)) == ["to-folder", "x.md"]
    assert root.list_files(("notes",)) == [
        "a.md",
        "b.md",
        "dangling.md",
        "loop.md",
        "pipe.md",
        "to-file.md",
        "to-outside",
    ]
    assert root.list_files(("notes",)) == root.list_files(("notes",))
    named = [complaint(lambda n=name: root.read(("notes", n))) for name in ("dangling.md", "loop.md", "pipe.md")]  # type: ignore[misc]
    assert len(set(named)) == 3


def test_the_listing_of_what_does_not_exist_is_empty(root: Root) -> None:
    assert root.list_folders(("none",)) == []
    assert root.list_files(("none", "none")) == []


def test_the_listing_of_a_file_is_refused(project: Path, root: Root) -> None:
    (project / "x").touch()
    assert "there is a file where a folder should be" in complaint(lambda: root.list_files(("x",)))


def test_every_file_below_a_folder_is_named_once_whatever_links_lead_to_its_folder(project: Path, root: Root) -> None:
    for name in ("z.md", "b/y.md", "a/x.md", "a/c/w.md", "left/v.md"):
        (project / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / "docs" / name).write_text(name)
    (project / "docs" / "a" / "loop").symlink_to("..")
    (project / "docs" / "d").symlink_to("b")
    problems: list[AgentMemoryError] = []
    found = root.files_below(("docs",), lambda folder: folder[-1] != "left", problems.append)
    assert ["/".join(parts) for parts in found] == ["docs/z.md", "docs/a/x.md", "docs/a/c/w.md", "docs/b/y.md"]
    assert list(root.files_below(("docs", "z.md"), lambda _: True, problems.append)) == []
    assert ["there is a file where a folder should be" in str(one) for one in problems] == [True]


@pytest.mark.slow
def test_hundreds_of_folders_and_links_are_listed_with_few_descriptors(project: Path, root: Root) -> None:
    for number in range(300):
        (project / "real" / str(number) / "memory").mkdir(parents=True)
        (project / "real" / str(number) / "memory" / "MEMORY.md").write_text(str(number))
        (project / "agents").mkdir(exist_ok=True)
        (project / "agents" / str(number)).symlink_to(f"../real/{number}/memory")
    before = open_descriptors()
    names = root.list_folders(("agents",))
    assert len(names) == 300
    for name in names:
        content = root.read(("agents", name, "MEMORY.md"))
        assert content is not None
        assert content.data == name.encode()
        assert open_descriptors() < before + 100
    root.close()
    assert open_descriptors() <= before


@pytest.mark.slow
def test_descriptors_do_not_add_up(project: Path) -> None:
    (project / "a").mkdir()
    (project / "a" / "x.md").write_text("x")
    (project / "a" / "y.md").mkdir()
    (project / "b").symlink_to("a")
    (project / "c").symlink_to("/")
    before = open_descriptors()
    for _ in range(200):
        with Root.open(str(project)) as root:
            for parts in (("a", "x.md"), ("a", "y.md"), ("b", "x.md"), ("c", "etc"), ("a", "none"), ("a", "x.md", "z")):
                try:
                    root.read(parts)
                    root.list_files(parts[:1])
                except DamagedFile:
                    pass
    assert open_descriptors() == before


# -- text ----------------------------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_kept_apart() -> None:
    assert split_bom(b"\xef\xbb\xbf# x") == (b"\xef\xbb\xbf", b"# x")
    assert split_bom(b"# x") == (b"", b"# x")
    assert decode(b"\xef\xbb\xbf# caf\xc3\xa9\r\n", "x.md") == "# café\r\n"


@each_row(
    "data, line",
    [
        (b"caf\xe9", 1),
        (b"one\ncaf\xe9\n", 2),
        (b"one\r\ntwo\r\ncaf\xe9", 3),
        (b"one\r\xe9", 2),
        (b"\n\n\n\xe9\n\n", 4),
        ("a\u2028b\x0c\x85\n".encode() + b"\xe9", 2),
        (b"\xef\xbb\xbfone\n\xe9", 2),
    ],
)
def test_a_byte_that_is_not_utf8_is_named_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(DamagedFile) as caught:
        decode(data, "a/x.md")
    assert str(caught.value) == f"a/x.md:{line}: byte 0xE9 is not UTF-8; save the file as UTF-8"
    assert caught.value.line == line


@each_row("codec", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
def test_another_unicode_encoding_is_named(codec: str) -> None:
    mark = b"" if not codec.endswith("be") else "\ufeff".encode(codec)
    message = complaint(lambda: decode(mark + "# Title\n".encode(codec), "x.md"))
    assert message == f"x.md: is {codec[:6].upper()}, not UTF-8; save it as UTF-8"


def test_a_nul_is_text() -> None:
    assert decode(b"a\0b", "x.md") == "a\0b"


# -- the hot path --------------------------------------------------------------------------------------------------


def test_importing_the_door_loads_nothing_heavy() -> None:
    code = "before = set(sys.modules); import agent_memory_protocol.disk.files; print(*set(sys.modules) - before)"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {package_folder()!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(run.stdout.split())
    ours = {name for name in loaded if name.startswith("agent_memory_protocol")}
    assert loaded - ours <= {"errno", "os", "stat", "_stat", "posixpath", "genericpath", "os.path", "abc", "_abc"} | {
        "_collections_abc",
        "types",
    }
    assert ours == {
        "agent_memory_protocol",
        *(f"agent_memory_protocol.{name}" for name in ("disk", "errors", "limits")),
        *(f"agent_memory_protocol.disk.{name}" for name in ("errors", "files", "walk")),
    }


def package_folder() -> str:
    return str(Path(walk.__file__).parents[2])


def test_a_file_costs_four_calls_and_each_folder_one(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not walk.USE_DESCRIPTORS:
        pytest.skip("counted with descriptors only")
    shared = project / ".scaffolding" / "agent-memory" / "shared"
    agent = project / ".scaffolding" / "agent-memory" / "agents" / "dev"
    for folder, name in ((shared, "KNOWLEDGE.md"), (agent, "MEMORY.md")):
        folder.mkdir(parents=True)
        (folder / name).write_text("x")
    calls: list[str] = []

    def count(name: str) -> None:
        real = getattr(os, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            return real(*args, **kwargs)

        monkeypatch.setattr(os, name, counted)

    for name in ("open", "fstat", "read", "close", "stat", "lstat", "readlink", "listdir", "scandir"):
        count(name)
    root.read((".scaffolding", "agent-memory", "shared", "KNOWLEDGE.md"))
    assert calls == ["open"] * 4 + ["fstat", "read", "close"]
    calls.clear()
    root.read((".scaffolding", "agent-memory", "agents", "dev", "MEMORY.md"))
    assert calls == ["open"] * 3 + ["fstat", "read", "close"]


def test_what_cannot_be_looked_at_counts_as_there(tmp_path):
    (tmp_path / "file").touch()
    assert is_there(str(tmp_path / "file"))
    assert not is_there(str(tmp_path / "nothing"))
    assert not is_there(str(tmp_path / "file" / "below"))
    assert is_there(str(tmp_path / ("too long a name " * 20)))


def test_a_root_that_lists_once_answers_as_one_that_does_not(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.md").write_text("1")
    (tmp_path / "a" / "b").mkdir()
    (tmp_path / "a" / "link").symlink_to("b")
    with Root.open(str(tmp_path)) as once, Root.open(str(tmp_path)) as root:
        once.list_once()
        for ask in (
            lambda it: (it.list_files(("a",)), it.list_folders(("a",)), it.list_folders(())),
            lambda it: [it.exists(("a", name)) for name in ("one.md", "b", "link", "two.md")],
            lambda it: [it.read(("a", name)) is None for name in ("one.md", "two.md", "ONE.MD")],
            lambda it: it.has_file(("a",), lambda name: name == "b"),
        ):
            assert ask(once) == ask(root) == ask(once)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files by /proc")
def test_more_folders_are_read_than_the_system_lets_be_open(tmp_path):
    import resource

    for number in range(40):
        (tmp_path / "a" / str(number)).mkdir(parents=True)
        (tmp_path / "a" / str(number) / "one.md").write_text(str(number))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = {int(number) for number in os.listdir("/proc/self/fd")}
    free = [number for number in range(limits[0]) if number not in taken]
    with Root.open(str(tmp_path)) as root:
        resource.setrlimit(resource.RLIMIT_NOFILE, (free[14], limits[1]))
        try:
            names = root.list_folders(("a",))
            listed = [root.list_files(("a", name)) for name in names]
            read = [root.read(("a", name, "one.md")) for name in names]
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert listed == [["one.md"]] * 40
    assert [one.data.decode() for one in read if one is not None] == names
