"""The header a new tier file begins with, and what a project's own template may do."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import DamagedFile, StorageError
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.project import templates
from agent_memory_protocol.project.templates import render_header, shipped_template
from tests.each_row import each_row

REPOSITORY = Path(__file__).parents[2]
SHARED = Target(Tier.SHARED)
AGENT = Target(Tier.AGENT, "backend-developer")
CONVERSATION = Target(Tier.CONVERSATION, "c1_{{7*7}}")


@pytest.fixture
def render(tmp_path):
    """Render with the project at `tmp_path`, after writing the template given for the tier."""

    def render(target: Target, source: str | bytes | None = None, **limits: int) -> str:
        if source is not None:
            path = tmp_path / ".scaffolding" / "templates" / f"{target.tier}.md.j2"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.encode() if isinstance(source, str) else source)
        before = sorted(tmp_path.rglob("*"))
        try:
            with Root.open(str(tmp_path)) as root:
                return render_header(target, root, **limits)
        finally:
            assert sorted(tmp_path.rglob("*")) == before

    return render


@pytest.mark.parametrize(
    ("target", "header"),
    [
        pytest.param(
            SHARED,
            "# Shared Knowledge\n<!-- Cross-agent project knowledge. Max 200 lines. -->\n",
            marks=pytest.mark.requirement("S4-66"),
            id="shared",
        ),
        pytest.param(
            AGENT,
            "# Backend Developer Memory\n<!-- Agent-specific patterns and lessons. Max 200 lines. -->\n",
            marks=pytest.mark.requirement("S4-67"),
            id="agent",
        ),
        pytest.param(
            Target(Tier.CONVERSATION, "c-1"),
            "# Conversation c-1 Context\n<!-- Decisions and findings for this conversation chain. -->\n",
            marks=pytest.mark.requirement("S4-68"),
            id="conversation",
        ),
    ],
)
@pytest.mark.requirement("S4-65")
def test_the_header_is_the_protocols(render, target, header):
    assert render(target) == header
    assert render_header(target) == header


def test_the_header_states_the_limit_that_holds(render):
    assert "Max 120 lines." in render(SHARED, max_lines=120)


def test_a_project_has_its_own_template_for_one_tier(render):
    assert render(AGENT, "# {{ display_name }} ({{ agent_name }})\n\n## Rules\n") == (
        "# Backend Developer (backend-developer)\n\n## Rules\n"
    )
    assert render(SHARED).startswith("# Shared Knowledge\n")


@each_row(
    "source, header",
    [
        pytest.param("# Plain", "# Plain\n", id="final-line-ending-added"),
        pytest.param("# T\n\n\n", "# T\n\n\n", id="blank-lines-kept"),
        pytest.param("\ufeff# T\r\nx\r\n", "# T\nx\n", id="bom-and-crlf"),
        pytest.param("---\nkind: memory\n---\n<!-- a\nb -->\n\n# T\n", None, id="front-matter-and-comment-first"),
        pytest.param("# {{ agent_name|upper|trim }}\n", "# BACKEND-DEVELOPER\n", id="filters"),
        pytest.param("# {% if max_lines > 100 and agent_name == 'x' %}a{% else %}b{% endif %}\n", "# b\n", id="if"),
        pytest.param("# {{ 'long' if max_lines >= 200 else 'short' }}\n", "# long\n", id="inline-if"),
        pytest.param("# {# hidden #}{% raw %}{{ kept }}{% endraw %}\n", "# {{ kept }}\n", id="comment-and-raw"),
        pytest.param("# <b> & 'é' 👩‍💻\n", None, id="nothing-is-escaped"),
    ],
)
def test_a_template_may_use_variables_filters_and_conditions(render, source, header):
    assert render(AGENT, source) == (source if header is None else header)


@each_row(
    "source, line, reason",
    [
        pytest.param("# T\n{{ agent_nam }}\n", 2, "'agent_nam', but the variables here are agent_name, dis", id="name"),
        pytest.param("# T\n{{ conversation_id }}\n", 2, "'conversation_id'", id="variable-of-another-tier"),
        pytest.param("# T\n\n{% if %}\n", 3, "not a valid template", id="syntax"),
        pytest.param("# T\n{{ agent_name\n", 2, "not a valid template", id="never-closed"),
        pytest.param(
            "# T\n{{ agent_name|nope }}\n", 2, "the filter 'nope', but the filters here are", id="unknown-filter"
        ),
        pytest.param("# T\n{{ agent_name|center(10**9) }}\n", 2, "the filter 'center'", id="growing-filter"),
        pytest.param("# T\n{% for a in range(10**9) %}x{% endfor %}\n", 2, "uses for", id="endless"),
        pytest.param(
            "# T\n{% for a in agent_name %}{% for b in agent_name %}{% endfor %}{% endfor %}", 2, "for", id="loop"
        ),
        pytest.param("# T\n{{ 'x' * 10**10 }}\n", 2, "uses mul", id="huge"),
        pytest.param("# T\n{{ agent_name ~ agent_name }}\n", 2, "uses concat", id="concat"),
        pytest.param("# T\n{{ '%1000000000d' % 1 }}\n", 2, "uses mod", id="format"),
        pytest.param("# T\n{% set a = 'b' %}\n", 2, "uses assign", id="assignment"),
        pytest.param("# T\n{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}\n", 2, "uses macro", id="recursion"),
        pytest.param("# T\n{{ lipsum(n=10000000) }}\n", 2, "uses call", id="call"),
        pytest.param("# T\n{{ agent_name.__class__.__mro__ }}\n", 2, "uses getattr", id="attribute"),
        pytest.param("# T\n{{ agent_name['__class__'] }}\n", 2, "uses getitem", id="item"),
        pytest.param("# T\n{% include '/etc/passwd' %}\n", 2, "uses include", id="include"),
        pytest.param("{% extends 'shared.md.j2' %}\n", 1, "uses extends", id="extends"),
        pytest.param("# T\n{{ self }}\n", 2, "'self'", id="self"),
        pytest.param("# T\n{{ agent_name is mapping }}\n", 2, "uses test", id="test"),
        pytest.param("# T\n{{ agent_name < 1 }}\n", None, "cannot be rendered", id="wrong-types"),
        pytest.param("# T\n{{ agent_name|title(1, 2) }}\n", None, "cannot be rendered", id="wrong-arguments"),
        pytest.param("# T\n{{ " + "(" * 5000 + " }}\n", None, "it ", id="nested"),
        pytest.param("# T\n{{ " + "1" * 5000 + " }}\n", None, "cannot be rendered", id="long-number"),
        pytest.param(
            "# T\n" + "{% if 1 %}" * 500 + "{% endif %}" * 500, None, "cannot be rendered", id="deep-conditions"
        ),
        pytest.param("", None, "must begin with a heading", id="empty"),
        pytest.param("Some text\n# T\n", None, "must begin with a heading", id="text-first"),
        pytest.param("## T\n", None, "must begin with a heading", id="level-two"),
        pytest.param("#\n", None, "must begin with a heading", id="empty-heading"),
        pytest.param("<!--\n# T\n", None, "must begin with a heading", id="heading-in-a-comment"),
        pytest.param(
            "{% if max_lines < 3 %}# T{% endif %}\n", None, "must begin with a heading", id="nothing-rendered"
        ),
        pytest.param("# T\n" + "x\n" * 200, None, "has 201 lines", id="too-many-lines"),
        pytest.param("# T\n" + "x" * 20_000, None, "20004 bytes, more than the 16384", id="too-large"),
        pytest.param("# T\nzero\u200bwidth\n", 2, "invisible or control character \\u200b", id="invisible"),
        pytest.param("# T\n{{ '\\u202e' }}\n", None, "line 2 of its result holds the invisible", id="invisible-made"),
        pytest.param("# T\n\x1b[31mred\n", 2, "invisible or control character \\x1b", id="terminal-control"),
        pytest.param(b"# T\n\xff\n", 2, "not UTF-8", id="not-utf-8"),
    ],
)
def test_a_broken_or_hostile_template_is_one_clear_error(render, source, line, reason):
    with pytest.raises(StorageError) as refused:
        render(AGENT, source)
    message = str(refused.value)
    place = ".scaffolding/templates/agent.md.j2" + (f":{line}" if line else "")
    assert message.startswith(f"{place}: ")
    assert reason in message
    assert "\n" not in message


def test_a_result_over_the_byte_limit_is_refused(render):
    with pytest.raises(DamagedFile, match="the limits are 200 and 100"):
        render(SHARED, "# T\n" + "x" * 100, max_bytes=100)
    assert render(SHARED, "# T\n" + "x" * 95, max_bytes=100)


def test_names_are_values_and_never_template_source(render):
    assert render(CONVERSATION, "# {{ conversation_id }}\n") == "# c1_{{7*7}}\n"
    assert render(CONVERSATION, "# X\n") == "# X\n"


@pytest.mark.parametrize("kind", ["outside", "dangling", "folder"])
def test_a_template_that_is_no_file_of_the_project_is_an_error(render, tmp_path, kind):
    path = tmp_path / ".scaffolding" / "templates" / "shared.md.j2"
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/etc/hostname" if kind == "outside" else "nowhere")
    with pytest.raises(StorageError, match=r"^\.scaffolding/templates/shared\.md\.j2: "):
        render(SHARED)


def test_a_link_inside_the_project_is_followed(render, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "header.md").write_text("# Linked\n")
    path = tmp_path / ".scaffolding" / "templates" / "shared.md.j2"
    path.parent.mkdir(parents=True)
    path.symlink_to("../../docs/header.md")
    assert render(SHARED) == "# Linked\n"


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["installed", "source-tree"])
def test_our_templates_are_found_wherever_the_package_lies(tmp_path, layout):
    package = tmp_path / "agent_memory_protocol"
    shutil.copytree(REPOSITORY / "agent_memory_protocol", package, ignore=shutil.ignore_patterns("__pycache__"))
    place = package if layout == "installed" else tmp_path
    shutil.copytree(REPOSITORY / "templates", place / "templates")
    if layout == "installed":  # what another package put beside ours is not ours
        (tmp_path / "templates").mkdir()
        (tmp_path / "templates" / "shared.md.j2").write_text("# Foreign\n")
    code = (
        "import agent_memory_protocol.project.templates as t; "
        "print(t.__file__); print(t.shipped_template('shared.md.j2'))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(package))
    assert "# Shared Knowledge" in done.stdout


def test_an_incomplete_installation_says_so(monkeypatch, tmp_path):
    assert shipped_template("shared.md.j2")
    monkeypatch.setattr(templates, "__file__", str(tmp_path / "a" / "b.py"))
    with pytest.raises(StorageError, match="install agent-memory-protocol again"):
        shipped_template("shared.md.j2")


def test_a_shipped_template_that_cannot_be_read_is_an_error_about_the_disk(monkeypatch):
    def no_more_files(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("builtins.open", no_more_files)
    with pytest.raises(StorageError, match=r"templates/shared\.md\.j2 of the installation cannot be read: "):
        shipped_template("shared.md.j2")
