"""`amp record`: the records of the project, or of any memory directory."""

import os
import sys
from collections.abc import Collection, Iterator
from dataclasses import asdict
from datetime import datetime

import click

from .. import settle
from ..errors import InvalidArgument
from ..postgresql.address import is_address
from ..records.proof import Checked, is_forged
from ..records.rank import label_of
from ..records.record import LIVE, WRITTEN, Record, RecordType, State, came_disputed, until_of
from ..records.signing import Identity, check_address
from ..secrets.mask import masked_lines
from ..text.moments import parse_time
from ..text.phrases import counted
from .options import Call, TextCommand, problems_in_settings
from .printing import first_words, note, plain
from .record_options import check_store, identity_option, open_memory, record_options, shown_store
from .record_store import init_store_command
from .write import read_text

_WIDTH = 72
_NO_RECORDS = "there are no records yet; `amp record remember TEXT` writes one, and `amp import FILE` brings some in"

reason_option = click.option("--reason", required=True, metavar="R", help="Why; kept with the record.")

_why_option = click.option(
    "--reason", default=settle.BY_HAND, metavar="R", help="Why; kept with the record. Default: decided by hand."
)


@click.group("record")
def record_command() -> None:
    """Remember, list, show, decide, redact, verify and sign records.

    \b
    Example:
        amp record remember "The API speaks HTTP/2."
    """


record_command.add_command(init_store_command)


@record_command.command("list")
@click.option("--state", type=click.Choice([state.value for state in State]), help="Only records in this state.")
@click.option("--type", "record_type", type=click.Choice([one.value for one in RecordType]), help="Only this type.")
@click.option("--tag", metavar="T", help="Only records with this tag.")
@record_options
def list_command(call: Call, state: str | None, record_type: str | None, tag: str | None, store: str | None) -> None:
    """List records, oldest first: id, state, type, day, text.

    \b
    Example:
        amp record list --state transitional
    """
    memory = open_memory(call, store)
    found = memory.records(
        state=State(state) if state else None, type=RecordType(record_type) if record_type else None, tag=tag
    )
    call.answer(
        {"records": [record.to_json() for record in found]},
        (
            f"{one.id}  {one.state:<12}  {one.type:<9}  {one.created_at.astimezone().date()}  {short(one)}"
            for one in found
        ),
    )
    if not call.as_json and not found and (store is not None or not problems_in_settings(call.workspace())):
        note("there are no such records" if state or record_type or tag else _NO_RECORDS)


@record_command.command("show")
@click.argument("record_id", metavar="ID")
@record_options
def show_command(call: Call, record_id: str, store: str | None) -> None:
    """Show the newest version of a record.

    The beginning of its id is enough.

    \b
    Example:
        amp record show mem:7b391eb3
    """
    memory = open_memory(call, store)
    versions = memory.history(memory.find_id(record_id))
    call.answer(
        {"record": versions[-1].to_json(), "versions": len(versions)},
        [*_about(versions[-1]), f"versions    {len(versions)}"],
    )


@record_command.command("history")
@click.argument("record_id", metavar="ID")
@record_options
def history_command(call: Call, record_id: str, store: str | None) -> None:
    """Show every version of a record, oldest first.

    Each line has the time, the state, the reason and the signer. Then follow the records that it replaced and that
    replaced it, oldest first.

    \b
    Example:
        amp record history mem:7b391eb3
    """
    memory = open_memory(call, store)
    versions = memory.history(memory.find_id(record_id))
    said = [f"{versions[-1].id}  {short(versions[-1])}"]
    for number, version in enumerate(versions, start=1):
        signed = f"  signed by {version.signed_by}" if version.signed_by else ""
        said.append(f"{number:>3}  {_moment(version.updated_at)}  {_state(version)}{signed}")
    chain = memory.chain(versions[-1].id)
    own = versions[-1].id
    if any(one.supersedes for one in chain):
        said += [f"{'*' if one.id == own else ' '}  {one.id}  {_state(one)}  {short(one)}" for one in chain]
    answer = {
        "id": own,
        "versions": [version.to_json() for version in versions],
        "chain": [{"id": one.id, "state": one.state.value, "text": one.body} for one in chain],
    }
    call.answer(answer, said)
    if versions[-1].superseded_by and not call.as_json:
        later = chain[[one.id for one in chain].index(own) :]
        holds = [one.id for one in later if one.state in LIVE]
        note(f"what holds in its place: {' and '.join(holds) or 'nothing'}")


@record_command.command("remember", cls=TextCommand)
@click.argument("text")
@click.option("--replaces", metavar="ID", help="The record that no longer holds; the new one replaces it.")
@click.option("--tag", "tags", multiple=True, metavar="T", help="A tag, repeatable.")
@click.option("--source", metavar="S", help="Its source: a URL, a session id or user.")
@click.option(
    "--type", "record_type", type=click.Choice(WRITTEN), help="What it is. Default: fact. An episode is an event."
)
@click.option("--time", metavar="T", help="When the event happened: YYYY-MM-DD or 2026-01-31T09:30:00Z.")
@identity_option
@record_options
def remember_command(
    call: Call,
    text: str,
    replaces: str | None,
    tags: tuple[str, ...],
    source: str | None,
    record_type: str | None,
    time: str | None,
    identity: str | None,
    store: str | None,
) -> None:
    """Save TEXT as a record. `-` reads the text from stdin.

    If a record says it already, amp counts it as used and adds the tags. An event that happens at another time, or that
    another source tells of, is another record: `amp consolidate` makes a rule of three.

    \b
    Examples:
        amp record remember "The API is on port 9090." --replaces mem:4783496e
        amp record remember "The deploy failed." --type episode --time 2026-03-01
        amp record remember "Staging moved." --store postgresql://db/memory
    """
    memory = open_memory(call, store, identity)
    retired = None if replaces is None else memory.find_id(replaces)
    happened = None if time is None else parse_time(time)
    kept = memory.remember(read_text(text), tags=tags, source=source, replaces=retired, type=record_type, time=happened)
    said = [f"{'remembered' if kept.new else 'known already'}: {kept.record_id}"]
    call.answer(
        {"id": kept.record_id, "new": kept.new, "replaced": retired},
        said if retired is None else [*said, f"retired: {retired}"],
    )
    for line in kept.notes:
        note(line)


@record_command.command("dispute")
@click.argument("one", metavar="ID")
@click.argument("other", metavar="ID")
@_why_option
@identity_option
@record_options
def dispute_command(call: Call, one: str, other: str, reason: str, identity: str | None, store: str | None) -> None:
    """Mark two records as disputed with each other.

    Recall shows both with their marks, until `amp record resolve` decides. Running it again changes nothing.

    \b
    Example:
        amp record dispute mem:4783496e mem:e620a3a8 --reason "the wiki differs"
    """
    memory = open_memory(call, store, identity)
    sides = memory.dispute(memory.find_id(one), memory.find_id(other), reason)
    call.answer(
        {"records": [side.to_json() for side in sides]}, [f"disputed: {side.id}  {short(side)}" for side in sides]
    )


@record_command.command("resolve")
@click.argument("loser", metavar="LOSER")
@click.argument("winner", metavar="WINNER")
@reason_option
@identity_option
@record_options
def resolve_command(call: Call, loser: str, winner: str, reason: str, identity: str | None, store: str | None) -> None:
    """Decide between two records.

    WINNER replaces LOSER, which stays readable. The two need not be in dispute.

    \b
    Example:
        amp record resolve mem:4783496e mem:e620a3a8 --reason "moved in March"
    """
    memory = open_memory(call, store, identity)
    lost, won = settle.decide(memory, memory.find_id(loser), memory.find_id(winner), reason)
    call.answer(
        {"winner": won.to_json(), "loser": lost.to_json()},
        [f"holds: {won.id}  {short(won)}", f"{lost.state}: {lost.id}  {short(lost)}"],
    )


@record_command.command("archive")
@click.argument("record_id", metavar="ID")
@_why_option
@identity_option
@record_options
def archive_command(call: Call, record_id: str, reason: str, identity: str | None, store: str | None) -> None:
    """Archive a record: recall leaves it out from now on.

    It stays readable, and `amp record reactivate` brings it back.

    \b
    Example:
        amp record archive mem:4783496e --reason "the service is gone"
    """
    memory = open_memory(call, store, identity)
    record = memory.archive(memory.find_id(record_id), reason)
    call.answer({"record": record.to_json()}, [f"archived: {record.id}  {short(record)}"])


@record_command.command("reactivate")
@click.argument("record_id", metavar="ID")
@_why_option
@identity_option
@record_options
def reactivate_command(call: Call, record_id: str, reason: str, identity: str | None, store: str | None) -> None:
    """Bring back a record that was archived or replaced.

    The old record does not change. amp creates a new record that says the same and names the old one, and prints the
    new id.

    \b
    Example:
        amp record reactivate mem:4783496e
    """
    memory = open_memory(call, store, identity)
    found = memory.find_id(record_id)
    record = memory.reactivate(found, reason)
    call.answer({"record": record.to_json()}, [f"holds again: {record.id}  {short(record)}"])
    for line in memory.meets([record.id]):
        note(line)


@record_command.command("redact")
@click.argument("record_id", metavar="ID")
@reason_option
@record_options
def redact_command(call: Call, record_id: str, reason: str, store: str | None) -> None:
    """Delete the content of a record for good.

    The content leaves every version and every index. The record's id and links stay. Other records do not change; amp
    names those that have its words or were made of it.

    \b
    Example:
        amp record redact mem:4783496e --reason "a door code"
    """
    memory = open_memory(call, store)
    found = memory.find_id(record_id)
    echoes = memory.echoes(found)
    redacted = memory.redact(found, reason)
    saying, resting = ([record.id for record in records] for records in (echoes.saying, echoes.resting))
    call.answer(
        {"record": redacted.to_json(), "same_text": saying, "rest_on_it": resting}, [f"redacted: {redacted.id}"]
    )
    if not call.as_json:
        for other in saying:
            note(f"{other} has its words too; redact it as well if they must go")
        for other in resting:
            note(f"{other} was made of it or rests on it; see what it says")
        note("git's history and backups may still hold it")


@record_command.command("verify")
@click.argument("place", metavar="[FILE|DIR|URL]", required=False)
@click.option(
    "--signer", "signers", multiple=True, metavar="ADDRESS", help="An address that must have signed; repeatable."
)
@click.option("--identity", metavar="FILE", help="An identity file whose key must have signed.")
@record_options
def verify_command(
    call: Call, place: str | None, signers: tuple[str, ...], identity: str | None, store: str | None
) -> None:
    """Verify every version of every record.

    It checks bytes, ids, order, signatures and what records say of each other. It notices a store that was rolled back,
    if this machine has seen a newer version. At the end it says what it cannot prove. Exit code 4: something does not
    verify.

    It takes a memory directory, an SQLite file, a memory file or a server. With --signer, an address such as
    amp:key:…, the newest version of each record must have that signature.

    \b
    Examples:
        amp record verify --store ./memory
        amp record verify handover.amem.json --signer amp:key:6MkhaXgBZDvotDkL
    """
    owners = {*signers, *([] if identity is None else [Identity.load(identity).address])}
    for one in owners:
        check_address(one)
    if place is not None and store is not None:
        raise InvalidArgument(f"name {shown_store(place)} or --store {shown_store(store)}, not both")
    checked = _check(call, place or store, owners)
    sound = "not everything verifies" if checked.problems else "everything verifies"
    versions = f"{counted(checked.versions, 'version')}, {checked.signed} of them signed"
    summary = f"{sound}: {counted(checked.records, 'record')} in {versions}"
    call.answer(asdict(checked), [*map(plain, checked.problems), summary])
    if not call.as_json:
        for one in checked.unproved if checked.records and not checked.problems else ():
            note(f"not proved: {one}")
    sys.exit(4 if checked.problems else 0)


def _check(call: Call, place: str | None, owners: Collection[str]) -> Checked:
    """Verify what is at a place.

    Raises:
        InvalidArgument: there is nothing, or it is neither a store nor a memory file.
    """
    from ..exchange.verify import check_file, is_database, is_memory_file

    if place is None or is_address(place):
        return open_memory(call, place).check(owners=owners)
    if not os.path.lexists(place):
        raise InvalidArgument(f"{place!a} does not exist, so nothing in it can be verified; name a memory directory")
    if os.path.isfile(place) and not is_database(place):
        if not is_memory_file(place):
            raise InvalidArgument(f"{place!a} is neither a store nor a memory file; nothing in it can be verified")
        return check_file(place, owners=owners)
    return open_memory(call, check_store(place)).check(owners=owners)


@record_command.command("sign")
@click.argument("record_ids", nargs=-1, metavar="[ID]...")
@click.option("--identity", required=True, metavar="FILE", help="The identity file to sign with; created if missing.")
@record_options
def sign_command(call: Call, record_ids: tuple[str, ...], identity: str, store: str | None) -> None:
    """Sign the named records, or all unsigned ones.

    Each gets a new version with a signature.

    \b
    Example:
        amp record sign --identity agent.key
    """
    unsigned = open_memory(call, store)
    ids = [unsigned.find_id(one) for one in record_ids]
    is_new = not os.path.lexists(identity)
    signed = open_memory(call, store, identity).sign(ids)
    if is_new:
        note(f"{identity} is a new identity; keep it to yourself")
    said = [f"signed: {record.id}  {short(record)}" for record in signed]
    call.answer({"records": [record.to_json() for record in signed]}, said or ["there is nothing to sign"])


def _about(record: Record) -> Iterator[str]:
    rows = [
        ("id", record.id),
        ("type", record.type.value),
        ("state", _state(record)),
        ("confidence", f"{record.confidence:.4f}"),
        ("happened", _moment(record.occurred_at) if record.occurred_at else ""),
        ("created", _moment(record.created_at)),
        ("updated", _moment(record.updated_at)),
        ("from", " ".join(filter(None, [record.provenance.kind, record.provenance.ref, record.provenance.agent]))),
        ("tags", ", ".join(record.tags)),
        ("evidence", ", ".join(record.evidence)),
        ("replaces", record.supersedes or ""),
        ("replaced by", record.superseded_by or ""),
        ("disputed with", " and ".join(record.transition.sides) if record.transition else ""),
        ("disputed", "where it came from" if came_disputed(record) else ""),
        ("holds until", until_of(record)),
        ("signed by", _signer(record)),
    ]
    for name, value in rows:
        if value:
            yield f"{name:<14}{value}"
    yield ""
    for line in masked_lines([record.body]):
        yield f"    {line}"
    yield ""


def _moment(moment: datetime) -> str:
    return moment.astimezone().isoformat(sep=" ", timespec="seconds")


def _signer(record: Record) -> str:
    if is_forged(record):
        return f"{record.signed_by or 'nobody'}, but the signature does not verify"
    return record.signed_by or ""


def _state(record: Record) -> str:
    reason = record.redaction_reason or record.state_reason
    if record.transition is not None:
        reason = record.transition.reason
    flagged = f"flagged, {record.flag_reason or 'its evidence is gone'}" if record.flagged else ""
    why = plain("; ".join(filter(None, [reason, flagged])))
    return f"{record.state}: {why}" if why else str(record.state)


def short(record: Record) -> str:
    """Return what a record is about and the beginning of what it says, on one line."""
    label = label_of(record)
    return first_words(f"{label}: {record.body}" if label else record.body, _WIDTH)
