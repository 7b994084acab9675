"""The families of secrets that must never be written into memory: one row a family, and the words their judge needs."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # the guard loads this table before a tool call, and `typing` takes longer than the search
    from typing import Literal

FRAGMENTS = {
    "start": "(?<![A-Za-z0-9])",
    "end": "(?![A-Za-z0-9])",
    "slug_start": "(?<![A-Za-z0-9_-])",
    "slug_end": "(?![A-Za-z0-9_-])",
    "uuid": "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    # From a vendor's name to the word that says key, and from there to the key: a few words, a sign, perhaps a new line.
    "key_of": r"[\w .-]{0,24}?(?i:key|token|secret|auth|password)",
    "near": r"""[^\n"'`=:]{0,30}["'`*_)\]]{0,3}\s{0,3}(?:=>|:=|[=:]|\bis\b|\bto\b|\s)\s{0,3}["'`*]{0,3}""",
    # What may be between a name and what it names: a parenthesis or a few words, then a sign or a verb.
    "whose": r"""(?: ?\([^()\n]{1,40}\)|/[^\s:/=]{1,20}(?=:)|,(?: [\w.@/'"`-]{1,40}){1,6},| (?:for|of|to|on|in|at|from|de|del|d[aeio]s?|du|für|f\?r|vom|von|van|voor|para|pour)(?: [\w.@/'"`-]{1,40}){1,6}?)?""",
    # A name and its value may also be two fields of one thing: `name: X` and below `value: Y`, `key="X" value="Y"`.
    "sign": r"""["'`*_)\]?!.]{0,4}(?P<sign>[ \t]{0,4},?[ \t]{0,4}(?:\r?\n[ \t]{1,24})?["']?(?i:value)["']?[ \t]{0,4}[:=][ \t]{0,4}|[ \t]{0,4}\{(?:[^\n{}]{0,80}\r?\n){0,4}?[ \t]{0,24}default[ \t]{0,8}=[ \t]{0,4}|[ \t]{0,8}(?::[ \t]?[&\w<>\[\].]{1,30}(?: [&\w<>\[\].]{1,20})?[ \t]?=|:=|=>|->|<-|={1,3}|:-|[:|>])[ \t]{0,8}(?:[*_]{1,2} )?(?:\r?\n[ \t>]{1,16})?|\s(?:is|was|are|equals|(?:(?:is |was |got |has been )?(?:now |still |set |changed |reset |rotated |updated |back )to)|is now|is still)(?: now|:)?(?:[ \t]{1,3}(?:\r?\n[ \t>]{0,16})?|\r?\n[ \t>]{0,16})|[ \t][-\u2013\u2014][ \t]|[ ]?\t[ \t]{0,8}|[ ]{3,24}|</\w{1,20}>\s{0,20}<\w{1,20}>)""",
    # A blank line, an indented line or a code block between a label or heading and what it names.
    "block": r"[ \t]{0,8}:?[ \t]{0,8}(?:\r?\n[ \t>]{0,16}){1,3}(?:`{3,8}\w{0,12}\r?\n[ \t>]{0,16})?",
    # What names a secret, of whatever kind.
    "secret_name": r"(?i:password|passwd|pass[ -]?phrase|passcode|pwd|(?<![A-Za-z])pass|(?<![A-Za-z])pw|secret|token|credentials?|(?:%{before_key})key)",
    # A key by itself may be anybody's: of a table, a map, a keyboard.
    "before_key": "(?<=api)|(?<=api[ ._-])|(?<=access)|(?<=access[ ._-])|(?<=secret)|(?<=secret[ ._-])|(?<=private)|(?<=private[ ._-])|(?<=auth)|(?<=auth[ ._-])|(?<=signing)|(?<=signing[ ._-])|(?<=encryption)|(?<=encryption[ ._-])|(?<=master)|(?<=master[ ._-])|(?<=account)|(?<=account[ ._-])|(?<=license)|(?<=license[ ._-])|(?<=service)|(?<=service[ ._-])|(?<=subscription)|(?<=subscription[ ._-])|(?<=app)|(?<=app[ ._-])|(?<=admin)|(?<=admin[ ._-])|(?<=deploy)|(?<=deploy[ ._-])|(?<=session)|(?<=session[ ._-])|(?<=jwt)|(?<=jwt[ ._-])|(?<=webhook)|(?<=webhook[ ._-])|(?<=bot)|(?<=bot[ ._-])|(?<=integration)|(?<=integration[ ._-])|(?<=encrypt[._-])|(?<=hmac[ ._-])|(?<=wifi[ ._-])|(?<=wi-fi[ ._-])|(?<=wpa[ ._-])|(?<=wpa[23][ ._-])|(?<=wlan[ ._-])|(?<=network[ ._-])|(?<=vpn[ ._-])|(?<=cookie[ ._-])|(?<=publish[ ._-])|(?<=crypto[ ._-])",
    # What may be a password by its looks alone: letters in both cases and digits.
    "strong": r"(?=[^\s\d]{0,24}\d)(?=[^\sA-Z]{0,24}[A-Z])(?=[^\sa-z]{0,24}[a-z])[^\s]{10,160}|[0-9a-f]{16,128}(?![\w-])",
    # Four words or more with dashes, or with blanks, between them.
    "dashed": r"[A-Za-z][a-z]{2,11}(?:[-_.][A-Za-z][a-z]{2,11}){3,7}(?![\w-]|\.\w)",
    "spaced": r"[A-Za-z][a-z]{2,11}(?: [A-Za-z][a-z]{2,11}){3,7}(?![\w-])",
    # What may be jumbled: without a blank, or with blanks where what is before the first is no word.
    "run": r"(?P<run>[^\s]{8,160}|(?=[^\n]{8})[^\s]{0,7}[^\sA-Za-z.:;][^\s]{0,7}(?= )|[A-Za-z]{1,7}(?= (?=[^\s]{0,24}\d)(?=[^\sa-z]{0,24}[a-z])(?=[^\sA-Z]{0,24}[A-Z])[^\s]{0,24}[^\s\w]))",
    "literal": r"""(?:(?P<quote>\\?["'`])(?P<quoted>[^"'`\n]{1,128})["'`\\]|[*_]{0,2}(?P<bare>[^\s"'`,;&|<>{}@:][^\s"'`,;&|<>{}]{0,127}))""",
}

_WORDS = {
    # What follows a name such as `password` and is not a password.
    "no_values": """
        string str text number integer int bool boolean bytes char varchar object any null none nil undefined true false yes
        no on off required optional hidden secret secrets password passwords passwd passphrase pass pwd token tokens key keys
        value values default empty blank unset missing expired valid invalid correct incorrect wrong weak strong hashed salted
        encrypted plaintext plain bcrypt scrypt argon redacted removed masked censored changeme change replace replaceme
        placeholder example sample dummy fake test testing todo tbd insert enter your yours my mine the here there this that
        it is in at from via with and or not same as see stored kept set read only never always random generated environment
        env variable vault keychain keyring keepass bitwarden lastpass prompt stdin user username admin input label field
        current new old confirm confirmation repeat again login credentials credential auth authentication basic bearer header
        cookie session config configuration settings file path url name type readonly write self unknown private public
        internal contraseña kennwort passwort wachtwoord senha short long too just also still now then than when if be been
        has have was were are will must should can may nothing everything something identical different mandatory nullable
        sensitive insensitive secure insecure complex simple guessable unchanged stale lowercase uppercase unique absent
        present available above below elsewhere outside enough option options parameter argument flag switch itself theirs
        ours someone anyone nobody
    """,
    # What names of variables, fields and files are made of.
    "names": """
        password passwd passphrase pwd pass secret secrets token tokens key keys credential credentials auth user username
        login env vault input field form config settings file path type name value values param arg id access api db string
        policy length min max reset hash manager provider service store encoder validator
    """,
    # What says that the value is to be put there.
    "placeholders": """
        your my placeholder example sample dummy changeme replaceme replace redacted masked censored removed insert here todo
        tbd xxx xxxx xxxxx
    """,
    # What sentences have and passphrases have not.
    "sentence": """
        the a an and or not no of to for with in on at by from as if is are be was must may can should will do does your our
        my their its this that these please enter use using used see same set get old new all any only
    """,
    # Card numbers that payment services publish for trying them out.
    "test_cards": """
        4242424242424242 4111111111111111 4000056655665556 5555555555554444 5105105105105100 378282246310005 371449635398431
        6011111111111117 4012888888881881 4000000000000002
    """,
}

IBAN_COUNTRIES = {
    15: "NO",
    16: "BE",
    18: "DK FI NL FO GL",
    19: "MK SI",
    20: "AT BA EE KZ LT LU XK",
    21: "CH HR LI LV",
    22: "BG BH DE GB GE IE ME RS",
    23: "AE GI IL TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "PT ST",
    26: "IS TR",
    27: "FR GR IT MC SM",
    28: "AL AZ CY DO GT HU LB PL",
    29: "BR EG PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
}
"""How long the account numbers of a country are."""


class Family:
    """One kind of secret, and how a text is searched for it."""

    __slots__ = ("also", "anywhere", "check", "description", "id", "keywords", "pattern", "shortest", "within")

    def __init__(
        self,
        id: str,
        description: str,
        keywords: tuple[str, ...],
        pattern: str,
        check: str = "is_token",
        within: "Literal['word', 'text', 'line']" = "word",
        anywhere: bool = False,
        also: tuple[str, ...] = (),
        shortest: int = 15,
    ) -> None:
        self.id = id  # its name in messages. It is never renamed, since fingerprints are made from it
        self.description = description  # it completes "this looks like ..."
        # where to look: a match begins with one of them. In lower case they mean any case, else exactly that case
        self.keywords = keywords
        # a regular expression; its group `value` or `named` is the secret, without them the whole match is. %{name} is
        # one of `FRAGMENTS`. Every repetition has an upper bound, so that a search takes linear time; tests hold that
        self.pattern = pattern
        self.check = check  # the function of `judge` that must accept what the pattern finds
        # where the secret must be. In a "word": no blank in it, and at least 15 characters. In the "text": blanks may
        # separate keyword and value. Both are also searched where a value goes on in the next line, but not in the
        # "line", for shapes that are too loose for that
        self.within = within
        # the keywords only say that the text is worth a search, and the match may begin elsewhere
        self.anywhere = anywhere
        self.also = also  # words in lower case, of which a match holds one; for keywords that many texts have
        self.shortest = shortest  # how long a word is at least that holds one


_FLAGS = ("pass", "pwd", "secret", "token", "key", "credential")

# fmt: off
FAMILIES = (
    # -- private keys --------------------------------------------------------------------------------------------------
    Family("private-key", "a private key (PEM, OpenSSH or PGP)", ("-----BEGIN ",),
           r"""(?P<value>-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n|["'+,>|]){0,40}(?:[A-Za-z-]{2,20}: [^\n-]{0,100}(?:\s|\\n|[>|]){1,20}){0,4}(?:[A-Za-z0-9+/=]{16,100}|[A-Za-z0-9+/=]{1,100}(?=[\n\\"'-]|\r|\Z))(?:[A-Za-z0-9+/=\s>|\\"',]{0,20000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY)?)""", check="is_key_block", within="text"),
    Family("putty-key", "a PuTTY private key", ("PuTTY-User-Key-File",),
           r"PuTTY-User-Key-File-[23]: [^\n]{1,60}\r?\n", check="is_shape", within="text"),
    Family("age-key", "an age secret key", ("AGE-SECRET-KEY-",), "AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,120}"),
    Family("key-material", "a private key (OpenVPN, SSH2, WireGuard or JWK)", ("OpenVPN Static key", "BEGIN SSH2 ENCRYPTED", "PresharedKey", '"d"'),
           r"""(?:OpenVPN Static key V\d-----\s{1,20}(?P<value>[0-9a-f]{32})|BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\s{1,20}(?:[A-Za-z-]{2,20}: [^\n]{0,100}\s{1,20}){0,4}(?P<named>[A-Za-z0-9+/=]{16,100})|PresharedKey\s{0,4}=\s{0,4}(?P<quoted>[A-Za-z0-9+/]{43}=)|"d"\s{0,3}:\s{0,3}"(?P<bare>[A-Za-z0-9_-]{43,700})")""", check="is_random", within="text"),
    # -- cloud ---------------------------------------------------------------------------------------------------------
    Family("aws-access-key", "an AWS access key id", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
           "%{start}(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16,20}%{end}"),
    Family("aws-secret-key", "an AWS secret access key", ("aws", "secret"),
           r"(?i:aws[\w. -]{0,20}secret(?:[\w -]{0,12}key)?|secret[_ -]?access[_ -]?key)%{near}(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", check="is_varied", within="text"),
    Family("aws-session-token", "an AWS session token", ("FwoGZXIvYXdz", "IQoJb3JpZ2lu"),
           "(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/]{60,2000}={0,2}"),
    Family("aws-bedrock-key", "an Amazon Bedrock API key", ("ABSK", "bedrock-api-key-"),
           "%{start}(?:ABSK[A-Za-z0-9+/]{100,300}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{40,2000}={0,2})"),
    Family("google-api-key", "a Google API key", ("AIza",), "%{start}AIza[A-Za-z0-9_-]{35}"),
    Family("google-oauth", "a Google OAuth secret or token", ("GOCSPX-", "ya29.", "1//0"),
           r"%{start}(?:GOCSPX-[A-Za-z0-9_-]{24,40}|ya29\.[A-Za-z0-9_.-]{20,500}|1//0[A-Za-z0-9_-]{36,200})"),
    Family("google-service-account", "the private key id of a Google service account", ("private_key_id",),
           r"""private_key_id["'`]{0,2}\s{0,3}[:=]\s{0,3}["'`]{0,2}(?P<value>[0-9a-f]{40})%{end}""", within="text"),
    Family("azure-storage-key", "an Azure storage account key", ("account", "storage"),
           "(?i:account[_ -]?key|storage[_ -]?(?:account[_ -]?)?(?:access[_ -]?)?key)%{near}(?P<value>[A-Za-z0-9+/]{86}==)", within="text"),
    Family("azure-shared-access-key", "an Azure shared access key", ("shared",),
           "(?i:shared[_ ]?access[_ ]?key)%{near}(?P<value>[A-Za-z0-9+/]{43}=)", within="text"),
    Family("azure-sas", "an Azure shared access signature", ("sig=",),
           r"""(?<=[?&;\s"'])sig=(?P<value>[A-Za-z0-9%+/_-]{40,120}(?:%3[dD]|=)?)"""),
    Family("azure-client-secret", "a Microsoft Entra client secret", ("Q~",),
           "(?<=[A-Za-z0-9_~.-]{3}[0-9])(?P<value>Q~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])"),
    Family("azure-resource-key", "a key of an Azure service", ("JQQJ99",),
           "(?<=(?P<value>[A-Za-z0-9]{52}))JQQJ99[A-Za-z0-9]{26}"),
    Family("azure-service-key", "a key of an Azure service", ("AzFu", "AzSe", "ASt", "ACDb", "AIoT", "ACR"),
           "(?<=(?P<value>[A-Za-z0-9+/_-]{42}))(?:AzFu|AzSe|ASt|ACDb|AIoT|ACR)[A-Za-z0-9+/_-]{5,7}={0,2}%{end}", check="is_varied"),
    Family("azure-devops-token", "an Azure DevOps access token", ("AZDO",),
           "(?<=(?P<value>[A-Za-z0-9]{76}))AZDO[A-Za-z0-9]{4}%{end}"),
    Family("digitalocean-token", "a DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"),
           "%{start}do[opr]_v1_[0-9a-f]{64}"),
    Family("cloudflare-token", "a Cloudflare token or key", ("cloudflare", "cf_api", "cf-api", "cfk_", "cfut_", "cfat_", "v1.0-"),
           r"%{start}(?P<value>cf(?:k|ut|at)_[A-Za-z0-9]{40,60}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,200})|(?i:cloudflare|cf(?=[_-]api))%{key_of}%{near}(?P<named>[0-9a-f]{37}|[A-Za-z0-9_-]{40})%{slug_end}", check="is_random", within="text"),
    Family("heroku-key", "a Heroku API key", ("heroku", "HRKU-"),
           "%{start}(?P<value>HRKU-[A-Za-z0-9_-]{36,80})|(?i:heroku)%{key_of}%{near}(?P<named>%{uuid})", within="text"),
    Family("alibaba-key", "an Alibaba Cloud access key id", ("LTAI",), "%{start}LTAI[A-Za-z0-9]{12,26}%{end}"),
    Family("tencent-key", "a Tencent Cloud secret id", ("AKID",), "%{start}AKID[A-Za-z0-9]{32}%{end}"),
    Family("yandex-key", "a Yandex Cloud key or token", ("AQVN", "t1.", "y0_"),
           r"%{start}(?:AQVN[A-Za-z0-9_-]{35,38}|t1\.[A-Za-z0-9_-]{20,300}={0,2}\.[A-Za-z0-9_-]{86}={0,2}|y0_[A-Za-z0-9_-]{50,80})"),
    Family("fly-token", "a Fly.io token", ("fo1_", "fm1_", "fm1a_", "fm1r_", "fm2_"),
           "%{start}(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{40,1000}={0,3})"),
    Family("vercel-token", "a Vercel token", ("vcp_", "vci_", "vck_", "vca_", "vcr_"),
           "%{start}vc[pikar]_[A-Za-z0-9]{24,80}"),
    Family("netlify-token", "a Netlify token", ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"),
           "%{start}nf[pcoub]_[A-Za-z0-9]{36,60}"),
    Family("render-key", "a Render API key", ("rnd_",), "%{start}rnd_[A-Za-z0-9]{28,40}"),
    Family("supabase-key", "a Supabase key", ("sbp_", "sb_secret_"),
           "%{start}(?:sbp_(?:v0_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{22,60})"),
    Family("planetscale-token", "a PlanetScale token or password", ("pscale_",),
           "%{start}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}"),
    Family("databricks-token", "a Databricks token", ("dapi",), r"%{start}dapi[0-9a-f]{32}(?:-\d{1,2})?%{end}"),
    Family("doppler-token", "a Doppler token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
           r"%{start}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    Family("vault-token", "a HashiCorp Vault token", ("hvs.", "hvb.", "hvr."),
           r"%{start}hv[sbr]\.[A-Za-z0-9_-]{24,300}"),
    Family("terraform-token", "a Terraform Cloud token", (".atlasv1.",),
           r"(?<=[A-Za-z0-9]{14})(?P<value>\.atlasv1\.[A-Za-z0-9_=-]{40,90})"),
    Family("pulumi-token", "a Pulumi access token", ("pul-",), "%{start}pul-[0-9a-f]{40}%{end}"),
    Family("onepassword-token", "a 1Password service token or secret key", ("ops_eyJ", "A3-"),
           "%{start}(?:ops_eyJ[A-Za-z0-9+/_-]{60,2000}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})"),
    Family("tailscale-key", "a Tailscale key", ("tskey-",),
           "%{start}tskey-[a-z]{2,12}-[A-Za-z0-9]{8,40}-[A-Za-z0-9]{16,60}"),
    # -- version control and packages ----------------------------------------------------------------------------------
    Family("github-token", "a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
           "%{start}gh[pousr]_[A-Za-z0-9]{16,255}"),
    Family("github-fine-grained-token", "a GitHub fine-grained token", ("github_pat_",),
           "%{start}github_pat_[A-Za-z0-9_]{20,255}"),
    Family("gitlab-token", "a GitLab token", (
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glcbt-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glffct-",
        ),
           "%{start}gl(?:pat|dt|rtr?|ptt|ft|soat|cbt|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,300}"),
    Family("bitbucket-token", "a Bitbucket or Atlassian token", ("ATBB", "ATATT3", "ATCTT3"),
           "%{start}(?:ATBB[A-Za-z0-9]{28,40}%{end}|AT[AC]TT3[A-Za-z0-9_=-]{60,400})"),
    Family("sourcegraph-token", "a Sourcegraph token", ("sgp_", "slk_"),
           "%{start}(?:sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}|slk_[0-9a-f]{64})%{end}"),
    Family("npm-token", "an npm access token", ("npm_",), "%{start}npm_[A-Za-z0-9]{30,60}"),
    Family("pypi-token", "a PyPI upload token", ("pypi-",),
           "%{start}pypi-(?:AgE[A-Za-z0-9_-]{20,300}|[A-Za-z0-9_-]{40,300})"),
    Family("rubygems-key", "a RubyGems API key", ("rubygems_",), "%{start}rubygems_[0-9a-f]{48}"),
    Family("crates-token", "a crates.io token", ("cio",), "%{start}cio(?![a-z]{32})[A-Za-z0-9]{32}%{end}"),
    Family("docker-hub-token", "a Docker Hub token", ("dckr_pat_", "dckr_oat_"),
           "%{start}dckr_[po]at_[A-Za-z0-9_-]{20,60}"),
    Family("nuget-key", "a NuGet API key", ("oy2",), "%{start}oy2[a-z0-9]{43}%{end}"),
    Family("jfrog-token", "a JFrog key or token", ("AKCp", "cmVmd"),
           "%{start}(?:AKCp[A-Za-z0-9]{69,80}|cmVmd[A-Za-z0-9]{59})%{end}"),
    Family("clojars-token", "a Clojars deploy token", ("CLOJARS_",), "%{start}CLOJARS_[a-z0-9]{60}%{end}"),
    Family("buildkite-token", "a Buildkite token", ("bkua_", "bkaj_", "bkpt_"),
           "%{start}bk(?:ua|aj|pt)_[A-Za-z0-9]{40}%{end}"),
    Family("circleci-token", "a CircleCI token", ("CCIPAT_", "CCIPRA_", "CCIPRI_", "CCIPRJ_"),
           "%{start}CCIP(?:AT|RA|RI|RJ)_[A-Za-z0-9]{16,40}_[0-9a-f]{40}%{end}"),
    Family("sonar-token", "a SonarQube token", ("sqp_", "squ_", "sqa_"), "%{start}sq[pua]_[0-9a-f]{40}%{end}"),
    # -- model providers -----------------------------------------------------------------------------------------------
    Family("anthropic-key", "an Anthropic key", ("sk-ant-",), "%{start}sk-ant-[A-Za-z0-9_-]{16,200}"),
    Family("openrouter-key", "an OpenRouter key", ("sk-or-",), "%{start}sk-or-(?:v1-)?[0-9a-f]{32,80}"),
    Family("openai-key", "an OpenAI key, or one of the same shape", ("sk-",),
           "%{slug_start}sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{16,300}", check="is_slug"),
    Family("huggingface-token", "a Hugging Face token", ("hf_", "api_org_"),
           "%{start}(?:hf_[A-Za-z0-9]{30,60}|api_org_[A-Za-z0-9]{30,60})"),
    Family("groq-key", "a Groq key", ("gsk_",), "%{start}gsk_[A-Za-z0-9]{20,80}"),
    Family("replicate-token", "a Replicate token", ("r8_",), "%{start}r8_[A-Za-z0-9]{32,45}%{end}"),
    Family("xai-key", "an xAI key", ("xai-",), "%{start}xai-[A-Za-z0-9]{40,120}"),
    Family("perplexity-key", "a Perplexity key", ("pplx-",), "%{start}pplx-[A-Za-z0-9]{40,64}"),
    Family("nvidia-key", "an NVIDIA key", ("nvapi-",), "%{start}nvapi-[A-Za-z0-9_-]{40,90}"),
    Family("langsmith-key", "a LangSmith key", ("lsv2_",), "%{start}lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,12}"),
    Family("pinecone-key", "a Pinecone key", ("pcsk_",), "%{start}pcsk_[A-Za-z0-9_]{40,90}"),
    Family("tavily-key", "a Tavily key", ("tvly-",), "%{start}tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,60}"),
    Family("elevenlabs-key", "an ElevenLabs key", ("sk_",), "%{start}sk_[0-9a-f]{48}%{end}"),
    Family("model-host-key", "a key of a model host (Together, Fireworks, Cerebras, Voyage, Jina, Firecrawl)", ("tgp_v1_", "fw_", "csk-", "pa-", "jina_", "fc-"),
           "%{slug_start}(?:tgp_v1_[A-Za-z0-9_-]{40,50}|fw_(?![a-z]{1,24}%{slug_end})[A-Za-z0-9]{22,24}%{slug_end}|csk-[a-z0-9]{48}%{slug_end}|pa-[A-Za-z0-9_-]{43}%{slug_end}|jina_[A-Za-z0-9_-]{60}|fc-[0-9a-f]{32}%{slug_end})"),
    # -- chat ----------------------------------------------------------------------------------------------------------
    Family("slack-token", "a Slack token", ("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
           r"%{start}(?:xox[a-eoprs]-[A-Za-z0-9%-]{10,400}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{20,300}|xapp-\d-[A-Z0-9]{8,16}-\d{8,16}-[0-9a-f]{32,80})"),
    Family("slack-webhook", "a Slack webhook", ("hooks.slack.com",),
           r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9_/-]{20,120})"),
    Family("discord-webhook", "a Discord webhook", ("discord",),
           r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,21}/(?P<value>[A-Za-z0-9_-]{30,100})"),
    Family("discord-token", "a Discord bot token", (".",),
           r"(?:(?<=[MNO][A-Za-z0-9]{22})|(?<=[MNO][A-Za-z0-9]{23})|(?<=[MNO][A-Za-z0-9]{25}))(?P<value>\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})%{slug_end}", check="is_random", shortest=57),
    Family("telegram-token", "a Telegram bot token", (":AA",),
           r"(?<=\d{6})(?P<value>:AA[A-Za-z0-9_-]{32,34})%{slug_end}"),
    Family("teams-webhook", "a Microsoft Teams webhook", ("webhook.office.com",),
           r"webhook\.office\.com/webhookb2/(?P<value>[0-9a-f@-]{60,90}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36})"),
    # -- payment -------------------------------------------------------------------------------------------------------
    Family("stripe-key", "a Stripe key", ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_"),
           "%{start}[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}"),
    Family("webhook-secret", "a webhook signing secret", ("whsec_",), "%{start}whsec_[A-Za-z0-9+/]{20,100}={0,2}"),
    Family("square-token", "a Square token", ("sq0atp-", "sq0csp-", "sq0idp-", "EAAA"),
           "%{start}(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{56,62}%{slug_end})"),
    Family("braintree-token", "a PayPal or Braintree access token", ("access_token$",),
           r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    Family("paypal-secret", "a PayPal client secret", ("paypal",),
           "(?i:paypal)%{key_of}%{near}(?P<value>[A-Za-z0-9_-]{40,90})%{slug_end}", check="is_random", within="text"),
    Family("shopify-token", "a Shopify token", ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_", "shptka_"),
           "%{start}shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32}"),
    Family("plaid-token", "a Plaid access token", ("access-sandbox-", "access-development-", "access-production-"),
           "%{start}access-(?:sandbox|development|production)-%{uuid}"),
    Family("razorpay-key", "a Razorpay key", ("rzp_live_", "rzp_test_"),
           "%{start}rzp_(?:live|test)_[A-Za-z0-9]{14,30}"),
    Family("flutterwave-key", "a Flutterwave key", ("FLWSECK",),
           "%{start}FLWSECK(?:_TEST|_LIVE)?-[0-9a-zA-Z]{12,40}-X"),
    # -- mail and telephone --------------------------------------------------------------------------------------------
    Family("sendgrid-key", "a SendGrid key", ("SG.",), r"%{start}SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    Family("mailgun-key", "a Mailgun key", ("key-", "mailgun"),
           "%{slug_start}key-(?P<value>[0-9a-f]{32})%{slug_end}|(?i:mailgun)%{key_of}%{near}(?P<named>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})%{slug_end}", within="text"),
    Family("mailchimp-key", "a Mailchimp key", ("-us",), r"(?<=(?P<value>[0-9a-f]{32}))-us\d{1,2}%{slug_end}"),
    Family("twilio-key", "a Twilio key or auth token", ("SK", "twilio"),
           "%{slug_start}SK(?P<value>[0-9a-f]{32})%{slug_end}|(?i:twilio)%{key_of}%{near}(?P<named>[0-9a-f]{32})%{slug_end}", within="text"),
    Family("brevo-key", "a Brevo key", ("xkeysib-", "xsmtpsib-"),
           "%{start}x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Family("resend-key", "a Resend key", ("re_",), "%{start}re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}%{slug_end}"),
    # -- monitoring ----------------------------------------------------------------------------------------------------
    Family("datadog-key", "a Datadog key", ("datadog", "dd_ap", "dd-ap"),
           "(?i:datadog|dd(?=[_-]ap[ip]))%{key_of}%{near}(?P<value>[0-9a-f]{40}|[0-9a-f]{32})%{slug_end}", within="text"),
    Family("newrelic-key", "a New Relic key", ("NRAK-", "NRII-", "NRJS-", "NRAA-", "NRAL"),
           "%{start}(?:NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}|NRJS-[0-9a-f]{19}|NRAA-[0-9a-f]{27})|(?<=(?P<value>[0-9a-zA-Z]{36}))NRAL%{end}"),
    Family("sentry-token", "a Sentry token", ("sntrys_", "sntryu_", "sntrya_", "sntryi_", "sntryr_"),
           "%{start}(?:sntrys_eyJ[A-Za-z0-9+/=_-]{40,500}|sntry[uair]_[0-9a-f]{64})"),
    Family("sentry-dsn", "a Sentry DSN with its secret", ("://",),
           r"(?<=https)://[0-9a-f]{32}:(?P<value>[0-9a-f]{32})@[\w.-]{0,100}sentry"),
    Family("grafana-token", "a Grafana token", ("glsa_", "glc_eyJ"),
           "%{start}(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_eyJ[A-Za-z0-9+/]{30,400}={0,2})"),
    Family("dynatrace-token", "a Dynatrace token", ("dt0",), r"%{start}dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    Family("honeycomb-key", "a Honeycomb key", ("hcaik_", "hcaic_", "hcbik_", "hcamk_"),
           "%{start}hc[ab](?:ik|ic|mk)_[a-z0-9]{50,64}"),
    Family("posthog-key", "a PostHog personal key", ("phx_",), "%{start}phx_[A-Za-z0-9]{40,64}"),
    # -- further services ----------------------------------------------------------------------------------------------
    Family("notion-token", "a Notion token", ("ntn_", "secret_"),
           "%{start}(?:ntn_[0-9]{11}[A-Za-z0-9]{32,36}|secret_[A-Za-z0-9]{43})%{end}", check="is_random"),
    Family("linear-key", "a Linear key", ("lin_api_", "lin_oauth_"), "%{start}lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    Family("figma-token", "a Figma token", ("figd_", "figu_", "figo_"), "%{start}fig[duo]_[A-Za-z0-9_-]{36,50}"),
    Family("airtable-token", "an Airtable token", ("pat",), r"%{start}pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Family("postman-key", "a Postman key", ("PMAK-",), "%{start}PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Family("contentful-token", "a Contentful token", ("CFPAT-",), "%{start}CFPAT-[A-Za-z0-9_-]{43}"),
    Family("dropbox-token", "a Dropbox token", ("sl.",), r"%{start}sl\.(?:u\.)?[A-Za-z0-9_-]{120,1500}"),
    Family("facebook-token", "a Facebook or Instagram token", ("EAA",),
           "%{start}EAA[A-Za-z0-9]{80,400}", check="is_random"),
    Family("launchdarkly-key", "a LaunchDarkly key", ("sdk-", "api-", "mob-"),
           "%{slug_start}(?:sdk|api|mob)-%{uuid}%{slug_end}"),
    # -- agents and models, 2024 to 2026; prefixes and lengths as the vendors' pages give them ------------------------
    Family("agent-service-key", "a key of a service for agents and models", (
            "napi_", "npg_", "e2b_", "bb_live_", "AQ.Ab", "apify_api_", "crsr_", "ctx7sk-", "wandb_v1_", "signkey-prod-",
            "tr_prod_", "tr_dev_", "tr_stg_", "polar_oat_", "sktsec_", "rdme_", "shippo_live_", "zpka_", "cflt", "EZAK", "sha256~", "sk.eyJ", "tfp_", "AVNS_", "luma-",
        ),
           r"%{start}(?:napi_[a-z0-9]{40,80}|npg_[A-Za-z0-9]{12}|e2b_[0-9a-f]{40}|bb_live_[A-Za-z0-9_-]{24,60}|AQ\.Ab[A-Za-z0-9_-]{40,80}|apify_api_[A-Za-z0-9]{32,40}|crsr_[0-9a-f]{64}|ctx7sk-%{uuid}|wandb_v1_[A-Za-z0-9_]{60,100}|signkey-prod-[0-9a-f]{32,64}|tr_(?:prod|dev|stg)_[A-Za-z0-9]{20,40}|polar_oat_[A-Za-z0-9]{32,60}|sktsec_[A-Za-z0-9_-]{30,60}|rdme_[a-z0-9]{70}|shippo_live_[0-9a-f]{40}|zpka_[0-9a-f]{32}_[0-9a-f]{8}|cflt[A-Za-z0-9+/]{60}|EZAK[A-Za-z0-9]{54}|sha256~[A-Za-z0-9_-]{43}|sk\.eyJ[A-Za-z0-9_-]{20,200}\.[A-Za-z0-9_-]{20,60}|tfp_[A-Za-z0-9_-]{40,80}|AVNS_[A-Za-z0-9_-]{19}|luma-%{uuid}-%{uuid})%{end}"),
    Family("service-key", "a key of a web service", (
            "glwt-", "vercel_blob_rw_", "sk_org_live_", "sk_org_test_", "ddapp_", "xaat-", "xapt-", "pylf_v", "pk_", "pat-",
            "dp.said.", "st.", "key_", "sgamp_user_", "fk-", "secret-live-", "secret-test-", "dag_", "jsrp_", "m0-", "mdb_sa_sk_",
            "pnu_", "pnb_", "pdl_live_", "pdl_sdbx_", "sup_sk_", "BSA", "ak-", "as-", "fio-u-",
            "snyk_", "os_v2_", "hxtp_", "rootly_", "cal_live_", "perm-", "dbtc_", "dbtu_", "live_",
            "cog_", "apk_user_", "tsec_", "tid_", "p.eyJ", "xau_", "AKLT", "sk_car_", "cu_", "depot_", "wk-1.", "bu_",
            "hb_", "dtn_", "unkey_", "sd_",
        ),
           r"%{slug_start}(?:glwt-[A-Za-z0-9_-]{20,300}|vercel_blob_rw_[A-Za-z0-9]{12,20}_[A-Za-z0-9]{24,40}|sk_org_(?:live|test)_[A-Za-z0-9]{20,250}|ddapp_[A-Za-z0-9]{32,40}|xa[ap]t-%{uuid}|pylf_v\d_[a-z]{2,10}_[A-Za-z0-9]{40,50}|pk_\d{6,10}_[A-Z0-9]{30,34}|pat-[a-z]{2}\d-%{uuid}|dp\.said\.[A-Za-z0-9]{40,44}|st\.(?:[0-9a-f]{24}|%{uuid})\.[0-9a-f]{32}\.[0-9a-f]{32}|key_[0-9a-f]{64}|sgamp_user_[A-Z0-9]{20,30}_[0-9a-f]{64}|fk-[A-Za-z0-9_-]{43,60}|secret-(?:live|test)-[A-Za-z0-9_-]{36}|dag_[a-z0-9-]{1,40}_[A-Za-z0-9_-]{30,60}|jsrp_[0-9a-f]{40,64}|m0-[A-Za-z0-9]{40}|mdb_sa_sk_[A-Za-z0-9_-]{32,60}|pn[ub]_[a-z0-9]{36}|pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}|sup_sk_[A-Za-z0-9]{30,60}|BSA[A-Za-z0-9_-]{28}|a[ks]-[A-Za-z0-9]{22}|fio-u-[A-Za-z0-9_-]{60,70}|snyk_[us]at\.[0-9a-f]{8}\.[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{40,200}|os_v2_(?:app|org)_[a-z2-7]{90,120}|hxtp_[0-9a-f]{64,128}|rootly_[0-9a-f]{64}|cal_live_[0-9a-f]{32}|perm-[A-Za-z0-9+/]{4,60}={0,2}\.[A-Za-z0-9+/]{2,60}={0,2}\.[A-Za-z0-9]{20,60}|dbt[cu]_[A-Za-z0-9_-]{30,80}|live_[A-Za-z0-9_-]{30,40}|cog_[a-z0-9]{52}|apk_user_[A-Za-z0-9]{12,80}=[A-Za-z0-9=]{0,80}|apk_user_[A-Za-z0-9]{40,80}|t(?:sec|id)_[A-Za-z0-9_+-]{30,60}|p\.eyJ[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{20,60}|xau_[A-Za-z0-9]{24,60}|AKLT[A-Za-z0-9]{32,60}|sk_car_[A-Za-z0-9]{20,40}|cu_[0-9a-f]{32}|depot_(?:project|org|user)_[0-9a-f]{64}|wk-1\.[0-9a-f]{64}|bu_[A-Za-z0-9_-]{43}|hb_[0-9a-f]{28}|dtn_[0-9a-f]{64}|unkey_[A-Za-z0-9]{20,30}|sd_[0-9a-f]{32}|pk_[0-9a-f]{34})%{slug_end}", check="is_slug"),
    Family("service-token", "a key of a web service", (
            "secret_", "z_1dWlkIjoi", "sm_", "chpt_", "pb_", "rf_", "v1.Cm", "KEY0",
            "prod:", "dev:", "dG9r", "00D", "essu_", "GR1348941", "signkey-", "sig_", "private_", "shippo_test_", "EZTK",
            "APP_USR-", "Mid-server-", "skey_", "gto_", "mlsn.", "sess-", "nbp_", "flp_",
        ),
           r"%{slug_start}(?:secret_[A-Za-z0-9]{20}_[0-9a-f]{32}\.[A-Za-z0-9]{32}|z_1dWlkIjoi[A-Za-z0-9+/=]{20,200}\.[A-Za-z0-9_-]{40,100}|sm_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{40,80}|chpt_[0-9a-f]{15,40}|(?:pb|rf)_(?=[A-Za-z_-]{0,20}\d)[A-Za-z0-9_-]{22,28}|v1\.Cm[A-Za-z0-9_-]{100,400}\.[A-Za-z0-9_-]{60,100}|KEY0[0-9A-F]{28}_[A-Za-z0-9]{22}|(?:prod|dev):[a-z]{2,16}-[a-z]{2,16}-\d{1,4}\|[A-Za-z0-9+/]{40,200}={0,2}|dG9r[A-Za-z0-9+/]{50,60}={0,2}|00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}|essu_[A-Za-z0-9+/]{40,200}={0,2}|GR1348941[A-Za-z0-9_-]{20}|signkey-[a-z]{2,10}-[0-9a-f]{32,64}|sig_(?=[A-Za-z]{0,27}\d)[A-Za-z0-9]{24,32}|private_[A-Za-z0-9+/]{27}=|shippo_test_[0-9a-f]{40}|EZTK[A-Za-z0-9]{54}|APP_USR-\d{12,20}-\d{6}-[0-9a-f]{32}(?:-\d{6,12})?|Mid-server-[A-Za-z0-9_-]{20,30}|skey_(?:test_)?[a-z0-9]{19}|gto_[a-z0-9]{40,60}|mlsn\.[0-9a-f]{64}|sess-[A-Za-z0-9]{40}|nbp_[A-Za-z0-9]{36}|flp_[A-Za-z0-9]{46})%{slug_end}", check="is_slug"),
    Family("prefixed-key", "a key behind its service's prefix", ("_", "-"),
           r"%{slug_start}(?!sha\d)[a-z][a-z0-9]{1,11}(?:[_-][a-z0-9]{1,12}){0,3}?[_-](?P<value>[A-Za-z0-9][A-Za-z0-9_-]{30,198}[A-Za-z0-9])(?![A-Za-z0-9_+/=-])", check="is_well_mixed", anywhere=True, also=tuple("0123456789"), shortest=36),
    Family("numbered-key", "a key of a service", (".", ":", "_"),
           r"%{slug_start}(?:(?P<value>[0-9a-f]{32}\.(?=[A-Za-z_-]{0,15}\d)[A-Za-z0-9_-]{16,24}|%{uuid}:[0-9a-f]{32}|2[A-Za-z0-9]{26}_[A-Za-z0-9]{21}|v1:[A-Za-z0-9]{24}:[A-Za-z0-9]{24}|[A-Za-z0-9]{6}\.[A-Za-z0-9]{6}:[A-Za-z0-9_-]{43}|[12]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}|pat\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20})|0\.%{uuid}\.(?P<named>[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==))%{slug_end}", check="is_varied", anywhere=True, also=tuple("0123456789"), shortest=49),
    # -- forms that carry secrets --------------------------------------------------------------------------------------
    Family("jwt", "a JSON Web Token", ("eyJ",),
           r"%{start}eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}"),
    Family("otp-secret", "the secret of a one-time password", ("otpauth://",),
           r"""otpauth://[^\s"'<>]{1,200}?secret=(?P<value>[A-Za-z2-7]{8,128})"""),
    Family("url-credentials", "a URL with a password in it", ("://",),
           r"""(?<=[A-Za-z0-9])://(?P<user>[^\s/:@"'`<>()]{0,100}):(?P<value>[^\s/@"'`<>]{1,200})@(?=[A-Za-z0-9\[$<{%])""", check="is_literal", within="text"),
    Family("url-token", "a URL with a token in it", ("://",),
           r"(?<=[A-Za-z0-9])://(?P<value>[A-Za-z0-9_-]{20,200})@(?![\w.-]{0,40}sentry|[\w.-]{0,40}ingest|o\d)[A-Za-z0-9]", check="is_random"),
    Family("connection-string", "a connection string with its password", ("pass", "pw"),
           r"""(?:(?<=;)|(?<=;\s))(?i:password|pwd)\s?=\s?(?P<value>[^;\s"'`<>]{1,128})""", check="is_literal", within="line"),
    Family("authorization-header", "the credentials of an Authorization header", ("authorization", "bearer"),
           r"""(?:(?i:authorization)["'`*]{0,3}\s{0,2}[:=,]\s{0,2}["'`*]{0,3}(?:(?i:bearer|token|apikey|key)\s{1,2})?|\b(?i:bearer)[ :]\s?["'`]?)(?P<value>[A-Za-z0-9._~+/=-]{8,2000})""", check="is_named_key", within="text"),
    Family("basic-credentials", "the credentials of basic authentication", ("basic", '"auth"', "eyJhdXRocyI6"),
           r'(?:\b(?i:basic)\s{1,2}|"auth"\s?:\s?"|(?=eyJhdXRocyI6))(?P<value>[A-Za-z0-9+/]{8,4000}={0,2})(?![A-Za-z0-9+/=])', check="is_basic", within="text"),
    Family("command-line-credentials", "user and password on a command line", ("-u", "sshpass", "mysql", "redis-cli"),
           r"""(?:(?:(?<=\s)-u|(?:(?<=\s-)|(?<=--proxy))-user)[ =]?["']?[\w.@+-]{1,60}:(?!:)|\bsshpass -p ?["']?|\bmysql(?:dump|admin)?\b[^\n|;]{0,80}?[ "']-p["']?|\bredis-cli\b[^\n|;]{0,80}? -a ["']?)(?P<value>[^\s"'`<>]{3,128})""", check="is_shell_password", within="line"),
    Family("netrc", "a .netrc login with its password", ("machine", "default"),
           r"""\b(?:machine\s{1,4}[^\s]{1,100}|default)\s{1,20}login\s{1,4}[^\s]{1,100}\s{1,20}password\s{1,4}(?P<value>[^\s"'`<>]{1,128})""", check="is_literal", within="text"),
    Family("registry-auth", "the credentials of a package registry", ("_auth", "_pass"),
           r"""_(?:authToken|auth|password)\s{0,2}=\s{0,2}["']?(?P<value>[A-Za-z0-9+/=_.-]{8,400})""", check="is_named_key", within="text"),
    Family("seed-phrase", "the recovery phrase of a wallet", ("seed", "recovery", "mnemonic", "wallet"),
           r"""\b(?i:seed|recovery|mnemonic|wallet)(?i:[ _-](?:phrase|words|seed))?["'`*]{0,3}\s{0,2}(?:[:=]|is)\s{0,2}["'`*]{0,3}(?P<value>(?:1[.):]?\s{1,3})?[a-z]{3,8}(?:\s{1,3}(?:\d{1,2}[.):]?\s{1,3})?[a-z]{3,8}){11,23})(?![A-Za-z])""", check="is_phrase", within="text"),
    # -- account numbers -----------------------------------------------------------------------------------------------
    Family("card-number", "a payment card number", ("card", "visa", "amex", "credit", "payment"),
           r"(?<![\w.+/-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|5\d\d)|3[47]\d\d)(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{3,4}(?![\w/-]|\.\d)|(?<![\w.+/-])3[47]\d\d[ -]\d{6}[ -]\d{5}(?![\w/-]|\.\d)", check="is_card", within="line", anywhere=True),
    Family("iban", "a bank account number (IBAN)", ("iban", "account", "bank", "sepa"),
           r"[A-Z]{2}\d{2}(?<![A-Za-z0-9][A-Z]{2}\d{2})(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?%{end}", check="is_iban", within="line", anywhere=True),
    Family("account-number", "an account number", ("account", "acct", "routing", "sort", "card"),
           r"""(?i:\b(?:(?:account|acct)[ _-]?(?:number|no\.?|nr\.?|#)|routing[ _-]?number|card[ _-]?(?:number|no\.?)|sort[ _-]code))["'`*]{0,3}\s{0,2}(?:[:=#]|is|was)?\s{0,2}["'`*]{0,3}(?P<value>\d(?:[ -]?\d){5,18})(?![\w-])""", check="is_account_number", within="line"),
    # -- named values --------------------------------------------------------------------------------------------------
    Family("password", "a password", ("pass", "pw"),
           "(?i:password|passwd|pass[ -]?phrase|passcode|pwd|(?<![A-Za-z])pass|(?<![A-Za-z])pw)(?i:%{whose})%{sign}%{literal}", check="is_named_password", within="line"),
    Family("told-password", "a password", ("pass", "pw"),
           "(?i:password|passwd|passphrase|pwd|(?<=-)pass|(?<![A-Za-z-])pw)[ =]{1,2}%{literal}", check="is_told_password", within="line"),
    Family("login", "user and password", ("login", "log in", "cred", "user"),
           r"""(?i:login|log in|cred(?:ential)?s?|user|username)["'`*]{0,3}(?: (?:for|of|to|on|in|at|as|with|is|are) ?(?:[\w.@-]{1,40}:? ){0,3}?| ?[:=] ?| )(?:is |are )?["'`*]{0,3}[\w.@+-]{1,40}["'`]?(?: [/|] |:)["'`]?(?P<bare>[^\s"'`,;<>{}/]{5,100})(?!/)""", check="is_pair", within="line"),
    Family("api-key", "an API key or secret", ("key", "secret", "credential"),
           "(?i:(?:%{before_key})key|(?<!:)secret|credentials?)(?i:[ _-]?(?:id|value|base|prod|dev|test|live|staging))?(?i:%{whose})%{sign}%{literal}", check="is_named_key", within="line"),
    Family("token", "a token", ("token", "session", "cookie"),
           "(?i:token|session_?id|cookie)(?i:[ _-]?(?:value|prod|dev|test|live|staging))?(?i:%{whose})%{sign}%{literal}", check="is_named_token", within="line"),
    Family("jumbled-password", "a password", ("pass", "pw", "secret", "credential", "token", "key", "pepper", "recovery", "backup", "unlock", "access c"),
           "(?i:password|passwd|pass[ -]?phrase|passcode|pwd|(?<![A-Za-z])pass|(?<![A-Za-z])pw|(?<!:)secret|pepper|credentials?|token|(?:recovery|backup|unlock|access) codes?|(?:%{before_key})key)(?i:%{whose})(?:%{sign}(?:[|>][+-]?\\s{1,16}|%{block})?|[\"'`*_]{0,4}%{block}|[({](?=[\"'`])|[\"'], ?(?=[\"'])|(?i:(?<=password)|(?<=passwd)|(?<=phrase)|(?<=passcode)|(?<=[^a-z-]pw)) (?:to )?)%{run}", check="is_jumbled", within="line"),
    Family("password-named-after", "a password", ("pass", "pw"),
           r"(?<!\S)(?:(?P<run>\S{8,160})(?: ?\|[^\n|]{1,80}--| \(|[ \t](?:is|was|as|for|=|[-:])[ \t](?:(?:now|still|the|our|my|your|its|a|new|old|[\w-]{1,20}'s)[ \t]){0,3}(?:[\w-]{1,20}[ \t]){0,2})[\"'`*]{0,3}(?i:password|passwd|passphrase)(?![\w'(]|\.\w)|[\"'`(*]{0,3}(?P<bare>%{strong})(?=[ \t][^\n]{0,60}?(?<!ch)(?i:password|passwd|passphrase|(?<![A-Za-z])pwd?(?![A-Za-z]))))", check="is_said_before", within="line", anywhere=True),
    Family("login-password", "user and password", ("login", "log in", "cred", "user", "u/p", "-u", "sshpass", "mysql", "redis-cli", "basic", "access", "get in", "sign in", "zugang", "wifi", "://", "wi-fi", "root", "admin", ":5432:", ":5433:", ":6432:", ":*:"),
           r"""(?:(?i:login|(?:log|get|sign) in|zugang|access|cred(?:ential)?s?|user(?:/pass)?|username|u/p|basic auth|htaccess|wi-?fi)["'`*]{0,3}(?: (?:for|of|to|on|in|at|as|with|is|are) ?(?:[\w.@-]{1,40}:? ){0,3}?| ?[:=] ?| )(?:is |are )?["'`*]{0,3}[\w.@+-]{1,40}["'`]?(?: ?[/|] ?| and |:)|(?<![\w./@-])(?i:root|admin)["'`]?(?: / |: ?)|:(?:\d{4}|\*):[\w*.-]{1,40}:[\w.-]{1,40}:|(?<=[a-z0-9])://[\w.%+-]{0,60}:(?!\d{1,5}/)(?=[^\s]{8,100}@[A-Za-z0-9])|(?:(?<=\s)-u|(?:(?<=\s-)|(?<=--proxy))-user)[ =]?["']?[\w.@+-]{1,60}:(?!:)|\bsshpass -p ?|\bmysql(?:dump|admin)?\b[^\n|;]{0,80}?[ "']-p|\bredis-cli\b[^\n|;]{0,80}? -a )%{run}""", check="is_jumbled", within="line"),
    Family("command-line-secret", "a secret on a command line", ("--",),
           r"""--(?:[A-Za-z]{1,12}[_-]?){0,3}?(?i:password|passwd|passphrase|pass|pwd|secret|token|key|credentials?)[ =]["']?(?P<value>[A-Za-z0-9+/=_.~-]{12,200})""", check="is_named_key", within="line", also=_FLAGS),
    Family("flag-password", "a password on a command line", ("--",),
           r"""--(?:[A-Za-z]{1,12}[_-]?){0,3}?(?i:password|passwd|passphrase|pass|pwd|secret|token|key|credentials?)(?:[ =]|["'], ?["'])%{run}""", check="is_jumbled", within="line", also=_FLAGS),
    Family("certificate-key", "the key of a client certificate", ("key-data", "private-key", "private_key"),
           r"""(?:client-)?(?:key-data|private[-_]key)["'`]{0,2}\s{0,3}[:=]\s{0,3}["'`]?(?P<value>[A-Za-z0-9+/]{40,2000})""", check="is_varied", within="text"),
    # -- found last: what an earlier family finds keeps its name ----------------------------------------------------------
    Family("named-service-key", "a key of the service that is named", (
            "mistral", "assemblyai", "deepgram", "cohere", "voyageai", "algolia", "mapbox", "pagerduty", "opsgenie", "snyk",
            "hubspot", "intercom", "zendesk", "okta", "auth0", "railway", "upstash", "weaviate", "qdrant", "langfuse",
        ),
           r"(?i:[a-z]{4,10}\d?)%{key_of}%{near}(?!%{uuid})(?P<value>[A-Za-z0-9_-]{24,80})%{slug_end}", check="is_random", within="text"),
    Family("command-password", "a password on a command line", (
            "login", "sqlcmd", "twine", "zip", "7z", "ldap", "openssl", "htpasswd", "net use", "smb", "rabbitmqctl",
            "http -", "https -", "http --auth", "sqlplus", "jdbc:oracle", "identified", "requirepass", "masterauth", "net user",
            "secret set", "put-parameter", "add-generic-password", "pscp", "plink", "lftp", "xfreerdp", "mongo", "cqlsh",
            "http-basic.", "bindpw", "psk ", "psk=", "convertto-securestring", "auth",
        ),
           r"""(?i:login\b[^\n|;]{0,120}? -(?-i:p)[ =]|(?<=vault )login |sqlcmd\b[^\n|;]{0,120}? -(?-i:P) ?|twine\b[^\n|;]{0,80}? -p[ =]|zip\b[^\n|;]{0,60}? -(?-i:P) ?|7z[ar]?\b[^\n|;]{0,60}? -p|ldap[a-z]{3,8}\b[^\n|;]{0,160}? -w ?|openssl\b[^\n|;]{0,160}? (?:-k |-pass(?:in|out)? pass:)|htpasswd -\w{0,3}b\w{0,3} \S{1,60} \S{1,60} |net use\b[^\n|;]{0,80}?/user:\S{1,60} |smb[a-z]{3,8}\b[^\n|;]{0,100}? -(?-i:U) ?[\w.\\/@-]{1,60}%|rabbitmqctl (?:add_user|change_password) \S{1,60} |https? (?:-a|--auth)[ =][\w.@-]{1,60}:|sqlplus [\w.-]{1,60}/(?!\$[A-Z_]{1,40}\b)|jdbc:oracle:thin:[\w.-]{1,60}/|(?<!\w)identified (?:with \S{1,40} )?by (?:password )?(?=['"][^'"\n]{3,127}['"][ ;]{0,3}(?:$|\n|[`*]|with|replace|require))|requirepass |masterauth |net user [\w.$-]{1,40} |secret set [\w-]{1,60} [^\n|;]{0,80}?(?:--body|--value|-b)[ =]|put-parameter\b[^\n|;]{0,160}? --value[ =]|add-generic-password\b[^\n|;]{0,120}? -w |(?:pscp|plink)\b[^\n|;]{0,80}? -pw |lftp\b[^\n|;]{0,60}? -u \S{1,60},|xfreerdp\b[^\n|;]{0,120}? /p:|mongo(?:sh|dump|restore|export|import)?\b[^\n|;]{0,120}? -p |cqlsh\b[^\n|;]{0,80}? -p |http-basic\.\S{1,60} \S{1,60} |bindpw |psk[ =]|convertto-securestring |auth=?\(["'][\w.@+-]{1,60}["'], ?)["']?(?!\$[{(])(?P<run>[^\s"'`<>@][^\s]{2,127})""", check="is_shell_password", within="line"),
    Family("piped-password", "a password on a command line", ("sudo -", "<<<", "chpasswd", "-stdin", "--stdin", "--with-token", "@tcp(", "@unix("),
           r"""(?:echo|printf) ["']?(?:[\w.-]{1,40}:(?=[^\n]{1,128}chpasswd))?(?P<value>[^\s](?:[^\s"'`<>|]{2,127}|[^\n]{2,60}?(?=["'])))["']? ?\| ?(?:sudo [^\n]{0,40}?-\w{0,4}S|(?:sudo )?chpasswd|[^\n|]{1,80}--(?:[a-z]{1,12}-)?(?:stdin|with-token))|(?i:login|auth|passwd|password|token|secret)[^\n|;<]{0,60}<<< ?["']?(?P<named>[^\s"'`<>]{3,128})|(?<![\w./-])[\w.-]{1,40}:(?P<quoted>[^\s"]{3,128})@(?:tcp|unix)\(""", check="is_shell_password", within="line", anywhere=True),
    Family("password-said-before", "a password or key", ("pass", "pw", "secret", "token", "key", "wifi", "wi-fi", "wlan", "ssid", "wpa", "-p"),
           "(?:(?i:password|passwd|passphrase|pass phrase|passcode|wi-?fi|wlan|ssid|wpa\\d?|(?<![A-Za-z])(?:pass|pwd?))(?=[^A-Za-z])(?:[^\\n]{0,60}?(?<=[\\s?(=:>,\"'`])|[^\\w\\n]{0,4}\\n[ \\t>]{0,8})|(?<=\\s)-(?:p|P|pw|storepass|keypass)[ =]?|(?i:secret|token(?! (?:account|address|mint|id|contract)\\b)|(?:%{before_key})key)(?:[_-]?\\w{1,20})?(?:,|(?:[ /][\\w.'/?-]{1,20}){1,6}?[:=]?)?(?: | ?\\(|</\\w{1,20}>[^\\n<]{0,20}<\\w{1,20}>))[\"'`]{0,3}(?P<run>%{strong})", check="is_scrambled", within="line"),
    Family("passphrase", "a passphrase", ("pass", "pw", "secret", "token", "credential", "key"),
           "%{secret_name}(?:[_-]\\w{1,20})?(?i:%{whose})(?:(?:%{sign}|\\(|[ ]?(?=[\"'`])|%{block})(?:[|>][+-]?\\s{1,16})?[\"'`*({]{0,4}(?P<value>%{dashed}|%{spaced})|[ =](?i:to |with )?(?P<run>%{dashed}|%{spaced}))", check="is_passphrase", within="line"),
    Family("passphrase-nearby", "a passphrase", ("pass", "pw", "secret", "token", "credential", "key", "login", "-u", "://", "admin", "-p", "identified", "-w ", "-k ", "auth(", "auth=(", "requirepass", "echo "),
           "(?:%{secret_name}[^\\n]{0,80}?[\\s\"'`(>=:,/]|(?:(?i:login|admin|identified by|auth=?\\()|-u|://)[^\\n]{0,60}?[:/\"' %]|(?i:-storepass|-[pwk]|requirepass|echo|identified by)[ ]?)[\"'`]{0,3}(?P<value>%{dashed})|%{secret_name}[^\\n]{0,60}?(?:[\"'`>|;,:/][ ]?(?i:(?:enter|type|use|try)[ ])?|\\?[^\\w\\n]{0,4}|(?i:enter|type|use|try|still|now|be) )(?P<run>%{spaced})|(?:(?i:identified by|auth=?\\()[^\\n]{0,60}?|(?i:-u|-[pwk]|requirepass|echo)[ ]?(?:[\\w.-]{1,40}:)?)[\"'](?P<bare>%{spaced})(?=[\"'])", check="is_passphrase", within="line"),
    Family("passphrase-named-after", "a passphrase", ("pass", "secret"),
           "(?<![\\w-])(?P<bare>[A-Za-z][a-z]{2,11}(?:[- ][A-Za-z][a-z]{2,11}){3,7}(?=[\"'`]{0,3}[ ](?:as|is|was)[ ](?:\\w{1,20}[ ]){0,4}?(?i:\\w{0,20}password|passphrase|secret)))", check="is_passphrase", within="line", anywhere=True, also=(" as ", " is ", " was ")),
    Family("property-secret", "the secret value of a property", (
            ".login", "_login", "-login", ".auth", "_auth", "-auth", "Login", "Auth", "Pass", ".cred", "_cred", "-cred",
        ),
           r"""(?:(?<=[A-Za-z0-9])[._-](?i:login|auth|credentials?|creds?)|(?<=[a-z0-9])(?:Login|Auth|Pass))["'`]{0,2}(?:[ \t]{0,4}[=:>][ \t]{0,4}|[ \t]{1,4}value=)["'`]{0,2}(?P<run>[^\s"'`<>]{12,160})""", check="is_property", within="line"),
)
# fmt: on
"""All families. Where two find the same text, the earlier one is reported."""


_sets: dict[str, frozenset[str]] = {}


def words(name: str) -> frozenset[str]:
    """Return one of the lists of words."""
    if name not in _sets:
        _sets[name] = frozenset(_WORDS[name].split())
    return _sets[name]
