"""Kinds: names of one kind, of which one thing has one: the city that it is in, the tool that builds it.

What is in Germany may well be in Frankfurt, and what uses Redis may use Postgres as well. So only names of one kind
exclude each other, and no other names do.
"""

import re
from collections import defaultdict

from .language import word_set

PLACES = {
    "in to": """
        city: amsterdam atlanta austin bangalore barcelona beijing berlin boston brussels budapest cairo chicago cologne
        copenhagen dallas denver dresden dubai dublin dusseldorf düsseldorf frankfurt geneva hamburg helsinki hongkong
        houston istanbul jakarta johannesburg kyiv leipzig lisbon london losangeles lyon madrid manchester marseille
        melbourne miami milan montreal moscow mumbai munich münchen newyork nuremberg osaka oslo paris portland prague
        rome rotterdam sanfrancisco santiago seattle seoul shanghai singapore stockholm stuttgart sydney telaviv tokyo
        toronto vancouver vienna warsaw zurich zürich;
        country: australia austria belgium brazil canada china denmark finland france germany india ireland israel italy
        japan mexico netherlands norway poland portugal spain sweden switzerland ukraine;
        state: california georgia iowa ohio oregon texas virginia washington
    """,
    "in on to": """
        cloud: aws azure cloudflare digitalocean fly fly.io gcp googlecloud hetzner heroku linode netlify ovh railway
        render scaleway vercel
    """,
    "in on": """
        ci: bamboo buildkite circleci drone githubactions gitlab jenkins teamcity travis woodpecker;
        database: cassandra clickhouse cockroachdb couchdb dynamodb elasticsearch mariadb memcached mongodb mysql
        postgres postgresql redis snowflake sqlite;
        language: c# clojure dart elixir elm erlang go golang haskell java kotlin php python ruby rust scala swift
        typescript zig
    """,
    "on": """
        system: alpine centos debian fedora suse ubuntu
    """,
}
"""Where something is hosted, kept or run, by the words in front of the name."""

_TOOLS = """
    analytics: amplitude matomo mixpanel plausible posthog; backups: borg duplicity restic; browsertest: cypress
    playwright puppeteer selenium testcafe; build: ant bazel buck gradle maven pants sbt scons; bundler: esbuild
    parcel rolldown rollup turbopack vite webpack; calls: infobip messagebird plivo sinch twilio vonage; cbuild:
    autotools cmake meson; cdn: akamai cloudflare cloudfront fastly; ci: buildkite circleci drone githubactions
    jenkins teamcity travis; cluster: ecs kubernetes nomad swarm; cms: contentful drupal sanity strapi wordpress;
    compiler: clang gcc msvc; compression: brotli bzip2 gzip lz4 snappy xz zstd; coverage: codecov coveralls; crm:
    hubspot pipedrive salesforce; css: bootstrap bulma tailwind; design: figma penpot sketch; domains: gandi godaddy
    ionos namecheap porkbun; errors: airbrake bugsnag honeybadger rollbar sentry; flags: configcat flagsmith
    launchdarkly unleash; hash: argon2 bcrypt md5 pbkdf2 scrypt sha1 sha256; helpdesk: freshdesk intercom zendesk;
    hosts: ansible chef puppet saltstack; identity: auth0 cognito keycloak okta; image: buildah docker kaniko podman;
    infrastructure: cloudformation opentofu pulumi terraform; installer: innosetup nsis wix; javatest: junit testng;
    jsformat: biome dprint prettier; jslint: eslint jshint oxlint; jspackages: bun npm pnpm yarn; jstest: ava jasmine
    jest mocha vitest; mail: brevo mailgun mailjet postmark resend sendgrid ses sparkpost; metaframework: next.js
    nextjs nuxt remix sveltekit; metrics: datadog dynatrace newrelic; migrations: alembic flyway liquibase; mobile:
    flutter ionic xamarin; orm: drizzle prisma sequelize typeorm; payments: adyen braintree mollie paddle stripe;
    proxy: caddy envoy haproxy nginx traefik; pyformat: autopep8 black ruff yapf; pylint: flake8 pylint ruff;
    pypackages: conda pdm pip pipenv poetry uv; pytest: nose pytest unittest; pytypes: mypy pyre pyright pytype;
    pyweb: django fastapi flask pyramid tornado; queue: activemq kafka nats pulsar rabbitmq sqs; registry: dockerhub
    ecr ghcr harbor quay; relational: mariadb mssql mysql oracle postgres postgresql sqlite; search: algolia
    meilisearch opensearch solr typesense; secrets: bitwarden doppler infisical 1password vault; servers: aws azure
    digitalocean gcp hetzner linode ovh scaleway; sites: docusaurus eleventy gatsby hexo hugo jekyll mkdocs nextra
    sphinx vuepress; state: mobx pinia redux zustand; telecom: o2 orange swisscom t-mobile telefonica telekom verizon
    vodafone; updates: dependabot renovate; versioning: git mercurial svn; vpn: openvpn tailscale wireguard
"""
_TOOLS_WITHIN = """
    chat: discord mattermost rocketchat slack teams zulip; forge: bitbucket codeberg gitea github gitlab; issues:
    asana bugzilla jira linear redmine trello youtrack; ui: angular ember react solid svelte vue; wiki: bookstack
    confluence mediawiki notion
"""
_LICENCES = """
    licence: agpl agpl-3.0 apache apache-2.0 bsd bsd-2-clause bsd-3-clause bsl bsl-1.1 cc0 epl epl-2.0 eupl gpl gpl-2.0
    gpl-3.0 isc lgpl lgpl-2.1 lgpl-3.0 mit mpl mpl-2.0 unlicense
"""
TOOLS = {
    "by from through use uses using via with": _TOOLS,
    "by from in on through use uses using via with": _TOOLS_WITHIN,
    "under": _LICENCES,
}
"""What one thing is made, done or bought with, or licensed under, by the words in front of the name."""

COMPANIES = word_set(
    "adobe amazon apple bosch google ibm intel meta microsoft netflix nvidia oracle salesforce samsung sap siemens"
)
"""What is owned by one of them may be owned by a person there."""

_VERSION = re.compile(r"-\d[\w.]*(?:-clause)?$")
_ALIASES = {"golang": "go", "postgresql": "postgres", "fly.io": "fly", "münchen": "munich"}


def _read(table: dict[str, str]) -> dict[str, list[tuple[str, frozenset[str]]]]:
    found: defaultdict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for behind, rows in table.items():
        for row in rows.split(";"):
            kind, _, names = row.partition(":")
            for name in names.split():
                found[name].append((kind.strip(), frozenset(behind.split())))
    return dict(found)


PLACED, MADE_WITH = _read(PLACES), _read(TOOLS)
"""The kinds of each name, each with the words in front of it."""


def known_as(name: str) -> str:
    """Return by what a name is compared with others of its kind: which GPL it is, its version says."""
    return _VERSION.sub("", _ALIASES.get(name, name))
