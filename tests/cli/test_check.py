"""`amp check`: exit codes, its formats, and its options."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
HEAD = "# Shared Knowledge\n"


@pytest.fixture
def messy(amp):
    """A project with one error and one warning that can be mended."""
    amp.write(SHARED, HEAD + "- 2026-01-05: a\n- [2026-02-30] b\n")
    return amp


def date_check(amp, *args):
    return amp("check", "--select", "date", *args)


def test_nothing_wrong_ends_with_0(amp):
    amp("init")
    assert amp("check") == (0, "nothing is wrong\n", "")


def test_findings_end_with_1_and_stand_on_stdout(messy):
    code, out, err = date_check(messy)
    assert code == 1
    assert out.splitlines() == [
        f"{SHARED}:2: warning: write the date as [2026-01-05]  [date-spelling]",
        f"{SHARED}:3: error: [2026-02-30] is not in the calendar; correct it  [date-impossible]",
    ]
    assert err == "amp: 1 error, 1 warning; `amp check --fix` fixes 1\n"


@each_row(
    "select, fail_on, code",
    [
        ("date-spelling", (), 1),
        ("date-spelling", ("--fail-on", "warning"), 1),
        ("date-spelling", ("--fail-on", "error"), 0),
        ("date-impossible", ("--fail-on", "error"), 1),
        ("date", ("--fail-on", "error"), 1),
    ],
    fresh=True,
)
def test_a_warning_ends_with_1_too_unless_only_errors_shall(messy, select, fail_on, code):
    answer = messy("check", "--select", select, *fail_on)
    assert (answer.code, f"[{select}" in answer.out) == (code, True)


def test_the_hook_for_pre_commit_shows_warnings_and_stops_at_errors(messy):
    (hook,) = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    assert hook["verbose"]
    _, *command = shlex.split(hook["entry"])
    assert messy(*command).code == 1
    messy.write(SHARED, HEAD + "- 2026-01-05: a\n")
    answer = messy(*command)
    assert (answer.code, "[date-spelling]" in answer.out) == (0, True)


@each_row(
    "args",
    [["--select", "dat"], ["--ignore", "nothing"], ["nowhere.md"], ["--format", "xml"], ["--select", "date\u202e"]],
    fresh=True,
)
def test_a_mistake_ends_with_2(messy, args):
    messy("check", *args).refuses(2)


def test_json(messy):
    for args in (["--json"], ["--format", "json"]):
        answer = json.loads(date_check(messy, *args).out)
        assert answer["version"] == 1
        assert answer["findings"][0] == {
            "rule": "date-spelling",
            "severity": "warning",
            "path": SHARED,
            "line": 2,
            "message": "write the date as [2026-01-05]",
            "fixable": True,
        }
    assert messy("check", "--select", "secret", "--json").json() == {"version": 1, "findings": []}


def test_github_annotations_are_one_line_each_and_escaped(messy):
    assert date_check(messy, "--format", "github").out.splitlines() == [
        f"::warning file={SHARED},line=2,title=date-spelling::write the date as [2026-01-05]",
        f"::error file={SHARED},line=3,title=date-impossible::[2026-02-30] is not in the calendar; correct it",
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("top", ["", "..", "../.."])
def test_code_hosts_are_told_the_path_in_the_repository(amp, top):
    root = amp.root / "packages/a b"
    amp.write("packages/a b/" + SHARED, HEAD + "- 2026-01-05: a\n")
    subprocess.run(["git", "init", "-q", root / top], check=True)
    path = (root / SHARED).relative_to((root / top).resolve()).as_posix()
    answer = amp("check", "--root", str(root), "--select", "date", "--format", "github")
    assert answer.out.startswith(f"::warning file={path},line=2,")
    sarif = json.loads(amp("check", "--root", str(root), "--select", "date", "--format", "sarif").out)
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == quote(path)
    assert amp("check", "--root", str(root), "--select", "date").out.startswith(f"{SHARED}:2: ")


@pytest.mark.slow
@each_row("missing, code, said", [("ok", 0, ""), ("warn", 0, "amp: "), ("fail", 1, "amp: ")], fresh=True)
@each_row("form", ["text", "json", "github", "gitlab", "junit", "sarif"], fresh=True)
def test_where_there_is_no_memory_the_caller_says_what_that_means(amp, missing, code, said, form):
    answer = amp("check", "--missing", missing, "--format", form)
    assert answer.code == code
    assert answer.err == (said and f"{said}no memory yet in {amp.root}; `amp init` creates it\n")
    assert ("nothing is wrong" in answer.out) == (form == "junit" or (form, missing) == ("text", "ok"))
    amp("init")
    assert amp("check", "--missing", missing, "--format", form)[::2] == (0, "")


def test_quiet_keeps_back_a_remark_and_never_the_reason_for_an_exit_code(amp):
    assert amp("check", "--quiet") == (0, "", "")
    assert "no memory yet" in amp("check", "--quiet", "--missing", "fail").err


def test_a_path_outside_memory_is_named(amp):
    amp("init", "--agent", "dev")
    amp.write("README.md", "")
    amp.write("part/.scaffolding/agent-memory/shared/KNOWLEDGE.md", HEAD)
    said = f"amp: nothing of the memory in {amp.root} lies below README.md\n"
    assert amp("check", "README.md") == (0, "", said)
    assert amp("check", "README.md", "--missing", "fail") == (1, "", said)
    assert (
        "part has a memory of its own, which was not checked: `amp check --root part` does" in amp("check", "part").err
    )
    for path in (".", ".scaffolding", SHARED, ".scaffolding/agent-memory/agents"):
        assert amp("check", path, "--ignore", "store") == (0, "nothing is wrong\n", "")


@pytest.fixture
def several(amp):
    """A folder of projects without a memory of its own: two have a fault, and what was installed has one, too."""
    for folder in ("a", "deep/er/than/two/b", "node_modules/c", ".hidden/d"):
        amp.write(f"{folder}/{SHARED}", HEAD + "- [2026-02-30] b\n")
    amp.write(f"good/{SHARED}", HEAD)
    return amp


def test_recursive_checks_every_project_below(several):
    answer = several("check", "--recursive", "--ignore", "review")
    assert answer.code == 1
    assert [line.partition(": ")[0] for line in answer.out.splitlines()] == [
        f"a/{SHARED}:2",
        f"deep/er/than/two/b/{SHARED}:2",
    ]
    several.write(SHARED, HEAD)
    assert several("check", "--recursive", "--ignore", "review") == answer
    assert several("check", "--recursive", "good", "--missing", "fail") == (0, "nothing is wrong\n", "")
    assert several("check", "-r", "deep", "--json").json(1)["findings"][0]["path"].startswith("deep/er/than/two/b/")
    several("check", "--recursive", "a/" + SHARED).refuses(2, "not a folder")


def test_recursive_finds_nothing_where_nothing_is(amp):
    answer = amp("check", "--recursive", "--missing", "fail")
    assert (answer.code, answer.out, f"no memory yet in {amp.root}" in answer.err) == (1, "", True)


def test_a_folder_of_projects_is_a_folder_without_memory(several):
    answer = several("check")
    assert (answer.code, answer.out) == (0, "")
    assert "`amp check --recursive` checks the projects below" in answer.err
    assert several("check", "--missing", "fail").code == 1


def test_recursive_mends_in_every_project(several):
    several.write(f"a/{SHARED}", HEAD + "- 2026-01-05: a\n")
    several.write(f"good/{SHARED}", HEAD + "- 2026-01-06: a\n")
    several("check", "--recursive", "--fix")
    assert [(several.root / folder / SHARED).read_text()[-16:] for folder in ("a", "good")] == [
        "- [2026-01-05] a\n"[-16:],
        "- [2026-01-06] a\n"[-16:],
    ]


def test_the_hook_for_pre_commit_reaches_projects_in_subfolders(several):
    (hook,) = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text())
    _, *command = shlex.split(hook["entry"])
    assert several(*command).code == 1
    for file in (SHARED, f"a/{SHARED}", "deep/er/.scaffolding/amp.toml"):
        assert re.search(hook["files"], file)
    for file in ("a.scaffolding/x", "scaffolding/x", "README.md"):
        assert not re.search(hook["files"], file)


@pytest.mark.parametrize(("fail_on", "failed"), [("warning", 2), ("error", 1)])
def test_junit_fails_what_fails_the_check(messy, fail_on, failed):
    answer = date_check(messy, "--format", "junit", "--fail-on", fail_on)
    top = ET.fromstring(answer.out)
    assert (answer.code, top.tag, top.get("tests"), top.get("failures")) == (1, "testsuites", "2", str(failed))
    (suite,) = top
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (SHARED, "2", str(failed))
    assert len(suite.findall("testcase/failure")) == failed
    assert len(suite.findall("testcase")) == 2
    for case in suite:
        assert set(case.keys()) == {"classname", "name", "file"}
        for failure in case.findall("failure"):
            assert set(failure.keys()) == {"type", "message"}
            assert failure.text


def test_junit_without_findings_is_one_test_that_passes(amp):
    amp("init")
    top = ET.fromstring(amp("check", "--format", "junit").out)
    assert (top.get("tests"), top.get("failures"), len(top.findall("testsuite/testcase"))) == ("1", "0", 1)


def test_gitlab_gets_what_its_code_quality_report_needs(messy):
    messy.write(SHARED, HEAD + "- 2026-01-05: a\n- [2026-02-30] b\n- [2026-02-30] c\n")
    report = json.loads(date_check(messy, "--format", "gitlab").out)
    assert [one["check_name"] for one in report] == ["date-spelling", "date-impossible", "date-impossible"]
    assert [one["severity"] for one in report] == ["minor", "major", "major"]
    assert [one["location"] for one in report] == [{"path": SHARED, "lines": {"begin": n}} for n in (2, 3, 4)]
    assert all(set(one) == {"description", "check_name", "fingerprint", "severity", "location"} for one in report)
    prints = {one["fingerprint"] for one in report}
    assert len(prints) == 3
    messy.write(SHARED, HEAD + "\n- 2026-01-05: a\n- [2026-02-30] b\n- [2026-02-30] c\n")
    moved = json.loads(date_check(messy, "--format", "gitlab").out)
    assert {one["fingerprint"] for one in moved} == prints
    assert json.loads(messy("check", "--select", "secret", "--format", "gitlab").out) == []


def test_github_annotations_cannot_be_forged_by_a_text(amp):
    amp.write(SHARED, "# S\n## 50%::error file=x::y\n- a\n\n## 50%::error file=x::y\n- b\n")
    (line,) = amp("check", "--select", "tier-double-heading", "--format", "github").out.splitlines()
    assert line.startswith(f"::warning file={SHARED},line=5,title=tier-double-heading::")
    assert "50%25::error" in line


def test_sarif(messy):
    answer = json.loads(date_check(messy, "--format", "sarif").out)
    assert answer["version"] == "2.1.0"
    (run,) = answer["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["date-impossible", "date-spelling"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        location = result["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == SHARED
        assert location["region"]["startLine"] >= 1


def test_sarif_without_findings_is_a_run_without_results(amp):
    amp("init")
    assert json.loads(amp("check", "--format", "sarif").out)["runs"][0]["results"] == []


def test_sarif_writes_a_path_as_a_uri(amp):
    amp.write(".scaffolding/agent-memory/agents/développeur/MEMORY.md", "- a\n")
    answer = json.loads(amp("check", "--select", "tier-header", "--format", "sarif").out)
    (result,) = answer["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == ".scaffolding/agent-memory/agents/d%C3%A9veloppeur/MEMORY.md"


def test_fix_mends_and_reports_what_is_left(messy):
    code, out, err = date_check(messy, "--fix")
    assert code == 1
    assert out == f"{SHARED}:3: error: [2026-02-30] is not in the calendar; correct it  [date-impossible]\n"
    assert err.startswith("amp: 1 of 2 findings fixed\n")
    assert (messy.root / SHARED).read_text() == HEAD + "- [2026-01-05] a\n- [2026-02-30] b\n"


def test_fix_of_all_there_is_ends_with_0(amp):
    amp.write(SHARED, HEAD + "- 2026-01-05: a\n")
    assert date_check(amp, "--fix").code == 0


def test_select_and_ignore_take_rules_and_groups(messy):
    assert messy("check", "--select", "date", "--ignore", "date-spelling").out.count("\n") == 1
    assert messy("check", "--select", "date", "--ignore", "date") == (0, "nothing is wrong\n", "")


def test_a_path_is_taken_from_where_one_stands(messy):
    folder = (messy.root / SHARED).parent
    assert messy("check", "--select", "date", "KNOWLEDGE.md", cwd=folder).code == 1
    messy("init", "--agent", "dev")
    assert messy("check", "--select", "date", ".", cwd=folder.parent / "agents").code == 0


@each_row("path", [".", "./", "..", "../..", ".scaffolding", ".scaffolding/agent-memory/", "{root}"], fresh=True)
def test_a_folder_stands_for_all_that_lies_below_it(messy, path):
    code, out, _ = date_check(messy, path.format(root=messy.root))
    assert (code, out.count("[date-")) == (1, 2)
    link = messy.root.with_name("link")
    link.symlink_to(messy.root)
    for path in (link, link / SHARED):
        assert messy("check", "--select", "date", str(path)).code == 1
    (messy.root / "src").mkdir()
    cwd = messy.root / "src"
    assert messy("check", "--select", "date", ".", cwd=cwd).code == 0
    assert messy("check", "--select", "date", "..", cwd=cwd).code == 1


def test_rules_are_listed_with_whether_they_are_on(amp):
    out = amp("check", "--rules").out
    for rule in ("secret", "belongs-state", "belongs-repository", "tier-over-limit", "index-orphan", "store-twins"):
        assert f"{rule} " in out
    assert [line.split()[2] for line in out.splitlines() if line.startswith("tier-prose ")] == ["off"]
    names = [line.split()[0] for line in out.splitlines()]
    assert names == sorted(names, key=lambda name: (name.partition("-")[0], name))


@each_row("form", ["text", "json", "github", "gitlab", "junit", "sarif"], fresh=True)
def test_no_format_plays_with_the_terminal(amp, form):
    amp.write(SHARED, "# S\n## A\x1b[31m\u202e\n- a\n\n## A\x1b[31m\u202e\n- b\n")
    out = amp("check", "--select", "tier-double-heading", "--format", form).out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_what_is_wrong_in_the_settings_is_a_finding_and_told_once(amp):
    amp.write(".scaffolding/amp.toml", "[limits]\nmax_lins = 3\n[tiers]\nagent = false\n")
    code, out, err = amp("check")
    assert code == 1
    assert ".scaffolding/amp.toml: error: 'limits.max_lins' is not a setting; did you mean limits.max_lines?" in out
    assert "max_lins" not in err
    assert "amp: the agent tier is off: tiers.agent = false\n" in err
    ignored = amp("check", "--ignore", "store-settings")
    assert (ignored.code, ignored.out) == (0, "")
    assert "max_lins" in ignored.err
