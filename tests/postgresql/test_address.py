"""Addresses of stores on PostgreSQL: which are ones, and that none shows a password."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol import Memory
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.postgresql.address import NAMESPACE, Address, is_address
from tests.each_row import each_row


@each_row(
    "text, shown, namespace",
    [
        ("postgresql://", "postgresql://", NAMESPACE),
        ("postgres://db/memory", "postgres://db/memory", NAMESPACE),
        ("postgresql://u@db:5433/m?namespace=web", "postgresql://u@db:5433/m?namespace=web", "web"),
        ("postgresql://u:p@db/m?sslmode=require", "postgresql://u@db/m?sslmode=require", NAMESPACE),
        ("postgresql://u:a?b@db/m", "postgresql://u@db/m", NAMESPACE),
        ("postgresql://u:p@a:1,b:2/m?target_session_attrs=read-write", "postgresql://u@a:1,b:2/m?target…", NAMESPACE),
        ("postgresql:///m?host=/run/pg&namespace=n1", "postgresql:///m?host=/run/pg&namespace=n1", "n1"),
        ("postgresql://db?sslpassword=p&application_name=x", "postgresql://db", NAMESPACE),
    ],
)
def test_an_address_says_where_and_never_the_password(text, shown, namespace):
    address = Address.parse(text)
    assert str(address).startswith(shown.rstrip("…"))
    assert address.namespace == namespace
    assert "namespace" not in address.conninfo
    assert is_address(text)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=6))
def test_no_password_is_ever_shown(password):
    secret = f"{password}-pässword"
    coded = quote(secret, safe="")
    for text in (f"postgresql://u:{coded}@db/m", f"postgresql://db/m?password={coded}"):
        address = Address.parse(text)
        for shown in (str(address), repr(address), f"{address}"):
            assert secret not in shown
            assert coded not in shown
        assert address.has_password


NO_NAMES = ("", "Web", "1a", "a-b", "a b", 'a"b', "pg_x", "public", "information_schema", "é", "a" * 56)


@each_row("name", NO_NAMES)
def test_what_is_no_namespace_is_refused_in_one_line(name):
    for text, other in ((f"postgresql://db/m?namespace={quote(name)}", None), ("postgresql://db", name)):
        with pytest.raises(InvalidArgument, match="cannot be a namespace") as caught:
            Address.parse(text, other)
        assert "\n" not in str(caught.value)


@each_row("place", ["u:se?cr/et@db/m", "u:secret", "u:sec/ret@db", "u:se@cret@db/m", "u:sec#r:et/m"])
def test_a_password_in_the_wrong_spelling_is_not_shown_either(place):
    for text in (f"postgresql://{place}", f"postgresql://{place}?namespace=a"):
        try:
            said = str(Address.parse(text))
        except InvalidArgument as error:
            said = str(error)
        assert not [part for part in ("sec", "cr", "ret", "r:et") if part in said]


def test_two_namespaces_contradict_each_other_and_one_twice_does_not():
    assert Address.parse("postgresql://db?namespace=a", "a").namespace == "a"
    with pytest.raises(InvalidArgument, match="two namespaces"):
        Address.parse("postgresql://db?namespace=a", "b")


@each_row("text", ["postgresql:/db", "C:\\\\db", "db", "./postgresql", "postgresql"])
def test_what_is_no_address_of_a_server_is_none(text):
    assert not is_address(text)
    with pytest.raises(InvalidArgument, match="begins with postgresql://"):
        Address.parse(text)


@each_row("text", ["mysql://u:secret@db/d", "postgresql+psycopg://u:secret@db/d", "redis://:secret@db"])
def test_of_the_address_of_another_server_no_folder_is_made(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match="begins with postgresql://") as refused:
        Memory(text).remember("Use pnpm.")
    assert "secret" not in str(refused.value)
    assert [*tmp_path.iterdir()] == []


def test_the_case_of_the_scheme_makes_no_difference():
    assert is_address("POSTGRESQL://db")
    assert str(Address.parse("PostgreSQL://u:secret@db/d")) == "postgresql://u@db/d"


@pytest.mark.parametrize("text", ["postgresql://db\0", "postgresql://d\nb/m", "postgresql://u:\x1b[31m@db"])
def test_an_address_is_text_that_people_can_see(text):
    with pytest.raises(InvalidArgument):
        Address.parse(text)
