"""How many secrets are found, and how often something else is taken for one; `-s` prints the figures."""

import random
import re
import string
import tomllib
from pathlib import Path

import pytest

from agent_memory_protocol.secrets import table
from agent_memory_protocol.secrets.find import find_secrets

FAMILIES = tomllib.loads((Path(__file__).parent / "data" / "secrets.toml").read_text("utf-8"))["family"]
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "url": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "marks": string.ascii_letters + string.digits + "!#%*+-.@^_~",
}
SENTENCES = (
    "{}",
    "The key is {}.",
    "`{}` is the key of the robot",
    "KEY={}\nOTHER=1",
    "export KEY='{}'",
    '{{"key": "{}", "other": 1}}',
    "- [2026-01-31] rotated, now {} (until March)",
    "| robot | {} |",
    "curl -H 'X-Key: {}' https://api.acme.example/",
)
WRAPPED = ("The robot has {}\nand so on", "key:\n  {}", "> {}\n> more", "  {}")


def draw(shape: str, chance: random.Random) -> str:
    """Return a secret of a shape: `{hex:8}` are eight such digits."""

    def fill(found: re.Match[str]) -> str:
        alphabet, size = found[1], int(found[2] or 0)
        if alphabet == "uuid":
            return "-".join(draw(f"{{hex:{part}}}", chance) for part in (8, 4, 4, 4, 12))
        return "".join(chance.choices(ALPHABETS[alphabet], k=size))

    return re.sub(r"\{(\w+)(?::(\d+))?\}", fill, shape)


def share_found(family: str, texts: list[str]) -> float:
    missed = [text for text in texts if not find_secrets(text)]
    share = 1 - len(missed) / len(texts)
    if missed:
        print(f"{family:<28} {share:8.2%}  missed, such as: {missed[0]!a}")
    return share


PREFIXED = {family.id for family in table.FAMILIES if family.within == "word"}
SHAPES = {family["id"]: family["shapes"] for family in FAMILIES if family["shapes"]}


@pytest.mark.requirement("S2-05", "S2-29", "S0-30")
@pytest.mark.parametrize("family", sorted(PREFIXED))
def test_every_secret_with_a_shape_of_its_own_is_found(family, sized):
    chance = random.Random(family)
    texts = [
        chance.choice(SENTENCES).format(draw(shape, chance))
        for shape in SHAPES[family]
        for _ in range(sized(15, 60, 60))
    ]
    assert share_found(family, texts) == 1


@pytest.mark.parametrize("family", sorted(PREFIXED))
def test_it_is_found_over_two_lines_too(family):
    chance = random.Random(family)
    texts = []
    for shape in SHAPES[family]:
        for _ in range(20):
            secret = draw(shape, chance)
            place = chance.randrange(4, len(secret) - 4)
            broken = secret[:place] + chance.choice(("\n", "\n  ", "\\\n", "\r\n\t")) + secret[place:]
            texts.append(chance.choice(WRAPPED).format(broken))
    assert share_found(family, texts) >= 0.99


def test_of_all_families_nineteen_in_twenty_secrets_are_found():
    chance = random.Random(5)
    shares = {}
    for family, shapes in SHAPES.items():
        shares[family] = share_found(family, [draw(shape, chance) for shape in shapes for _ in range(60)])
    print(
        f"{len(shares)} families, {sum(shares.values()) / len(shares):.2%} found, the least {min(shares.values()):.2%}"
    )
    assert min(shares.values()) >= 0.95


PASSWORDS = {
    "letters and digits": ["{alnum:8}", "{alnum:12}", "{alnum:16}"],
    "with marks": ["{marks:10}", "{marks:14}", "{marks:20}"],
    "word and number": [
        "hunter{digits:1}",
        "Winter20{digits:2}",
        "dragon{digits:3}",
        "Kitten{digits:2}!",
        "p4ssw0rd{digits:1}",
    ],
    "hexadecimal": ["{hex:16}", "{hex:32}"],
}
PASSWORD_SENTENCES = (
    "The password is {}.",
    "password: {}",
    'password = "{}"',
    "DB_PASSWORD={}",
    "**Password:** `{}`",
    "the password for the staging database is {}",
    '{{"password": "{}"}}',
    "| admin password | {} |",
    "log in as admin with password {}",
)
KEYS = {
    "letters and digits": ["{alnum:16}", "{alnum:24}", "{alnum:32}", "{alnum:40}"],
    "URL-safe": ["{url:22}", "{url:32}", "{url:43}"],
    "hexadecimal": ["{hex:16}", "{hex:32}", "{hex:40}", "{hex:64}"],
    "base64": ["{b64:24}", "{b64:32}", "{b64:43}="],
}
KEY_SENTENCES = (
    "api_key = '{}'",
    "API_KEY={}",
    "the API key is {}",
    "access_token: {}",
    '"client_secret": "{}"',
    "export SERVICE_TOKEN={}",
    "secret: {}",
    "The token is `{}`.",
    "https://api.acme.example/v1?token={}",
    "X-Api-Key: {}",
)


@pytest.mark.parametrize(
    ("kinds", "sentences"), [(PASSWORDS, PASSWORD_SENTENCES), (KEYS, KEY_SENTENCES)], ids=["passwords", "keys"]
)
def test_nineteen_in_twenty_secrets_without_a_shape_are_found_by_their_name(kinds, sentences):
    chance = random.Random(7)
    shares = []
    for kind, shapes in kinds.items():
        texts = [sentence.format(draw(shape, chance)) for shape in shapes for sentence in sentences for _ in range(25)]
        shares.append(share_found(kind, texts))
        print(f"{kind}: {shares[-1]:.2%} of {len(texts)}")
    assert sum(shares) / len(shares) >= 0.95
    assert min(shares) >= 0.9


def test_real_memory_files_hold_hardly_anything_that_is_taken_for_a_secret(corpus):
    lines, hits = 0, []
    for path in corpus:
        text = path.read_bytes().decode("utf-8", "replace")
        lines += text.count("\n") + 1
        hits += [f"{path.name}:{secret.line}: {secret.rule} {secret.fingerprint}" for secret in find_secrets(text)]
    print(f"{len(hits)} hits in {lines:,} lines of {len(corpus)} files", *hits, sep="\n")
    assert len(hits) * 1000 <= 0.1 * lines
