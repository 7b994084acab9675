"""Secrets: find what must never be written into memory, and say so without repeating it (decision 26).

A token in a memory file is a token in every context, backup and clone that the file reaches. So a text is refused
before its first byte is written, with what kind of secret it holds and where, never with the secret. A finding has a
fingerprint, by which a project can allow it: for what only looks like a secret, under review of whoever merges it.
"""

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass

from ..errors import SecretFound
from ..limits import split_lines_with_ends
from ..text.digest import blake2b
from . import views
from .rules import Rule, indexes

_NAMED_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text, without its value.

    Attributes:
        rule: the id of the family.
        line: the line it begins on, from 1.
        fingerprint: a digest of rule and value; the same wherever the value stands, however it is wrapped.
        description: what it looks like, as "a GitHub token".
    """

    rule: str
    line: int
    fingerprint: str
    description: str


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in a text, from its top down. Takes time in proportion to its length, whatever it holds."""
    plain = views.plain(text)
    words, joined = views.long_words(plain), views.joined(plain)
    apart, in_words, wrapped = indexes()
    work = [(rule, plain, rule.find) for rule in apart.present(plain)]
    work += [(rule, words, rule.find) for rule in in_words.present(words)]
    work += [(rule, joined, rule.find_wrapped) for rule in wrapped.present(joined)]
    taken = bytearray(len(text) + 1)
    found: list[tuple[int, Rule, str]] = []
    for rule, view, find in sorted(work, key=lambda one: one[0].rank):
        for start, end in find(view):
            place, last = view.origin(start), view.origin(end - 1) + 1
            if taken.find(1, place, last) < 0:
                taken[place:last] = b"\1" * (last - place)
                found.append((place, rule, view.text[start:end]))
    if not found:
        return []
    starts = [0]
    for line in split_lines_with_ends(text):
        starts.append(starts[-1] + len(line))
    return [
        Secret(rule.id, min(bisect_right(starts, place), len(starts) - 1), _fingerprint(rule, value), rule.description)
        for place, rule, value in sorted(found, key=lambda one: one[0])
    ]


def check_text(text: str, *, allow: Collection[str] = (), path: str = "", what: str = "text") -> None:
    """Refuse a text that holds a secret.

    Args:
        text: what is about to be written.
        allow: fingerprints of what is no secret, from the settings.
        path: the file it is for, where the message shall name that.
        what: what to call the text otherwise.

    Raises:
        SecretFound: the message names rule and line, never the secret.
    """
    found = [secret for secret in find_secrets(text) if secret.fingerprint not in allow]
    if not found:
        return
    told = found[:_NAMED_AT_MOST]
    named = "; ".join(
        f"{f'{path}:{one.line}' if path else f'line {one.line} of the {what}'} looks like {one.description} "
        f"(rule {one.rule}, fingerprint {one.fingerprint})"
        for one in told
    )
    more = f"; and {len(found) - len(told)} more" if len(found) > len(told) else ""
    prints = ", ".join(f'"{one.fingerprint}"' for one in told)
    raise SecretFound(
        f"{named}{more}; nothing was written: write where it is instead, such as: the token is in env/tokens.txt. "
        f"If it is no secret, allow it by its fingerprint: [secrets] allow = [{prints}] in .scaffolding/amp.toml"
    )


def _fingerprint(rule: Rule, value: str) -> str:
    folded = "".join(value.split())
    return blake2b(f"{rule.id}\n{folded}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
