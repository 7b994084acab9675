"""What a secret is called in other languages, read as English before a text is searched.

Comments, notes and tables name a password in the language of who writes them. One pattern for each label would be
many patterns, so the label, what is said between it and the value, and the verb become `password are`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_LABELS = {
    "password": """
        passwort passworts kennwort zugangscode contraseña contrasena mot_de_passe motdepasse mdp senha palavra-passe
        parola_d'ordine parola_chiave parola wachtwoord hasło haslo heslo şifre sifre пароль пароля пароли паролем
        密码 密碼 口令 パスワード 暗証番号 비밀번호 비번 암호 mật_khẩu lösenordet lösenord lösen adgangskoden
        adgangskode kodeordet kodeord passordet passord salasana jelszó jelszava jelszavát
        كلمة_مرور كلمة_سر الرقم_السري كلمة_المرور كلمة_السر رمز_عبور पासवर्ड कूटशब्द סיסמה הסיסמה סיסמא
        şifresi sifresi parolası kata_sandi รหัสผ่าน κωδικός
    """,
    "api key": """
        api-schlüssel geheimschlüssel schlüssel api-schluessel zugangsschlüssel
        clave_api clave_de_api clave_secreta clave clé_api
        clé_secrète clé_d'api chave_api chave_de_api chave_secreta chiave_api chiave_segreta api_anahtarı ключ_api
        api-ключ ключ 密钥 密鑰 秘钥 apiキー 秘密鍵 アクセスキー api_키 비밀키 인증키 klucz_api sleutel
    """,
    "credentials": """
        zugangsdaten anmeldedaten identifiants credenciales credenciais credenziali inloggegevens учётные_данные
        учетные_данные dane_logowania giriş_bilgileri
    """,
    "token": "токен токена 令牌 トークン 토큰 jeton_d'accès zugriffstoken zugangstoken jeton ficha_de_acceso",
}
_IS = (
    "ist|lautet|war|es|era|este|on|adalah|là|est|était|è|é|foi|jest|to|to je|je|это|был|is|was|är|er"
    "|είναι|هي|هو|है|היא|הוא"
)
_IS_GLUED = "是|为|為|は|が|는|은|이|가|คือ"
_FOREIGN = (
    *(" ist ", " lautet ", " es ", " est ", " è ", " é ", " jest ", " это "),
    *(" di ", " del ", " della ", " für ", " vom ", " pour ", " du ", " para ", " voor "),
)
"""Words that tell that a sentence around an English label is not English."""
_ENGLISH = ("password", "passwd", "token", "api key")
_BETWEEN = r"(?:[ \t]+[^\W\d_][\w.'’/-]{0,20}){0,5}?"


_SPELLED = {
    name: sorted((word.replace("_", " ") for word in said.split()), key=len)[::-1] for name, said in _LABELS.items()
}
_IN_ASCII = {name: [word for word in words if word.isascii()] for name, words in _SPELLED.items()}
_patterns: "dict[tuple[str, ...], re.Pattern[str]]" = {}


def spelled(in_ascii: bool) -> list[str]:
    """Return all labels that a text can hold."""
    return [label for labels in (_IN_ASCII if in_ascii else _SPELLED).values() for label in labels]


def _pattern(present: tuple[str, ...]) -> "re.Pattern[str]":
    if present not in _patterns:
        import re  # slow to load

        labels = "|".join(map(re.escape, present))
        _patterns[present] = re.compile(
            rf"(?:(?<![^\W\d_])|(?=[\u3040-\u9fff\uac00-\ud7af]))(?P<label>{labels})(?P<quote>[\"'`*]{{0,3}})"
            rf"(?:(?P<verb>{_BETWEEN}(?:[ \t]*(?:{_IS_GLUED})|[ \t]+(?:{_IS})(?=[ \t])|[ \t]*[—–](?=[ \t])))"
            rf"|(?P<sign>{_BETWEEN}(?=[\"'`*]{{0,3}}[ \t]*(?:[:：=|]))))?",
            re.IGNORECASE,
        )
    return _patterns[present]


def in_english(text: str) -> list[tuple[int, int, str]]:
    """Return the stretches of a text that name a secret in another language, each with how it reads in English."""
    lowered = text.lower()
    found = []
    for name in _LABELS:
        labels = (_IN_ASCII if lowered.isascii() else _SPELLED)[name]
        present = tuple(word for word in labels if word in lowered)
        if name == "password" and any(verb in lowered for verb in _FOREIGN):
            present += tuple(word for word in _ENGLISH if word in lowered)
        if not present:
            continue
        for match in _pattern(present).finditer(text):
            word = match["label"].lower()
            own = word if word in _ENGLISH else name
            # Not `is`: what that is followed by may be a plain word, which another language has in other places.
            new = f"{own} are " if match["verb"] else f"{own}{match['quote']}"
            if new.strip() != match[0].lower():
                found.append((*match.span(), new))
    kept: list[tuple[int, int, str]] = []
    for one in sorted(found):
        if not kept or one[0] >= kept[-1][1]:
            kept.append(one)
    return kept
