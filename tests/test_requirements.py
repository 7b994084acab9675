"""docs/requirements.md states what must be so and names the tests that show it, all of them and as they are now."""

from collections import Counter

from .requirements import PAGE, page_with_tests, shown_by, stated

STATED = stated(PAGE.read_text(encoding="utf-8"))


def test_each_number_is_stated_once():
    assert [number for number, times in Counter(STATED).items() if times > 1] == []


def test_a_test_shows_only_what_is_stated():
    assert set(shown_by()) - set(STATED) == set()


def test_each_statement_has_a_test():
    assert set(STATED) - set(shown_by()) == set()


def test_the_page_names_the_tests_that_there_are():
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with_tests(page), "run `pytest --requirements`, which writes the lists of tests again"
