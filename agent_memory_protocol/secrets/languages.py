"""What a secret is called in other languages, read as English before a text is searched.

Comments, notes and tables name a password in the language of who writes them. One pattern for each label would be
many patterns, so the label, what is said between it and the value, and the verb become `password are`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_LABELS = {
    "password": """
        passwort passworts kennwort zugangscode contraseña mot_de_passe mdp phrase_de_passe senha palavra_passe
        parola_d'ordine parola_chiave parola wachtwoord hasło hasłem hasła hasłu heslo hesla heslem şifre
        code_d'accès code_secret código_de_acceso codice_di_accesso codice_segreto frase_segreta frase_secreta
        phrase_secrète frase_de_contraseña пароль пароля пароли паролем паролю кодовая_фраза кодовую_фразу parol mima
        密码 密碼 口令 パスワード パスフレーズ 暗証番号 合言葉 비밀번호 비번 암호 패스워드 mật_khẩu lösenordet
        lösenord lösen
        adgangskoden adgangskode kodeordet kodeord passordet passord salasana jelszó jelszava jelszavát
        كلمة_مرور كلمة_سر الرقم_السري كلمة_المرور كلمة_السر رمز_عبور पासवर्ड कूटशब्द סיסמה הסיסמה סיסמא
        şifresi şifreyi parolası parolayı kata_sandi รหัสผ่าน κωδικός
    """,
    "api key": """
        api_schlüssel geheimschlüssel schlüssel zugangsschlüssel api_schluessel geheimnis
        clave_api clave_de_api clave_secreta clave clé_api secreto
        clé_secrète clé_d'api chave_api chave_de_api chave_secreta segredo chiave_api chiave_segreta segreto
        api_anahtarı ключ_api api_ключ ключ секрет 密钥 密鑰 秘钥 apiキー 秘密鍵 アクセスキー シークレット
        api_키 비밀키 인증키 접근_키 시크릿 klucz_api sleutel
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
_SAYS = "ist|lautet|es|est|è|é|jest|je|это|är"
"""A verb that may follow a word of the list above: `la contraseña para ops es X`."""
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


SPELLED = {name: sorted(said.split(), key=len)[::-1] for name, said in _LABELS.items()}
_PLAIN_LETTERS = str.maketrans("áàâãäåéèêëíìîïóòôõöúùûüçñłşığ", "aaaaaaeeeeiiiiooooouuuucnlsig")
_PLAIN = _PLAIN_LETTERS | dict.fromkeys(map(ord, "_- \\"))
_squeezed = {label: label.translate(_PLAIN) for labels in SPELLED.values() for label in labels}
"""Each label as code spells it: without accents and blanks, `motdepasse` for `MOT_DE_PASSE` and `motDePasse`."""
_patterns: "dict[tuple[str, ...], tuple[re.Pattern[str], re.Pattern[str]]]" = {}


def labels_in_ascii() -> list[str]:
    """Return the labels that a text in ASCII can hold, with blanks between their words."""
    return [label.replace("_", " ").translate(_PLAIN_LETTERS) for label, plain in _squeezed.items() if plain.isascii()]


def names_one(squeezed: str) -> bool:
    """Say whether a label may be in a text, given without accents and blanks."""
    return any(label in squeezed for label in _squeezed.values())


def squeeze(text: str) -> str:
    """Return a text in lower case without accents and blanks."""
    return text.lower().translate(_PLAIN)


def _as_written(label: str) -> str:
    """Return an expression for a label with or without its accents and blanks."""
    written = r"\\?[ _-]?" if "_" in label else ""
    return "".join(
        written if one == "_" else f"[{one}{one.translate(_PLAIN)}]" if one.translate(_PLAIN) != one else one
        for one in label
    )


def _patterns_of(present: tuple[str, ...]) -> "tuple[re.Pattern[str], re.Pattern[str]]":
    """Return what finds these labels with what is after them, and what finds what is before one."""
    if present not in _patterns:
        import re  # slow to load

        labels = "|".join(map(_as_written, present))
        _patterns[present] = (
            re.compile(
                rf"(?:(?<![^\W\d_])|(?=[\u3040-\u9fff\uac00-\ud7af]|{_ENDS_WORDS})|(?<=set)|(?-i:(?<=[a-z])(?=[A-Z]))"
                rf"|(?<=api)(?=[キ키])|(?<=[\u3040-\u9fff\uac00-\ud7af]))(?P<label>{labels})"
                rf"(?:[_-]\w{{1,20}}){{0,2}}(?P<quote>[\"'`*]{{0,3}})"
                rf"(?:(?P<verb>{_BETWEEN}(?:[ \t]*(?:{_IS_GLUED})|[ \t]+(?:{_IS})(?=[ \t])"
                rf"(?:(?:[ \t]+{_WORD}){{1,3}}?[ \t]+(?:{_SAYS})(?=[ \t]))?|[ \t]*[—–](?=[ \t]))"
                rf"(?P<later>(?:[ \t]+{_WORD}){{1,3}}(?=[ \t]+{_RANDOM}))?)"
                rf"|(?P<sign>{_BETWEEN}(?=[\"'`*]{{0,3}}[ \t]*(?:[:：=|])))"
                rf"|(?P<told>(?:[ \t,]*{_WORD}){{1,6}}?(?=[ \t]+{_RANDOM})))?",
                re.IGNORECASE,
            ),
            re.compile(_BEFORE, re.IGNORECASE),
        )
    return _patterns[present]


def in_english(text: str, *, names_others: bool = True) -> list[tuple[int, int, str]]:
    """Return the stretches of a text that name a secret in another language, each with how it reads in English.

    Without `names_others`, it is known that only English labels are in it.
    """
    lowered = text.lower()
    squeezed = squeeze(text) if names_others else ""
    found = []
    for name, labels in SPELLED.items():
        present = tuple([label for label in labels if _squeezed[label] in squeezed]) if names_others else ()
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
