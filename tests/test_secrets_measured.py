"""How many secrets are found, and how often something else is taken for one; `-s` prints the figures."""

import random
import re
import string
import tomllib
from itertools import product
from pathlib import Path

import pytest

from agent_memory_protocol.secrets import table
from agent_memory_protocol.secrets.find import find_secrets
from tests.each_row import each_row

FAMILIES = tomllib.loads((Path(__file__).parent / "data" / "secrets.toml").read_text("utf-8"))["family"]
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "letters": string.ascii_letters,
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "small32": string.ascii_lowercase + "234567",
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


PREFIXED = {family.id for family in table.FAMILIES if family.within == "word" and not family.anywhere}
SHAPES = {family["id"]: family["shapes"] for family in FAMILIES if family["shapes"]}


@pytest.mark.slow
@pytest.mark.requirement("S2-05", "S2-29", "S0-30")
@each_row("family", sorted(PREFIXED))
def test_every_secret_with_a_shape_of_its_own_is_found(family, sized):
    chance = random.Random(family)
    texts = [
        chance.choice(SENTENCES).format(draw(shape, chance))
        for shape in SHAPES[family]
        for _ in range(sized(15, 60, 60))
    ]
    assert share_found(family, texts) == 1


@pytest.mark.slow
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


@pytest.mark.slow
def test_of_all_families_nineteen_in_twenty_secrets_are_found():
    shares = {}
    for family, shapes in SHAPES.items():
        chance = random.Random(family)
        shares[family] = share_found(family, [draw(shape, chance) for shape in shapes for _ in range(200)])
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


@pytest.mark.slow
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


MANAGED = string.ascii_letters + string.digits + string.punctuation
LABELLED = (
    "password is {}",
    "password: {}",
    'DB_PASSWORD="{}"',
    "password = '{}'",
    "mysqldump --password {}",
    "| password | {} |",
    '{{"password": "{}"}}',
    "Das Passwort ist {}",
    "PGPASSWORD={}",
    "The password for staging is `{}`.",
)
LANGUAGES = {
    "Spanish": (
        "La contraseña de la base es {}",
        "contraseña: {}",
        "# clave = {}",
        "entra con ada y la contraseña {}",
        "{} es la contraseña del router",
    ),
    "Portuguese": ("A senha do banco é {}", "senha: {}", "senha_admin: {}", "A senha continua sendo {}"),
    "French": ("Le mot de passe est {}", "Mot de passe : {}", "J'ai changé le mot de passe en {}", "code d'accès : {}"),
    "Italian": ("La password è {}", "parola d'ordine: {}", "Password di root: {}", "Ho cambiato la password in {}"),
    "German": (
        "Das Kennwort für die Datenbank lautet {}",
        "Passwort: {}",
        "Zugangsdaten: admin / {}",
        "Das Initialpasswort lautet {}",
        "Zugang: ada / {}",
        "Das Passwort ist übrigens {}",
    ),
    "Russian": ("Пароль от базы: {}", "пароль — {}", "пароль администратора {}", "зайди с паролем {}"),
    "Chinese": ("数据库密码为 {}", "密码：{}", "密码是{}", "我把密码改成了 {}", "账号密码：ada / {}"),
    "Japanese": ("パスワードは {} です", "パスワード: {}", "パスワードを {} に変更した"),
    "Korean": ("비밀번호는 {} 입니다", "비밀번호: {}", "비밀번호를 {} 로 바꿨다", "비밀번호 {} 를 사용"),
    "Turkish": ("şifre: {}", "parola = {}", "Veritabanı şifresi: {}", "ada ve {} şifresiyle gir"),
    "Polish": ("Hasło to {}", "hasło: {}", "zaloguj się z hasłem {}", "{} to hasło do routera"),
    "Dutch": ("Het wachtwoord is {}", "wachtwoord: {}"),
    "Swedish": ("Lösenordet till databasen är {}", "Lösen = {}"),
    "Hungarian": ("A jelszó {}", "Az adatbázis jelszava: {}"),
    "Greek": ("Ο κωδικός είναι {}", "κωδικός πρόσβασης: {}"),
    "Arabic": ("كلمة المرور هي {}", "كلمة المرور: {}"),
    "Hindi": ("पासवर्ड है {}", "पासवर्ड: {}"),
    "Hebrew": ("הסיסמה היא {}", "סיסמה: {}"),
    "Thai": ("รหัสผ่านคือ {}", "รหัสผ่าน: {}"),
    "Vietnamese": ("Mật khẩu là {}", "mật khẩu: {}"),
}
PLACES = (
    "password:\n  {}",
    "password: |\n  {}",
    "[database]\npassword = {}",
    "export PGPASSWORD='{}'",
    "ENV DB_PASS={}",
    "--db-password={}",
    "-e MYSQL_ROOT_PASSWORD={}",
    "kubectl create secret generic db --from-literal=password={}",
    "Server=db;User Id=sa;Password={};",
    "| user | password |\n|---|---|\n| bob | {} |",
    "user\tpassword\nbob\t{}",
    "secret: {}",
    "the credentials are {}",
    "Use {} as the password for staging.",
    "`{}` is the staging password",
    "password → {}",
    "We set the password to {}",
    "## Password\n\n    {}\n",
    "password:\n\n```\n{}\n```",
    "setPassword('{}')",
    "login: admin / {}",
    "redis-cli -a {}",
    "sshpass -p {} ssh host",
    "echo {} | docker login -u bot --password-stdin",
    "the root password got changed to {} yesterday",
    '<add key="DbPassword" value="{}" />',
    "- name: DB_PASSWORD\n  value: {}",
    "login with bob and {} on staging",
    "creds for grafana: admin:{}",
    "ada: whats the password? bob: it was {} last week",
    "you need the password ({}) to unlock",
    "You can get in with ada / {}",
    "login ada pw {}",
    "ssh ada@build-7 (pw {})",
    "SSID AcmeGuest, key {}",
    "auth=('ada', '{}')",
    'args: ["--password", "{}"]',
    "$pw = ConvertTo-SecureString '{}' -AsPlainText",
    "PASSWORD      {}",
    "Password…: {}",
)


KEYCHAIN_PLACES = (
    "Log in with ada and {}: that password is new",
    "pw: {}",
    'pass: "{}"',
    '$env:DB_PASS = "{}"',
    "ALTER USER app WITH PASSWORD '{}';",
    "curl -u ada:'{}' https://api.acme.example",
    "set the admin password to {} on each box",
    "The master password, which Ada set, is {}",
    "pass phrase: {}",
    "DB password (staging)\t{}",
    'dsn := "app:{}@tcp(db-1:3306)/app"',
    "The vault opens with the passphrase {}",
    'IDENTIFIED BY "{}"',
    "requirepass {}",
    "Mật khẩu là {}",
    "heslo: {}",
)


def of_a_keychain(chance):
    """Return a password as Apple's keychain proposes it: three groups, one capital, one digit."""
    letters = chance.choices(string.ascii_lowercase, k=18)
    capital, digit = chance.sample(range(18), 2)
    letters[capital] = letters[capital].upper()
    letters[digit] = chance.choice(string.digits)
    return "-".join("".join(letters[place : place + 6]) for place in (0, 6, 12))


def managed(count, seed, alphabet=MANAGED, size=16):
    """Return passwords as a manager makes them, each with a letter in both cases, a digit and a mark."""
    chance = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        one = "".join(chance.choices(alphabet, k=size))
        if all(any(kind(letter) for letter in one) for kind in (str.islower, str.isupper, str.isdigit)):
            found.append(one)
    return found


def found_of(sentences, passwords):
    texts = [sentence.format(one) for one in passwords for sentence in sentences]
    missed = [text for text in texts if not find_secrets(text)]
    print(f"{1 - len(missed) / len(texts):8.2%} of {len(texts)}, missed, such as: {missed[:1]!a}")
    return 1 - len(missed) / len(texts)


@pytest.mark.slow
def test_of_the_passwords_of_a_manager_ninety_nine_in_a_hundred_are_found(sized):
    assert found_of(LABELLED, managed(sized(100, 500, 2_000), 11)) >= 0.99


@pytest.mark.slow
@each_row("language", LANGUAGES)
def test_a_password_is_found_by_its_label_in_other_languages(language, sized):
    assert found_of(LANGUAGES[language], managed(sized(20, 200, 200), language)) >= 0.97


@pytest.mark.slow
@each_row("place", PLACES, ids=ascii)
def test_a_password_is_found_wherever_it_is_written(place, sized):
    marks = string.ascii_letters + string.digits + "!#$%&()*+,-./:<=>?@[]^_{}~"
    assert found_of([place], managed(sized(20, 200, 200), place, marks)) >= 0.95


@pytest.mark.slow
def test_what_a_keychain_proposes_is_found_wherever_it_is_written(sized):
    chance = random.Random(17)
    assert found_of(KEYCHAIN_PLACES, [of_a_keychain(chance) for _ in range(sized(20, 200, 200))]) >= 0.99


TALK = {
    "thing": ("password", "token", "API key", "secret", "session cookie", "credential", "passphrase"),
    "place": ("the vault", "env/tokens.txt", "`.env.local`", "1Password", "AWS Secrets Manager", "the keychain"),
    "who": ("the deploy bot", "each developer", "the CI runner", "our SSO", "the staging cluster"),
    "code": (
        "getEnv('DB_PASSWORD')",
        "${DB_PASSWORD}",
        "process.env.API_KEY",
        "{{ .Values.token }}",
        "config.get('key')",
    ),
}
INNOCENT = (
    "The {thing} for {who} is in {place}.",
    "Never log the {thing}: {who} sends it to {place}.",
    "{thing}: see {place}, rotated by {who} on 2026-03-01.",
    "Read the {thing} from {code}, not from {place}.",
    "{who} needs a new {thing} every 90 days (min. 12 characters, A-Z, a-z, 0-9).",
    "| {thing} | {place} | {who} |",
    "- [2026-02-03] {thing} moved to {place}; `{code}` reads it.",
    "{thing} = {code}  # {who}",
)


def innocent():
    found = []
    for sentence in INNOCENT:
        names = [name for name in TALK if f"{{{name}}}" in sentence]
        several = product(*(TALK[name] for name in names))
        found += [sentence.format(**dict(zip(names, words, strict=True))) for words in several]
    return found


NO_SECRETS = (
    'type Password = Branded<string, "Password">;',
    "Geheimnis guter Tests: kleine Beispiele und klare Namen.",
    "the fixed-password `e2e-*` users",
    "postgresql://user:pass@localhost/db",
    "redis://:password@redis",
    "| account key | 3f9a1c2b-7d10-4e88-99aa-bbccddeeff00 | active |",
    "password: z.string().min(8).regex(/[A-Z]/)",
    "password?: string; token?: string | undefined;",
    "The password check is O(n) in `verify_password(user, given)`.",
    "pwd: /srv/app-2/src_v1/x-y",
    "password=%s&user=%d",
    "Passwörter sind nie im Log; das Passwort ist im Tresor hinterlegt.",
    "El token de acceso caduca cada 24h; la contraseña es obligatoria.",
    "Die Schlüssel der Tabelle sind user_id, created_at und name.",
    "La clave es escribir primero las pruebas; clave: velocidad.",
    "ключ — это составной индекс (user_id, created_at)",
    "パスワードは環境変数から読む: `os.environ['DB_PASSWORD']`",
    "| key | value |\n|---|---|\n| app.name-v2 | 10.0.0.1:8080 |",
    "In v6.6.0-rc3 (password login removed) only SSO works.",
    "We moved the password to 1Password/Ops-Team.",
    "Change the password to a passphrase of 4-6 words.",
    "## Password\n\nHashed with argon2id (m=64MiB, t=3).",
    "Password rules:\n\n```\n^(?=.*[A-Z])(?=.*[0-9]).{12,}$\n```",
    "setPassword(\"changeme\") and signIn.password('should reject')",
    "| secret | owner |\n|---|---|\n| db/prod/main-1 | platform-team |",
    "amqp://guest:guest@localhost:5672/",
    "postgresql://postgres:postgres@localhost/test",
    "https://user:pass@example.com is refused by fetch.",
    "access key for the keyboard menu: Alt+Shift+F2",
    "- name: TOKEN_TTL\n  value: 3600s",
    '<add key="PasswordPolicy" value="Strict" />',
    '{"name": "ACCESS_TOKEN_URL", "value": "https://auth.acme.example/token"}',
    "Log in as bob and open /settings/tokens2026.",
    "user: admin / role: owner1",
    "La password di produzione: vedi Vault",
    "Veritabanı şifresi Vault içinde.",
    "Zugangsdaten: siehe Vault / Team-A",
    "パスワードは12文字以上、TOKEN_V2 は環境変数から読む。",
    "密码哈希用 argon2id，参数 m=65536,t=3,p=4。",
    'Users are identified by "user_id" and a token.',
    "The API key of the keyword-second-number rule is public.",
    "user:password@tcp(localhost:3306)/app",
    "password\tstring\trequired",
    "the passwords, as always, are in 1Password/Ops-Team",
    "Signing key fingerprint: SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM",
    "Ключ кэша: user:{id}:v2",
    "Пароль через LDAP3-прокси не передаётся.",
    "Пароль администратора сбрасывается скриптом reset_admin_v2.sh.",
    "Пароль исправлен в коммите 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "Das Initialpasswort ist im Tresor, Eintrag prod/db-3.",
    "La contraseña sigue en 1Password/equipo-2",
    "wifi: ask the front desk (ext. 4412)",
    "`app/models/user2.rb` is the password model.",
    'auth=("ada", os.environ["ADA_PW2"])',
    '{"text": "two passes", "timestamp": "2025-05-13T09:20:44.104Z", "version": "1.2"}',
    r"pass|fail: \b\d[\d,]* (?:\w+ )?Tests2?",
)


@each_row("text", NO_SECRETS)
def test_what_only_speaks_of_a_secret_is_none(text):
    assert find_secrets(text) == []


def test_of_five_hundred_innocent_sentences_hardly_any_is_taken_for_a_secret():
    sentences = random.Random(3).sample(innocent(), 500)
    hits = [(text, [one.rule for one in find_secrets(text)]) for text in sentences if find_secrets(text)]
    print(f"{len(hits)} of {len(sentences)}", *hits, sep="\n")
    assert len(hits) <= 0.005 * len(sentences)
