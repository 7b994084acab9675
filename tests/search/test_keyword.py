import multiprocessing
import os
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memory_protocol.search import picking
from agent_memory_protocol.search.keyword import KeywordIndex
from agent_memory_protocol.search.opening import open_index
from agent_memory_protocol.search.port import Passage, Source, source_of
from agent_memory_protocol.search.scan import ScanIndex


def one(key: str, text: str) -> Source:
    return source_of(key, Passage(key, text))


SOURCES = [one("a", "The staging database is Postgres."), one("b", "Redis needs AOF on.")]


def unread(_: str) -> list[Passage]:
    raise AssertionError("this source was read")


UNREAD = [Source(source.key, source.fingerprint, unread) for source in SOURCES]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.sqlite"


@pytest.fixture
def index(path):
    with closing(KeywordIndex(path)) as made:
        yield made


def keys(index: KeywordIndex, query: str) -> list[str]:
    return [hit.key for hit in index.search(query)]


def test_what_one_process_has_read_no_other_has_to(index, path):
    assert index.refresh(SOURCES) == 2
    with closing(KeywordIndex(path)) as other:
        assert other.refresh(UNREAD) == 0
        assert keys(other, "redis") == ["b"]


def test_an_update_looks_at_nothing_else(index, path):
    index.refresh(SOURCES)
    assert index.refresh([one("c", "A third.")], gone=["b"]) == 2
    assert index.refresh(SOURCES[:1], gone=[]) == 0
    with closing(KeywordIndex(path)) as other:
        other.refresh([])
    # What another process has taken away comes back too.
    assert index.refresh([one("d", "A fourth.")], gone=[]) == 3
    assert sorted(keys(index, "third fourth database")) == ["a", "c", "d"]


def test_nothing_is_written_before_there_is_something_to_write(index, path):
    assert index.refresh([]) == 0
    assert index.search("redis") == []
    assert not path.exists()


def test_a_search_never_answers_with_what_another_process_has_made_of_the_index(index, path):
    index.refresh(SOURCES)
    with closing(KeywordIndex(path)) as other:
        other.refresh([one("a", "The staging database is SQLite.")])
        assert keys(index, "postgres") == ["a"]
        assert keys(index, "redis") == ["b"]
        assert keys(index, "sqlite") == []
        assert keys(other, "sqlite") == ["a"]
        assert keys(other, "redis") == []


def test_where_others_change_the_index_all_the_time_a_search_still_answers(index, path, monkeypatch):
    index.refresh(SOURCES)
    do = index._do
    with closing(KeywordIndex(path)) as other:

        def disturbed(work, **options):
            if index._file.path is not None:
                other.refresh([one("a", os.urandom(4).hex())])
            return do(work, **options)

        monkeypatch.setattr(index, "_do", disturbed)
        assert keys(index, "redis") == ["b"]
    assert index._file.path is None


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sources (key TEXT, fingerprint TEXT)")
        connection.execute("INSERT INTO sources VALUES ('a', 'b')")
        connection.commit()


def other_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def extra_table(path: Path) -> None:
    with closing(KeywordIndex(path)) as made:
        made.refresh([one("c", "Something old.")])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TRIGGER more AFTER INSERT ON passages BEGIN SELECT 1; END")


def link(path: Path) -> None:
    target = path.with_name("elsewhere")
    target.write_text("mine")
    path.symlink_to(target)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b"not a database at all" * 1000),
        lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(4000)),
        lambda path: path.write_bytes(b""),
        foreign,
        other_version,
        extra_table,
        link,
    ],
    ids=["garbage", "no-pages", "empty", "foreign", "version", "trigger", "link"],
)
@pytest.mark.requirement("S4-71")
def test_whatever_stands_in_the_place_of_the_index_is_replaced(index, path, spoil):
    spoil(path)
    assert index.refresh(SOURCES) == 2
    assert keys(index, "redis") == ["b"]
    with closing(KeywordIndex(path)) as other:
        assert other.refresh(UNREAD) == 0
    assert not path.is_symlink()
    if spoil is link:
        assert path.with_name("elsewhere").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.requirement("S4-71")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
@given(where=st.integers(0, 99), data=st.binary(min_size=1, max_size=5000))
def test_an_index_damaged_anywhere_still_answers(tmp_path, where, data):
    path = tmp_path / "search.sqlite"
    with closing(KeywordIndex(path)) as index:
        index.delete()
        index.refresh([*SOURCES, *(one(f"more-{number}", f"Fact {number} " * 20) for number in range(100))])
    content = bytearray(path.read_bytes())
    start = len(content) * where // 100
    content[start : start + len(data)] = data
    path.write_bytes(content)
    with closing(KeywordIndex(path)) as index:
        index.refresh(SOURCES)
        index.search("redis database")
        index.delete()
        index.refresh(SOURCES)
        assert keys(index, "redis") == ["b"]


def test_an_index_cut_short_while_it_is_open_is_made_anew(index, path):
    index.refresh([one(str(number), f"Fact {number} " * 50) for number in range(200)])
    index.close()
    os.truncate(path, path.stat().st_size // 2)
    assert index.refresh(SOURCES) > 0
    assert keys(index, "redis") == ["b"]


@pytest.mark.requirement("S4-71")
def test_an_index_may_be_deleted_at_any_time(index, path):
    index.refresh(SOURCES)
    for name in os.listdir(path.parent):
        os.unlink(path.with_name(name))
    assert keys(index, "redis") == ["b"]
    assert path.exists()


def test_deleting_an_index_leaves_no_byte_of_it_and_it_comes_back(index, path):
    index.refresh([*SOURCES, one("c", "The word is abracadabra.")])
    index.refresh(SOURCES)
    index.delete()
    assert os.listdir(path.parent) == []
    assert keys(index, "redis") == ["b"]
    assert b"abracadabra" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="nothing is read-only to root")
def test_in_a_folder_that_cannot_be_written_the_index_lives_in_this_process(index, path):
    path.parent.chmod(0o500)
    try:
        assert index.refresh(SOURCES) == 2
        assert keys(index, "redis") == ["b"]
        assert os.listdir(path.parent) == []
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize("place", ["missing/search.sqlite", "file/search.sqlite", "folder"])
def test_where_there_can_be_no_file_the_index_lives_in_this_process(tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with closing(KeywordIndex(tmp_path / place)) as index:
        assert index.refresh(SOURCES) == 2
        assert keys(index, "redis") == ["b"]
        assert index.refresh(UNREAD) == 0


def test_while_another_process_writes_the_index_lives_in_this_process(index, path, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.disk.database.WAIT", 0.01)
    index.refresh(SOURCES[:1])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(KeywordIndex(path)) as second:
            second.refresh(SOURCES)
            assert keys(second, "redis") == ["b"]
        other.execute("ROLLBACK")
    assert keys(index, "redis") == []


def refresh_and_search(path: Path, number: int) -> list[str]:
    with closing(KeywordIndex(path)) as index:
        for turn in range(5):
            index.refresh([*SOURCES, *(one(f"{number}-{more}", f"word{number} turn{turn}") for more in range(5))])
            assert keys(index, "redis") == ["b"]
            assert len(index.search(f"word{number} turn{turn}", limit=20)) == 5
            assert index.search(f"word{number + 1}") == []
    return []


@pytest.mark.slow
def test_processes_with_different_sources_each_find_their_own(path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(refresh_and_search, [(path, number * 10) for number in range(3)])


@pytest.mark.slow
def test_threads_may_share_an_index(index):
    def work(number: int) -> None:
        for turn in range(10):
            index.refresh([one(f"thread-{number}", f"thread{number} turn{turn}")], gone=[])
            assert keys(index, f"thread{number}") == [f"thread-{number}"]

    index.refresh(SOURCES)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [None] * 4
    assert keys(index, "redis") == ["b"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_searches_on_its_own(index):
    index.refresh(SOURCES)
    child = os.fork()
    if not child:
        os._exit(keys(index, "redis") != ["b"])
    assert os.waitpid(child, 0)[1] == 0
    assert keys(index, "redis") == ["b"]


WORDS = ["red", "green", "blue", "databases", "database", "testing", "数据库", "s7", "recall_for_agent"]
words = st.lists(st.sampled_from(WORDS))
passages = st.builds(lambda text, context: (" ".join(text), " ".join(context)), words, words)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(texts=st.lists(passages, max_size=8), query=words, chosen=st.none() | st.lists(st.sampled_from("01234567")))
def test_an_index_and_a_scan_answer_alike(texts, query, chosen):
    sources = [source_of(str(number), Passage("k", *text)) for number, text in enumerate(texts)]
    with closing(KeywordIndex()) as index:
        scan = ScanIndex()
        assert index.refresh(sources) == scan.refresh(sources)
        asked = " ".join(query)
        assert index.search(asked, within=chosen) == scan.search(asked, within=chosen)


def test_without_full_text_search_it_is_a_scan(path, monkeypatch):
    monkeypatch.setattr(KeywordIndex, "tables", ("CREATE VIRTUAL TABLE tokens USING fts99(text)",))
    assert isinstance(open_index(path), ScanIndex)


@pytest.mark.requirement("S4-71")
def test_without_sqlite_it_is_a_scan(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert isinstance(open_index(path), ScanIndex)


def test_where_no_file_is_named_there_is_none(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    index = open_index("")
    index.refresh(SOURCES)
    assert [hit.key for hit in index.search("redis")] == ["b"]
    index.close()
    assert os.listdir(path.parent) == []


def test_with_both_it_is_the_file(path):
    index = open_index(path)
    assert isinstance(index, KeywordIndex)
    index.refresh(SOURCES)
    index.close()
    assert path.exists()


def test_among_very_many_what_has_the_rare_word_comes_first_and_then_what_has_all_frequent_ones(index, monkeypatch):
    texts = [f"The cache number{number} is {'warm' if number % 2 else 'cold'}." for number in range(60)]
    index.refresh([one(str(number), text) for number, text in enumerate(texts)])
    exact = index.search("warm cache number7", limit=40)
    monkeypatch.setattr(picking, "MANY", 40)
    monkeypatch.setattr(picking, "LOOKED_AT", 20)
    found = index.search("warm cache number7", limit=40)
    assert found[0] == exact[0]
    assert found[0].source == "7"
    assert {int(hit.source) % 2 for hit in found} == {1}
    assert len(found) == 21
    assert len(index.search("cache", limit=40)) == 20
    assert index.search("nothing") == []
    assert len(index.search("cache", limit=40, within=["1", "3"])) == 2


def test_what_is_counted_follows_what_comes_and_goes(index):
    passages = [Passage(key, "A red door.") for key in ("open", "open", "shut")]
    index.refresh([source_of(str(number), one) for number, one in enumerate(passages)])
    assert [index.count("door", keys=keys) for keys in (None, ["open"], ["shut"], ["none"])] == [3, 2, 1, 0]
    index.refresh([], gone=["0"])
    index.refresh([source_of("2", Passage("open", "A red door."))], gone=[])
    assert [index.count("door", keys=keys) for keys in (None, ["open"], ["shut"])] == [2, 2, 0]


@settings(deadline=None)
@given(
    texts=st.lists(st.tuples(passages, st.sampled_from(["open", "shut"])), max_size=12),
    query=words,
    chosen=st.none() | st.sets(st.sampled_from(["open", "shut", "none"])),
)
def test_what_is_counted_is_what_a_look_at_every_passage_finds(texts, query, chosen):
    sources = [source_of(str(number), Passage(key, *text)) for number, (text, key) in enumerate(texts)]
    with closing(KeywordIndex()) as index:
        scan = ScanIndex()
        index.refresh(sources)
        scan.refresh(sources)
        asked = " ".join(query)
        found = scan.search(asked, limit=len(texts))
        assert index.count(asked, keys=chosen) == sum(chosen is None or hit.key in chosen for hit in found)


@settings(deadline=None)
@given(texts=st.lists(passages, max_size=12), query=words)
def test_among_very_many_rare_words_alone_pick_all_that_have_one(texts, query):
    sources = [source_of(str(number), Passage("k", *text)) for number, text in enumerate(texts)]
    asked = " ".join(query)
    with closing(KeywordIndex()) as index, pytest.MonkeyPatch.context() as patched:
        index.refresh(sources)
        exact = index.search(asked, limit=20)
        patched.setattr(picking, "MANY", 0)
        assert {hit.source for hit in index.search(asked, limit=20)} == {hit.source for hit in exact}
