"""How much of what a task needs is given: `python -m benchmarks.tasks [--json] [--quick]`.

Thirty tasks of a shop, two facts each, among 240 other entries about the same things, in three full documents. A fact
counts as given where its whole text is in what an agent is told.
"""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from agent_memory_protocol import recall_for_agent
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.project.access import Actor
from agent_memory_protocol.project.settings import load_settings
from agent_memory_protocol.recall.block import Budget
from agent_memory_protocol.recall.rest import rest

AGENT, CONVERSATION = "developer", "c1"

TASKS = {
    "Add a migration for a new column on the orders table": (
        "Keep migrations small: the June one locked the orders table for four minutes.",
        "Every migration needs a downgrade, and CI runs both directions.",
    ),
    "The webhook of the payment provider arrives twice, find out why": (
        "Webhooks are delivered at least once: compare the event id before acting on one.",
        "The payment provider signs its webhooks with the old key until its rotation is over.",
    ),
    "Upgrade Python to 3.13 in the images": (
        "The base image pins Python by digest; renovate opens the pull request.",
        "lxml has no wheel for a new Python in its first weeks, and the slim images have no compiler.",
    ),
    "Speed up the product search": (
        "Search results are cached for 90 seconds in Redis, keyed by query and locale.",
        "The search index is rebuilt at 03:00 UTC; queries are slow until about 03:20.",
    ),
    "Customers see wrong prices in Swiss francs": (
        "Prices are integers in the minor unit of the currency, never floats.",
        "Swiss francs are rounded to five centimes at checkout only, not in the catalogue.",
    ),
    "Fix the flaky login test in CI": (
        "The login tests share one user, so they must not run in parallel: mark them serial.",
        "A flaky test is quarantined with a ticket number within a day, not retried.",
    ),
    "Write an endpoint to export invoices as CSV": (
        "CSV exports begin with a byte-order mark because the accountants open them in Excel.",
        "Invoice numbers have leading zeros and are strings everywhere.",
    ),
    "Refunds fail for orders older than 90 days": (
        "The payment provider refuses refunds after 90 days; those go out as bank transfers by hand.",
        "A refund is booked on the day it is requested, not when the money moves.",
    ),
    "Deploy the hotfix for the cart to production today": (
        "There are no deploys on Fridays after 14:00, hotfixes included, without the person on call.",
        "A hotfix branches off the release tag and is merged back into main the same day.",
    ),
    "Rate limit the public API": (
        "The gateway already limits requests per key; the app must only answer 429 with Retry-After.",
        "Partners have their own rate limit in the contract, the table is in docs/partners.md.",
    ),
    "Send the order confirmation mail in the language of the customer": (
        "Mail templates are rendered by the notification service; the shop sends only ids.",
        "The customer's language is the one of the order, not that of the account.",
    ),
    "Import the supplier's product feed every hour": (
        "The supplier's feed has duplicates: the last line of a SKU counts.",
        "Feed imports write to a staging table and swap it, so that readers never see half.",
    ),
    "Delete a user's data on request": (
        "Deleting a user anonymises orders, since tax law keeps them for ten years.",
        "Backups forget a deleted user after 35 days; that is in the privacy notice.",
    ),
    "Set up a new developer laptop": (
        "`make bootstrap` needs Docker running first, or it fails with a certificate error.",
        "New laptops need the company's root certificate in the keychain of Java, too.",
    ),
    "Add dark mode to the checkout page": (
        "Colours come from the design tokens; hard-coded ones fail the stylelint rule.",
        "The checkout page loads no fonts and no scripts of others: it is in scope for PCI.",
    ),
    "The Kafka consumer lags behind": (
        "The consumer commits after each batch of 500; a poison message blocks the partition.",
        "Consumer lag is alerted on at 10,000 messages or ten minutes, on the dashboard `streams`.",
    ),
    "Rotate the database password": (
        "The database password is read at start only: rotate it, then restart the workers one by one.",
        "Both database users exist during a rotation, app_a and app_b, and the secret names the active one.",
    ),
    "Make images load faster on mobile": (
        "Images are resized by the CDN with the parameter w; the origin keeps only originals.",
        "The mobile app asks for AVIF and falls back to JPEG, never WebP.",
    ),
    "Investigate the memory leak in the worker": (
        "Workers are restarted after 1,000 jobs because the PDF library leaks memory.",
        "Heap dumps of a worker land in the bucket `diagnostics` and are deleted after a week.",
    ),
    "Add a coupon type for free shipping": (
        "Coupons are applied after taxes and before shipping.",
        "Only one coupon of a type holds for an order; the newest one wins.",
    ),
    "Change the session timeout to 30 minutes": (
        "The session timeout lives in the gateway's config, the value in the app is dead.",
        "The admin area has a session timeout of its own, fixed at 15 minutes by the audit.",
    ),
    "Move cron jobs to the scheduler service": (
        "Cron jobs run in UTC; the finance report expects Berlin time and corrects for it itself.",
        "A job of the scheduler must be idempotent: it is started again after a node dies.",
    ),
    "Write release notes for version 4.2": (
        "Release notes are made from the pull requests' labels; `skip-notes` leaves one out.",
        "Versions are tagged by the release job; a tag by hand publishes twice.",
    ),
    "Show stock levels in the app": (
        'Stock levels are eventually consistent: show "few left" below five, never a number.',
        "The warehouse reports stock as of the last pick wave, every 15 minutes.",
    ),
    "Fix the timezone bug in delivery dates": (
        "Delivery dates are local dates of the address without a time; never convert them.",
        "The carrier's API gives its cut-off in local time without an offset.",
    ),
    "Translate the shop into Polish": (
        "Translations come from the file `locales/en.json`; other languages are written by the translation tool only.",
        "Polish has four plural forms, so use ICU messages and no string concatenation.",
    ),
    "Enable two-factor login for admins": (
        "Admin accounts live in the identity provider; the shop must not store their second factor.",
        "The break-glass admin account has no second factor on purpose and is sealed in the safe.",
    ),
    "Write a load test for Black Friday": (
        "Load tests run against staging with the flag `fake-payments`, else the provider bans us.",
        "Last Black Friday's peak was 420 orders a minute; we test for three times that.",
    ),
    "Replace the PDF library for invoices": (
        "Invoices must be PDF/A-3 with embedded XML for the tax authority.",
        "The PDF renderer has no network: fonts and logos are in the image.",
    ),
    "Log less in production": (
        "Log lines over 16 kB are split by the collector and then are not JSON any more.",
        "Personal data in logs is masked by the logger's filter list in `logging.yml`, not by hand.",
    ),
}

_THINGS = (
    *(
        "orders",
        "checkout",
        "invoices",
        "coupons",
        "refunds",
        "login",
        "search",
        "webhooks",
        "images",
        "mails",
        "stock",
    ),
    *("deliveries", "prices", "carts", "users", "sessions", "exports", "imports", "workers", "deploys"),
    *("migrations", "releases", "translations", "payments"),
)
_SAYINGS = (
    "The {} page got a new layout in spring; the old one is gone.",
    "Tests about {} live in `tests/{}` and take the fixture `shop`.",
    "New behaviour of {} goes behind a flag first.",
    "Errors in {} are reported to the channel of the team that owns them.",
    "The dashboard for {} replaces the old one; ask for access if it is empty.",
    "Ada knows most about {}, Grace reviews.",
    "Documentation on {} is in the handbook, chapter {}.",
    "We talked about splitting {} into a service of their own and decided against it.",
    "Feature requests about {} come from support; answer within two days.",
    "The code of {} follows the same layout as everything else: models, views, jobs.",
)
_SECTIONS = ("Architecture", "Conventions", "Operations", "Pitfalls", "Decisions", "Testing")


def fill(root: Path) -> None:
    """Write the three documents."""
    random = Random(46)
    facts = [fact for pair in TASKS.values() for fact in pair]
    texts = facts + [saying.replace("{}", thing) for saying in _SAYINGS for thing in _THINGS]
    random.shuffle(texts)
    third = len(texts) // 3
    for number, (title, path) in enumerate(
        (
            ("Shared Knowledge", "agent-memory/shared/KNOWLEDGE.md"),
            ("Developer Memory", f"agent-memory/agents/{AGENT}/MEMORY.md"),
            ("Conversation", f"conversations/{CONVERSATION}/agent-memory/context.md"),
        )
    ):
        sections = cycle(_SECTIONS)
        lines = [f"# {title}"]
        for index, text in enumerate(texts[number * third : (number + 1) * third]):
            lines += ["", f"## {next(sections)}", ""] if index % 17 == 0 else []
            lines.append(f"- {text}")
        file = root / ".scaffolding" / path
        file.parent.mkdir(parents=True)
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")


def shares(root: Path, budgets: Sequence[int] = (4_000, 10_000)) -> Iterator[tuple[str, float]]:
    """Yield, for each way to give memory, the share of the needed facts that are given."""
    options = {"root": str(root), "environ": {}}
    with Root.open(str(root)) as opened:
        settings = load_settings(opened, {})
        actor = Actor(AGENT, CONVERSATION)
        for chars in budgets:
            start = recall_for_agent(AGENT, CONVERSATION, max_chars=chars, **options)
            yield f"{chars:,} characters, no task", _share(lambda _, start=start: start)
            yield (
                f"{chars:,} characters, with the task",
                _share(
                    lambda task, chars=chars: recall_for_agent(
                        AGENT, CONVERSATION, max_chars=chars, task=task, **options
                    )
                ),
            )
            yield (
                f"{chars:,} characters, no task, and 2,000 with the first prompt",
                _share(
                    lambda task, chars=chars, start=start: (
                        start + rest(opened, settings, actor, Budget(max_chars=chars), task, 2_000)
                    )
                ),
            )


def _share(given) -> float:
    needed = [fact in given(task) for task, facts in TASKS.items() for fact in facts]
    return sum(needed) / len(needed)


def main() -> None:
    """Measure, and print one line for each way."""
    parser = ArgumentParser(prog="python -m benchmarks.tasks", description="How much of what a task needs is given.")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    parser.add_argument("--quick", action="store_true", help="try one budget, to see that it runs")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="amp-benchmarks-") as name:
        fill(Path(name))
        found = dict(shares(Path(name), (4_000,) if arguments.quick else (4_000, 10_000)))
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(f"{share:6.1%}  {what}" for what, share in found.items()))


if __name__ == "__main__":
    main()
