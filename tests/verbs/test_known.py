"""What an earlier check knows: it saves work, and never hides a finding."""

import json
import os
import shutil
from datetime import date
from types import SimpleNamespace

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.learning import meet
from agent_memory_protocol.lint import excerpt, finding
from agent_memory_protocol.lint.notes import NoteView
from agent_memory_protocol.lint.tiers import TierView
from agent_memory_protocol.notes import note
from agent_memory_protocol.tiers import document
from agent_memory_protocol.verbs import known

TODAY = date(2026, 6, 1)
NOTE = ".scaffolding/agent-memory/shared/feedback_cache.md"
HEAD = "---\nname: cache\ndescription: {}\nmetadata:\n  type: feedback\n---\n\n"
CLEAN = HEAD.format("The cache of the shop") + "It is warm.\n\n**Why:** Slow.\n\n**How to apply:** Wait until it is.\n"
SECRET = CLEAN.replace("Wait until it is.", "password=Rj7kQ20Lq")
KEPT = ".scaffolding/.amp/checked.json"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(known, "_WORTH_IT", 1)
    workspace = Workspace.open(tmp_path / "project", environ={"HOME": str(tmp_path)})
    (workspace.path / ".git").mkdir(parents=True)
    workspace.remember("Deploys go through the pipeline.")
    write(workspace, CLEAN)
    workspace.index()
    return workspace


def write(workspace, text):
    (workspace.path / NOTE).write_text(text)


def check(workspace, path=None):
    place = path or workspace.path
    again = Workspace.open(place, environ={"HOME": str(workspace.path.parent)})
    return [one for one in again.check(today=TODAY) if one.rule != "review-due"]


def rules_of(found):
    return {one.rule for one in found}


def looked_at(monkeypatch, workspace, path=None):
    """Return the places of those texts of which a check looks at the text itself."""
    seen = []
    run = finding.run

    def noted(subject, view, place, selected):
        if "secret" in selected and subject in ("note", "tier"):
            seen.append(place)
        return run(subject, view, place, selected)

    monkeypatch.setattr(finding, "run", noted)
    check(workspace, path)
    monkeypatch.setattr(finding, "run", run)
    return seen


def test_a_second_check_looks_only_at_the_texts_that_have_changed(project, monkeypatch):
    assert NOTE in looked_at(monkeypatch, project)
    assert looked_at(monkeypatch, project) == []
    write(project, CLEAN.replace("warm", "cold"))
    assert looked_at(monkeypatch, project) == [NOTE]


def test_what_was_found_is_found_again(project):
    write(project, SECRET)
    first = check(project)
    assert "secret" in rules_of(first)
    assert check(project) == first == check(project)


def test_a_changed_file_of_the_same_size_and_time_is_looked_at(project):
    write(project, CLEAN.replace("Wait until it is.", "Wait till the end."))
    assert "secret" not in rules_of(check(project))
    before = (project.path / NOTE).stat()
    write(project, SECRET)
    os.utime(project.path / NOTE, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = (project.path / NOTE).stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert "secret" in rules_of(check(project))


def test_what_was_allowed_is_found_when_it_no_longer_is(project):
    write(project, SECRET)
    (secret,) = (one for one in check(project) if one.rule == "secret")
    settings = project.path / ".scaffolding" / "amp.toml"
    allowed = secret.message.partition("allow ")[2].split()[0]
    settings.write_text(f'[secrets]\nallow = ["{allowed}"]\n')
    assert "secret" not in rules_of(check(project))
    assert "secret" not in rules_of(check(project))
    settings.unlink()
    assert "secret" in rules_of(check(project))


def test_another_version_or_other_rules_know_nothing(project, monkeypatch):
    check(project)
    assert looked_at(monkeypatch, project) == []
    monkeypatch.setattr(known, "_program", lambda: "another version")
    assert NOTE in looked_at(monkeypatch, project)


def test_a_changed_file_of_the_program_is_another_version(tmp_path, monkeypatch):
    module = tmp_path / "package" / "lint" / "known.py"
    module.parent.mkdir(parents=True)
    module.write_text("1")
    monkeypatch.setattr(known, "__file__", str(module))
    before = known._program()
    assert known._program() == before
    os.utime(module, ns=(1, 1))
    assert known._program() != before
    module.unlink()
    assert known._program() != known._program(), "where no file can be seen, nothing is known"


def test_a_text_with_findings_is_not_looked_at_again(project, monkeypatch):
    write(project, SECRET)
    first = check(project)
    assert "secret" in rules_of(first)
    assert looked_at(monkeypatch, project) == []
    assert check(project) == first


def test_what_is_redacted_leaves_what_a_check_has_kept(project):
    done = project.remember("The build is green today, says Quixlow.")
    check(project)
    assert (project.path / KEPT).exists()
    project.redact([done.entry.id])
    assert not (project.path / KEPT).exists()


def test_an_excerpt_that_was_kept_is_the_one_that_was_read(corpus):
    for path in corpus:
        for target in (Target(Tier.SHARED), Target(Tier.CONVERSATION, "2026-06-01")):
            read = excerpt.of(document.parse(path.read_bytes(), target))
            assert excerpt.from_json(json.loads(json.dumps(read.to_json()))) == read, path


def test_a_copied_folder_is_not_believed(project, monkeypatch):
    check(project)
    copy = project.path.parent / "copy"
    shutil.copytree(project.path, copy)
    assert NOTE in looked_at(monkeypatch, project, copy)


def test_a_forged_file_hides_nothing(project):
    """A pull can bring it, even with what another checkout has sealed."""
    write(project, SECRET)
    text = (project.path / NOTE).read_text()
    allowed = ()
    base = _base_of(project, allowed)
    digest = known.digest_of(base, "note", NOTE, "", text)
    line = f'{{"base":"{base}","texts":{{"{digest}":[[],null]}},"met":{{}}}}'
    kept = project.path / KEPT
    for forged in (
        line,
        line[:-1] + ',"seal":"' + 32 * "0" + '"}',
        "[]",
        "{",
        "\x00",
        f'{{"base":"{base}","texts":1}}',
    ):
        kept.write_text(forged + "\n")
        assert "secret" in rules_of(check(project)), forged
    _seal(project, line)
    assert "secret" not in rules_of(check(project)), "the digest is the right one: it is the seal that decides"


def test_what_is_kept_in_another_shape_is_thrown_away(project):
    """No value in it ends a check, though this checkout itself has sealed it."""
    write(project, SECRET)
    project.remember("The mail worker needs Redis.")
    project.remember("The mail worker does not need Redis. `src/mail.py` is [until 2031-01-01] its place.")
    check(project)
    kept = json.loads((project.path / KEPT).read_text())
    kept.pop("seal", None)
    tried = 0
    for place in [*_places_in(kept)]:
        for text in ("null", "7", "[[]]", str(10**30)):
            _seal(project, json.dumps(_with(kept, place, json.loads(text))))
            assert isinstance(check(project), list), (place, text)
            tried += 1
    assert tried > 100


def _places_in(value, place=()):
    yield place
    within = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in within:
        yield from _places_in(one, (*place, name))


def _with(value, place, other):
    if not place:
        return other
    copy = value.copy()
    copy[place[0]] = _with(value[place[0]], place[1:], other)
    return copy


def _base_of(workspace, allowed):
    from agent_memory_protocol.disk.files import Root

    with Root.open(str(workspace.path)) as root:
        return known.Known(root, finding.select(), allowed)._base


def _seal(workspace, line):
    from agent_memory_protocol.disk.files import Root
    from agent_memory_protocol.project import local_state

    with Root.open(str(workspace.path)) as root:
        (workspace.path / KEPT).write_bytes(local_state.find(root).seal(f"{line}\n".encode()))


def test_where_nothing_can_be_kept_the_check_says_the_same(project):
    write(project, SECRET)
    expected = check(project)
    (project.path / KEPT).unlink(missing_ok=True)
    (project.path / KEPT).mkdir()
    assert check(project) == expected == check(project)


def test_a_project_without_local_state_gets_none(tmp_path, monkeypatch):
    monkeypatch.setattr(known, "_WORTH_IT", 1)
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    (tmp_path / NOTE).parent.mkdir(parents=True)
    write(workspace, CLEAN)
    check(workspace)
    assert not (tmp_path / ".scaffolding" / ".amp").exists()


def test_facts_that_disagree_are_told_each_time_and_no_longer_when_one_has_changed(project):
    project.remember("The mail worker needs Redis.")
    project.remember("The mail worker does not need Redis.")
    first = check(project)
    assert sum(one.rule.startswith("tier-") for one in first) >= 1
    assert check(project) == first
    shared = next((project.path / ".scaffolding/agent-memory/shared").glob("[KM]*.md"))
    shared.write_text(shared.read_text().replace("does not need Redis", "does not need Kafka"))
    assert check(project) != first
    shared.write_text(shared.read_text().replace("does not need Kafka", "does not need Redis"))
    assert check(project) == first


def test_a_rule_about_one_text_asks_for_nothing_else(corpus):
    """A rule that reads the day, a limit or another file must run each time."""
    parts = {"tier": {"document", "allowed", "entries", "datable"}, "note": {"note", "text", "allowed", "is_part"}}
    views: list[tuple[str, TierView | NoteView]] = []
    for path in corpus[:150]:
        data = path.read_bytes()
        for target in (Target(Tier.SHARED), Target(Tier.CONVERSATION, "2026-06-01")):
            read = document.parse(data, target)
            views.append(("tier", TierView(read, excerpt.of(read), lambda: "# A\n", 150, 9_000, 1)))
        text = data.decode("utf-8", "replace")
        views.append(("note", NoteView(note.parse(text, "feedback_a.md"), frozenset())))
    count = 0
    for subject, view in views:
        only = SimpleNamespace(**{name: getattr(view, name) for name in parts[subject]})
        for rule_id in sorted(known.OF_ONE_TEXT[subject]):
            if rule_id in ("secret", "belongs-state", "belongs-repository"):
                continue  # these ask which kind of view it is; see the next test
            count += len(list(finding.RULES[rule_id].check(only)))
    assert count > 50


def test_what_secrets_and_belonging_find_depends_on_the_text_alone():
    read = document.parse(
        b"# A\n\n- The build is green today.\n- password=Rj7kQ20Lq\n- The tests live in tests/unit.\n",
        Target(Tier.SHARED),
    )
    views = [
        TierView(read, excerpt.of(read), lambda: "# A\n", lines, 100 * lines, lines, {"a": "b"}, {}, {"a": ("b", ())})
        for lines in (1, 900)
    ]
    for rule_id in ("secret", "belongs-state", "belongs-repository"):
        one, other = (list(finding.RULES[rule_id].check(view)) for view in views)
        assert one == other


def test_each_rule_is_kept_under_a_name_that_is_one():
    for subject, rules in known.OF_ONE_TEXT.items():
        assert all(subject in finding.RULES[one].subject.split() for one in rules)


def test_a_plain_line_of_a_note_says_what_its_document_would_say(corpus):
    """The quick look changes nothing in the line; a mark, a date or a label must not get past it."""
    lines = {
        line.lstrip("-*+#>0123456789.) \t").strip()
        for path in corpus
        for line in path.read_text("utf-8", "replace").split("\n")
    }
    odd = [
        "Rules:",
        "Done (2026-03-09)",
        "Done (2026-03-09).",
        "A [keep] b",
        "a\nb",
        "x | y",
        "a <!-- b --> c",
        "Fact \\",
        "May 4: no",
    ]
    target = Target(Tier.SHARED)
    plain = 0
    for line in [*lines, *odd]:
        page = document.parse(line.encode(), target)
        assert meet._said(line, target) == [*map(page.alone, page.outline.entries)], line
        plain += meet._PLAIN_LINE.fullmatch(line) is not None
    assert 4 * plain > len(lines)
