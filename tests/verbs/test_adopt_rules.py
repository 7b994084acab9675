"""`amp adopt .` brings in the rules that people have written for coding agents: every sentence arrives or is named."""

import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.learning.rules_files import FILES, FOLDERS, LINE, read

TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / ".scaffolding").mkdir()
    return Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def run(workspace, *args):
    done = CliRunner().invoke(amp, ["adopt", *args, "--root", str(workspace.path)], env={"AMP_AGENT": None})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def told(workspace):
    """Return each entry with its heading, its label and its source."""
    return {one.text: (one.section, one.label, one.about.source) for one in workspace.entries()}


PLACES = [*(name for name in FILES if name != ".clinerules"), *(f"{folder}/x.md" for folder in FOLDERS)]


@pytest.mark.parametrize("place", PLACES)
def test_rules_become_entries_under_their_headings_and_labels(workspace, tmp_path, place):
    write(tmp_path, {place: "# Rules\n\n## Commands\n\n- Run `make`.\n\nNever:\n\n- push to main\n"})
    assert run(workspace, str(tmp_path), "--apply")[0] == 0
    assert told(workspace) == {
        "- Run `make`.": ("Commands", "", place),
        "- push to main": ("Commands", "Never:", place),
    }
    assert run(workspace, str(tmp_path), "--apply")[1].endswith("nothing to import\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "header", "heading"),
    [
        (".cursor/rules/ts.mdc", 'description: TypeScript\nglobs: "**/*.ts"', "TypeScript (**/*.ts)"),
        (".cursor/rules/ts.mdc", "description: TypeScript\nglobs:\n  - a.ts\n  - b.ts", "TypeScript (a.ts, b.ts)"),
        (
            ".github/instructions/py.instructions.md",
            'applyTo: "**/*.py"',
            ".github/instructions/py.instructions.md (**/*.py)",
        ),
        (".claude/rules/api.md", 'paths: "src/api/**"', ".claude/rules/api.md (src/api/**)"),
        (".cursor/rules/all.mdc", "description: All\nalwaysApply: true", "All"),
    ],
)
def test_the_files_that_rules_are_for_stand_in_their_heading(workspace, tmp_path, path, header, heading):
    write(tmp_path, {path: f"---\n{header}\n---\n\n- Be strict.\n"})
    run(workspace, str(tmp_path), "--apply")
    assert told(workspace) == {"- Be strict.": (heading, "", path)}


def test_rules_of_a_subfolder_are_for_it_alone(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": "- Use tabs.\n", "web/CLAUDE.md": "# Web\n\n- Use spaces.\n"})
    run(workspace, str(tmp_path), "--apply")
    assert told(workspace)["- Use spaces."] == ("Web (web/**)", "", "web/CLAUDE.md")


def test_a_long_section_becomes_a_note_and_the_short_ones_stay_entries(workspace, tmp_path):
    items = "".join(f"- Step {number} of the release.\n" for number in range(60))
    write(tmp_path, {"AGENTS.md": f"# A\n\n## Release\n\n{items}\n## Style\n\n- Be brief.\n"})
    run(workspace, str(tmp_path), "--apply")
    assert list(told(workspace)) == ["- Be brief."]
    (note,) = workspace.notes()
    assert note.is_listed
    assert all(f"Step {number} of" in workspace.show_note(note.file)[1] for number in range(60))


def test_files_that_rules_include_come_in_with_them_and_others_are_named(workspace, tmp_path):
    files = {
        "CLAUDE.md": "- Mine.\n\n@docs/more.md\n- @docs/last.md\n@../outside.md\n\n```\n@docs/code.md\n```\n",
        "docs/more.md": "## More\n\n- Included.\n\n@../CLAUDE.md\n",
        "docs/last.md": "- Last.\n",
        "docs/code.md": "- No import.\n",
    }
    write(tmp_path, files)
    code, answer = run(workspace, str(tmp_path), "--apply")
    assert {"- Mine.", "- Included.", "- Last."} <= set(told(workspace))
    assert "- No import." not in told(workspace)
    assert told(workspace)["- Included."][2] == "docs/more.md"
    assert (code, "includes @../outside.md, which is not a file of this project" in answer) == (3, True)


def test_a_file_that_a_sentence_names_as_an_import_comes_in_with_the_sentence(workspace, tmp_path):
    files = {
        "CLAUDE.md": "- For releases see @docs/releases.md.\n- Ask ops@docs/mail.md or @no.md.\n- `@docs/code.md`\n",
        "docs/releases.md": "- Tag from main.\n",
        "docs/mail.md": "- No import.\n",
        "docs/code.md": "- No import.\n",
    }
    write(tmp_path, files)
    assert run(workspace, str(tmp_path), "--apply")[0] == 0
    assert {"- For releases see @docs/releases.md.", "- Tag from main."} <= set(told(workspace))
    assert "- No import." not in told(workspace)


def test_a_hostile_line_of_a_rules_file_is_read_at_once():
    for line in ("`" * 100_000, "`a " * 30_000, "@a." * 30_000, "@" + "a/" * 30_000):
        assert read(f"- x {line}\n", "CLAUDE.md").mentions == ()


def test_a_page_that_is_named_comes_in_as_entries_and_one_with_a_header_as_a_note(workspace, tmp_path):
    write(tmp_path, {"CONVENTIONS.md": "# House\n\n- Use tabs.\n", "one.md": "---\nname: one\n---\n\nA fact.\n"})
    run(workspace, str(tmp_path / "CONVENTIONS.md"), str(tmp_path / "one.md"), "--apply")
    assert [*told(workspace)] == ["- Use tabs."]
    assert [note.file for note in workspace.notes()] == ["reference_one.md"]


@pytest.mark.slow
def test_a_few_files_that_say_what_memory_says_are_named_and_many_are_counted(tmp_path):
    for files in (3, 4):
        root = tmp_path / str(files)
        (root / ".scaffolding").mkdir(parents=True)
        write(root, {f"{'x' * n}/CLAUDE.md": f"- Rule {n} of them.\n" for n in range(1, files + 1)})
        _, answer = run(Workspace.open(root, environ={"HOME": str(root)}), str(root), "--apply")
        assert answer.count("read these facts twice") == (files if files == 3 else 0)
        assert ("read the facts of 4 rules files twice" in answer) == (files == 4)


def test_what_two_files_say_comes_in_once_and_what_they_contradict_comes_first(workspace, tmp_path):
    write(
        tmp_path,
        {
            "CLAUDE.md": "## Style\n\n- The worker needs Redis.\n- Run the tests.\n- [2020-01-01] The audit is on.\n",
            "AGENTS.md": "## Style\n\n- Run the tests.\n- The worker does not need Redis.\n",
        },
    )
    code, answer = run(workspace, str(tmp_path))
    lines = answer.splitlines()
    assert (code, lines[2]) == (0, "? old, is it still true? - [2020-01-01] The audit is on.")
    assert lines[:2] == ["? - The worker does not need Redis.", "    contradicts  - The worker needs Redis."]
    run(workspace, str(tmp_path), "--apply")
    assert sum(one.text == "- Run the tests." for one in workspace.entries()) == 1


@pytest.mark.parametrize(
    ("first", "second", "there"),
    [
        pytest.param("Payments", "Orders", ["Payments", "Orders"], id="two-subjects"),
        pytest.param("Payments: Limits", "Orders: Limits", ["Payments: Limits", "Orders: Limits"], id="one-word-alike"),
        pytest.param("Payments: Limits", "Limits", ["Payments: Limits", "Limits"], id="a-part-and-then-the-whole"),
        pytest.param("Limits", "Payments: Limits", ["Limits"], id="the-whole-and-then-a-part"),
        pytest.param("Testing", "Tests", ["Testing"], id="other-form"),
        pytest.param("Testing", "Testing Guidelines", ["Testing"], id="no-more-said"),
        pytest.param("Notes", "Orders", ["Notes"], id="nothing-said"),
        pytest.param("Orders", "orders", ["Orders"], id="other-case"),
    ],
)
def test_one_text_about_two_subjects_comes_in_for_each(workspace, tmp_path, first, second, there):
    for file, heading in (("CLAUDE.md", first), ("AGENTS.md", second)):
        write(tmp_path, {file: f"## {heading}\n\n- The timeout is 30 s.\n- x\n"})
    for _ in range(2):
        run(workspace, str(tmp_path), "--apply")
        said = [one.section for one in workspace.entries() if one.text == "- The timeout is 30 s."]
        assert said == there


def test_what_has_expired_here_is_named_and_is_not_said_to_be_here(workspace, tmp_path):
    workspace.remember("Deploys are frozen.", section="Release", until=date(2020, 1, 1), today=date(2019, 1, 1))
    workspace.remember("CI runs on ARM.", section="Release", until=date(2999, 1, 1))
    write(tmp_path, {"CLAUDE.md": "## Release\n\n- Deploys are frozen.\n- CI runs on ARM.\n"})
    before = [one.text for one in workspace.entries()]
    code, answer = run(workspace, str(tmp_path), "--apply")
    assert (code, answer.count("here already")) == (3, 1)
    assert "CLAUDE.md:3: expired here on 2020-01-01; if it is true again, say it with `amp remember`" in answer
    assert [one.text for one in workspace.entries()] == before


def test_many_old_entries_do_not_push_the_plan_off_the_screen(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": "## Log\n\n" + "".join(f"- [2020-01-01] Event {n}.\n" for n in range(20))})
    _, answer = run(workspace, str(tmp_path))
    lines = answer.splitlines()
    assert sum(line.startswith("? old, ") for line in lines) == 8
    assert "? and 12 more old entries; once they are imported, `amp review` lists them" in lines
    assert len(lines) < 24


@pytest.mark.slow
def test_files_of_one_name_that_do_not_fit_all_come_in(workspace, tmp_path):
    """The first fill the document, and notes get lines of an index in it, which the plan of the later cannot know."""
    sizes = {"a": 45, "b": 37, "c": 37, "d": 37, "e": 37, "f": 29, "g": 9}
    facts = {f"{name}/AGENTS.md": [f"Fact {n} of {name}." for n in range(size)] for name, size in sizes.items()}
    files = {path: f"# {path[0]}\n\n" + "".join(f"- {fact}\n" for fact in said) for path, said in facts.items()}
    write(tmp_path, files)
    assert run(workspace, str(tmp_path), "--apply")[0] == 0
    kept = "\n".join(one.read_text() for one in (tmp_path / ".scaffolding").rglob("*.md"))
    assert [fact for said in facts.values() for fact in said if f"- {fact}\n" not in kept] == []
    assert len(workspace.notes()) > 1
    assert run(workspace, str(tmp_path), "--apply")[1].endswith("nothing to import\n")


def test_what_a_rule_is_about_comes_in_beside_its_title(workspace, tmp_path):
    header = "---\ndescription: Read this before you write a test.\n---\n"
    write(tmp_path, {".cursor/rules/t.mdc": f"{header}# Testing\n\nWe use pytest.\n\n## Names\n\n- Say what.\n"})
    run(workspace, str(tmp_path), "--apply")
    assert told(workspace) == {
        "Read this before you write a test.\n\nWe use pytest.": ("Testing", "", ".cursor/rules/t.mdc"),
        "- Say what.": ("Testing: Names", "", ".cursor/rules/t.mdc"),
    }


def test_a_section_says_what_its_page_is_about_where_the_title_says_so(workspace, tmp_path):
    """Two pages with a section Rules: without their titles, nobody knows whose port is meant."""
    page = "# {}\n\n## Rules\n\n- Use port {}.\n\n## {} limits\n\n- At most {} connections.\n"
    files = {
        ".cursor/rules/redis.mdc": page.format("**Redis**", 6380, "Redis", 10),
        "docs/postgres.md": page.format("Postgres", 5433, "Pool", 50),
        "CLAUDE.md": "# Shop\n\n## Rules\n\n- Ask first.\n\n@docs/postgres.md\n",
        ".claude/rules/all.md": "# Project Rules\n\n## Commits\n\n- Sign them.\n",
        ".claude/rules/lint.md": "# Lint\n\n## Fixes\n\n### 1. Types\n\n"
        + "".join(f"- Step {n} of lint.\n" for n in range(60))
        + "\n### 2. Names\n\n- Ask.\n",
    }
    write(tmp_path, files)
    answer = run(workspace, str(tmp_path), "--apply")[1]
    assert "has another value" not in answer
    assert {text: section for text, (section, *_) in told(workspace).items()} == {
        "- Ask first.": "Rules",
        "- Sign them.": "Commits",
        "- Use port 5433.": "Postgres: Rules",
        "- At most 50 connections.": "Postgres: Pool limits",
        "- Use port 6380.": "Redis: Rules",
        "- At most 10 connections.": "Redis limits",
    }
    assert [note.description for note in workspace.notes()] == ["Lint: Fixes: Types, Names"]


def test_a_page_without_a_title_is_named_by_its_header_or_its_file(workspace, tmp_path):
    section = "## Rules\n\n- Use port {}.\n"
    files = {
        ".cursor/rules/redis-cache.mdc": section.format(1),
        ".cursor/rules/kafka.mdc": "Kafka\n=====\n\nRules\n-----\n\n- Use port 2.\n\n```\nNo\n---\n```\n",
        ".cursor/rules/a.mdc": f"---\ndescription: How we run MySQL\n---\n\n{section.format(3)}",
        ".cursor/rules/shop.mdc": f"---\ndescription: Read this before you change a table.\n---\n{section.format(4)}",
        ".kiro/steering/c.md": f"---\ntitle: Mongo\ninclusion: always\n---\n\n{section.format(5)}",
        "AGENTS.md": section.format(6),
    }
    write(tmp_path, files)
    run(workspace, str(tmp_path), "--apply")
    assert {text: section for text, (section, *_) in told(workspace).items() if text.startswith("- Use")} == {
        "- Use port 1.": "redis cache: Rules",
        "- Use port 2.": "Kafka: Rules",
        "- Use port 3.": "How we run MySQL: Rules",
        "- Use port 4.": "shop: Rules",
        "- Use port 5.": "Mongo: Rules",
        "- Use port 6.": "Rules",
    }
    assert "```\nNo\n---\n```" in (tmp_path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md").read_text()


def test_a_line_that_only_says_what_a_rules_file_is_for_stays_out(workspace, tmp_path):
    line = "This file provides guidance to Claude Code (claude.ai/code) when working with code in this repository."
    write(tmp_path, {"CLAUDE.md": f"# CLAUDE.md\n\n{line}\n\n## Style\n\n- {line}\n- Use tabs.\n"})
    assert run(workspace, str(tmp_path), "--link", "--apply")[0] == 0
    assert list(told(workspace)) == [f"- {line}", "- Use tabs."]
    assert "CLAUDE.md" not in (tmp_path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md").read_text()


def test_lines_that_set_sections_off_stay_out_and_come_in_no_second_time(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": "# A\n\n---\n\n## B\n\n- One.\n\n---\n\n## C\n\nTitled\n---\n\n- Two.\n\n---\n"})
    run(workspace, str(tmp_path), "--apply")
    page = (tmp_path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md").read_text()
    assert page.count("---\n") == 0
    assert "## Titled\n\n- Two.\n" in page
    assert run(workspace, str(tmp_path), "--apply")[1].endswith("nothing to import\n")


def test_rules_come_in_in_the_order_of_their_files(workspace, tmp_path):
    write(tmp_path, {"AGENTS.md": "## A\n\n- One.\n\n## B\n\n- Two.\n", "web/AGENTS.md": "# W\n\n- Three.\n"})
    run(workspace, str(tmp_path), "--apply")
    assert list(told(workspace)) == ["- One.", "- Two.", "- Three."]


def test_another_value_is_named_first_and_comes_in_above_a_label(workspace, tmp_path):
    fact = "- `make test` needs the database on port {}."
    write(
        tmp_path,
        {
            "CLAUDE.md": f"## Style\n\n{fact.format(5433)}\n\nNever:\n\n- push to main\n",
            "AGENTS.md": f"## Style\n\n{fact.format(5434)}\n",
        },
    )
    lines = run(workspace, str(tmp_path), "--apply")[1].splitlines()
    assert lines[:2] == [f"? {fact.format(5434)}", f"    has another value than  {fact.format(5433)}"]
    assert told(workspace)[fact.format(5434)] == ("Style", "", "AGENTS.md")


def test_another_value_of_a_key_is_named_first(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": "## Database\n\n- Port: 5433\n", "AGENTS.md": "## Database\n\n- Port: 5432\n"})
    assert run(workspace, str(tmp_path))[1].splitlines()[:2] == [
        "? - Port: 5432",
        "    has another value than  - Port: 5433",
    ]


def test_what_holds_a_secret_is_named_and_the_rest_comes_in(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": f"- Log in with {TOKEN}.\n- Run the tests.\n", "sub/CLAUDE.md": "- Of the sub.\n"})
    code, answer = run(workspace, str(tmp_path), "--apply")
    assert (code, TOKEN in answer, "CLAUDE.md:1:" in answer) == (3, False, True)
    assert {"- Run the tests.", "- Of the sub."} == set(told(workspace))


def test_a_file_is_chosen_or_refused_by_its_id(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": "- Of Claude.\n", "AGENTS.md": "- Of all.\n", "GEMINI.md": "- Of Gemini.\n"})
    ids = {one.store.path.rpartition("/")[2]: one.id for one in workspace.plan_adoption([str(tmp_path)])}
    run(workspace, str(tmp_path), "--refuse", ids["GEMINI.md"])
    run(workspace, str(tmp_path), "--only", ids["CLAUDE.md"], "--apply")
    assert set(told(workspace)) == {"- Of Claude."}
    run(workspace, str(tmp_path), "--apply")
    assert set(told(workspace)) == {"- Of Claude.", "- Of all."}


SENTENCE = re.compile(r"\w[\w'-]*(?:\W+\w[\w'-]*){3,}")


@pytest.mark.slow
def test_every_sentence_of_real_rules_arrives(some_files, tmp_path, sized):
    """Real pages, as if they were rules files: each line is in memory or in a note afterwards, or was named."""
    for number, path in enumerate(some_files[:: sized(8, 2, 1)]):
        text = path.read_text(errors="replace")
        root = tmp_path / str(number)
        (root / ".scaffolding").mkdir(parents=True)
        write(root, {"CLAUDE.md": text})
        here = Workspace.open(root, environ={"HOME": str(root)})
        code, answer = run(here, str(root), "--apply")
        kept = "\n".join(one.read_text() for one in (root / ".scaffolding").rglob("*.md")) if code < 4 else answer
        rules = read(text, "CLAUDE.md")
        kept = " ".join(kept.split())
        for line in [*rules.text.splitlines(), *(line for _, part in rules.sections for line in part.splitlines())]:
            words = " ".join(line.split()).lstrip("-*+# ")
            if SENTENCE.search(words) and code == 0 and not line.startswith("# "):  # the page's title is not kept
                assert words in kept, (path, line)


@pytest.mark.parametrize(
    "place", [".claude/memory/MEMORY.md", "memory/MEMORY.md", "MEMORY.md", "app/.claude/agent-memory/dev/MEMORY.md"]
)
def test_the_usual_places_of_memory_are_found(workspace, tmp_path, place):
    write(tmp_path, {place: "# M\n\n- A fact.\n"})
    found = [one.path for one in workspace.find_stores()]
    assert len(found) == 1
    assert str(tmp_path / place).startswith(found[0])


def test_a_local_clone_is_known_by_its_first_commit(tmp_path):
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"]
    project, other = tmp_path / "project", tmp_path / "other"
    write(project, {".scaffolding/agent-memory/shared/KNOWLEDGE.md": "# S\n\n- A fact.\n"})
    for folder in (project, other):
        subprocess.run([*git, "init", "-q", folder], check=True)
        (folder / "a").write_text(folder.name)
        for step in (["add", "-A"], ["commit", "-qm", folder.name]):
            subprocess.run([*git, "-C", folder, *step], check=True)
    subprocess.run([*git, "clone", "-q", project, tmp_path / "clone"], check=True)
    subprocess.run([*git, "-C", tmp_path / "clone", "remote", "remove", "origin"], check=True)
    shutil.copytree(project / ".scaffolding", other / ".scaffolding")
    found = [one.path for one in Workspace.open(project, environ={"HOME": str(tmp_path)}).find_stores()]
    assert found == [str(tmp_path / "clone" / ".scaffolding")]


# -- the originals -----------------------------------------------------------------------------------------------------


def test_the_originals_stay_and_each_is_named_once(workspace, tmp_path):
    files = {"CLAUDE.md": "- Of Claude.\n", "web/AGENTS.md": "- Of the web.\n"}
    write(tmp_path, files)
    answer = run(workspace, str(tmp_path), "--apply")[1]
    for path, text in files.items():
        assert (tmp_path / path).read_text() == text
        assert answer.count(f"{path}: its agents now read these facts twice") == 1
    found = workspace.check(select=["store-told-twice"])
    assert sorted(one.path for one in found) == sorted(files)
    assert workspace.check(select=["tier-restates"]) == []  # one finding for a file is enough
    (tmp_path / "CLAUDE.md").write_text("- Another rule.\n")
    assert [one.path for one in workspace.check(select=["store-told-twice"])] == ["web/AGENTS.md"]


def test_what_is_linked_leaves_one_line_and_comes_back(workspace, tmp_path):
    text = "---\nx: y\n---\n# C\n\n- Of Claude.\n\nNever:\n\n- push to main\n"
    write(tmp_path, {"CLAUDE.md": text, "AGENTS.md": f"- {TOKEN}\n- Of all.\n"})
    run(workspace, str(tmp_path), "--link", "--apply")
    assert (tmp_path / "CLAUDE.md").read_text() == LINE
    assert "nothing to import" in run(workspace, str(tmp_path / "CLAUDE.md"))[1]
    assert TOKEN in (tmp_path / "AGENTS.md").read_text()  # it did not come in whole
    assert [one.path for one in workspace.check(select=["store-told-twice"])] == ["AGENTS.md"]
    chosen = [one for one in workspace.restorable() if one.archived.note == "CLAUDE.md"]
    assert workspace.restore(chosen).notes == (str(tmp_path / "CLAUDE.md"),)
    assert (tmp_path / "CLAUDE.md").read_text() == text
    run(workspace, str(tmp_path / "CLAUDE.md"), "--link", "--apply")
    (tmp_path / "CLAUDE.md").write_text("- Typed since.\n")
    done = workspace.restore([one for one in workspace.restorable() if one.archived.note == "CLAUDE.md"])
    assert ((tmp_path / "CLAUDE.md").read_text(), len(done.problems)) == ("- Typed since.\n", 1)


def test_a_plan_names_the_files_that_would_be_linked_and_the_answer_what_brings_them_back(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": "- Of Claude.\n", "AGENTS.md": f"- {TOKEN}\n- Of all.\n"})
    _, plan = run(workspace, str(tmp_path), "--link")
    assert "CLAUDE.md would be one line that points to memory; nothing was changed" in plan
    assert "AGENTS.md would be one line" not in plan
    assert (tmp_path / "CLAUDE.md").read_text() == "- Of Claude.\n"
    _, done = run(workspace, str(tmp_path), "--link", "--apply")
    assert "`amp restore CLAUDE.md --apply` brings it back" in done
    assert "`amp doctor` says which have it" in done
    assert [one.archived.note for one in workspace.restorable(["CLAUDE.md"])] == ["CLAUDE.md"]
    with pytest.raises(InvalidArgument, match=r"no ledger has AGENTS\.md"):
        workspace.restorable(["AGENTS.md"])


@pytest.mark.parametrize("path", ["../CLAUDE.md", ".git/hooks/pre-commit", "Makefile", ".github/workflows/x.yml"])
def test_a_ledger_that_somebody_forged_writes_no_other_file(workspace, tmp_path, path):
    write(tmp_path, {"CLAUDE.md": "- Of Claude.\n"})
    run(workspace, str(tmp_path), "--link", "--apply")
    ledger = tmp_path / ".scaffolding/agent-memory/shared/ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"note":"CLAUDE.md"', f'"note":"{path}"'))
    done = workspace.restore(workspace.restorable())
    assert done.problems
    assert not (tmp_path / path).exists()


RULES = Path(__file__).parents[1] / "data" / "rules_files"


def sentences(text):
    """Return each run of four words or more of a rules file, without its front matter and what only marks structure."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    runs = (re.findall(r"\w[\w'-]*", line) for line in text.splitlines() if not line.startswith("# "))
    return [" ".join(words) for words in runs if len(words) >= 4]


@pytest.mark.slow
@pytest.mark.parametrize("project", sorted(one.name for one in RULES.iterdir() if one.is_dir()))
def test_every_sentence_of_real_rules_comes_in_or_is_named(workspace, tmp_path, project):
    shutil.copytree(RULES / project, tmp_path, dirs_exist_ok=True)
    code, answer = run(workspace, str(tmp_path), "--apply")
    assert code == 0, answer
    assert "left out" not in answer
    written = [path.read_text() for path in (tmp_path / ".scaffolding").rglob("*.md")]
    kept = " ".join(re.findall(r"\w[\w'-]*", " ".join(written)))
    originals = [path for path in (RULES / project).rglob("*") if path.is_file()]
    wanted = [one for path in originals for one in sentences(path.read_text())]
    assert [one for one in wanted if one not in kept] == []
    assert len(wanted) >= 3


@pytest.mark.parametrize("place", ["CLAUDE.md", ".cursor/rules/x.mdc", "page.md", ".claude/agent-memory/dev/MEMORY.md"])
def test_a_link_by_name_keeps_its_address_where_the_definition_is_not_given(workspace, tmp_path, place):
    long = "\n".join(f"- Rule {number} of the guide." for number in range(60))
    page = "# T\n\n## A\n\n- See [the guide][g], `[g]` and [other].\n\n## B\n\n- See [g].\n\n## C\n\n"
    page += f"{long}\n- At [g][].\n\n[G]: <https://g.example>\n"
    write(tmp_path, {place: page})
    run(workspace, str(tmp_path / place), "--apply")
    said = {one.text for one in workspace.entries()}
    assert {"- See [the guide](https://g.example), `[g]` and [other].", "- See [g](https://g.example)."} <= said
    notes = "".join(one.read_text() for one in (tmp_path / ".scaffolding").rglob("*.md"))
    assert "- At [g](https://g.example)." in notes
    assert "[G]:" not in notes


@pytest.mark.parametrize(
    ("page", "status"),
    [
        (
            "# 3. Use Postgres\n\n## Status\n\nSuperseded by [ADR-5](5.md).\n\n## Decision\n\nPostgres.\n",
            "Superseded by ADR-5",
        ),
        ("# Use Postgres\n\n**Status:** Proposed\n**Date:** 2026-01-01\n\n## Decision\n\nPostgres.\n", "Proposed"),
        ("# Use Postgres\n\n* Status: accepted\n* Deciders: Ann\n\n## Decision\n\nPostgres.\n", "accepted"),
    ],
)
def test_a_decision_says_its_status(workspace, tmp_path, page, status):
    write(tmp_path, {"docs/adr/0003.md": page})
    run(workspace, str(tmp_path / "docs/adr/0003.md"), "--apply")
    assert {one.text: one.section for one in workspace.entries()}["Postgres."].endswith(
        f"Use Postgres ({status}): Decision"
    )


def test_a_status_of_work_is_no_status_of_a_decision(workspace, tmp_path):
    text = "The importer runs on two hosts and writes to the old queue until March."
    write(tmp_path, {"a.md": f"# Importer\n\n## Status\n\n{text}\n\n## Decision\n\nKeep it.\n"})
    run(workspace, str(tmp_path / "a.md"), "--apply")
    assert {one.section for one in workspace.entries()} == {"Importer: Status", "Importer: Decision"}


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("SafeStart, an assistant for procedures", ["SafeStart, an assistant for procedures"]),
        ("CLAUDE.md", []),
        ("Coding rules for agents", ["Coding rules for agents"]),
        ("Project rules", []),
        ("Make commands", []),  # The page says it
        ("Shop", []),
    ],
)
def test_what_the_title_of_a_page_says_is_not_lost(workspace, tmp_path, title, said):
    write(tmp_path, {"CLAUDE.md": f"# {title}\n\n## Commands\n\n- Run `make`.\n"})
    for _ in range(2):
        run(workspace, str(tmp_path), "--apply")
    assert [one.text for one in workspace.entries() if one.section == "Project"] == said


def test_a_sentence_marked_as_a_heading_is_not_lost(workspace, tmp_path):
    write(tmp_path, {"CLAUDE.md": "## Every file has an owner.\n\n## Notes\n\n## Commands\n\n- Run `make`.\n"})
    run(workspace, str(tmp_path), "--apply")
    assert [one.text for one in workspace.entries()] == ["Every file has an owner.", "- Run `make`."]


def test_all_of_a_squads_histories_and_what_it_knows_come_in(workspace, tmp_path):
    squad = tmp_path / ".squad"
    files = {
        "agents/ripley/history.md": "# H\n\n- Ripley knows the ports.\n",
        "agents/ripley/history-archive.md": "# Old\n\nRipley knew the hosts.\n",
        "agents/ripley/charter.md": "# Charter\n\nRipley reviews.\n",
        "agents/kane/history-archive-2026-04-13.md": "# Old\n\nKane knew the queue.\n",
        "decisions.md": "# D\n\nWe use Redis.\n",
        "decisions-archive.md": "# D\n\nWe used Kafka.\n",
        "identity/wisdom.md": "# W\n\nMeasure first.\n",
    }
    write(squad, files)
    assert run(workspace, str(tmp_path), "--apply")[0] == 0
    said = {str(one.relative_to(tmp_path)): one.read_text() for one in (tmp_path / ".scaffolding").rglob("*.md")}
    for sentence, owner in {
        "Ripley knows the ports.": "agents/ripley",
        "Ripley knew the hosts.": "agents/ripley",
        "Kane knew the queue.": "agents/kane",
        "We use Redis.": "shared",
        "We used Kafka.": "shared",
        "Measure first.": "shared",
    }.items():
        assert any(sentence in text and owner in path for path, text in said.items()), sentence
    assert run(workspace, str(tmp_path), "--apply")[1].endswith("nothing to import\n")
