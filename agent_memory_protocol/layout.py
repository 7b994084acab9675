"""The tier table: which three documents there are, where each lies, and which names may appear in a path.

Everything that turns a name into a path goes through `check_agent_name` or `check_conversation_id`, so a name
that is accepted stays inside the root, on every system the files may travel to.
"""

from .errors import InvalidArgument, InvalidName

SCAFFOLDING = ".scaffolding"

MEMORY = (SCAFFOLDING, "agent-memory")  # The memory directory of a project
RECORDS = (*MEMORY, "records")  # The folder of its records
ATTRIBUTES = (SCAFFOLDING, ".gitattributes")  # The file that tells git how ledgers are merged
LEDGER = "ledger.jsonl"  # The file beside a document that keeps what has left it
REVIEWED = (*MEMORY, "reviewed")  # The file with the days on which the memory began and was reviewed

SIGHTINGS = (*MEMORY, "sightings.jsonl")
"""Where older versions noted in which conversations each insight was seen: no text, a key and an id a line."""

REFUSED = (*MEMORY, "refused")
"""The file of proposals that nobody is to make again: an id, the verb, the day and the first words a line."""

AGENT_NAME_LENGTH = 64
CONVERSATION_ID_LENGTH = 128
NOTE_NAME_LENGTH = 100
_FILE_NAME_BYTES = 255

_WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"] + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
_ASCII_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
_HAN_COMPANIONS = frozenset(["CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"])
_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f")
"""Letters and marks by category, with nothing to see: joiners, fillers, selectors."""


class Tier:
    """One of the three tiers, and all that sets it apart: `Tier.SHARED`, `Tier.AGENT`, `Tier.CONVERSATION`."""

    __slots__ = ("address", "below", "file", "folder", "has_notes", "header", "lasts", "owner", "placeholder", "value")

    SHARED: "Tier"
    AGENT: "Tier"
    CONVERSATION: "Tier"

    def __init__(
        self,
        value: str,
        folder: tuple[str, ...],
        file: str,
        *,
        address: str,
        owner: str = "",
        placeholder: str = "",
        below: tuple[str, ...] = (),
        header: tuple[str, ...] = (),
        has_notes: bool = True,
        lasts: bool = True,
    ) -> None:
        self.value = value
        self.folder = folder
        """Where its document lies, or the folders of its owners, below the root."""
        self.file = file
        """The name of the file that each of its documents has."""
        self.address = address
        """The folder in which servers and the memory tool show it. An agent's name follows; a conversation's does not,
        since only one is shown."""
        self.owner = owner
        """What names a document of this tier, and the option that takes it: "", "agent" or "conversation"."""
        self.placeholder = placeholder
        """What a command that is shown has in place of such a name."""
        self.below = below
        """The folders between the owner's and the document."""
        self.header = header
        """What the template of a new document may say of its owner."""
        self.has_notes = has_notes
        self.lasts = lasts
        """Whether it is meant to last. Where it is not, new entries are dated by default (decision 20)."""

    @classmethod
    def parse(cls, value: str) -> "Tier":
        """Return the tier of that name.

        Raises:
            InvalidArgument: there is no such tier.
        """
        for tier in TIERS:
            if tier.value == value:
                return tier
        raise InvalidArgument(f"no tier is called {value!r}; the tiers are shared, agent and conversation")

    def option(self, owner: str = "") -> str:
        """Return the option that names a document of this tier on the command line: `--agent NAME`."""
        return f"--{self.owner} {owner or self.placeholder}" if self.owner else f"--tier {self.value}"

    def __repr__(self) -> str:
        return f"Tier.{self.value.upper()}"

    def __str__(self) -> str:
        return self.value

    def __reduce__(self) -> tuple[object, ...]:
        return Tier.parse, (self.value,)


Tier.SHARED = Tier("shared", (*MEMORY, "shared"), "KNOWLEDGE.md", address="shared")
Tier.AGENT = Tier(
    "agent",
    (*MEMORY, "agents"),
    "MEMORY.md",
    address="agents",
    owner="agent",
    placeholder="NAME",
    header=("agent_name", "display_name"),
)
Tier.CONVERSATION = Tier(
    "conversation",
    (SCAFFOLDING, "conversations"),
    "context.md",
    address="conversation",
    owner="conversation",
    placeholder="ID",
    below=(MEMORY[-1],),
    header=("conversation_id",),
    has_notes=False,
    lasts=False,
)
TIERS = (Tier.SHARED, Tier.AGENT, Tier.CONVERSATION)  # All tiers, in the order in which recall gives them
OWNED_TIERS = (Tier.AGENT, Tier.CONVERSATION)  # The tiers that have a document for each agent, or for each conversation


class Target:
    """One tier document: `shared`, `agent:NAME` or `conversation:ID`.

    `owner` is "" for the shared tier, else a name that has passed the name rule. It is spelled as the folder
    on disk is, once `workspace` or `recall` has looked; two targets whose owners differ only by case or Unicode
    form are the same document (decision 2).
    """

    __slots__ = ("owner", "tier")

    def __init__(self, tier: Tier, owner: str = "") -> None:
        self.tier = tier
        self.owner = owner

    @property
    def parts(self) -> tuple[str, ...]:
        """The path below the root, one component each."""
        tier = self.tier
        if not tier.owner:
            return (*tier.folder, tier.file)
        return (*tier.folder, self.owner, *tier.below, tier.file)

    @property
    def folder(self) -> tuple[str, ...]:
        """The path of the folder that it is in, where its notes and its ledger are."""
        return self.parts[:-1]

    @property
    def path(self) -> str:
        """The path below the root, with forward slashes."""
        return "/".join(self.parts)

    @property
    def option(self) -> str:
        """The option that names it on the command line: `--tier shared`, `--agent NAME` or `--conversation ID`."""
        return self.tier.option(self.owner)

    @property
    def address(self) -> tuple[str, ...]:
        """The folder in which servers and the memory tool show it, one component each."""
        return (self.tier.address, self.owner) if self.tier is Tier.AGENT else (self.tier.address,)

    @property
    def key(self) -> str:
        """What makes two targets the same document, and part of what an entry's id is computed from."""
        return f"{self.tier.value}\n{name_key(self.owner)}"

    def to_json(self) -> dict[str, object]:
        """Return how the document is named in every JSON answer."""
        names = {self.tier.owner: self.owner} if self.owner else {}
        return {"target": str(self), "tier": self.tier.value, **names, "path": self.path}

    def __str__(self) -> str:
        return f"{self.tier.value}:{self.owner}" if self.owner else self.tier.value

    def __repr__(self) -> str:
        return f"Target({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def check_target(target: object) -> None:
    """Refuse what is not a document, such as its name.

    Raises:
        InvalidArgument: the message says how to write one.
    """
    if not isinstance(target, Target):
        raise InvalidArgument(f"a document is a Target, such as Target(Tier.SHARED), not {target!a}")


def parse_target(text: str) -> Target:
    """Read `shared`, `agent:NAME` or `conversation:ID`.

    Raises:
        InvalidArgument: it is not one of these.
        InvalidName: the name breaks the name rule.
    """
    kind, _, owner = text.partition(":")
    for tier in TIERS:
        if tier.value == kind and bool(tier.owner) == bool(owner):
            return Target(tier, check_owner(tier, owner) if owner else "")
    meant = f", such as agent:{text}" if text.replace("-", "").replace("_", "").isalnum() else ""
    raise InvalidArgument(f"{text!a} is not a document; write shared, agent:NAME or conversation:ID{meant}")


def check_agent_name(name: str) -> str:
    """Return the agent's name in the form its folder has: `plugin:agent` is `agent`, Unicode is NFC (decision 2).

    Raises:
        InvalidName: the name breaks the rule; the message says which part of it.
    """
    bare = name
    if isinstance(name, str) and ":" in name:
        plugin, _, bare = name.rpartition(":")
        if len(plugin) == 1:
            raise _bad("agent name", name, "a single letter before a colon is a drive letter")
        for part in plugin.split(":"):
            _check_name("agent name", part, AGENT_NAME_LENGTH)
    return _check_name("agent name", bare, AGENT_NAME_LENGTH)


def check_conversation_id(conversation_id: str, *, strict: bool = False) -> str:
    """Return the conversation's id in the form its folder has (decision 3). `strict` accepts UUIDs only.

    Raises:
        InvalidName: the id breaks the rule; the message says which part of it.
    """
    checked = _check_name("conversation id", conversation_id, CONVERSATION_ID_LENGTH)
    if strict and not _is_uuid(checked):
        raise _bad("conversation id", checked, "the setting strict_conversation_ids accepts only UUIDs")
    return checked


def check_owner(tier: Tier, owner: str, *, strict: bool = False) -> str:
    """Check an agent name or a conversation id, whichever names a document of this tier."""
    if tier is Tier.AGENT:
        return check_agent_name(owner)
    return check_conversation_id(owner, strict=strict)


def check_note_file(name: str) -> str:
    """Return the file name of a note that is to be made: the name rule, and `.md`.

    Raises:
        InvalidName: it breaks the rule; the message says which part of it.
    """
    stem = name.removesuffix(".md")
    if stem == name:
        raise _bad("note's file name", name, "it must end with .md")
    return _check_name("note's file name", stem, NOTE_NAME_LENGTH) + ".md"


def name_key(name: str) -> str:
    """Fold case and Unicode form: names with the same key are the same agent or conversation."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize("NFC", normalize("NFC", name).casefold())


def display_name(name: str) -> str:
    """Return the name as a header shows it: `backend-developer` is "Backend Developer" (decision 4)."""
    words = name.replace("_", "-").split("-")
    return " ".join(word[:1].upper() + word[1:] for word in words if word)


def _check_name(kind: str, name: str, length: int) -> str:
    if not isinstance(name, str):
        raise InvalidName(f"the {kind} must be text, not {type(name).__name__}")
    if not name:
        raise InvalidName(f"the {kind} is empty; leave it out instead")
    if len(name) > 4 * length:
        raise _bad(kind, name, f"it has {len(name)} characters, {length} are allowed")
    for character in name:
        if character in "/\\":
            raise _bad(kind, name, "it holds a path separator")
        if character == "%":
            raise _bad(kind, name, "it holds a percent sign")
        if character == ":":
            raise _bad(kind, name, "it holds a colon")
        if not character.isprintable() or character in _INVISIBLE_LETTERS:
            raise _bad(kind, name, f"it holds the invisible or control character U+{ord(character):04X}")
    if name[0] in ".- " or name[-1] in ".- ":
        raise _bad(kind, name, "it must not begin or end with a dot, a dash or a space")
    checked = name if name.isascii() else _check_unicode_name(kind, name)
    for character in checked:
        if character.isascii() and character not in _ASCII_NAME:
            raise _bad(kind, name, f"it holds {character!r}; letters, digits, '-', '_' and '.' are allowed")
    if len(checked) > length:
        raise _bad(kind, name, f"it has {len(checked)} characters, {length} are allowed")
    if checked.partition(".")[0].lower() in _WINDOWS_DEVICES:
        raise _bad(kind, name, "Windows reserves this name for a device")
    return checked


def _check_unicode_name(kind: str, name: str) -> str:
    """Check what only names beyond ASCII can break: letters only, one script, one spelling."""
    from unicodedata import category, normalize
    from unicodedata import name as character_name

    checked = normalize("NFC", name)
    if normalize("NFKC", checked) != checked:
        raise _bad(kind, name, "it holds look-alike characters; write it with plain letters")
    if len(checked.encode()) > _FILE_NAME_BYTES:
        raise _bad(kind, name, f"it is longer than the {_FILE_NAME_BYTES} bytes a file name may have")
    scripts = set()
    previous = ""
    for character in checked:
        group = category(character)
        if group[0] == "L":
            script = character_name(character, "UNKNOWN").replace("-", " ").split()[0]
            scripts.add("CJK" if script in _HAN_COMPANIONS else script.title())
        elif group in ("Mn", "Mc"):
            # Marks are part of a letter in many scripts; after anything else they only disguise. Selectors never write.
            is_selector = character_name(character, "").startswith("VARIATION")
            if not previous or category(previous)[0] not in "LM" or is_selector:
                raise _bad(kind, name, f"it holds U+{ord(character):04X} where no letter carries it")
        elif not character.isascii() and group != "Nd":
            raise _bad(kind, name, f"it holds U+{ord(character):04X}, which is not a letter or digit")
        previous = character
    if len(scripts) > 1:
        raise _bad(kind, name, f"it mixes {' and '.join(sorted(scripts))} letters; use one script")
    return checked


def _is_uuid(text: str) -> bool:
    groups = text.split("-")
    return [len(group) for group in groups] == [8, 4, 4, 4, 12] and all(
        character in "0123456789abcdefABCDEF" for group in groups for character in group
    )


def _bad(kind: str, name: str, reason: str) -> InvalidName:
    # A hostile name must not reach the terminal raw, nor fill it.
    shown = ascii(name if len(name) <= 60 else name[:57] + "...")
    return InvalidName(f"{kind} {shown} is not allowed: {reason}")
