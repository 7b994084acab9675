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
        parola_d'ordine parola_chiave parola wachtwoord hasło haslo hasłem hasła hasłu heslo hesla heslem şifre sifre
        code_d'accès code_d'acces código_de_acceso codice_di_accesso пароль пароля пароли паролем паролю
        密码 密碼 口令 パスワード 暗証番号 비밀번호 비번 암호 mật_khẩu lösenordet lösenord lösen adgangskoden
        adgangskode kodeordet kodeord passordet passord salasana jelszó jelszava jelszavát
        كلمة_مرور كلمة_سر الرقم_السري كلمة_المرور كلمة_السر رمز_عبور पासवर्ड कूटशब्द סיסמה הסיסמה סיסמא
        şifresi sifresi şifreyi parolası parolayı kata_sandi รหัสผ่าน κωδικός
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
    "|en|in|auf|a|à|ao|para|po|na|op|zu|als|como|come|jako|на|как|şu|بـ|إلى"
    "|είναι|هي|هو|है|היא|הוא"
)
_IS_GLUED = "是|[改设換换设]?[置定]?[为為成]了?|は|が|を|는|은|이|가|를|을|로|으로|คือ"
_FOREIGN = (
    *(" ist ", " lautet ", " es ", " est ", " è ", " é ", " jest ", " это "),
    *(
        " la ",
        " le ",
        " il ",
        " el ",
        " das ",
        " het ",
        " ho ",
        " di ",
        " del ",
        " della ",
        " für ",
        " vom ",
        " pour ",
        " du ",
        " para ",
        " voor ",
    ),
)
"""Words that tell that a sentence around an English label is not English."""
_ENGLISH = ("password", "passwd", "token", "api key")
_WORD = r"(?:[^\W\d_][\w.'’/-]{0,7}(?![\w.'’/-])|(?-i:[^\W\d_][^\WA-Z\d_]{1,20}(?:[.'’/-][^\WA-Z\d_]{0,20}){0,3}))"
"""No password: what is long has no capitals and no digits within."""
_BETWEEN = rf"(?:[ \t]+{_WORD}){{0,5}}?"
_BEFORE = (
    rf"(?<=[!-~]{{4}})[ \t](?:(?:{_IS})[ \t](?:[^\W\d_]{{1,4}}[ \t])?|(?:{_IS_GLUED})[^\x00-\x7f \t]{{0,12}}"
    r"|[^\x00-\x7f]{1,4}[ \t][^\x00-\x7f \t]{0,12}[ \t])\Z"
)
"""What is between a value and its name where the value comes first."""
_RANDOM = r"(?![0-9a-f]{40}\b)(?=[^\s\d]{0,99}\d)[!-~]{12,160}(?:\s|\Z)"
_ENDS_WORDS = "passwort|kennwort|wachtwoord|lösenord|adgangskode|passord|salasana"
"""Labels that are also the end of a longer word, as in `Initialpasswort`."""


_SPELLED = {
    name: sorted((word.replace("_", " ") for word in said.split()), key=len)[::-1] for name, said in _LABELS.items()
}
_IN_ASCII = {name: [word for word in words if word.isascii()] for name, words in _SPELLED.items()}
_patterns: "dict[tuple[str, ...], tuple[re.Pattern[str], re.Pattern[str]]]" = {}


def spelled(in_ascii: bool) -> list[str]:
    """Return all labels that a text can hold."""
    return [label for labels in (_IN_ASCII if in_ascii else _SPELLED).values() for label in labels]


def _patterns_of(present: tuple[str, ...]) -> "tuple[re.Pattern[str], re.Pattern[str]]":
    """Return what finds these labels with what is after them, and what finds what is before one."""
    if present not in _patterns:
        import re  # slow to load

        labels = "|".join(map(re.escape, present))
        _patterns[present] = (
            re.compile(
                rf"(?:(?<![^\W\d_])|(?=[\u3040-\u9fff\uac00-\ud7af]|{_ENDS_WORDS}))(?P<label>{labels})"
                rf"(?:[_-]\w{{1,20}}){{0,2}}(?P<quote>[\"'`*]{{0,3}})"
                rf"(?:(?P<verb>{_BETWEEN}(?:[ \t]*(?:{_IS_GLUED})|[ \t]+(?:{_IS})(?=[ \t])|[ \t]*[—–](?=[ \t]))"
                rf"(?P<later>(?:[ \t]+{_WORD}){{1,3}}(?=[ \t]+{_RANDOM}))?)"
                rf"|(?P<sign>{_BETWEEN}(?=[\"'`*]{{0,3}}[ \t]*(?:[:：=|])))"
                rf"|(?P<told>(?:[ \t,]*{_WORD}){{1,6}}?(?=[ \t]+{_RANDOM})))?",
                re.IGNORECASE,
            ),
            re.compile(_BEFORE, re.IGNORECASE),
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
        pattern, before_it = _patterns_of(present)
        for match in pattern.finditer(text):
            word = match["label"].lower()
            own = word if word in _ENGLISH else name
            start = match.start()
            before = before_it.search(text, max(0, start - 40), start)
            if before:
                found.append((*before.span(), " is the "))
            if match["told"] or match["later"]:
                own += " token"  # nothing says that this is it, so it must look random
            # Not `is`: what that is followed by may be a plain word, which another language has in other places.
            new = f"{own} are " if match["told"] or match["verb"] else f"{own}{match['quote']}"
            if new.strip() != match[0].lower():
                found.append((*match.span(), new))
    kept: list[tuple[int, int, str]] = []
    for one in sorted(found):
        if not kept or one[0] >= kept[-1][1]:
            kept.append(one)
    return kept
