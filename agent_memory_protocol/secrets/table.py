"""What must never be written into memory: one table a family of secrets, read by `secret_rules`.

A family has these fields:

    id: names it in messages; never renamed, since fingerprints are made from it.
    description: completes "this looks like ...".
    keywords: where to look: a match begins with one of them. In lower case they mean any case, else exactly that case.
    pattern: a regular expression; its group `value` or `named` is the secret, without them the whole match is.
        %{name} stands for one of `FRAGMENTS`. Every repetition has an upper bound, so that looking at one keyword takes
        a bounded time, and at a text linear time; tests hold both.
    anywhere: the keywords only say that the text is worth searching, and the match may begin elsewhere.
    check: what is asked of the value beside its shape, a function of `secret_values`; by default "token".
    entropy: the fewest bits a character that the value must have.
    apart: blanks may stand between keyword and value; else a secret is one word of at least 15 characters.
    wrapped: if False, not searched where lines were joined, because the shape is too loose for that.

Where two families find the same text, the earlier one is reported.
"""

from functools import cache
from typing import Any

FRAGMENTS = {
    "start": "(?<![A-Za-z0-9])",
    "end": "(?![A-Za-z0-9])",
    "slug_start": "(?<![A-Za-z0-9_-])",
    "slug_end": "(?![A-Za-z0-9_-])",
    "uuid": "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    # From a vendor's name to the word that says key, and from there to the key: a few words, a sign, perhaps a new line.
    "key_of": r"[\w .-]{0,24}?(?i:key|token|secret|auth|password)",
    "near": r"""[^\n"'`=:]{0,30}["'`*_)\]]{0,3}\s{0,3}(?:=>|:=|[=:]|\bis\b|\bto\b|\s)\s{0,3}["'`*]{0,3}""",
    # What may stand between a name and what it names: a parenthesis or a few words, then a sign or a verb.
    "whose": r"""(?: ?\([^()\n]{1,40}\)| (?:for|of|to|on|in|at|from)(?: [\w.@/'"`-]{1,40}){1,6}?)?""",
    "sign": r"""["'`*_)\]]{0,4}(?P<sign>[ \t]{0,8}(?::=|=>|->|={1,3}|:-|[:|>])[ \t]{0,8}(?:[*_]{1,2} )?(?:\r?\n[ \t>]{1,16})?|\s(?:is|was|are|equals|(?:(?:is |was )?(?:now |still |set |changed |reset |back )to)|is now|is still)(?: now|:)?(?:[ \t]{1,3}(?:\r?\n[ \t>]{0,16})?|\r?\n[ \t>]{0,16})|[ \t][-\u2013\u2014][ \t])""",
    # A key by itself may be anybody's: of a table, a map, a keyboard.
    "before_key": "(?<=api)|(?<=api[ _-])|(?<=access)|(?<=access[ _-])|(?<=secret)|(?<=secret[ _-])|(?<=private)|(?<=private[ _-])|(?<=auth)|(?<=auth[ _-])|(?<=signing)|(?<=signing[ _-])|(?<=encryption)|(?<=encryption[ _-])|(?<=master)|(?<=master[ _-])|(?<=account)|(?<=account[ _-])|(?<=license)|(?<=license[ _-])|(?<=service)|(?<=service[ _-])|(?<=subscription)|(?<=subscription[ _-])|(?<=app)|(?<=app[ _-])|(?<=admin)|(?<=admin[ _-])|(?<=deploy)|(?<=deploy[ _-])|(?<=session)|(?<=session[ _-])|(?<=jwt)|(?<=jwt[ _-])|(?<=webhook)|(?<=webhook[ _-])|(?<=bot)|(?<=bot[ _-])|(?<=integration)|(?<=integration[ _-])",
    "literal": r"""(?:(?P<quote>\\?["'`])(?P<quoted>[^"'`\n]{1,128})["'`\\]|[*_]{0,2}(?P<bare>[^\s"'`,;&|<>{}@:][^\s"'`,;&|<>{}]{0,127}))""",
}

_WORDS = {
    # What follows a name such as `password` and is no password.
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

RULES: tuple[dict[str, Any], ...] = (
    # -- private keys --------------------------------------------------------------------------------------------------
    {
        "id": "private-key",
        "description": "a private key (PEM, OpenSSH or PGP)",
        "keywords": ("-----BEGIN ",),
        "pattern": r"""(?P<value>-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n|["'+,>|]){0,40}(?:[A-Za-z-]{2,20}: [^\n-]{0,100}(?:\s|\\n|[>|]){1,20}){0,4}(?:[A-Za-z0-9+/=]{16,100}|[A-Za-z0-9+/=]{1,100}(?=[\n\\"'-]|\r|\Z))(?:[A-Za-z0-9+/=\s>|\\"',]{0,20000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY)?)""",
        "check": "key-block",
        "apart": True,
    },
    {
        "id": "putty-key",
        "description": "a PuTTY private key",
        "keywords": ("PuTTY-User-Key-File",),
        "pattern": r"PuTTY-User-Key-File-[23]: [^\n]{1,60}\r?\n",
        "check": "shape",
        "apart": True,
    },
    {
        "id": "age-key",
        "description": "an age secret key",
        "keywords": ("AGE-SECRET-KEY-",),
        "pattern": "AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,120}",
    },
    # -- cloud ---------------------------------------------------------------------------------------------------------
    {
        "id": "aws-access-key",
        "description": "an AWS access key id",
        "keywords": ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
        "pattern": "%{start}(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16,20}%{end}",
    },
    {
        "id": "aws-secret-key",
        "description": "an AWS secret access key",
        "keywords": ("aws", "secret"),
        "pattern": r"(?i:aws[\w. -]{0,20}secret(?:[\w -]{0,12}key)?|secret[_ -]?access[_ -]?key)%{near}(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "check": "random",
        "entropy": 3.5,
        "apart": True,
    },
    {
        "id": "aws-session-token",
        "description": "an AWS session token",
        "keywords": ("FwoGZXIvYXdz", "IQoJb3JpZ2lu"),
        "pattern": "(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/]{60,2000}={0,2}",
    },
    {
        "id": "aws-bedrock-key",
        "description": "an Amazon Bedrock API key",
        "keywords": ("ABSK", "bedrock-api-key-"),
        "pattern": "%{start}(?:ABSK[A-Za-z0-9+/]{100,300}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{40,2000}={0,2})",
    },
    {
        "id": "google-api-key",
        "description": "a Google API key",
        "keywords": ("AIza",),
        "pattern": "%{start}AIza[A-Za-z0-9_-]{35}",
    },
    {
        "id": "google-oauth",
        "description": "a Google OAuth secret or token",
        "keywords": ("GOCSPX-", "ya29.", "1//0"),
        "pattern": r"%{start}(?:GOCSPX-[A-Za-z0-9_-]{24,40}|ya29\.[A-Za-z0-9_.-]{20,500}|1//0[A-Za-z0-9_-]{36,200})",
    },
    {
        "id": "google-service-account",
        "description": "the private key id of a Google service account",
        "keywords": ("private_key_id",),
        "pattern": r"""private_key_id["'`]{0,2}\s{0,3}[:=]\s{0,3}["'`]{0,2}(?P<value>[0-9a-f]{40})%{end}""",
        "apart": True,
    },
    {
        "id": "azure-storage-key",
        "description": "an Azure storage account key",
        "keywords": ("account", "storage"),
        "pattern": "(?i:account[_ -]?key|storage[_ -]?(?:account[_ -]?)?(?:access[_ -]?)?key)%{near}(?P<value>[A-Za-z0-9+/]{86}==)",
        "apart": True,
    },
    {
        "id": "azure-shared-access-key",
        "description": "an Azure shared access key",
        "keywords": ("shared",),
        "pattern": "(?i:shared[_ ]?access[_ ]?key)%{near}(?P<value>[A-Za-z0-9+/]{43}=)",
        "apart": True,
    },
    {
        "id": "azure-sas",
        "description": "an Azure shared access signature",
        "keywords": ("sig=",),
        "pattern": r"""(?<=[?&;\s"'])sig=(?P<value>[A-Za-z0-9%+/_-]{40,120}(?:%3[dD]|=)?)""",
    },
    {
        "id": "azure-client-secret",
        "description": "a Microsoft Entra client secret",
        "keywords": ("Q~",),
        "pattern": "(?<=[A-Za-z0-9_~.-]{3}[0-9])(?P<value>Q~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])",
    },
    {
        "id": "azure-resource-key",
        "description": "a key of an Azure service",
        "keywords": ("JQQJ99",),
        "pattern": "(?<=(?P<value>[A-Za-z0-9]{52}))JQQJ99[A-Za-z0-9]{26}",
    },
    {
        "id": "azure-devops-token",
        "description": "an Azure DevOps access token",
        "keywords": ("AZDO",),
        "pattern": "(?<=(?P<value>[A-Za-z0-9]{76}))AZDO[A-Za-z0-9]{4}%{end}",
    },
    {
        "id": "digitalocean-token",
        "description": "a DigitalOcean token",
        "keywords": ("dop_v1_", "doo_v1_", "dor_v1_"),
        "pattern": "%{start}do[opr]_v1_[0-9a-f]{64}",
    },
    {
        "id": "cloudflare-token",
        "description": "a Cloudflare token or key",
        "keywords": ("cloudflare", "cf_api", "cf-api", "cfk_", "cfut_", "cfat_", "v1.0-"),
        "pattern": r"%{start}(?P<value>cf(?:k|ut|at)_[A-Za-z0-9]{40,60}|v1\.0-[0-9a-f]{24}-[0-9a-f]{100,200})|(?i:cloudflare|cf(?=[_-]api))%{key_of}%{near}(?P<named>[0-9a-f]{37}|[A-Za-z0-9_-]{40})%{slug_end}",
        "check": "random",
        "apart": True,
    },
    {
        "id": "heroku-key",
        "description": "a Heroku API key",
        "keywords": ("heroku", "HRKU-"),
        "pattern": "%{start}(?P<value>HRKU-[A-Za-z0-9_-]{36,80})|(?i:heroku)%{key_of}%{near}(?P<named>%{uuid})",
        "check": "token",
        "apart": True,
    },
    {
        "id": "alibaba-key",
        "description": "an Alibaba Cloud access key id",
        "keywords": ("LTAI",),
        "pattern": "%{start}LTAI[A-Za-z0-9]{12,26}%{end}",
    },
    {
        "id": "tencent-key",
        "description": "a Tencent Cloud secret id",
        "keywords": ("AKID",),
        "pattern": "%{start}AKID[A-Za-z0-9]{32}%{end}",
    },
    {
        "id": "yandex-key",
        "description": "a Yandex Cloud key or token",
        "keywords": ("AQVN", "t1.", "y0_"),
        "pattern": r"%{start}(?:AQVN[A-Za-z0-9_-]{35,38}|t1\.[A-Za-z0-9_-]{20,300}={0,2}\.[A-Za-z0-9_-]{86}={0,2}|y0_[A-Za-z0-9_-]{50,80})",
    },
    {
        "id": "fly-token",
        "description": "a Fly.io token",
        "keywords": ("fo1_", "fm1_", "fm1a_", "fm1r_", "fm2_"),
        "pattern": "%{start}(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{40,1000}={0,3})",
    },
    {
        "id": "vercel-token",
        "description": "a Vercel token",
        "keywords": ("vcp_", "vci_", "vck_", "vca_", "vcr_"),
        "pattern": "%{start}vc[pikar]_[A-Za-z0-9]{24,80}",
    },
    {
        "id": "netlify-token",
        "description": "a Netlify token",
        "keywords": ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"),
        "pattern": "%{start}nf[pcoub]_[A-Za-z0-9]{36,60}",
    },
    {
        "id": "render-key",
        "description": "a Render API key",
        "keywords": ("rnd_",),
        "pattern": "%{start}rnd_[A-Za-z0-9]{28,40}",
    },
    {
        "id": "supabase-key",
        "description": "a Supabase key",
        "keywords": ("sbp_", "sb_secret_"),
        "pattern": "%{start}(?:sbp_(?:v0_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{22,60})",
    },
    {
        "id": "planetscale-token",
        "description": "a PlanetScale token or password",
        "keywords": ("pscale_",),
        "pattern": "%{start}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}",
    },
    {
        "id": "databricks-token",
        "description": "a Databricks token",
        "keywords": ("dapi",),
        "pattern": r"%{start}dapi[0-9a-f]{32}(?:-\d{1,2})?%{end}",
    },
    {
        "id": "doppler-token",
        "description": "a Doppler token",
        "keywords": ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
        "pattern": r"%{start}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    },
    {
        "id": "vault-token",
        "description": "a HashiCorp Vault token",
        "keywords": ("hvs.", "hvb.", "hvr."),
        "pattern": r"%{start}hv[sbr]\.[A-Za-z0-9_-]{24,300}",
    },
    {
        "id": "terraform-token",
        "description": "a Terraform Cloud token",
        "keywords": (".atlasv1.",),
        "pattern": r"(?<=[A-Za-z0-9]{14})(?P<value>\.atlasv1\.[A-Za-z0-9_=-]{40,90})",
    },
    {
        "id": "pulumi-token",
        "description": "a Pulumi access token",
        "keywords": ("pul-",),
        "pattern": "%{start}pul-[0-9a-f]{40}%{end}",
    },
    {
        "id": "onepassword-token",
        "description": "a 1Password service token or secret key",
        "keywords": ("ops_eyJ", "A3-"),
        "pattern": "%{start}(?:ops_eyJ[A-Za-z0-9+/_-]{60,2000}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
    },
    {
        "id": "tailscale-key",
        "description": "a Tailscale key",
        "keywords": ("tskey-",),
        "pattern": "%{start}tskey-[a-z]{2,12}-[A-Za-z0-9]{8,40}-[A-Za-z0-9]{16,60}",
    },
    # -- version control and packages ----------------------------------------------------------------------------------
    {
        "id": "github-token",
        "description": "a GitHub token",
        "keywords": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        "pattern": "%{start}gh[pousr]_[A-Za-z0-9]{16,255}",
    },
    {
        "id": "github-fine-grained-token",
        "description": "a GitHub fine-grained token",
        "keywords": ("github_pat_",),
        "pattern": "%{start}github_pat_[A-Za-z0-9_]{20,255}",
    },
    {
        "id": "gitlab-token",
        "description": "a GitLab token",
        "keywords": (
            "glpat-",
            "gldt-",
            "glrt-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glcbt-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glffct-",
        ),
        "pattern": "%{start}gl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,300}",
    },
    {
        "id": "bitbucket-token",
        "description": "a Bitbucket or Atlassian token",
        "keywords": ("ATBB", "ATATT3", "ATCTT3"),
        "pattern": "%{start}(?:ATBB[A-Za-z0-9]{28,40}%{end}|AT[AC]TT3[A-Za-z0-9_=-]{60,400})",
    },
    {
        "id": "sourcegraph-token",
        "description": "a Sourcegraph token",
        "keywords": ("sgp_", "slk_"),
        "pattern": "%{start}(?:sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}|slk_[0-9a-f]{64})%{end}",
    },
    {
        "id": "npm-token",
        "description": "an npm access token",
        "keywords": ("npm_",),
        "pattern": "%{start}npm_[A-Za-z0-9]{30,60}",
    },
    {
        "id": "pypi-token",
        "description": "a PyPI upload token",
        "keywords": ("pypi-",),
        "pattern": "%{start}pypi-(?:AgE[A-Za-z0-9_-]{20,300}|[A-Za-z0-9_-]{40,300})",
    },
    {
        "id": "rubygems-key",
        "description": "a RubyGems API key",
        "keywords": ("rubygems_",),
        "pattern": "%{start}rubygems_[0-9a-f]{48}",
    },
    {
        "id": "crates-token",
        "description": "a crates.io token",
        "keywords": ("cio",),
        "pattern": "%{start}cio(?![a-z]{32})[A-Za-z0-9]{32}%{end}",
    },
    {
        "id": "docker-hub-token",
        "description": "a Docker Hub token",
        "keywords": ("dckr_pat_", "dckr_oat_"),
        "pattern": "%{start}dckr_[po]at_[A-Za-z0-9_-]{20,60}",
    },
    {
        "id": "nuget-key",
        "description": "a NuGet API key",
        "keywords": ("oy2",),
        "pattern": "%{start}oy2[a-z0-9]{43}%{end}",
    },
    {
        "id": "jfrog-token",
        "description": "a JFrog key or token",
        "keywords": ("AKCp", "cmVmd"),
        "pattern": "%{start}(?:AKCp[A-Za-z0-9]{69,80}|cmVmd[A-Za-z0-9]{59})%{end}",
    },
    {
        "id": "clojars-token",
        "description": "a Clojars deploy token",
        "keywords": ("CLOJARS_",),
        "pattern": "%{start}CLOJARS_[a-z0-9]{60}%{end}",
    },
    {
        "id": "buildkite-token",
        "description": "a Buildkite token",
        "keywords": ("bkua_", "bkaj_", "bkpt_"),
        "pattern": "%{start}bk(?:ua|aj|pt)_[A-Za-z0-9]{40}%{end}",
    },
    {
        "id": "circleci-token",
        "description": "a CircleCI token",
        "keywords": ("CCIPAT_", "CCIPRA_", "CCIPRI_", "CCIPRJ_"),
        "pattern": "%{start}CCIP(?:AT|RA|RI|RJ)_[A-Za-z0-9]{16,40}_[0-9a-f]{40}%{end}",
    },
    {
        "id": "sonar-token",
        "description": "a SonarQube token",
        "keywords": ("sqp_", "squ_", "sqa_"),
        "pattern": "%{start}sq[pua]_[0-9a-f]{40}%{end}",
    },
    # -- model providers -----------------------------------------------------------------------------------------------
    {
        "id": "anthropic-key",
        "description": "an Anthropic key",
        "keywords": ("sk-ant-",),
        "pattern": "%{start}sk-ant-[A-Za-z0-9_-]{16,200}",
    },
    {
        "id": "openrouter-key",
        "description": "an OpenRouter key",
        "keywords": ("sk-or-",),
        "pattern": "%{start}sk-or-(?:v1-)?[0-9a-f]{32,80}",
    },
    {
        "id": "openai-key",
        "description": "an OpenAI key, or one of the same shape",
        "keywords": ("sk-",),
        "pattern": "%{slug_start}sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{16,300}",
        "check": "slug",
    },
    {
        "id": "huggingface-token",
        "description": "a Hugging Face token",
        "keywords": ("hf_", "api_org_"),
        "pattern": "%{start}(?:hf_[A-Za-z0-9]{30,60}|api_org_[A-Za-z0-9]{30,60})",
    },
    {
        "id": "groq-key",
        "description": "a Groq key",
        "keywords": ("gsk_",),
        "pattern": "%{start}gsk_[A-Za-z0-9]{20,80}",
    },
    {
        "id": "replicate-token",
        "description": "a Replicate token",
        "keywords": ("r8_",),
        "pattern": "%{start}r8_[A-Za-z0-9]{32,45}%{end}",
    },
    {
        "id": "xai-key",
        "description": "an xAI key",
        "keywords": ("xai-",),
        "pattern": "%{start}xai-[A-Za-z0-9]{40,120}",
    },
    {
        "id": "perplexity-key",
        "description": "a Perplexity key",
        "keywords": ("pplx-",),
        "pattern": "%{start}pplx-[A-Za-z0-9]{40,64}",
    },
    {
        "id": "nvidia-key",
        "description": "an NVIDIA key",
        "keywords": ("nvapi-",),
        "pattern": "%{start}nvapi-[A-Za-z0-9_-]{40,90}",
    },
    {
        "id": "langsmith-key",
        "description": "a LangSmith key",
        "keywords": ("lsv2_",),
        "pattern": "%{start}lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,12}",
    },
    {
        "id": "pinecone-key",
        "description": "a Pinecone key",
        "keywords": ("pcsk_",),
        "pattern": "%{start}pcsk_[A-Za-z0-9_]{40,90}",
    },
    {
        "id": "tavily-key",
        "description": "a Tavily key",
        "keywords": ("tvly-",),
        "pattern": "%{start}tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,60}",
    },
    {
        "id": "elevenlabs-key",
        "description": "an ElevenLabs key",
        "keywords": ("sk_",),
        "pattern": "%{start}sk_[0-9a-f]{48}%{end}",
    },
    {
        "id": "model-host-key",
        "description": "a key of a model host (Together, Fireworks, Cerebras, Voyage, Jina, Firecrawl)",
        "keywords": ("tgp_v1_", "fw_", "csk-", "pa-", "jina_", "fc-"),
        "pattern": "%{slug_start}(?:tgp_v1_[A-Za-z0-9_-]{40,50}|fw_(?![a-z]{1,24}%{slug_end})[A-Za-z0-9]{22,24}%{slug_end}|csk-[a-z0-9]{48}%{slug_end}|pa-[A-Za-z0-9_-]{43}%{slug_end}|jina_[A-Za-z0-9_-]{60}|fc-[0-9a-f]{32}%{slug_end})",
    },
    # -- chat ----------------------------------------------------------------------------------------------------------
    {
        "id": "slack-token",
        "description": "a Slack token",
        "keywords": ("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        "pattern": r"%{start}(?:xox[a-eoprs]-[A-Za-z0-9%-]{10,400}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{20,300}|xapp-\d-[A-Z0-9]{8,16}-\d{8,16}-[0-9a-f]{32,80})",
    },
    {
        "id": "slack-webhook",
        "description": "a Slack webhook",
        "keywords": ("hooks.slack.com",),
        "pattern": r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<value>[A-Za-z0-9_/-]{20,120})",
    },
    {
        "id": "discord-webhook",
        "description": "a Discord webhook",
        "keywords": ("discord",),
        "pattern": r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,21}/(?P<value>[A-Za-z0-9_-]{30,100})",
    },
    {
        "id": "discord-token",
        "description": "a Discord bot token",
        "keywords": (".",),
        "pattern": r"(?:(?<=[MNO][A-Za-z0-9]{22})|(?<=[MNO][A-Za-z0-9]{23})|(?<=[MNO][A-Za-z0-9]{25}))(?P<value>\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45})%{slug_end}",
        "check": "random",
    },
    {
        "id": "telegram-token",
        "description": "a Telegram bot token",
        "keywords": (":AA",),
        "pattern": r"(?<=\d{6})(?P<value>:AA[A-Za-z0-9_-]{32,34})%{slug_end}",
    },
    {
        "id": "teams-webhook",
        "description": "a Microsoft Teams webhook",
        "keywords": ("webhook.office.com",),
        "pattern": r"webhook\.office\.com/webhookb2/(?P<value>[0-9a-f@-]{60,90}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36})",
    },
    # -- payment -------------------------------------------------------------------------------------------------------
    {
        "id": "stripe-key",
        "description": "a Stripe key",
        "keywords": ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_prod_", "rk_prod_"),
        "pattern": "%{start}[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,250}",
    },
    {
        "id": "webhook-secret",
        "description": "a webhook signing secret",
        "keywords": ("whsec_",),
        "pattern": "%{start}whsec_[A-Za-z0-9+/]{20,100}={0,2}",
    },
    {
        "id": "square-token",
        "description": "a Square token",
        "keywords": ("sq0atp-", "sq0csp-", "sq0idp-", "EAAA"),
        "pattern": "%{start}(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{56,62}%{slug_end})",
    },
    {
        "id": "braintree-token",
        "description": "a PayPal or Braintree access token",
        "keywords": ("access_token$",),
        "pattern": r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}",
    },
    {
        "id": "paypal-secret",
        "description": "a PayPal client secret",
        "keywords": ("paypal",),
        "pattern": "(?i:paypal)%{key_of}%{near}(?P<value>[A-Za-z0-9_-]{40,90})%{slug_end}",
        "check": "random",
        "apart": True,
    },
    {
        "id": "shopify-token",
        "description": "a Shopify token",
        "keywords": ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_", "shptka_"),
        "pattern": "%{start}shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32}",
    },
    {
        "id": "plaid-token",
        "description": "a Plaid access token",
        "keywords": ("access-sandbox-", "access-development-", "access-production-"),
        "pattern": "%{start}access-(?:sandbox|development|production)-%{uuid}",
    },
    {
        "id": "razorpay-key",
        "description": "a Razorpay key",
        "keywords": ("rzp_live_", "rzp_test_"),
        "pattern": "%{start}rzp_(?:live|test)_[A-Za-z0-9]{14,30}",
    },
    {
        "id": "flutterwave-key",
        "description": "a Flutterwave key",
        "keywords": ("FLWSECK",),
        "pattern": "%{start}FLWSECK(?:_TEST|_LIVE)?-[0-9a-zA-Z]{12,40}-X",
    },
    # -- mail and telephone --------------------------------------------------------------------------------------------
    {
        "id": "sendgrid-key",
        "description": "a SendGrid key",
        "keywords": ("SG.",),
        "pattern": r"%{start}SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
    },
    {
        "id": "mailgun-key",
        "description": "a Mailgun key",
        "keywords": ("key-", "mailgun"),
        "pattern": "%{slug_start}key-(?P<value>[0-9a-f]{32})%{slug_end}|(?i:mailgun)%{key_of}%{near}(?P<named>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})%{slug_end}",
        "apart": True,
    },
    {
        "id": "mailchimp-key",
        "description": "a Mailchimp key",
        "keywords": ("-us",),
        "pattern": r"(?<=(?P<value>[0-9a-f]{32}))-us\d{1,2}%{slug_end}",
    },
    {
        "id": "twilio-key",
        "description": "a Twilio key or auth token",
        "keywords": ("SK", "twilio"),
        "pattern": "%{slug_start}SK(?P<value>[0-9a-f]{32})%{slug_end}|(?i:twilio)%{key_of}%{near}(?P<named>[0-9a-f]{32})%{slug_end}",
        "apart": True,
    },
    {
        "id": "brevo-key",
        "description": "a Brevo key",
        "keywords": ("xkeysib-", "xsmtpsib-"),
        "pattern": "%{start}x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
    },
    {
        "id": "resend-key",
        "description": "a Resend key",
        "keywords": ("re_",),
        "pattern": "%{start}re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}%{slug_end}",
    },
    # -- monitoring ----------------------------------------------------------------------------------------------------
    {
        "id": "datadog-key",
        "description": "a Datadog key",
        "keywords": ("datadog", "dd_ap", "dd-ap"),
        "pattern": "(?i:datadog|dd(?=[_-]ap[ip]))%{key_of}%{near}(?P<value>[0-9a-f]{40}|[0-9a-f]{32})%{slug_end}",
        "apart": True,
    },
    {
        "id": "newrelic-key",
        "description": "a New Relic key",
        "keywords": ("NRAK-", "NRII-", "NRJS-", "NRAA-", "NRAL"),
        "pattern": "%{start}(?:NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}|NRJS-[0-9a-f]{19}|NRAA-[0-9a-f]{27})|(?<=(?P<value>[0-9a-zA-Z]{36}))NRAL%{end}",
    },
    {
        "id": "sentry-token",
        "description": "a Sentry token",
        "keywords": ("sntrys_", "sntryu_", "sntrya_", "sntryi_", "sntryr_"),
        "pattern": "%{start}(?:sntrys_eyJ[A-Za-z0-9+/=_-]{40,500}|sntry[uair]_[0-9a-f]{64})",
    },
    {
        "id": "sentry-dsn",
        "description": "a Sentry DSN with its secret",
        "keywords": ("://",),
        "pattern": r"(?<=https)://[0-9a-f]{32}:(?P<value>[0-9a-f]{32})@[\w.-]{0,100}sentry",
    },
    {
        "id": "grafana-token",
        "description": "a Grafana token",
        "keywords": ("glsa_", "glc_eyJ"),
        "pattern": "%{start}(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_eyJ[A-Za-z0-9+/]{30,400}={0,2})",
    },
    {
        "id": "dynatrace-token",
        "description": "a Dynatrace token",
        "keywords": ("dt0",),
        "pattern": r"%{start}dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    },
    {
        "id": "honeycomb-key",
        "description": "a Honeycomb key",
        "keywords": ("hcaik_", "hcaic_", "hcbik_", "hcamk_"),
        "pattern": "%{start}hc[ab](?:ik|ic|mk)_[a-z0-9]{50,64}",
    },
    {
        "id": "posthog-key",
        "description": "a PostHog personal key",
        "keywords": ("phx_",),
        "pattern": "%{start}phx_[A-Za-z0-9]{40,64}",
    },
    # -- further services ----------------------------------------------------------------------------------------------
    {
        "id": "notion-token",
        "description": "a Notion token",
        "keywords": ("ntn_", "secret_"),
        "pattern": "%{start}(?:ntn_[0-9]{11}[A-Za-z0-9]{32,36}|secret_[A-Za-z0-9]{43})%{end}",
        "check": "random",
    },
    {
        "id": "linear-key",
        "description": "a Linear key",
        "keywords": ("lin_api_", "lin_oauth_"),
        "pattern": "%{start}lin_(?:api|oauth)_[A-Za-z0-9]{32,64}",
    },
    {
        "id": "figma-token",
        "description": "a Figma token",
        "keywords": ("figd_", "figu_", "figo_"),
        "pattern": "%{start}fig[duo]_[A-Za-z0-9_-]{36,50}",
    },
    {
        "id": "airtable-token",
        "description": "an Airtable token",
        "keywords": ("pat",),
        "pattern": r"%{start}pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    },
    {
        "id": "postman-key",
        "description": "a Postman key",
        "keywords": ("PMAK-",),
        "pattern": "%{start}PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    },
    {
        "id": "contentful-token",
        "description": "a Contentful token",
        "keywords": ("CFPAT-",),
        "pattern": "%{start}CFPAT-[A-Za-z0-9_-]{43}",
    },
    {
        "id": "dropbox-token",
        "description": "a Dropbox token",
        "keywords": ("sl.",),
        "pattern": r"%{start}sl\.(?:u\.)?[A-Za-z0-9_-]{120,1500}",
    },
    {
        "id": "facebook-token",
        "description": "a Facebook or Instagram token",
        "keywords": ("EAA",),
        "pattern": "%{start}EAA[A-Za-z0-9]{80,400}",
        "check": "random",
    },
    {
        "id": "launchdarkly-key",
        "description": "a LaunchDarkly key",
        "keywords": ("sdk-", "api-", "mob-"),
        "pattern": "%{slug_start}(?:sdk|api|mob)-%{uuid}%{slug_end}",
    },
    # -- forms that carry secrets --------------------------------------------------------------------------------------
    {
        "id": "jwt",
        "description": "a JSON Web Token",
        "keywords": ("eyJ",),
        "pattern": r"%{start}eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}",
    },
    {
        "id": "otp-secret",
        "description": "the secret of a one-time password",
        "keywords": ("otpauth://",),
        "pattern": r"""otpauth://[^\s"'<>]{1,200}?secret=(?P<value>[A-Za-z2-7]{8,128})""",
    },
    {
        "id": "url-credentials",
        "description": "a URL with a password in it",
        "keywords": ("://",),
        "pattern": r"""(?<=[A-Za-z0-9])://(?P<user>[^\s/:@"'`<>()]{0,100}):(?P<value>[^\s/@"'`<>]{1,200})@(?=[A-Za-z0-9\[$<{%])""",
        "check": "literal",
        "apart": True,
    },
    {
        "id": "url-token",
        "description": "a URL with a token in it",
        "keywords": ("://",),
        "pattern": r"(?<=[A-Za-z0-9])://(?P<value>[A-Za-z0-9_-]{20,200})@(?![\w.-]{0,40}sentry|[\w.-]{0,40}ingest|o\d)[A-Za-z0-9]",
        "check": "random",
    },
    {
        "id": "connection-string",
        "description": "a connection string with its password",
        "keywords": ("pass", "pw"),
        "pattern": r"""(?:(?<=;)|(?<=;\s))(?i:password|pwd)\s?=\s?(?P<value>[^;\s"'`<>]{1,128})""",
        "check": "literal",
        "wrapped": False,
        "apart": True,
    },
    {
        "id": "authorization-header",
        "description": "the credentials of an Authorization header",
        "keywords": ("authorization", "bearer"),
        "pattern": r"""(?:(?i:authorization)["'`*]{0,3}\s{0,2}[:=,]\s{0,2}["'`*]{0,3}(?:(?i:bearer|token|apikey|key)\s{1,2})?|\b(?i:bearer)[ :]\s?["'`]?)(?P<value>[A-Za-z0-9._~+/=-]{8,2000})""",
        "check": "named-key",
        "apart": True,
    },
    {
        "id": "basic-credentials",
        "description": "the credentials of basic authentication",
        "keywords": ("basic", '"auth"'),
        "pattern": r'(?:\b(?i:basic)\s{1,2}|"auth"\s?:\s?")(?P<value>[A-Za-z0-9+/]{8,400}={0,2})(?![A-Za-z0-9+/=])',
        "check": "basic",
        "apart": True,
    },
    {
        "id": "command-line-credentials",
        "description": "user and password on a command line",
        "keywords": ("-u", "sshpass", "mysql", "redis-cli"),
        "pattern": r"""(?:(?:(?<=\s)-u|(?:(?<=\s-)|(?<=--proxy))-user)[ =]?["']?[\w.@+-]{1,60}:(?!:)|\bsshpass -p ?["']?|\bmysql(?:dump|admin)?\b[^\n|;]{0,80}? -p["']?|\bredis-cli\b[^\n|;]{0,80}? -a ["']?)(?P<value>[^\s"'`<>]{3,128})""",
        "check": "shell",
        "wrapped": False,
        "apart": True,
    },
    {
        "id": "netrc",
        "description": "a .netrc login with its password",
        "keywords": ("machine", "default"),
        "pattern": r"""\b(?:machine\s{1,4}[^\s]{1,100}|default)\s{1,20}login\s{1,4}[^\s]{1,100}\s{1,20}password\s{1,4}(?P<value>[^\s"'`<>]{1,128})""",
        "check": "literal",
        "apart": True,
    },
    {
        "id": "registry-auth",
        "description": "the credentials of a package registry",
        "keywords": ("_auth", "_pass"),
        "pattern": r"""_(?:authToken|auth|password)\s{0,2}=\s{0,2}["']?(?P<value>[A-Za-z0-9+/=_.-]{8,400})""",
        "check": "named-key",
        "apart": True,
    },
    {
        "id": "seed-phrase",
        "description": "the recovery phrase of a wallet",
        "keywords": ("seed", "recovery", "mnemonic"),
        "pattern": r"""\b(?i:seed|recovery|mnemonic)(?i:[ _-](?:phrase|words|seed))?["'`*]{0,3}\s{0,2}(?:[:=]|is)\s{0,2}["'`*]{0,3}(?P<value>[a-z]{3,8}(?:\s{1,3}[a-z]{3,8}){11,23})(?![A-Za-z])""",
        "check": "phrase",
        "entropy": 3.0,
        "apart": True,
    },
    # -- account numbers -----------------------------------------------------------------------------------------------
    {
        "id": "card-number",
        "description": "a payment card number",
        "keywords": ("card", "visa", "amex", "credit", "payment"),
        "pattern": r"(?<![\w.+/-])(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|5\d\d)|3[47]\d\d)(?P<gap>[ -]?)\d{4}(?P=gap)\d{4}(?P=gap)\d{3,4}(?![\w/-]|\.\d)|(?<![\w.+/-])3[47]\d\d[ -]\d{6}[ -]\d{5}(?![\w/-]|\.\d)",
        "check": "card",
        "anywhere": True,
        "wrapped": False,
        "apart": True,
    },
    {
        "id": "iban",
        "description": "a bank account number (IBAN)",
        "keywords": ("iban", "account", "bank", "sepa"),
        "pattern": r"[A-Z]{2}\d{2}(?<![A-Za-z0-9][A-Z]{2}\d{2})(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?%{end}",
        "check": "iban",
        "anywhere": True,
        "wrapped": False,
        "apart": True,
    },
    {
        "id": "account-number",
        "description": "an account number",
        "keywords": ("account", "acct", "routing", "sort", "card"),
        "pattern": r"""(?i:\b(?:(?:account|acct)[ _-]?(?:number|no\.?|nr\.?|#)|routing[ _-]?number|card[ _-]?(?:number|no\.?)|sort[ _-]code))["'`*]{0,3}\s{0,2}(?:[:=#]|is|was)?\s{0,2}["'`*]{0,3}(?P<value>\d(?:[ -]?\d){5,18})(?![\w-])""",
        "check": "digits",
        "wrapped": False,
        "apart": True,
    },
    # -- named values --------------------------------------------------------------------------------------------------
    {
        "id": "password",
        "description": "a password",
        "keywords": ("pass", "pw"),
        "pattern": "(?i:password|passwd|passphrase|passcode|pwd|(?<![A-Za-z])pass|(?<![A-Za-z])pw)(?i:%{whose})%{sign}%{literal}",
        "check": "named-password",
        "wrapped": False,
        "apart": True,
    },
    {
        "id": "told-password",
        "description": "a password",
        "keywords": ("pass", "pw"),
        "pattern": "(?i:password|passwd|passphrase|pwd|(?<=-)pass)[ =]{1,2}%{literal}",
        "check": "told-password",
        "wrapped": False,
        "apart": True,
    },
    {
        "id": "login",
        "description": "user and password",
        "keywords": ("login", "log in", "credential", "user"),
        "pattern": r"""(?i:login|log in|credentials?|user|username)["'`*]{0,3}(?: (?:for|of|to|on|in|at|as|with|is|are) ?(?:[\w.@-]{1,40} ){0,3}?|[:=] ?| )(?:is |are )?["'`*]{0,3}[\w.@+-]{1,40}["'`]?(?: [/|] |:)["'`]?(?P<bare>[^\s"'`,;<>{}/]{5,100})(?!/)""",
        "check": "pair",
        "apart": True,
        "wrapped": False,
    },
    {
        "id": "api-key",
        "description": "an API key or secret",
        "keywords": ("key", "secret", "credential"),
        "pattern": "(?i:(?:%{before_key})key|(?<!:)secret|credentials?)(?i:[ _-]?(?:id|value|base|prod|dev|test|live|staging))?(?i:%{whose})%{sign}%{literal}",
        "check": "named-key",
        "wrapped": False,
        "apart": True,
    },
    {
        "id": "token",
        "description": "a token",
        "keywords": ("token", "session", "cookie"),
        "pattern": "(?i:token|session_?id|cookie)(?i:[ _-]?(?:value|prod|dev|test|live|staging))?(?i:%{whose})%{sign}%{literal}",
        "check": "named-token",
        "wrapped": False,
        "apart": True,
    },
)


@cache
def words(name: str) -> frozenset[str]:
    """Return one of the lists of words."""
    return frozenset(_WORDS[name].split())
