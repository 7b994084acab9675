"""The tier table and the name rule: which names there are, where they lead, and that none leads outside."""

import pickle
from pathlib import PurePosixPath, PureWindowsPath
from unicodedata import is_normalized, normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, InvalidArgument, InvalidName
from agent_memory_protocol.layout import (
    OWNED_TIERS,
    TIERS,
    Target,
    Tier,
    check_agent_name,
    check_conversation_id,
    check_owner,
    display_name,
    name_key,
)
from tests.each_row import each_row

UUID = "3f2b8c1e-9d4a-4b6f-8e21-0c5d7a9b1e34"

ACCEPTED = [
    pytest.param("developer", "developer", id="plain"),
    pytest.param("backend-developer_2.1", "backend-developer_2.1", id="digits-and-signs-inside"),
    pytest.param("Developer", "Developer", id="case-is-kept"),
    pytest.param("7", "7", id="one-digit"),
    pytest.param("_private_", "_private_", id="underscores-outside"),
    pytest.param("a..b", "a..b", id="two-dots-inside"),
    pytest.param("console", "console", id="begins-like-a-device"),
    pytest.param("com10", "com10", id="no-such-device"),
    pytest.param("x" * 64, "x" * 64, id="longest"),
    pytest.param("jose\u0301", "josé", id="nfd-becomes-nfc"),
    pytest.param("e\u0301" * 64, "é" * 64, id="length-is-counted-in-nfc"),
    pytest.param("разработчик", "разработчик", id="cyrillic"),
    pytest.param("προγραμματιστής", "προγραμματιστής", id="greek"),
    pytest.param("مطور", "مطور", id="arabic"),
    pytest.param("நிரலாளர்", "நிரலாளர்", id="marks-that-letters-carry"),
    pytest.param("佐々木", "佐々木", id="han-iteration-mark"),
    pytest.param("日本ガイドひら-한국", "日本ガイドひら-한국", id="scripts-written-with-han"),
    pytest.param("агент-2", "агент-2", id="digits-belong-to-no-script"),
    pytest.param("scaffolding:developer", "developer", id="plugin"),
    pytest.param("market:scaffolding:developer", "developer", id="plugin-of-a-marketplace"),
    pytest.param("PACT:pact-architect", "pact-architect", id="plugin-in-capitals"),
]

SEPARATOR = "a path separator"
ENDS = "must not begin or end with a dot, a dash or a space"
HIDDEN = "the invisible or control character"
DEVICE = "Windows reserves this name for a device"
LOOK_ALIKE = "look-alike characters"

REFUSED = [
    pytest.param("", "is empty", id="empty"),
    pytest.param(".", ENDS, id="dot"),
    pytest.param("..", ENDS, id="dot-dot"),
    pytest.param("../../outside", SEPARATOR, id="climbing"),
    pytest.param("a/../../b", SEPARATOR, id="climbing-inside"),
    pytest.param("a\\..\\..\\b", SEPARATOR, id="backslash"),
    pytest.param("/etc/passwd", SEPARATOR, id="absolute"),
    pytest.param("team/dev", SEPARATOR, id="slash-is-no-dash"),
    pytest.param("\u2044etc", "", id="fraction-slash"),
    pytest.param("a\uff0fb", LOOK_ALIKE, id="fullwidth-slash"),
    pytest.param("C:x", "a drive letter", id="drive"),
    pytest.param("a:", "a drive letter", id="drive-alone"),
    pytest.param("plugin:", "is empty", id="plugin-without-agent"),
    pytest.param(":agent", "is empty", id="agent-without-plugin"),
    pytest.param("../x:agent", SEPARATOR, id="plugin-that-climbs"),
    pytest.param("%2e%2e", "a percent sign", id="percent"),
    pytest.param("x%00", "a percent sign", id="percent-nul"),
    pytest.param("a\0b", HIDDEN, id="nul"),
    pytest.param("a\nb", HIDDEN, id="newline"),
    pytest.param("a\tb", HIDDEN, id="tab"),
    pytest.param("a\x1b[31m", HIDDEN, id="escape"),
    pytest.param("a\x7f", HIDDEN, id="delete"),
    pytest.param("zero\u200bwidth", HIDDEN, id="zero-width-space"),
    pytest.param("a\u200db", HIDDEN, id="joiner"),
    pytest.param("soft\u00adhyphen", HIDDEN, id="soft-hyphen"),
    pytest.param("\ufeffagent", HIDDEN, id="byte-order-mark"),
    pytest.param("a\u202eb", HIDDEN, id="bidi-override"),
    pytest.param("a\u2066b", HIDDEN, id="bidi-isolate"),
    pytest.param("a\U000e0041", HIDDEN, id="tag"),
    pytest.param("a\u2028b", HIDDEN, id="line-separator"),
    pytest.param("a\u00a0b", HIDDEN, id="no-break-space"),
    pytest.param("a\u034fb", HIDDEN, id="grapheme-joiner-is-a-mark"),
    pytest.param("\u1160", HIDDEN, id="hangul-filler-is-a-letter"),
    pytest.param("\ud55c\u115f", HIDDEN, id="hangul-choseong-filler"),
    pytest.param("\u1780\u17b4", HIDDEN, id="khmer-inherent-vowel"),
    pytest.param("\u1820\u180b", HIDDEN, id="mongolian-selector"),
    pytest.param("a\u3164", LOOK_ALIKE, id="hangul-compatibility-filler"),
    pytest.param("a\ufe0f", "where no letter carries it", id="variation-selector"),
    pytest.param("a\U000e0100", "where no letter carries it", id="high-variation-selector"),
    pytest.param("-\u0301x", ENDS, id="mark-on-a-dash-at-the-start"),
    pytest.param("x-\u0301y", "where no letter carries it", id="mark-on-a-dash"),
    pytest.param("caf\udce9", HIDDEN, id="byte-that-is-no-text"),
    pytest.param("\U0001f600", "not a letter or digit", id="emoji"),
    pytest.param("dev\U0001f680", "not a letter or digit", id="emoji-after-letters"),
    pytest.param("a\u20e3", "not a letter or digit", id="keycap"),
    pytest.param("\U0001f1e9\U0001f1ea", "not a letter or digit", id="flag"),
    pytest.param("\u2800", "not a letter or digit", id="braille-blank"),
    pytest.param(".hidden", ENDS, id="leading-dot"),
    pytest.param("x.", ENDS, id="trailing-dot"),
    pytest.param("-rf", ENDS, id="leading-dash"),
    pytest.param("x-", ENDS, id="trailing-dash"),
    pytest.param(" x", ENDS, id="leading-space"),
    pytest.param("x ", ENDS, id="trailing-space"),
    pytest.param("team dev", "letters, digits, '-', '_' and '.' are allowed", id="space-inside"),
    pytest.param("a*b", "letters, digits, '-', '_' and '.' are allowed", id="star"),
    pytest.param("$(id)", "letters, digits, '-', '_' and '.' are allowed", id="shell"),
    pytest.param("{{ x }}", "letters, digits, '-', '_' and '.' are allowed", id="template"),
    pytest.param("devel\u043eper", "mixes Cyrillic and Latin letters", id="latin-and-cyrillic"),
    pytest.param("\u03b1gent", "mixes Greek and Latin letters", id="latin-and-greek"),
    pytest.param("日本agent", "mixes CJK and Latin letters", id="latin-and-han"),
    pytest.param("\uff44ev", LOOK_ALIKE, id="fullwidth"),
    pytest.param("\ufb01x", LOOK_ALIKE, id="ligature"),
    pytest.param("\U0001d41aagent", LOOK_ALIKE, id="mathematical-bold"),
    pytest.param("\u2163", LOOK_ALIKE, id="roman-numeral"),
    pytest.param("COM\u00b9", LOOK_ALIKE, id="superscript"),
    *(
        pytest.param(name, DEVICE, id=name)
        for name in ("CON", "con", "PRN.txt", "aux.a.b", "NUL", "COM1", "lpt9.md", "com0")
    ),
    pytest.param("x" * 65, "65 characters, 64 are allowed", id="one-too-long"),
    pytest.param("x" * 300, "300 characters, 64 are allowed", id="too-long"),
    pytest.param("x" * 4096, "4096 characters, 64 are allowed", id="four-kilobytes"),
    pytest.param("\U00020000" * 64, "255 bytes a file name may have", id="too-many-bytes"),
]


@pytest.mark.requirement("S4-10", "S4-11", "S4P-01")
@each_row("name, folder", ACCEPTED)
def test_a_name_that_people_use_has_a_folder_of_its_own(name, folder):
    assert check_agent_name(name) == folder
    assert check_agent_name(folder) == folder


@pytest.mark.requirement("S4-11")
@each_row("name, rule", REFUSED)
def test_a_name_that_breaks_the_rule_is_refused_in_one_plain_line_that_says_which_part(name, rule):
    """B40, B41."""
    with pytest.raises(InvalidName) as refused:
        check_agent_name(name)
    said = str(refused.value)
    assert rule in said
    assert said.isascii()
    assert said.isprintable()
    assert len(said) < 900
    assert isinstance(refused.value, (AgentMemoryError, ValueError))
    assert refused.value.exit_code == 2


@pytest.mark.requirement("S4-15", "S4-16")
@each_row("name, rule", [case for case in REFUSED if ":" not in str(case.values[0])])
def test_the_same_rule_holds_for_conversations(name, rule):
    if isinstance(name, str) and 64 < len(name) <= 128 and name.isascii():
        assert check_conversation_id(name) == name
    else:
        with pytest.raises(InvalidName, match="conversation id"):
            check_conversation_id(name)


def test_a_conversation_has_no_plugin_and_a_longer_name():
    assert check_conversation_id("x" * 128) == "x" * 128
    with pytest.raises(InvalidName, match="129 characters, 128 are allowed"):
        check_conversation_id("x" * 129)
    with pytest.raises(InvalidName, match="colon"):
        check_conversation_id("a:b")


@pytest.mark.requirement("S4P-02")
def test_strict_conversation_ids_are_uuids_and_nothing_else():
    assert check_conversation_id(UUID, strict=True) == UUID
    assert check_conversation_id(UUID.upper(), strict=True) == UUID.upper()
    for wrong in ("1", UUID[:-1], UUID.replace("-", ""), "g" + UUID[1:], f"{UUID}0", "\u0663" + UUID[1:]):
        with pytest.raises(InvalidName):
            check_conversation_id(wrong, strict=True)
    assert check_conversation_id("1") == "1"


@each_row("name", [5, None, b"x", ["x"]], ids=repr)
def test_what_is_no_text_is_no_name(name):
    with pytest.raises(InvalidName, match="must be text"):
        check_agent_name(name)
    with pytest.raises(InvalidName, match="must be text"):
        check_conversation_id(name)


@pytest.mark.requirement("S4-11")
def test_different_names_never_become_one():
    """B41: two different names are cleaned to the same folder."""
    names = ["team-dev", "team_dev", "team.dev", "teamdev", "team--dev"]
    assert [check_agent_name(name) for name in names] == names
    assert len({Target(Tier.AGENT, name) for name in names}) == len(names)


@each_row(
    "one, other",
    [("Developer", "developer"), ("JOS\u00c9", "jose\u0301"), ("РАЗРАБОТЧИК", "разработчик"), ("ΣΑΣ", "σας")],
)
def test_names_that_differ_by_case_or_unicode_form_are_one_agent(one, other):
    """B44, B46."""
    assert name_key(one) == name_key(other)
    assert Target(Tier.AGENT, one) == Target(Tier.AGENT, other)
    assert hash(Target(Tier.AGENT, one)) == hash(Target(Tier.AGENT, other))


@each_row("one, other", [("1", "10"), ("a", "b"), ("i", "ı"), ("a.b", "a-b")])
def test_names_that_differ_otherwise_are_two(one, other):
    assert name_key(one) != name_key(other)
    assert Target(Tier.AGENT, one) != Target(Tier.AGENT, other)


CHARACTERS = st.characters(categories=["L", "M", "N", "P", "S", "Z", "C"])
NAMES = st.one_of(
    st.text(st.sampled_from("abCON19.-_"), min_size=1, max_size=8),
    st.text(st.sampled_from("é\u0301ñßİıσς"), min_size=1, max_size=6),
    st.text(st.characters(categories=["Ll", "Mn", "Nd"], min_codepoint=0x370), min_size=1, max_size=3),
    st.text(st.sampled_from("ab./\\:%-_~ \0\n\u0301\u200b\u2044\uff0f\uff0eé日"), max_size=8),
    st.lists(st.sampled_from(["..", ".", "/", "\\", "a", "con", "nul", ":", "~", "\u2024", "\uff0e"])).map("".join),
    st.text(CHARACTERS, max_size=6),
)
"""What may be a name and what tries to be more: a test of what is accepted passes over the rest."""


@pytest.mark.requirement("S4-11")
@given(NAMES)
@example("..")
@example("a\u2024\u2024b")
def test_any_name_accepted_stays_inside_the_root_on_every_system(name):
    try:
        owner = check_agent_name(name)
    except InvalidName:
        return
    for tier in OWNED_TIERS:
        target = Target(tier, owner)
        assert target.path.split("/") == list(target.parts)
        above = "/".join(tier.folder)
        for kind, root in ((PurePosixPath, "/r"), (PureWindowsPath, "C:\\r")):
            joined = kind(root, *target.parts)
            assert joined.is_relative_to(kind(root, above))
            assert len(joined.parts) == len(kind(root).parts) + len(target.parts)
            assert ".." not in joined.parts
        reserved = [part for part in target.parts if PureWindowsPath(part).is_reserved()]
        assert reserved == []
    assert len(owner.encode()) <= 255
    assert owner == owner.strip(" .-")
    assert owner.isprintable()


@given(NAMES)
def test_a_name_has_one_spelling_and_one_key(name):
    try:
        owner = check_agent_name(name)
    except InvalidName:
        return
    assert is_normalized("NFC", owner)
    assert check_agent_name(owner) == owner
    for spelling in (owner, normalize("NFD", owner), f"plugin:{owner}"):
        assert check_agent_name(spelling) == owner
    assert name_key(owner) == name_key(normalize("NFD", owner)) == name_key(name_key(owner))


@pytest.mark.requirement("S4-05")
def test_there_are_three_tiers_in_the_order_recall_gives_them():
    assert [tier.value for tier in TIERS] == ["shared", "agent", "conversation"]
    assert [str(tier) for tier in TIERS] == ["shared", "agent", "conversation"]
    assert [Tier.parse(tier.value) for tier in TIERS] == list(TIERS)
    assert [pickle.loads(pickle.dumps(tier)) is tier for tier in TIERS] == [True, True, True]
    with pytest.raises(InvalidArgument, match="the tiers are shared, agent and conversation"):
        Tier.parse("global")


@pytest.mark.requirement("S4-06", "S4-10", "S4-15")
@pytest.mark.parametrize(
    ("target", "path", "name"),
    [
        (Target(Tier.SHARED), ".scaffolding/agent-memory/shared/KNOWLEDGE.md", "shared"),
        (Target(Tier.AGENT, "dev"), ".scaffolding/agent-memory/agents/dev/MEMORY.md", "agent:dev"),
        (
            Target(Tier.CONVERSATION, "c1"),
            ".scaffolding/conversations/c1/agent-memory/context.md",
            "conversation:c1",
        ),
    ],
    ids=["shared", "agent", "conversation"],
)
def test_each_tier_has_its_place(target, path, name):
    assert (target.path, str(target), repr(target)) == (path, name, f"Target({name})")


def test_an_agent_and_a_conversation_of_one_name_are_two_documents():
    assert Target(Tier.AGENT, "x") != Target(Tier.CONVERSATION, "x")
    assert Target(Tier.AGENT, "x") != "agent:x"
    assert check_owner(Tier.AGENT, "pack:x") == "x"
    with pytest.raises(InvalidName):
        check_owner(Tier.CONVERSATION, "p:x")
    with pytest.raises(InvalidName):
        check_owner(Tier.CONVERSATION, "x", strict=True)


@pytest.mark.requirement("S4-67")
@each_row(
    "name, shown",
    [
        ("backend-developer", "Backend Developer"),
        ("backend_developer", "Backend Developer"),
        ("qa", "Qa"),
        ("api.v2-tester", "Api.v2 Tester"),
        ("a--b", "A B"),
        ("josé", "José"),
        ("iOS-dev", "IOS Dev"),
    ],
)
def test_a_header_shows_a_name_as_words(name, shown):
    assert display_name(name) == shown
