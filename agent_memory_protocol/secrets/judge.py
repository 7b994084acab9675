"""Judge what is found where a secret could be: a value, or a word, a placeholder, a path, the name of a variable.

The shape of a token says much, and these functions say the rest. `password` promises much, so its value may look
plain. `token` promises little, so its value must look random.
"""

import re
from base64 import b64decode
from collections import Counter
from functools import cache, lru_cache
from math import log2

from .table import IBAN_COUNTRIES, words

Found = re.Match[str]

_TERMS = re.compile(
    r"(?i:sha-?\d{1,3}|md\d|base-?\d\d|b64|utf-?\d{1,2}|argon2(?:id|i|d)?|pbkdf2|aes-?\d{0,3}|[hrep]s(?:256|384|512)"
    r"|rsa-?\d{0,4}|ed25519|x25519|x509|p-?\d{3}|oauth-?2?(?:\.0)?|http2?s?|2fa|mfa|3des|k8s|s3|ec2|ipv[46]|i18n|e2e"
    r"|1password|auth0|o365|m365|neo4j|log4j|v?\d{1,4}(?:\.\d{1,4}){0,4}|\d{1,4}(?:st|nd|rd|th)|[a-z]{1,2}\d)"
    r"|\d{1,4}-?[a-z]{1,10}|\d{1,4}-?[A-Z]{1,3}"
)
"""Technical terms, versions and measures: digits and letters mixed, and no secret."""

_TERMS_IN_NAMES = re.compile(
    r"(?i:ed25519|x25519|ed448|x448|sha\d{1,3}|base64|utf8|oauth2|http2|pbkdf2|argon2)(?=[A-Z][a-z]|\Z)"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.]?[01]\d(?:[-/.]?[0-3]\d)?)?(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?")
_HEX = re.compile(r"(?=.{0,15}\d)(?=.{0,15}[a-f])[0-9a-f]{16,128}")
_HASHED = re.compile(
    r"(?i)hash|commit|sha-?\d|digest|checksum|md5|revision|fingerprint|etag|trace|salt|[ _-]ids?\b|rev[ .]"
)
"""What is written in hexadecimal and may be known."""
_VERSION = re.compile(r"v?\d{1,4}(?:\.\d{1,4}){1,3}(?:[-+.]?[a-z]{1,8}[.-]?\d{0,8}){0,2}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]+")
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+")
_FILE = re.compile(
    r"[\w./~@-]+\.(?:txt|env|json|ya?ml|toml|ini|cfg|conf|pem|key|crt|p12|md|py|js|ts|go|rs|java|sh|gpg|kdbx|local)"
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+){0,4}\.(?:[a-z]{2,24}|[A-Z]{2,24}|\d{1,3})|0x[0-9a-fA-F]{40}")
_CODE = re.compile(r"[(\[{<>})\]]|%s|\.\.\.|://|\|\||&&|=>")
_REFERENCE = re.compile(
    r"(?i)\$[a-z_]\w*(?:[\[.\"'}:/;,)@-].*)?\Z|\$[({]|%\w+%|%[({]|%[sdr]\b|~/|\.{0,2}/[a-z]|env[:./]|vault[:/]|op://|secrets?[./:]"
    r"|vars\.|file:|ssm:|arn:|kv/|gopass|keyring|process\.env|os\.|system\.|std::|import\.meta|config\.|settings\.|getenv"
    r"|sha\d{1,3}[:-]|md5:"
)
_LOCAL_HOST = re.compile(
    r"(?:127\.0\.0\.1|\[::1\]|(?:[\w-]{1,40}\.){0,3}example\.(?:com|org|net)|[A-Za-z][\w-]{0,60})(?![\w.-])"
)
_GLOB = re.compile(r"[\w.-]*\*[\w.-]*")
_CALL = re.compile(
    r"[A-Za-z_]{3}[(\[][\"'$]|\A(?:[<{\[($]{1,3}[\w .:-]{3,40}[>}\])]{1,3}|%\w{3,40}%)(?:[&?#;].*)?\Z|\{[a-z_]{2,20}\}"
)
_CHORD = re.compile(r"(?i:(?:ctrl|control|alt|shift|cmd|command|meta|option|super|win)\+)+\w{1,12}")
"""Keys that are pressed together."""
_PATH = re.compile(r"[\w.@~:-]*[/\\][\w./\\@~:-]*")
_DIGEST = re.compile(r"(?i:sha-?\d{1,3}|md5)[:=-]|ENC\[[A-Z][A-Z0-9_]{2,20},")  # or what SOPS has encrypted
_OF_DATA = re.compile(r"[\"'][:,}\]]|\(\?[:=!<]|\\[bdws]\b")
"""What JSON and expressions are written with, and few passwords."""
_RANGE = re.compile(r"\[\^?(?:[aA]-|0-9)|(?:[aA]-[zZ]|0-9){2}|\[\^[^\]]{1,12}\][+*{)]|%[sd]\b.*%[sd]\b")
_CODE_MARKS = re.compile(r"\(\)|\)\.|\$[({]|\{\{|://|=>|->|::|&&|\|\||%[({]|\[\]|<%")
_LONG_WORD = re.compile(r"[A-Z]?[a-z]{3,}[a-z]|[A-Z]{4}")
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^A-Za-z\d\s]")
_BLANK = re.compile(r"([xX*.#?_0-])\1{3,}")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_HUMPS_OF_WORDS = re.compile(r"[A-Z]?[a-z]{2,}")
_VOWELS = frozenset("aeiouyAEIOUY")
_MUMBLED = re.compile(r"[A-Z]?[b-df-hj-np-tv-xz]{2,}")
_PLAIN_WORD = re.compile(r"(?:[A-Z]?[a-z]{1,11}|[A-Z]{2,12})\d{0,3}|\d{1,4}")
_OF_A_KEYCHAIN = re.compile(r"(?=[^A-Z]*[A-Z][^A-Z]*\Z)(?=\D*\d\D*\Z)[A-Za-z0-9]{6}-[A-Za-z0-9]{6}-[A-Za-z0-9]{6}")
"""What Apple's keychain proposes: small letters in three groups, among them one capital and one digit."""
_SEPARATORS = re.compile(r"(?:%[0-9A-Fa-f]{2}|[^A-Za-z0-9])+")
_ESCAPED = re.compile(r"%[0-9A-F][0-9A-F]")
_TELLING_SYMBOLS = frozenset("@!#$%^&*+~")
_PARTICIPLE = re.compile(r"[a-z]{3,}(?:ed|ing|able|ible|ly|less|ful|ent|ant|ive|ous|al|ic|en)")
_RUN_ONCE = re.compile(r"(?i:compil\w{1,3}|render|shader|optimi[sz]er|linter|llvm)[ ._-]\Z")
"""What is in front of `pass` where it is one run through something."""
_NEXT_SETTING = re.compile(r"[;&] ?(?:[A-Z]?[a-z]{2,20}[ _-]?){1,5}=")
_LONGEST_WITH_BLANKS = 60
_QUOTES = ('"', "'", "`")
_SAID = re.compile(
    r"[\"'`(]{0,2}(?:[A-Za-z]?[a-z]{2,24}|[A-Z]{3,24}|\d{1,4}|[=+&|<>-]{1,3})[.,:;!?)\"'`]{0,3}|--?[a-z-]{1,20}=?"
)
"""A word, number or sign of a sentence, a command or code."""
_ENDS_CLAUSE = re.compile(r"[ \t]*(?:[,;)]|[\r\n]|\Z)|(?<=[.!)])\s")


def span(match: Found) -> tuple[int, int]:
    """Return where the value is that a pattern found."""
    for name in ("value", "named", "quoted", "bare", "run"):
        if _group(match, name):
            start, end = match.span(name)
            if name == "run":
                return _span_of_run(match.string, start, match[name])
            if name == "bare":  # the end of the sentence or of the emphasis is not part of it
                end = start + len(match[name].rstrip(".,;:!?)]*_"))
            return start, max(start, end)
    return match.span()


def _span_of_run(text: str, start: int, run: str) -> tuple[int, int]:
    """Return where the value is in what goes to the next blank, and so has the quotes and brackets around it."""
    run = run.partition("??")[0]  # beyond it are other letters
    inner = start + len(run) - len(run.lstrip("\\\"'`*_?"))
    said = _before_the_next(text[inner : start + len(run)])
    if not _looks_jumbled(said):
        said = _with_blanks(text, inner) or said
    if not _looks_jumbled("".join(said.split())):
        # A password may also begin or end as what is around one does, or hold what parts two settings.
        whole = run.rstrip(",;")
        is_wrapped = len(whole) > 1 and whole[0] in _QUOTES and whole[0] == whole[-1]
        first = start + is_wrapped
        closing = whole[0] if is_wrapped else text[start - 1 : start]
        whole = whole[is_wrapped:].removesuffix(closing if closing in _QUOTES else "")
        if _kinds(whole) == 4 and _looks_jumbled(whole):
            return first, first + len(whole)
    return inner, inner + len(said)


def _before_the_next(said: str) -> str:
    """Return a value without what ends its sentence or string, and without the next setting of a connection string."""
    following = _NEXT_SETTING.search(said)
    return said[: following.start() if following else len(said)].rstrip("\\.,;:!?)]}*_\"'`|")


def _with_blanks(text: str, start: int) -> str:
    """Return the password with blanks in it that begins at a place; "" if what is there can be anything else."""
    rest = text[start : start + _LONGEST_WITH_BLANKS].partition("\n")[0]
    quote = text[start - 1 : start]
    if quote and quote in "\"'`":
        closing = re.search(rf"(?<!\\){quote}{{1,3}}(?=[\s,;:.)}}\]|]|\Z)", rest[2:])
        rest = rest[: closing.start() + 2] if closing else rest
    else:
        rest = rest.partition(" | ")[0]
    said: list[str] = []
    for number, word in enumerate(rest.split(" ")):
        if len(said) > 5 or (_SAID.fullmatch(word) and (number or not word[-1:].isalnum())):
            break  # a password can begin with letters or digits and a blank
        said.append(word)
    value = _before_the_next(" ".join(said))
    solid = value.replace(" ", "")
    is_mixed = all(any(map(is_kind, solid)) for is_kind in (str.islower, str.isupper)) and sum(map(_is_mark, solid)) > 1
    return value if is_mixed and _looks_jumbled(solid) and 5 * _spoken(solid) <= 2 * len(solid) else ""


def entropy(value: str) -> float:
    """Return the Shannon entropy of a value in bits a character."""
    size = len(value)
    return sum(-count / size * log2(count / size) for count in Counter(value).values())


def is_token(match: Found) -> bool:
    """Accept whatever has the shape, unless it only shows the shape: `ghp_xxxx`, `sk-ant-your-key-here`."""
    return not _is_placeholder(_value(match))


def is_shape(match: Found) -> bool:
    """Accept whatever has the shape."""
    return match is not None


def is_random(match: Found) -> bool:
    """Accept what no name or phrase could be."""
    value = _value(match)
    return not _is_placeholder(value) and _unlike_words(value) >= max(6, len(value) // 4)


def is_varied(match: Found) -> bool:
    """Accept what no name or phrase could be, if it has many different characters."""
    return is_random(match) and entropy(_value(match)) >= 3.5


def is_well_mixed(match: Found) -> bool:
    """Accept small and large letters and digits in an order that no name or hash has."""
    value = _value(match)
    digits = sum(map(str.isdigit, value))
    return not value.islower() and not value.isupper() and 2 <= digits <= len(value) // 2 and is_varied(match)


def is_slug(match: Found) -> bool:
    """Accept a token of words with dashes between them, unless it is a name of that shape."""
    value = _value(match)
    longest = max(map(len, _SEPARATORS.split(value)))
    return not _is_placeholder(value) and (longest >= 28 or _unlike_words(value) >= 8)


def is_key_block(match: Found) -> bool:
    """Accept a key that has a body."""
    body = match["value"].rpartition("-----END")[0] or match["value"]
    return not _is_blank(body.rpartition("-----")[2].strip()[:64])


def is_literal(match: Found) -> bool:
    """Accept what is written out where a password must be, however weak it is."""
    value = _value(match)
    if _group(match, "user") is not None:
        value = _ESCAPED.sub("+", value)
    # Two words for a host without a dot are what a page shows, or a container in a test has; so is one word twice.
    is_word = value.lower() in words("no_values") or (value.isalpha() and value == _group(match, "user"))
    is_sample = (is_word and _LOCAL_HOST.match(match.string, match.end())) or _repeats_its_user(match, value)
    return not (_is_blank(value) or _names_something(value) or _says_placeholder(value) or is_sample)


def _repeats_its_user(match: Found, value: str) -> bool:
    """Say whether a word is user and password, as in `Host=localhost;Username=postgres;Password=postgres`."""
    settings = match.string[max(0, match.start() - 100) : match.end()].rpartition("\n")[2]
    told = rf"(?i)\b(?:user(?: ?(?:name|id))?|uid) ?= ?{value};"
    return value.isalpha() and re.search(told, settings) is not None


def is_shell_password(match: Found) -> bool:
    """Accept a password on a command line; a word there is mostly a group or a database."""
    value = _value(match)
    return is_jumbled(match) or (is_literal(match) and _is_unlike_a_word(value) and not _TERMS.fullmatch(value))


def is_basic(match: Found) -> bool:
    """Accept base64 that spells `user:password`."""
    value = _value(match)
    try:
        decoded = b64decode(value + "=" * (-len(value) % 4), validate=True).decode("ascii")
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def is_phrase(match: Found) -> bool:
    """Accept as many words as a wallet's recovery phrase has, if they make no sentence."""
    value = _value(match)
    said = [word for word in value.split() if word.isalpha()]  # the words may be numbered
    return len(said) in (12, 15, 18, 21, 24) and words("sentence").isdisjoint(said) and entropy(value) >= 3


def is_card(match: Found) -> bool:
    """Accept a number whose last digit fits the others (Luhn), unless it is published for tests."""
    digits = [int(character) for character in match[0] if character.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (
        (sum(digits[::-2]) + sum(doubled)) % 10 == 0
        and len(set(digits)) > 3
        and "".join(map(str, digits)) not in words("test_cards")
    )


def is_iban(match: Found) -> bool:
    """Accept an account number of its country's length whose check digits fit (ISO 7064)."""
    value = match[0].replace(" ", "")
    if len(value) != _iban_length(value[:2]):
        return False
    return int("".join(str(int(character, 36)) for character in value[4:] + value[:4])) % 97 == 1


def is_account_number(match: Found) -> bool:
    """Accept digits that are not all the same."""
    return len(set(_value(match)) - set(" -")) > 2


def is_named_password(match: Found) -> bool:
    """Accept the value of a name such as `password`: only words are probably something else."""
    value = _value(match)
    name = match[0][:5].lower()
    if not name.startswith(("passw", "passp", "passc", "pwd")):
        # `pass` and `pw` have many other meanings.
        if _RUN_ONCE.search(match.string[max(0, match.start() - 12) : match.start()]):
            return False
        is_set = "=" in match["sign"] or _is_quoted(match)
        if not value.isalnum():
            is_set = is_set or value != value.lower()
            return is_set and _is_phrase_of_words(value) and any(map(str.isdigit, value))
        is_random = len(value) >= 10 and _unlike_words(value) >= 8
        return len(value) >= 6 and (_is_mixed(value) or is_random) and _is_password(value, is_plain=False)
    said = match["sign"].strip() in ("is", "was") and _ENDS_CLAUSE.match(match.string, match.end()) is not None
    is_type = value.isalpha() and match.string.startswith("<", match.end())  # `type Password = Branded<string>`
    if is_type or _repeats_its_user(match, value):
        return False
    is_plain = "=" in match["sign"] or _is_quoted(match) or said
    return _is_password(value, is_plain=is_plain, is_code=match["quote"] == "`")


def is_said_before(match: Found) -> bool:
    """Accept what is jumbled before `is the password`, and before the word alone what is scrambled."""
    if not _group(match, "run"):
        return is_scrambled(match)
    value = _value(match)
    is_hex = len(value) >= 12 and value.isalnum() and _is_mixed(value) and _unlike_words(value) >= 8
    is_phrase = value.replace("-", "").isalnum() and _is_phrase_of_words(value)
    return is_jumbled(match) or is_phrase or (is_hex and len(value) != 40)


def is_jumbled(match: Found) -> bool:
    """Accept what a password manager makes: letters, digits and marks in an order that no word, path or code has."""
    return _looks_jumbled("".join(_value(match).split())) and not _is_cut_short(match)


@lru_cache(maxsize=512)
def _looks_jumbled(value: str) -> bool:
    pieces = len(_PIECES.findall(value))
    kinds = _kinds(value)
    marks = sum(map(_is_mark, value))
    if kinds == 2 and (len(value) < 10 or 4 * marks < len(value) or _CODE_MARKS.search(value)):
        return False
    if len(value) < 8 or kinds < 2 or _is_blank(value) or "..." in value or _RANGE.search(value):
        return False
    if kinds == 4 and _is_of_many_pieces(value):
        return not _DIGEST.match(value)
    if _DIGEST.match(value) or _CALL.search(value) or _is_path(value):
        return False
    if any(shape.fullmatch(value) for shape in (_DATE, _UUID, _ADDRESS, _FILE, _VERSION, _CHORD)):
        return False
    if 2 * len(value) > 3 * pieces and _CODE_MARKS.search(value) and _LONG_WORD.search(value):
        return False
    if value[0] == "$" and value[1:].isidentifier() and _unlike_words(value) < 8:
        return False
    longest = 1.5 if kinds == 2 or value.islower() or value.isupper() else 2 if len(value) > 9 else 1.7
    if kinds == 4 and 2 * _spoken(value) <= len(value):
        longest = 3 if 4 * _spoken(value) <= len(value) else 2.5
    return len(value) <= longest * pieces or _unlike_words(value) >= max(8, len(value) // 2)


def is_scrambled(match: Found) -> bool:
    """Accept what is jumbled of small and large letters and digits: by that alone no word, name or version."""
    value = _value(match)
    if _HEX.fullmatch(value):
        is_commit = len(value) == 40 and "??" in match[0]  # the word before it is in other letters
        hashed = _HASHED.search(match.string, max(0, match.start() - 30), match.end())
        return entropy(value) >= 2.5 and not is_commit and hashed is None
    kinds = (str.islower, str.isupper, str.isdigit)
    return _OF_A_KEYCHAIN.fullmatch(value) is not None or (
        len(value) >= 10
        and all(any(map(is_kind, value)) for is_kind in kinds)
        and (_unlike_words(value) >= 8 or _is_of_many_pieces(value))
        and not _is_cut_short(match)
        and not _OF_DATA.search(value)
        and is_jumbled(match)
        and 10 * _spoken(value) <= 6 * len(value)
    )


def _kinds(value: str) -> int:
    """Count which of small letters, capitals, digits and marks a value has."""
    return sum(any(map(is_kind, value)) for is_kind in (str.islower, str.isupper, str.isdigit, _is_mark))


def _is_path(value: str) -> bool:
    said = _unlike_words(value) < 8 or 10 * _spoken(value) > 6 * len(value)
    return said and _PATH.fullmatch(value) is not None


def _is_of_many_pieces(value: str) -> bool:
    """Say whether a value changes between small letters, capitals, digits and marks more often than code does."""
    return 5 * len(_PIECES.findall(value)) >= 3 * len(value) and 5 * _spoken(value) <= 2 * len(value)


def is_property(match: Found) -> bool:
    """Accept what no user, page or way of signing in is called: `login` and `auth` may name one of these."""
    value = _value(match)
    return 10 * _spoken(value) <= 7 * len(value) and (is_named_token(match) or is_jumbled(match))


def is_passphrase(match: Found) -> bool:
    """Accept words that make no sentence and no name: of four, one at most is common where a sign is before them."""
    value = _value(match)
    said = _SEPARATORS.split(value)
    said = said[-4:] if _group(match, "bare") else said[:4]
    known = _common().intersection(map(str.lower, said))
    is_sentence = " " in value and (any(len(word) < 5 for word in known) or len(set(map(str.istitle, said))) > 1)
    may_be_known = "sign" in match.re.groupindex and _group(match, "value") is not None
    return len({*said}) == 4 and len(known) <= may_be_known and not is_sentence


@cache
def _common() -> frozenset[str]:
    from . import common  # of no use until four words are found where a secret could be

    return frozenset(common.WORDS.split()) | words("sentence") | words("names") | words("no_values")


def is_told_password(match: Found) -> bool:
    """Accept what follows the word at once, as in `with password X` and `--password X`, unless it is a word or name."""
    value = _value(match)
    return (
        _is_unlike_a_word(value)
        and len(value) >= 5
        and not _GLOB.fullmatch(value)
        and words("names").isdisjoint(_words_of(value))
        and _is_password(value, is_plain=False)
    )


def is_pair(match: Found) -> bool:
    """Accept the second of two words that are given as a login."""
    value = _value(match)
    return len(value) >= 5 and _is_unlike_a_word(value) and _is_password(value, is_plain=False)


def is_named_key(match: Found) -> bool:
    """Accept the value of a name such as `api_key`, if it has digits among its letters or looks random."""
    value = _value(match)
    if len(value) < 8 or not _is_value(value) or _is_cut_short(match):
        return False
    if not _is_mixed(value):
        return len(value) >= 16 and _unlike_words(value) >= 12
    if _UUID.fullmatch(value):
        return "|" not in (_group(match, "sign") or "")  # in a table it is what a row is known by
    if _unlike_words(value):
        return _unlike_words(value) >= 6 and entropy(value) >= 2.5
    is_plain = _is_quoted(match) or "=" in (_group(match, "sign") or "")
    return (
        is_plain
        and value.isalnum()
        and not words("names").intersection(_words_of(value))
        and not _TERMS.fullmatch(value)
    )


def is_named_token(match: Found) -> bool:
    """Accept the value of a name such as `token`, if it looks random: texts about language have tokens, too."""
    value = _value(match)
    return (
        len(value) >= 12
        and _is_value(value)
        and not _is_cut_short(match)
        and not (_UUID.fullmatch(value) and not _is_variable_of_a_token(match))
        and (_is_mixed(value) or len(value) >= 20)
        and _unlike_words(value) >= 8
        and entropy(value) >= 2.8
    )


@cache
def _iban_length(country: str) -> int:
    return next((length for length, countries in IBAN_COUNTRIES.items() if country in countries.split()), 0)


def _group(match: Found, name: str) -> str | None:
    return match[name] if name in match.re.groupindex else None


def _value(match: Found) -> str:
    start, end = span(match)
    return match.string[start:end]


def _is_cut_short(match: Found) -> bool:
    """Say whether only the beginning of a value is given: `eyJhbGci...`."""
    return match.string.startswith("...", span(match)[1])


def _is_variable_of_a_token(match: Found) -> bool:
    """Say whether a value is set as in `RAILWAY_TOKEN=`: elsewhere a UUID is what a row is known by."""
    return match[0].startswith("TOKEN") and match["sign"] == "="


def _is_quoted(match: Found) -> bool:
    return _group(match, "quoted") is not None


def _is_mixed(value: str) -> bool:
    """Say whether a value has letters, and with them digits or marks that no word or number has."""
    return any(map(str.isalpha, value)) and (any(map(str.isdigit, value)) or not _TELLING_SYMBOLS.isdisjoint(value))


def _is_mark(character: str) -> bool:
    return not character.isalnum()


def _is_unlike_a_word(value: str) -> bool:
    return _is_mixed(value) or _unlike_words(value) >= 8


def _spoken(value: str) -> int:
    """Count the characters of a value, without the digits at its end, that are in pieces as words are."""
    pieces = _HUMPS_OF_WORDS.findall(value)
    said = sum(len(piece) for piece in pieces if 5 * sum(map(_VOWELS.__contains__, piece)) >= len(piece))
    return said + len(value) - len(value.rstrip("0123456789"))


def _is_blank(value: str) -> bool:
    """Say whether half of a value repeats one character, as in `xxxx` and `0000`, or it ends as AWS' examples do."""
    repeated = 2 * sum(len(run[0]) for run in _BLANK.finditer(value)) >= len(value)
    return repeated or not value.strip("xX*.#?_0-") or value.endswith(("EXAMPLE", "EXAMPLEKEY"))


def _is_placeholder(value: str) -> bool:
    """Say whether what has a token's shape is a phrase: `sk-ant-your-key-here`."""
    if _is_blank(value) or "..." in value:
        return True
    segments = [segment for segment in _SEPARATORS.split(value) if segment]
    if len(segments) < 3 or not all(map(_PLAIN_WORD.fullmatch, segments)):
        return False
    known = words("placeholders") | words("names") | words("no_values") | words("sentence")
    return not known.isdisjoint(segment.lower() for segment in segments[1:])


def _says_placeholder(value: str) -> bool:
    return not _unlike_words(value) and not words("placeholders").isdisjoint(_words_of(value))


def _names_something(value: str) -> bool:
    """Say whether a value is only a name: of a variable, a member, a path, a file, an address."""
    is_mixed_up = value[:1] == "$" and value != value.upper() and _unlike_words(value) >= 8
    if (_REFERENCE.match(value) and not is_mixed_up) or _CODE.search(value) or _VARIABLE.fullmatch(value):
        return True
    return bool(_ADDRESS.fullmatch(value) or _FILE.fullmatch(value) or ("/" in value and not _unlike_words(value)))


def _is_value(value: str) -> bool:
    """Say whether a value is written out, and is not a word, placeholder or date."""
    return not (
        any(map(str.isspace, value))
        or _is_blank(value)
        or _names_something(value)
        or _says_placeholder(value)
        or _DATE.fullmatch(value)
        or value.lower() in words("no_values")
        or _TERMS.fullmatch(value)
    )


def _is_password(value: str, *, is_plain: bool, is_code: bool = False) -> bool:
    """Judge what a password is said to be; `is_plain` if it is quoted or follows an equals sign."""
    if " " in value:
        said = value.split()
        return is_plain and 4 <= len(said) <= 8 and all(map(_is_phrase_word, said))
    if not _is_value(value):
        return False
    if value.isdigit():
        return len(value) >= 4
    if len(value) < 5 or not any(map(str.isalpha, value)):
        return False
    unlike = _unlike_words(value)
    if not unlike and _MEMBER.fullmatch(value):
        return False
    parts = _words_of(value)
    is_name = not parts.isdisjoint(words("names") | words("no_values")) and not _is_phrase_of_words(value)
    if value.isalpha():
        if unlike:
            return len(value) >= 8 and words("names").isdisjoint(parts)
        is_name = is_name or (is_code and len(parts) > 1)
        return is_plain and len(value) >= 6 and not is_name and not _PARTICIPLE.fullmatch(value)
    if unlike or value.isalnum():
        return True
    if is_name:
        return False
    if _is_mixed(value):
        pieces = [piece for piece in _SEPARATORS.split(value) if not piece.isalpha() and not piece.isdigit()]
        return is_plain or not _TELLING_SYMBOLS.isdisjoint(value) or not all(map(_TERMS.fullmatch, pieces))
    return is_plain and len(parts) >= 4


def _is_phrase_of_words(value: str) -> bool:
    """Say whether a value is four words or more, few of which are what names are made of."""
    parts = [part.lower().rstrip("0123456789") for part in _SEPARATORS.split(value)]
    common = words("names") | words("no_values") | words("sentence") | words("placeholders")
    return len(parts) >= 4 and all(map(str.isalpha, parts)) and sum(part in common for part in parts) <= 1


def _is_phrase_word(word: str) -> bool:
    return word.isalpha() and word.islower() and len(word) > 2 and word not in words("sentence") | words("names")


@lru_cache(maxsize=512)
def _words_of(value: str) -> frozenset[str]:
    """Return the words a value is made of, in lower case: those between its separators and those in camel case."""
    segments = [segment.rstrip("0123456789") for segment in _SEPARATORS.split(value)]
    humps = [hump for segment in segments for hump in _HUMP.findall(segment)]
    return frozenset(word.lower() for word in segments + humps if word)


@lru_cache(maxsize=512)
def _unlike_words(value: str) -> int:
    """Count the characters of a value that are not part of a word, number or technical term."""
    if _OF_A_KEYCHAIN.fullmatch(value):
        return len(value)
    return sum(len(segment) for segment in _SEPARATORS.split(value) if not _is_wordy(segment))


@lru_cache(maxsize=4096)
def _is_wordy(segment: str) -> bool:
    segment = _TERMS_IN_NAMES.sub("", segment)
    if not segment or _TERMS.fullmatch(segment) or _DATE.fullmatch(segment):
        return True
    letters = segment.rstrip("0123456789")
    if not letters or len(segment) - len(letters) > 3 or not letters.isalpha():
        return len(segment) <= 4 and segment.isdigit()
    if letters.islower() or letters.isupper():
        return len(letters) <= 20
    humps = _HUMP.findall(letters)
    # Chance makes humps as long as words are, but seldom humps that can be spoken.
    mumbled = sum(_MUMBLED.fullmatch(hump) is not None for hump in humps)
    least = 3 if len(letters) <= 12 else 4
    return len(letters) >= least * len(humps) and 3 * mumbled <= len(humps)
