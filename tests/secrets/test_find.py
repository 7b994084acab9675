"""Secrets: found in whatever form they are written, told without being repeated; everything else passes."""

import random
import string
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, Refused, SecretFound
from agent_memory_protocol.secrets import judge, table
from agent_memory_protocol.secrets.find import check_text, find_secrets
from agent_memory_protocol.secrets.forms import joined, plain
from tests.each_row import each_row

FAMILIES = tomllib.loads((Path(__file__).parents[1] / "data" / "secrets.toml").read_text("utf-8"))["family"]
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
RULES = {family.id: family for family in table.FAMILIES}


each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family["id"])


def examples(family: dict[str, Any], kind: str) -> list[str]:
    """Return a family's examples. A dot in the file keeps others from taking them for secrets."""
    return [text.replace("·", "") for text in family[kind]]


def found(text: str) -> list[str]:
    return [secret.rule for secret in find_secrets(text)]


# -- the families ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S2-05", "S2-29", "S0-30")
@each_family
def test_a_secret_of_each_family_is_found(family):
    assert [text for text in examples(family, "found") if family["id"] not in found(text)] == []


@pytest.mark.requirement("S2-30")
@each_family
def test_what_only_resembles_the_family_passes(family):
    assert [text for text in examples(family, "passed") if found(text)] == []


def test_each_of_many_families_is_held_by_examples_of_both_kinds():
    assert [family["id"] for family in FAMILIES] == list(RULES)
    assert len(RULES) > 100
    for family in FAMILIES:
        assert len(set(family["found"])) >= 3, family["id"]
        assert len(set(family["passed"])) >= 5, family["id"]


def test_the_families_are_told_apart_and_described_for_a_sentence():
    assert len(RULES) == len(table.FAMILIES)
    for rule in table.FAMILIES:
        assert rule.keywords, rule.id
        assert rule.description.startswith(("a ", "an ", "the ", "user ")), rule.id
        assert set(rule.id) <= set(string.ascii_lowercase + string.digits + "-")
        assert callable(getattr(judge, rule.check)), rule.id


@pytest.mark.slow
def test_no_example_could_be_taken_for_a_secret_by_whoever_scans_this_repository():
    data = (Path(__file__).parents[1] / "data" / "secrets.toml").read_text("utf-8")
    strict = [rule for rule in table.FAMILIES if rule.within == "word" and rule.id != "url-credentials"]
    for number, line in enumerate(data.split("\n"), start=1):
        for secret in find_secrets(line):
            assert secret.rule not in {rule.id for rule in strict}, (number, secret)


# -- what passes -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S2-02", "S2-30")
@each_row(
    "text",
    [
        "The PayPal link is in env/paypal.txt",
        "the token is in the vault under ci/deploy",
        "The database password is in env/db.env, the key beside it.",
        "Credentials: see 1Password, vault Operations.",
        "The API key is read from config/keys.toml, which git ignores.",
        "Fixed in 3f786850e387550fdab836ed7e6dc881de23001b.",
        "image: acme/app@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "Run 4f1c2a9e-53b1-4c1e-9d5e-2f4f4f0f7a11 failed.",
        "MD5 d41d8cd98f00b204e9800998ecf8427e is that of the empty file.",
        "Released 2026-01-31T10:15:00Z as v12.4.0-rc.3+build.20260131.",
        "token: <token>, key: xxxx, secret: YOUR_KEY_HERE, password: ****",
        "TOKEN=${TOKEN} PASSWORD=$PASSWORD make deploy",
        "const key = process.env.API_KEY; password = os.environ['DB_PASSWORD']",
        "password: {{ secret }}, token: ${{ secrets.TOKEN }}",
        "The default password is changeme, as the docs say.",
        "api_key: str = Field(...); password: SecretStr",
        "Tokens are counted with tiktoken: max_tokens=128000, 200_000 at most.",
        "The password must have 12 characters; the reset token expires after 24h.",
        "See src/auth/token/refresh.py:120 and tests/test_password_reset.py.",
        "- **Auth**: JWT in an HttpOnly cookie, token rotation on refresh",
        "password hashing: argon2id, m=65536, t=3, p=4",
        "ssh://git@git.acme.example:7999/app.git and https://git.acme.example/app.git",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "密码在 env/db.txt 里。パスワードは vault にあります。",
        "secret santa is on 2026-12-06; the key insight is that nobody reads the log",
    ],
)
def test_words_about_secrets_pass(text):
    assert found(text) == []


# -- the forms a secret is written in ----------------------------------------------------------------------------------

HALVES = TOKEN[:17], TOKEN[17:]


@each_row(
    "written",
    [
        TOKEN,
        f"`{TOKEN}`",
        f"**{TOKEN}**",
        f"“{TOKEN}”",
        "\u200b".join(TOKEN),
        "\u00ad".join(HALVES),
        "\u202e".join(HALVES),
        "\ufe0f".join(HALVES),
        "\x00".join(HALVES),
        "".join(chr(ord(c) + 0xFEE0) if c.isalnum() or c == "_" else c for c in TOKEN),
        "".join(chr(0x1D5D4 + ord(c) - 65) if "A" <= c <= "Z" else c for c in TOKEN),
        TOKEN.replace("_", "\\_"),
        "\n".join(HALVES),
        "\r\n".join(HALVES),
        "\r".join(HALVES),
        "\n      ".join(HALVES),
        "  \n> ".join(HALVES),
        "\\\n".join(HALVES),
        "\\\r\n    ".join(HALVES),
        "\n".join(("gh", TOKEN[2:])),
        f"word\n{HALVES[0]}\n  {HALVES[1]}\nword",
    ],
)
def test_a_token_is_found_in_every_form_and_is_always_the_same_one(written):
    (secret,) = find_secrets(written)
    assert (secret.rule, secret.fingerprint) == ("github-token", find_secrets(TOKEN)[0].fingerprint)


def test_a_token_on_three_lines_is_found():
    assert found("\n".join((TOKEN[:12], TOKEN[12:24], TOKEN[24:]))) == ["github-token"]


@each_row(
    "written",
    [
        "p\u200bassword: hunter2",
        "ｐａｓｓｗｏｒｄ＝ｈｕｎｔｅｒ２",
        "PASSWORD=\\\n  hunter2",
        "password is\nhunter2",
        "password:\u00a0hunter2",
    ],
)
def test_a_named_value_is_found_in_other_forms_too(written):
    assert found(written) == ["password"]


def test_lines_are_joined_only_where_a_value_may_go_on():
    text = "the first line ends here\nghp_ is a prefix\n\n- item\n- KqZtXwLmRbYcVnHdJsPfGaUe\n"
    assert found(text) == []
    assert "here\nghp_" in text
    assert find_secrets(f"ghp_\n\n{TOKEN[4:]}") == []


@each_row(
    "text, line",
    [
        (TOKEN, 1),
        (f"a\nb\n{TOKEN}", 3),
        (f"a\r\nb\r\n{TOKEN}", 3),
        (f"a\rb\r{TOKEN}", 3),
        (f"a\u2028b\x0c\n{TOKEN}", 2),
        (f"\u200b\n…\n{TOKEN}\n", 3),
        (f"a \\\nb \\\n{TOKEN}\n", 3),
        (f"a\n{HALVES[0]}\n{HALVES[1]}\n", 2),
        (f"long enough words to be joined\nlong-enough-words-to-be-joined\n…\n  {HALVES[0]}\n  {HALVES[1]}", 4),
        ("a\npassword:\n  hunter2", 3),
    ],
)
def test_the_line_is_the_one_in_the_text_as_it_was_given(text, line):
    assert [secret.line for secret in find_secrets(text)] == [line]


def test_several_secrets_are_all_found_in_the_order_of_the_text():
    text = f"password: hunter2\n{TOKEN}\nhttps://me:hunter2@acme.example\n{TOKEN}\n"
    assert [(one.line, one.rule) for one in find_secrets(text)] == [
        (1, "password"),
        (2, "github-token"),
        (3, "url-credentials"),
        (4, "github-token"),
    ]


def test_one_secret_is_found_once_by_the_family_that_says_most():
    assert found(f"password: {TOKEN}") == ["github-token"]
    assert found(f"https://x-access-token:{TOKEN}@git.acme.example/x") == ["github-token"]
    assert found(f"Authorization: Bearer {TOKEN}") == ["github-token"]


# -- what is told ------------------------------------------------------------------------------------------------------


def test_a_finding_does_not_hold_the_value():
    (secret,) = find_secrets("The password is hunter2.")
    assert (secret.rule, secret.line, secret.description) == ("password", 1, "a password")
    assert "hunter2" not in repr(secret)
    assert len(secret.fingerprint) == 12
    assert set(secret.fingerprint) <= set(string.hexdigits.lower())


def test_a_fingerprint_stays_the_same_and_is_that_of_one_value_of_one_family():
    prints = [find_secrets(text)[0].fingerprint for text in ("password: hunter2", "\n\nThe password is `hunter2`.")]
    assert prints[0] == prints[1]
    # Allowances stand in the repositories of users: another way to make fingerprints would undo them all.
    assert prints[0] == "e4866a18f1a1"
    assert find_secrets("password: hunter3")[0].fingerprint != prints[0]
    assert find_secrets("login: me / hunter2")[0].fingerprint != prints[0]


@pytest.mark.requirement("S2-29", "S2-30", "S0-30")
def test_a_refusal_names_rule_and_line_and_the_way_out_and_never_the_value():
    with pytest.raises(SecretFound) as caught:
        check_text(f"one\ntwo {TOKEN}\nthe password is hunter2")
    message = str(caught.value)
    for part in (
        "line 2 of the text",
        "a GitHub token",
        "github-token",
        "line 3",
        "rule password",
        "nothing was written",
    ):
        assert part in message
    assert "the token is in env/" in message
    fingerprints = [secret.fingerprint for secret in find_secrets(f"{TOKEN} password: hunter2")]
    assert f'[secrets] allow = ["{fingerprints[0]}", "{fingerprints[1]}"] in .scaffolding/amp.toml' in message
    assert "\n" not in message
    for secret in ("hunter2", TOKEN, TOKEN[4:20]):
        assert secret not in message
        assert secret not in repr(caught.value)
    assert isinstance(caught.value, Refused)
    assert isinstance(caught.value, AgentMemoryError)
    assert caught.value.exit_code == 3


def test_a_refusal_names_the_file_or_what_else_the_text_is():
    with pytest.raises(SecretFound, match=r"^docs/a\.md:2 looks like"):
        check_text(f"one\n{TOKEN}", path="docs/a.md")
    with pytest.raises(SecretFound, match=r"^line 1 of the source looks like"):
        check_text(TOKEN, what="source")


def test_a_refusal_of_very_many_secrets_is_still_one_that_people_read():
    with pytest.raises(SecretFound, match="and 95 more") as caught:
        check_text("\n".join(f"password: hunter{number}x{number}" for number in range(1, 101)))
    assert len(str(caught.value)) < 1500


def test_what_is_allowed_passes_and_nothing_else_does():
    text = f"{TOKEN}\npassword: hunter2"
    prints = [secret.fingerprint for secret in find_secrets(text)]
    check_text(text, allow=prints)
    for allowed, rule in ((prints[0], "password"), (prints[1], "github-token")):
        with pytest.raises(SecretFound, match=f"rule {rule}") as caught:
            check_text(text, allow=[allowed])
        assert allowed not in str(caught.value)


@each_row("text", ["", " ", "\n", "\0", "\ud800", "\\", "\\\n", "é" * 50, "password", "password:", "://", "."])
def test_odd_texts_hold_none(text):
    assert find_secrets(text) == []
    check_text(text)


# -- properties --------------------------------------------------------------------------------------------------------

around = st.text(st.sampled_from(" \n\r\t.,;:-*>`'\"()é…\u200bページ"), max_size=12)


@given(before=around, after=around)
def test_a_token_is_found_whatever_stands_around_it(before, after):
    text = before + TOKEN + after
    assert "github-token" in found(text)
    secret = next(secret for secret in find_secrets(text) if secret.rule == "github-token")
    assert secret.line == len((before + "x").replace("\r\n", "\n").replace("\r", "\n").split("\n"))


@given(st.text())
def test_any_text_can_be_searched_and_its_findings_lie_in_it(text):
    lines = len((text + "x").replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert all(1 <= secret.line <= lines for secret in find_secrets(text))


@pytest.mark.slow
@given(st.text(st.sampled_from("ab1\\\n\r\u200b…_> é"), max_size=40))
def test_each_character_of_a_form_of_the_text_has_a_place_in_it(text):
    for view in (plain(text), joined(plain(text))):
        places = [view.origin(position) for position in range(len(view.text))]
        assert places == sorted(places)
        assert all(0 <= place <= len(text) for place in places)
        assert view.text.isascii()


# -- properties --------------------------------------------------------------------------------------------------------

PROPERTIES = """
    sonar.login=% | sonar.auth.token=% | SONAR_LOGIN=% | -Dsonar.login=% | <sonar.login>%</sonar.login>
    <property name="sonar.login" value="%"/> | "sonar.login": "%" | spring.datasource.hikari.password: %
    spring.security.oauth2.client.registration.github.client-secret=% | server.ssl.key-store-password=%
    management.metrics.export.datadog.api-key=% | quarkus.datasource.password=% | javax.persistence.jdbc.password=%
    jenkins.api.token=% | nexus.deploy.pass=% | ossrhPassword=% | signing.keyPassword=% | gradle.publish.key=%
    maven.repo.pwd=% | jasypt.encryptor.password=% | mail.smtp.auth.pass = % | ldap.manager.credentials=%
    jira.api.auth=% | elastic.xpack.auth=% | xpack.security.authc.api_key: % | github.oauth.accessKey=%
    s3.secretKey=% | app.cookie.key=% | app.jwt.signing-key: % | app.encryption.key=% | rails.secret_key_base: %
    webhook.hmac.key: % | db.prod.pw=% | docker.registry.auth=% | npm.registry.auth-token=% | storeKeyPass: %
    keystorePass="%" | bitbucket.appPassword=%
"""
INNOCENT = """
    sonar.login=admin | sonar.projectKey=org.acme:billing-service_2f | mail.smtp.auth=required
    auth.login=/oauth/authorize | security.login=form-login | cache.key=user-by-email | cache.key: orders:list:v2
    message.key=order.created.v1 | foreign.key=customers_id_fkey | ssh.public.key=~/.ssh/id_ed25519.pub
    tls.key=/etc/ssl/private/server.key | auth.provider=keycloak-v24 | auth.realm=acme-prod-2 | app.login=sso-okta
    build.pass=3/5 | render.pass=shadow-map-v2 | compiler.pass=LoopUnroll2 | shortcut.key=Ctrl+Shift+P
    sonar.login=${env.SONAR_TOKEN} | sonar.token=<your-token>
    git.commit.id=9fceb02d0ae598e95dc970b74767f19372d61af8 | window.login=LoginPage2
    service.auth=auth-service-7d9f | grid.key=row-2024-11-05 | default.auth=caching_sha2_password
    last_login=2026-05-01T12:00:00Z | test_login: tests/e2e/login.spec.ts:42
    EffectComposer.addPass: UnrealBloomPass(1.5) | app.key=com.acme.billing-2.4.1
    kube_auth: system:serviceaccount:ci:deployer-2 | publish.key=@acme/ui-kit@2.4.1 | user.login: m.mustermann-2024
"""


def rows(table: str) -> list[str]:
    return [one.strip() for line in table.strip().split("\n") for one in line.split(" | ")]


def test_the_random_value_of_a_property_that_is_named_as_a_secret_is_found():
    chance = random.Random(14)
    letters = string.ascii_letters + string.digits
    alphabets = (("0123456789abcdef", 40), (letters, 20), (letters, 32), (letters + "!#$%*+-.?@_~^", 16))
    texts = [
        label.replace("%", "".join(chance.choices(alphabet, k=length)))
        for label in rows(PROPERTIES)
        for alphabet, length in alphabets * 3
    ]
    missed = [text for text in texts if not found(text)]
    assert len(missed) <= len(texts) // 100, missed


@each_row("text", rows(INNOCENT))
def test_a_property_that_is_only_named_alike_passes(text):
    assert found(text) == []


LABELLED = """
cfg = {{'host': 'db1', 'password': '{}', 'port': 5432}}
export const clientSecret: string = "{}";
const ROOT_PASSWORD: &str = "{}";
MINIO_SECRET="{}"
redis: {{password: '{}'}}
Server=db;User Id=sa;Password={};Encrypt=true
AccountName=st;AccountKey={};EndpointSuffix=core.windows.net
db.internal:5432:shop:app:{}
*:*:*:app:{}
echo '{}'| sudo -S systemctl restart app
tool login --user ops --password '{}'
La contraseña de root es {}
Le mot de passe root est {}
A palavra-passe é `{}`.
Accedi con la password `{}`.
管理者パスワードは{}です
La contraseña para ops es {}
props.put("password", "{}");
std::string dbPassword{{"{}"}};
"""
SPACED = ('W"8r }^gCp hV~D.@!', "%zV yZ|Gp QP:V_G]P%", "<Zk +-Kw9} sj;Px(7", "Q?q 66-3Q,b>V^eSh|O{")
PLAIN = """
password: "must be 8+ chars (A-Z, 0-9)"
Password rules: "at least 12 chars, A-Z, a-z, 0-9 and !@#$"
const token: string = await getToken({ scope: 'read' });
static SECRET_NAME: &str = "billing-db-credentials";
token = next(iter(tokens)); key = (token.kind, token.text)
tokens[i] != '(' && tokens[i+1] == ')' ends the call
localhost:5432:billing:app is the host, port, database and user.
db:5432:*:*:$PGPASSWORD
Ports: 8080:80, 5432:5432, 6379:6379
echo "$SUDO_PW"| sudo -S apt-get update
Server=db;Password=${DB_PW};Encrypt=true
AccountName=st;AccountKey=...;EndpointSuffix=core.windows.net
La contraseña para ops es obligatoria y tiene 12 caracteres.
t("password", "Your password must have 8 characters")
"""


@each_row("line", rows(LABELLED))
def test_a_password_with_blanks_and_marks_in_it_is_found_beside_any_label(line):
    assert [password for password in SPACED if not found(line.format(password))] == []


@each_row("line", rows(PLAIN))
def test_code_and_rules_with_blanks_beside_a_label_pass(line):
    assert found(line) == []


@each_row("password", ["Zo{L+|~/d'uKe.hN", "oSdKP;IPP|466zo", 'Ed"l9Y|^!9v0%]g'])
def test_a_password_is_found_whole_where_the_mark_of_its_table_is_in_it(password):
    for first in (
        f"| host | password | by |\n|---|---|---|\n| db | {password} | ann |",
        f"user;password\nann;{password}",
    ):
        assert found(first) == ["jumbled-password"]


def test_a_row_with_more_cells_than_headings_passes_where_its_words_are_plain():
    assert found("| token | meaning |\n|---|---|\n| `=>` | arrow | or `->` |\n| `&&`, `||` | logic |") == []


@pytest.mark.requirement("S2-05")
@pytest.mark.parametrize(
    "value",
    [
        'BO9)egU"*',
        "`5I}D.nO",
        "g8Cf6H(!",
        "uAR($x>^aed@&J*tZ$1J_",
        "Klw\\jQP.(l@TtIPHt['@ae3^{:dtIJ|l",
        '"*j&rc=lA:/`U9$sw`q2fjT>`N',
        "4BXIlsaF!OOkNswa-z.-hI8mHQM",
        "zd T.B^n-xqLF\\s>}Zfw!gM7Z4{jAvO~K",
    ],
    ids=ascii,
)
def test_a_password_is_found_whose_signs_could_end_it_or_be_those_of_code(value):
    for text in (f"Admin password: {value}", f"SMTP_PASSWORD={value}", f"Пароль: {value}"):
        assert found(text) != [], text


@pytest.mark.requirement("S2-30")
@pytest.mark.parametrize(
    "text",
    [
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "Host=localhost;Username=postgres;Password=postgres;Database=app",
        "db_pass: ENC[AES256_GCM,data:db_pass]",
        "API_TOKEN=ENC[AES256_GCM,data:API_TOKEN]",
        "password = hash_password(form.data['Pass1'], rounds=12)",
        "secret: Buffer.from(process.env.K1!, 'base64'),",
        "password charset: [A-Za-z0-9!@#$%]",
    ],
)
def test_published_examples_encrypted_values_and_code_beside_a_label_pass(text):
    assert found(text) == []
