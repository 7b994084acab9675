"""What may be quoted: nothing hidden, nothing invisible, nothing that passes for a marker; and nothing else is lost."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent_memory_protocol.disk.files import decode
from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.text import headers
from agent_memory_protocol.text.visible import (
    escape_line,
    first_invisible,
    needs_escapes,
    rare_bytes,
    show_in_json,
    show_invisible,
    without_hidden,
)
from tests.each_row import each_row
from tests.raw import EVIL, IGNORABLE, raw_in

MARKDOWN = MarkdownIt("commonmark").enable("table")
MOST = settings.default.max_examples if settings.default else 100


class Page(HTMLParser):
    """What a browser shows of a page, and what it does not."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.hidden: list[str] = []
        self.shown = ""
        env: dict[str, object] = {}
        self.feed(MARKDOWN.render(text, env))
        self.close()
        self.definitions = env.get("references")

    def handle_comment(self, data: str) -> None:
        self.hidden.append(data)

    def handle_decl(self, decl: str) -> None:
        self.hidden.append(decl)

    def handle_pi(self, data: str) -> None:
        self.hidden.append(data)

    def unknown_decl(self, data: str) -> None:
        self.hidden.append(data)

    def handle_data(self, data: str) -> None:
        self.shown += data

    @property
    def words(self) -> Counter[str]:
        return Counter(re.findall(r"\w+", self.shown))


def hides_something(text: str) -> bool:
    """Say whether markdown-it finds a comment or the like anywhere, in the text of images too, or a link definition."""
    env: dict[str, object] = {}

    def hidden(tokens: list[Token] | None) -> bool:
        return any(
            (token.type == "html_block" and re.search(r"<[!?]", token.content) is not None)
            or (token.type == "html_inline" and token.content.startswith(("<!", "<?")))
            or hidden(token.children)
            for token in tokens or ()
        )

    return hidden(MARKDOWN.parse(text, env)) or bool(env.get("references"))


def kept(text: str) -> str:
    """Take out what is hidden, both with and without the short cut, which must agree."""
    left = without_hidden(text)
    assert without_hidden(text, rare_bytes(text.encode())) == left
    return left[0]


HIDDEN = [
    pytest.param("# T\n<!-- c -->\n- a\n", "# T\n- a\n", id="comment-alone"),
    pytest.param("<!-- a\nb -->\n- a\n", "- a\n", id="comment-of-two-lines"),
    pytest.param("- a <!-- c --> b\n", "- a  b\n", id="comment-in-text"),
    pytest.param("- a\n\tmore <!-- c --> text\n", "- a\n\tmore  text\n", id="comment-behind-a-tab"),
    pytest.param("- <!-- c -->\n- a\n", "- \n- a\n", id="comment-in-an-item"),
    pytest.param("> <!-- c -->\n> a\n", "> \n> a\n", id="comment-in-a-quote"),
    pytest.param("# T <!-- c -->\n", "# T \n", id="comment-in-a-heading"),
    pytest.param("| a <!-- c --> | b |\n|---|---|\n", "| a  | b |\n|---|---|\n", id="comment-in-a-cell"),
    pytest.param("a <!-- b\nc --> d\n", "a \n d\n", id="comment-over-two-lines-of-text"),
    pytest.param("<!-- a -- b -->\n- a\n", "- a\n", id="comment-with-dashes"),
    pytest.param("<!-->\n- a\n", "- a\n", id="shortest-comment"),
    pytest.param("- a\n\n<!-- open\n- b\n", "- a\n", id="comment-never-closed"),
    pytest.param("<div>\n<!-- c -->\nx\n</div>\n", "<div>\nx\n</div>\n", id="comment-in-html"),
    pytest.param("<!-- a --><!-- b -->\n- a\n", "- a\n", id="two-comments-on-a-line"),
    pytest.param("![a <!-- c --> b](x.png)\n", "![a  b](x.png)\n", id="comment-in-an-images-text"),
    pytest.param("`x` ![a <!-- c -->](x.png)\n", "`x` ![a ](x.png)\n", id="comment-in-an-images-text-beside-code"),
    pytest.param("[a <!-- c -->](x.md)\n", "[a ](x.md)\n", id="comment-in-a-links-text"),
    pytest.param("**a <!-- c -->**\n", "**a **\n", id="comment-in-bold"),
    pytest.param("a <?php x ?> b\n", "a  b\n", id="processing-instruction"),
    pytest.param("<?php\nx\n?>\n- a\n", "- a\n", id="processing-instruction-alone"),
    pytest.param("a <!DOCTYPE x> b\n", "a  b\n", id="declaration"),
    pytest.param("a <![CDATA[ x ]]> b\n", "a  b\n", id="cdata"),
    pytest.param("- a\n\n[//]: # (hidden)\n", "- a\n\n", id="link-definition-as-a-comment"),
    pytest.param("[a]: /url 'hidden'\n\nsee [a]\n", "\nsee [a]\n", id="link-definition"),
    pytest.param("[a]:\n/url\n'hidden'\n\n- a\n", "\n- a\n", id="link-definition-over-three-lines"),
    pytest.param("> [a]: /hidden\n\n- a\n", "\n- a\n", id="link-definition-in-a-quote"),
    pytest.param("[\n\\[]: /hidden\n\n- a\n", "\n- a\n", id="link-definition-whose-label-has-two-lines"),
    pytest.param("- a\n\n  [b]: /hidden\n", "- a\n\n", id="link-definition-in-an-item"),
    pytest.param("~~~\nx\n~~~\n<!-- c -->\n- a\n", "~~~\nx\n~~~\n- a\n", id="comment-after-a-fence"),
    pytest.param("\\`<!-- c -->\\`\n", "\\`\\`\n", id="escaped-backticks-are-no-code"),
]

SHOWN = [
    pytest.param("`<!-- c -->`\n", id="in-code"),
    pytest.param("- `` ` <!-- c --> ``\n", id="in-code-of-two-backticks"),
    pytest.param("```\n<!-- c -->\n```\n", id="in-a-fence"),
    pytest.param("- a\n\n  ~~~\n  <!-- c -->\n  ~~~\n", id="in-a-fence-in-an-item"),
    pytest.param("    <!-- c -->\n", id="in-indented-code"),
    pytest.param("\\<!-- c -->\n", id="escaped"),
    pytest.param("a <!- no comment -> b\n", id="no-comment"),
    pytest.param("a <! no declaration > b\n", id="no-declaration"),
    pytest.param("a <!-- never closed\n", id="open-in-text"),
    pytest.param("&lt;!-- c --&gt;\n", id="entities"),
    pytest.param("`[a]: /url`\n", id="definition-in-code"),
    pytest.param("```\n[a]: /url\n```\n", id="definition-in-a-fence"),
    pytest.param("text\n[a]: /url\n", id="definition-that-goes-on-a-paragraph"),
    pytest.param("- [ ] todo: x\n- [x]: done by y z\n", id="tasks"),
    pytest.param("[2026-02-15]: the day it was\n", id="date-with-a-colon"),
    pytest.param("<b>bold</b> and 1 < 2\n", id="html-that-shows"),
    pytest.param("`x` ![a](x.png) `<!-- c -->`\n", id="in-code-beside-an-image"),
]


@pytest.mark.requirement("S4-60")
@each_row("text, left", HIDDEN)
def test_what_a_reader_of_the_page_does_not_see_is_taken_out(text, left):
    assert kept(text) == left
    assert not hides_something(left)


@pytest.mark.requirement("S4-60")
@each_row("text", SHOWN)
def test_what_a_reader_sees_stays(text):
    assert kept(text) == text


def test_the_lines_that_went_whole_are_named():
    text = "# T\n<!-- a -->\n- a\n<!-- b -->\n\n- c <!-- d -->\n"
    assert without_hidden(text) == ("# T\n- a\n\n- c \n", [1, 3])
    assert without_hidden("<!-- a -->\n<!-- b -->\n- a\n<!-- c -->") == ("- a\n", [0, 1, 3])


def test_taking_one_thing_out_reveals_nothing():
    for text in ("<!<!-- x -->-- hidden -->\n\n- a\n", "x <!-<!-- a -->- hidden -->\n", "[a]<!-- x -->: /hidden\n"):
        left = kept(text)
        assert "hidden" not in left
        assert not hides_something(left)


def test_hidden_in_too_many_layers_is_damage_and_not_a_hang():
    with pytest.raises(DamagedFile, match="more layers of comments"):
        without_hidden("x " + "<!-" * 200 + "- a --" + ">-- a --" * 200 + ">\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["[", "![[", "[a\n", "*a_ ", "`a``b", "<", "x <!-- a --> ", "<!-- ", "`<!-- a --> ", "[a]("]
)
def test_one_comment_never_makes_a_parser_take_minutes(piece):
    """markdown-it takes a minute for a few thousand brackets; whoever may commit a file could stop every agent."""
    left = kept("x <!-- h --> y\n\n" + piece * (25_000 // len(piece)))
    assert left.startswith("x  y\n")


HIDING = [
    *(
        "- a",
        "text words",
        "# H",
        "<!-- c -->",
        "<!-- open",
        "close -->",
        "-->",
        "<!--",
        "x <!-- y --> z",
        "<!-- a --> b",
    ),
    *(
        "`<!-- code -->`",
        "`` ` <!-- c --> ``",
        "```",
        "~~~",
        "<?pi?>",
        "<?pi",
        "?>",
        "<!DECL>",
        "<!DECL",
        "<![CDATA[ x ]]>",
    ),
    *("]]>", "[a]: /u", "[a]: <u> 'hid'", "[//]: # (hidden)", "[a]:", "/u", "'title'", "[a", "b]: c", "[x]", "[x](y)"),
    *("<div>", "</div>", "<b>", "</b>", "<a title='<!-- q -->'>", "<script>", "</script>", "<pre>", "</pre>", "> q"),
    *(
        "> <!-- c -->",
        "- <!-- c -->",
        "- [a]: b",
        "> [a]: b",
        "1. <?x?>",
        "| a | b |",
        "|---|---|",
        "| <!-- c --> | d |",
    ),
    *(
        "\\<!-- esc -->",
        "&lt;!-- ent -->",
        "<!-->",
        "<!--->",
        "<!-- a -- b -->",
        "<!-- a --!>",
        "*<!-- e -->*",
        "**<!-- e",
    ),
    *(
        "[<!-- l -->](u)",
        "![<!-- l -->](u)",
        "<!>",
        "<!x>",
        "<?>",
        "---",
        "===",
        "\\",
        "`",
        "``",
        "<!-- ``` -->",
        "<!-- `",
    ),
    *("\t<!-- t -->", "<img alt='", "'>", "[b]: <", "[a\\]: x]: y", "[\n\\[]: x", "", "", ""),
]
TEXTS = st.lists(
    st.tuples(
        st.sampled_from(["", "", "", " ", "   ", "    ", "\t"]),
        st.sampled_from(HIDING),
        st.sampled_from(["", " ", *HIDING]),
    ),
    max_size=8,
).map(lambda lines: "\n".join("".join(line) for line in lines))


@pytest.mark.requirement("S4-60")
@settings(max_examples=min(4 * MOST, 20_000))
@given(TEXTS)
def test_nothing_hidden_is_left_in_any_document(text):
    try:
        left = kept(text)
    except DamagedFile:
        return
    assert not hides_something(left)
    try:
        page = Page(left)
    except AssertionError:  # Python's own parser gives up on some declarations that are text in Markdown
        return
    assert page.hidden == []
    assert not page.definitions


@given(st.one_of(TEXTS, st.text(max_size=30)))
def test_where_nothing_is_hidden_nothing_changes(text):
    text = text.replace("\r", "\n").replace("\0", "")
    # What looks like a comment in an attribute's value is taken out too, to be on the safe side.
    if not hides_something(text) and "='" not in text and '="' not in text:
        assert without_hidden(text) == (text, [])


@given(TEXTS)
def test_lines_that_stay_keep_their_numbers(text):
    try:
        left, removed = without_hidden(text)
    except DamagedFile:
        return
    lines = text.split("\n")
    stay = [number for number in range(len(lines)) if number not in set(removed)]
    for number, line in zip(stay, left.split("\n"), strict=False):
        assert is_part_of(line, lines[number])
    if len(lines) - 1 in removed:
        left = left.removesuffix("\n")
    assert left == "" or len(stay) == left.count("\n") + 1


def is_part_of(line: str, whole: str) -> bool:
    characters = iter(whole)
    return all(character in characters for character in line)


@pytest.mark.slow
def test_no_word_that_real_pages_show_is_lost(some_files):
    for path in some_files:
        lines = split_lines(decode(path.read_bytes(), path.name))
        text = "\n".join(lines[headers.front_matter_end(lines) :])
        left = kept(text)
        before, after = Page(text), Page(left)
        assert before.words == after.words, path
        assert after.hidden == [], path
        assert not after.definitions, path
        assert kept(left) == left, path


INVISIBLE = [
    pytest.param("a\u200bb", "a\\u200bb", id="zero-width-space"),
    pytest.param("a\u200db", "a\\u200db", id="joiner-between-latin-letters"),
    pytest.param("a\u200c", "a\\u200c", id="joiner-at-the-end"),
    pytest.param("a\u202eb", "a\\u202eb", id="bidi-override"),
    pytest.param("\u2066a\u2069", "\\u2066a\\u2069", id="bidi-isolates"),
    pytest.param("\ufeffa", "\\ufeffa", id="byte-order-mark"),
    pytest.param("so\u00adft", "so\\xadft", id="soft-hyphen"),
    pytest.param("a\x1b[31mb", "a\\x1b[31mb", id="ansi-escape"),
    pytest.param("a\x07\x08\x7f", "a\\x07\\x08\\x7f", id="control"),
    pytest.param("a\x85b\x9b", "a\\x85b\\x9b", id="c1-control"),
    pytest.param("a\0b", "a\\x00b", id="nul"),
    pytest.param("a\fb\vc", "a\\x0cb\\x0bc", id="form-feed"),
    pytest.param("a\u2028b\u2029c", "a\\u2028b\\u2029c", id="separators"),
    pytest.param("a\U000e0041\U000e007f", "a\\U000e0041\\U000e007f", id="tags"),
    pytest.param("a\ufe01", "a\\ufe01", id="selector-after-a-latin-letter"),
    pytest.param("a\U000e0101", "a\\U000e0101", id="high-selector"),
    pytest.param("\u115f\ufe01", "\\u115f\\ufe01", id="selector-after-a-filler"),
    pytest.param("\u3164\u2800\uffa0", "\\u3164\\u2800\\uffa0", id="fillers"),
    pytest.param("a\u034fb", "a\\u034fb", id="grapheme-joiner"),
    pytest.param("\u180b\u200d\u0600", "\\u180b\\u200d\u0600", id="joiner-beside-what-is-hidden-itself"),
    pytest.param("\ue000\U000f0000\U00100000", "\\ue000\\U000f0000\\U00100000", id="private-use"),
    pytest.param("❤\U000e0101", "❤\\U000e0101", id="high-selector-after-an-emoji"),
    pytest.param("葛\U000e0101\U000e0102", "葛\U000e0101\\U000e0102", id="second-selector-after-a-han-character"),
    pytest.param("葛\U000e0120", "葛\\U000e0120", id="selector-that-no-han-character-has"),
    pytest.param("0\ufe01 က\ufe02 +\ufe00", "0\\ufe01 က\\ufe02 +\\ufe00", id="selectors-that-choose-no-form"),
    pytest.param("ب\u200d\u200dب", "ب\\u200d\\u200dب", id="two-joiners-in-arabic"),
    pytest.param("،\u200c،٣\u200d٤", "،\\u200c،٣\\u200d٤", id="joiners-between-commas-and-digits"),
    pytest.param("a\u200c\u094d", "a\\u200c\u094d", id="joiner-of-a-latin-letter-before-a-virama"),
    pytest.param("a\U0001d159b", "a\\U0001d159b", id="notehead-without-a-shape"),
    pytest.param("葛\ufe0f", "葛\\ufe0f", id="emoji-selector-after-a-han-character"),
    pytest.param("م\U000e0101 é\U000e0100", "م\\U000e0101 é\\U000e0100", id="high-selector-after-other-letters"),
    pytest.param("1\ufe0f 1\ufe0e", "1\\ufe0f 1\\ufe0e", id="emoji-selector-after-a-mere-digit"),
    pytest.param("✓\ufe0f \u2192\ufe0f", "✓\\ufe0f \u2192\\ufe0f", id="emoji-selector-after-other-signs"),
    pytest.param("❤\ufe0f\ufe0f", "❤\ufe0f\\ufe0f", id="emoji-selector-twice"),
    pytest.param("👩\u200d\u200d💻", "👩\\u200d\\u200d💻", id="two-joiners-in-an-emoji"),
    pytest.param("✓\u200d✓ 😀\u200da", "✓\\u200d✓ 😀\\u200da", id="joiner-between-other-signs"),
    pytest.param("👩\u200c💻", "👩\\u200c💻", id="non-joiner-in-an-emoji"),
    pytest.param("क\u200dष", "क\\u200dष", id="joiner-in-devanagari-without-a-virama"),
    pytest.param("👍\u200d👍👍\u200d👍", "👍\\u200d👍👍\\u200d👍", id="joiner-between-emoji-that-never-join"),
    pytest.param("سـل\u200dام", "سـل\\u200dام", id="joiner-between-arabic-letters-that-join-anyway"),
    pytest.param("ខ\u200b\u200bម", "ខ\\u200b\\u200bម", id="two-word-ends-in-khmer"),
    pytest.param("ก\u200bb", "ก\\u200bb", id="word-end-between-two-scripts"),
    pytest.param("ក\u200bា", "ក\\u200bា", id="word-end-before-a-vowel-sign"),
    pytest.param("가\u1160", "가\\u1160", id="filler-behind-a-whole-syllable"),
    pytest.param(
        "🏴\U000e0074\U000e0065\U000e0078\U000e0074\U000e007f",
        "🏴\\U000e0074\\U000e0065\\U000e0078\\U000e0074\\U000e007f",
        id="word-behind-a-black-flag",
    ),
    pytest.param("日\u200c本", "日\\u200c本", id="non-joiner-between-han-characters"),
    pytest.param("a\u180bb", "a\\u180bb", id="mongolian-selector-elsewhere"),
    pytest.param("🏴\U000e0067\U000e0062", "🏴\\U000e0067\\U000e0062", id="flag-that-never-ends"),
    pytest.param("🏳\U000e0067\U000e0062\U000e007f", "🏳\\U000e0067\\U000e0062\\U000e007f", id="tags-after-a-white-flag"),
    pytest.param("\u2065\ufff0\U000e0fff", "\\u2065\\ufff0\\U000e0fff", id="unassigned"),
    pytest.param("\ufffe\U0001ffff", "\\ufffe\\U0001ffff", id="no-characters"),
    pytest.param("caf\udce9", "caf\\udce9", id="half-a-character"),
]
VISIBLE = [
    pytest.param("plain ascii, with\ta tab", id="ascii"),
    pytest.param("Größe café naïve", id="accents"),
    pytest.param("cafe\u0301", id="combining-accent"),
    pytest.param("日本語 한국어 中文", id="east-asian"),
    pytest.param("क\u094d\u200dष", id="joiner-in-devanagari"),
    pytest.param("می\u200cخواهم", id="non-joiner-in-persian"),
    pytest.param("👩\u200d💻 👨\u200d👩\u200d👧", id="joiners-in-emoji"),
    pytest.param("❤\ufe0f ✔\ufe0f ☎\ufe0e", id="emoji-selectors"),
    pytest.param("❤\ufe0f\u200d🔥", id="joiner-after-a-selector"),
    pytest.param("1\ufe0f\u20e3 #\ufe0f\u20e3", id="keycaps"),
    pytest.param("👍🏽 🇩🇪", id="skin-tones-and-flags"),
    pytest.param("葛\U000e0100", id="han-variants"),
    pytest.param("a\u00a0b\u2003c\u3000d", id="wide-blanks"),
    pytest.param("\u0600\u06dd", id="arabic-signs"),
    pytest.param("ℹ\ufe0f 〰\ufe0f ‼\ufe0f ↔\ufe0f ©\ufe0f", id="selectors-after-emoji-of-other-kinds"),
    pytest.param("🙂\u200d↔\ufe0f 🏳\ufe0f\u200d⚧\ufe0f 🐦\u200d⬛ 🧑🏽\u200d🚀 ⛓\ufe0f\u200d💥", id="further-emoji"),
    pytest.param("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f!", id="flag-of-scotland"),
    pytest.param("🏴 🏴\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f 🏴\u200d☠\ufe0f", id="three-black-flags"),
    pytest.param("葛\ufe00 𠮷\U000e011f 〇\U000e0100", id="further-han-variants"),
    pytest.param("അവന\u0d4d\u200d, ശ്ര", id="joiner-at-the-end-in-malayalam"),
    pytest.param("র\u200d\u09cdয র\u200c\u09cdয ක\u0dca\u200dර", id="joiner-before-a-virama"),
    pytest.param("کار\u200cها ه\u200d", id="joiners-in-persian"),
    pytest.param("API\u200cها ۲۴\u200cساعته", id="non-joiner-before-a-persian-ending"),
    pytest.param("\u200dه \u200dه", id="joiner-before-a-letter-by-itself"),
    pytest.param("נ\u05b5\u034f\u059e", id="grapheme-joiner-between-marks"),
    pytest.param("ខ្ញុំ\u200bចូលចិត្ត\u200bភាសា\u200bខ្មែរ។", id="word-ends-in-khmer"),
    pytest.param("ภาษา\u200bไทย ພາສາ\u200bລາວ မြန်မာ\u200bစာ", id="word-ends-in-thai-lao-and-burmese"),
    pytest.param("\u1100\u1160\u11a8 \u115f\u1161", id="fillers-in-old-korean"),
    pytest.param(
        "👩\u200d❤\ufe0f\u200d💋\u200d👨 🐻\u200d❄\ufe0f 👁\ufe0f\u200d🗨\ufe0f 😶\u200d🌫\ufe0f 🫱🏻\u200d🫲🏿",
        id="more-joined-emoji",
    ),
    pytest.param("ه\u200d.ش. بوون", id="joiner-before-a-full-stop-in-persian"),
    pytest.param("\U000130c0\U00013430\U000133cf", id="hieroglyphs-above-each-other"),
    pytest.param("ᠠ\u180b ᠨ\u180eᠠ", id="selectors-in-mongolian"),
    pytest.param("0\ufe00 ∩\ufe00 、\ufe01 က\ufe00", id="standard-variants"),
    pytest.param("\U0001fae9 \U00013440", id="not-known-yet"),
]

BASES = {"letters": ("a", "b"), "emoji": ("😀", "!"), "Han": ("漢", "字"), "digits": ("1", "2"), "end": (".", "")}
PASS = {
    "emoji": {0xFE0E, 0xFE0F},
    "Han": {0xFE00, 0xFE01, 0xFE02, *range(0xE0100, 0xE0120)},
}


@pytest.mark.slow
@each_row("base", BASES)
def test_what_is_shown_as_nothing_passes_only_where_its_base_needs_it(base):
    before, after = BASES[base]
    codes = [code for first, last in IGNORABLE for code in range(first, last + 1)]
    assert len(codes) == 4_174
    texts = {code: f"x {before}{chr(code)}{after}" for code in codes}
    assert {code for code, text in texts.items() if first_invisible(text) is None} == PASS.get(base, set())
    assert {code for code, text in texts.items() if escape_line(text) == text} == PASS.get(base, set())


@each_row("line, shown", INVISIBLE)
def test_an_invisible_character_becomes_a_visible_escape(line, shown):
    """B71: zero-width and bidi characters, an ANSI escape."""
    assert escape_line(line) == shown
    if not line.endswith("\udce9"):  # no file that was decoded holds one
        assert needs_escapes(line, rare_bytes(line.encode()))
    found = first_invisible(f"fine\n{line}")
    assert found is not None
    assert found[0] == 2
    assert found[1] in shown


@each_row("line", VISIBLE)
def test_what_scripts_and_emoji_need_stays(line):
    assert escape_line(line) == line
    assert first_invisible(line) is None


def test_a_json_text_says_the_same_with_nothing_hidden_in_it():
    answer = {EVIL: [EVIL, "می\u200cخواهم 👩\u200d💻 \x00\ud800 \n\u200b"], "plain": 'a "b" \\'}
    written = json.dumps(answer, ensure_ascii=False)
    shown = show_in_json(written)
    assert json.loads(shown) == answer
    assert "می\u200cخواهم 👩\u200d💻" in shown
    assert raw_in(shown.replace("می\u200cخواهم 👩\u200d💻", "")) == ""


MARKERS = [
    pytest.param("</memory>", "&lt;/memory>", id="closing-tag"),
    pytest.param('<memory tier="shared">', '&lt;memory tier="shared">', id="opening-tag"),
    pytest.param('</agent-memory id="0123456789abcdef">', '&lt;/agent-memory id="0123456789abcdef">', id="end-marker"),
    pytest.param("<MEMORY>", "&lt;MEMORY>", id="upper-case"),
    pytest.param("< / memory >", "&lt; / memory >", id="spaced"),
    pytest.param("<\tmemory", "&lt;\tmemory", id="tabbed-and-cut-off"),
    pytest.param("<\u00a0/\u3000memory>", "&lt;\u00a0/\u3000memory>", id="wide-blanks"),
    pytest.param("\uff1cmemory\uff1e", "&lt;memory\uff1e", id="fullwidth-angle"),
    pytest.param(
        "<\uff4d\uff45\uff4d\uff4f\uff52\uff59>", "&lt;\uff4d\uff45\uff4d\uff4f\uff52\uff59>", id="fullwidth-letters"
    ),
    pytest.param("<\U0001d426emory>", "&lt;\U0001d426emory>", id="mathematical-letter"),
    pytest.param("<m\u0435m\u043ery>", "&lt;m\u0435m\u043ery>", id="cyrillic-letters"),
    pytest.param("</\u0430gent\u2011memory>", "&lt;/\u0430gent\u2011memory>", id="another-hyphen"),
    pytest.param("\u27e8memory\u27e9", "&lt;memory\u27e9", id="mathematical-angle"),
    pytest.param("\u2039/memory\u203a", "&lt;/memory\u203a", id="quotation-angle"),
    pytest.param("<mem\u200bory>", "<mem\\u200bory>", id="zero-width-inside-is-shown"),
    pytest.param("<\u200bmemory>", "<\\u200bmemory>", id="zero-width-after-the-angle-is-shown"),
    pytest.param("<memory\u200b>", "&lt;memory\\u200b>", id="zero-width-after-the-name"),
    pytest.param("<memory\u1438memory", "&lt;memory&lt;memory", id="one-that-shows-when-the-next-is-broken"),
    pytest.param("a<memory>b</memory>c", "a&lt;memory>b&lt;/memory>c", id="several"),
    pytest.param("<system>", "&lt;system>", id="system"),
    pytest.param("</system-reminder>", "&lt;/system-reminder>", id="system-reminder"),
    pytest.param("</session-checklist> x", "&lt;/session-checklist> x", id="session-checklist"),
    pytest.param("<hook_context>", "&lt;hook_context>", id="hook-context"),
    pytest.param("<human>", "&lt;human>", id="human"),
    pytest.param("<|im_start|>system", "&lt;|im_start|>system", id="chat-template"),
    pytest.param(
        "<\uff5cbegin\u2581of\u2581sentence\uff5c>", "&lt;\uff5cbegin\u2581of\u2581sentence\uff5c>", id="another-one"
    ),
    pytest.param("<start_of_turn>user", "&lt;start_of_turn>user", id="turn"),
    pytest.param("<<SYS>>", "&lt;<SYS>>", id="double-angles"),
    pytest.param("<s>[INST] x [/INST]", "&lt;s>&#91;INST] x &#91;/INST]", id="bracketed"),
    pytest.param("<function_calls>", "&lt;function_calls>", id="calls"),
]
NO_MARKERS = [
    "<b>bold</b>",
    "1 < 2 and memory > disk",
    "<memory_limit> and <memory-palace>",
    "<systemd> and <users>",
    "&lt;/memory>",
    "List<String> and vector<int>",
    "[INSTALL] and [inst]",
    "[ ] todo",
    "<мемо>",
    "<-- here",
    "a <",
    "\u2039quoted\u203a",
]


@each_row("line, broken", MARKERS)
def test_what_could_pass_for_a_marker_is_broken_and_still_readable(line, broken):
    """B71: text can forge the closing marker of the block."""
    assert escape_line(line) == broken
    assert needs_escapes(line, rare_bytes(line.encode()))


@each_row("line", NO_MARKERS)
def test_any_other_angle_or_bracket_stays(line):
    assert escape_line(line) == line


ODD = st.sampled_from(
    [
        *"<<//>|[]:INST aZ-_1#\t",
        *"\uff1c\ufe64\u2039\u2329\u27e8\u3008\u02c2\u1438\u034f\u115f\u17b4\u180b\u2800\u3164\uffa0\ufe00\ufe0e\ufe0f\u200c\u200d",
        *"\U000e0100\U000e0041\u200b\u202e\u2066\ufeff\xad\x1b\x7f\x85\xa0\u2003\u3000\u1680❤👩💻é日क\u094dم\u0300\u0600\u2028\u061c\u180e",
        *("memory", "agent-memory", "system", "[INST]", "INST]", "<|im", "antml:", "\uff4demory", "м\u0435mory"),
    ]
)
LINES = st.one_of(st.lists(ODD, max_size=14).map("".join), st.text(max_size=20))


@settings(max_examples=min(3 * MOST, 20_000))
@given(LINES)
def test_an_escaped_line_has_nothing_to_escape(line):
    line = line.replace("\n", "").replace("\r", "")
    shown = escape_line(line)
    assert escape_line(shown) == shown
    assert first_invisible(shown) is None
    assert show_invisible(shown) == shown
    assert not [one for one in shown if category(one) == "Cc" and one != "\t"]
    assert not re.search(r"<[\s/]*(agent-memory|memory|system|human)(?![\w-])", shown, re.IGNORECASE)
    assert "[INST]" not in shown


@settings(max_examples=min(3 * MOST, 20_000))
@given(st.lists(LINES, min_size=1, max_size=3).map("\n".join))
def test_the_quick_test_of_a_whole_text_misses_nothing(text):
    text = text.replace("\r", "")
    lines = text.split("\n")
    if [escape_line(line) for line in lines] != lines:
        assert needs_escapes(text, rare_bytes(text.encode()))


def test_few_real_files_need_a_closer_look_and_those_that_do_need_escapes(corpus):
    looked_at = needed = 0
    for path in corpus:
        text = "\n".join(split_lines(decode(path.read_bytes(), path.name)))
        looked_at += needs_escapes(text, rare_bytes(text.encode()))
        needed += any(escape_line(line) != line for line in text.split("\n"))
    assert needed <= looked_at <= needed + len(corpus) // 20
