"""What is shown of a text that holds a secret: what it looks like and its rule, in the place of the value.

A secret can be in a document already, from another program or from before there was a rule. It goes no further: to a
terminal, a page, a pull request, a log, a model. It loads the search for secrets only for a text that may hold one.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_LABELS = ("pass", "pw", "secret", "token", "key", "cred", "parol", "mima", "seed", "recovery", "mnemonic", "wallet")
"""A part of what a secret is called by, in lower case: its value may then look like any word."""
_NAMES = (
    "clave contraseña contrasena senha heslo hesla heslem jelszo jelszó hasło haslo kennwort wachtwoord sifre şifre"
    " şifresi losen lösenord lösenordet kode kodeord chave segredo segreto segreta schlussel schlüssel geheimnis klucz"
    " sleutel jeton mdp login account acct routing sort card iban"
)
_SPELLED = (
    "парол фраз ключ секрет токен учётн учетн 密码 密碼 口令 密钥 密鑰 秘钥 秘密鍵 令牌 パス 暗証 合言葉 キー"
    " シークレット トークン 비밀 비번 암호 패스 키 시크릿 토큰 كلمة الرقم رمز पासवर्ड कूट סיסמ รหัส κωδικ khẩu"
)
_SCRIPTS = _SPELLED.split()
"""The same in other scripts."""
_WORDS = frozenset(_NAMES.split())
"""The same for whole words."""
_ENDS = "`*_.,:;()[]{}<>\"'!?|/\\#+=-~—–→…“”‘’·•"
_PARTED = str.maketrans(dict.fromkeys("`*_.,:;()[]{}\"'/#=-—–→…“”‘’", " "))
_SIGNS = "=:\"'`|,;>/?([{"  # One is between a label and a plain word, or single blanks are
_HEX = frozenset("0123456789abcdef")
_LONGEST_WORD = 20
_LONGEST_ID = 14  # What is in hexadecimal and no longer is the id of an entry, or the like

_BLOCKS = ("-----BEGIN ", "PuTTY-User-Key-File", "BEGIN SSH2")
_MARK = "(not shown: "
_FINGERPRINT = ", fingerprint "
COPIED = "was copied from where a secret is not shown; say where the secret is kept"
"""What is said of a text that `holds_mask`."""

_allowed: set[str] = set()


def allow(fingerprints: "Iterable[str]") -> None:
    """Show what has these fingerprints, as a project allows it, until the settings of another project are read."""
    _allowed.clear()
    _allowed.update(fingerprints)


def may_hold(text: str) -> bool:
    """Say whether a text may hold a secret, by its words alone; False where a search finds none. It loads nothing."""
    lowered = text.lower()
    if any(map(lowered.__contains__, _LABELS)) and ("  " not in text or any(map(text.__contains__, _SIGNS))):
        return True
    return (not text.isascii() and any(map(lowered.__contains__, _SCRIPTS))) or any(map(_is_odd, {*text.split()}))


def _is_odd(word: str) -> bool:
    """Say whether a word, without what ends a sentence, is more than words and short numbers put together."""
    word = word.strip(_ENDS)
    if len(word) <= _LONGEST_ID and _HEX.issuperset(word):
        return False
    return word.count("-") > 2 or not all(map(_is_plain, word.translate(_PARTED).split()))


def _is_plain(piece: str) -> bool:
    size = len(piece)
    if not piece.isalpha():
        return size <= 3 or (size <= 5 and piece.isdigit()) or not any(map(str.isalnum, piece))
    if size > _LONGEST_WORD or piece.lower() in _WORDS:
        return False
    is_shouted = piece.isupper() and size <= _LONGEST_ID
    return piece.islower() or size < 8 or is_shouted or 3 * sum(map(str.isupper, piece)) <= size


def masked(text: str) -> str:
    """Return a text as it may be shown anywhere. It has as many lines as before."""
    if not may_hold(text):
        return text
    from .glance import may_hold_secret

    if not may_hold_secret(text):
        return text
    from .find import find_secrets

    done = len(text)
    after = ""
    for one in reversed(find_secrets(text)):
        if one.fingerprint in _allowed or text.rfind(_MARK, 0, one.start) > text.rfind(")", 0, one.start):
            continue
        start, end = _whole(text, one.start, one.end)
        if start < done:
            told = f"{_MARK}{one.description}, rule {one.rule}{_FINGERPRINT}{one.fingerprint})"
            after = f"{told}{chr(10) * text.count(chr(10), start, min(end, done))}{text[max(end, 0) : done]}{after}"
            done = start
    return text[:done] + after


def holds_mask(text: str) -> bool:
    """Say whether a text was copied from a place that does not show a secret. Writing it would lose that secret."""
    return _MARK in text and _FINGERPRINT in text


def masked_lines(lines: "Iterable[str]") -> list[str]:
    """Return the lines of one text without its secrets: what names one, and the value, can be on two of them."""
    return masked("\n".join(lines)).split("\n")


def beginning(text: str, width: int) -> str:
    """Return a text on one line of at most so many characters, as `phrases.beginning` does, without its secrets."""
    from ..text import phrases

    return phrases.beginning(masked(text), width)


def masked_values(value: "Any") -> "Any":
    """Return what a JSON answer holds, each text in it as `masked` shows it."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {name: masked_values(one) for name, one in value.items()}
    return [masked_values(one) for one in value] if isinstance(value, list | tuple) else value


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where all is that belongs to a value: a rule may need less of it to know what it is."""
    if text.startswith(_BLOCKS, start):
        last = text.find("-----END", start)
        last = len(text) if last < 0 else last
        line = text.find("\n", last)
        return start, len(text) if line < 0 else line
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end
