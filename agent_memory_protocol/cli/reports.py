"""Findings in the forms that people, code hosts and CI read: one function, one form, each a text from values."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import groupby
from posixpath import normpath
from urllib.parse import quote

from .. import __version__
from ..lint.finding import ERROR, NOTE, RULES, WARNING, Finding
from .printing import colour, plain

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_GITLAB = {ERROR: "major", WARNING: "minor", NOTE: "info"}


def as_line(one: Finding) -> str:
    """Return a finding as a line for people."""
    severity = colour(one.severity, {ERROR: "red", WARNING: "yellow"}.get(one.severity))
    return f"{one.place}: {severity}: {one.message}  [{one.rule}]"


def github(one: Finding, folder: str) -> str:
    """Return a finding as an annotation of GitHub Actions. `folder` is that of the project in its repository."""
    line = "" if one.line is None else f",line={one.line}"
    # Escapes first: what is left of control characters is text, and needs no code of its own.
    message = plain(one.message).replace("%", "%25")
    path = plain(normpath(folder + one.path)).replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
    level = "notice" if one.severity == NOTE else one.severity
    return f"::{level} file={path}{line},title={one.rule}::{message}"


def gitlab(found: Sequence[Finding], folder: str) -> list[dict[str, object]]:
    """Return findings as GitLab's code quality report. A fingerprint stays the same when the lines above change."""
    seen: Counter[str] = Counter()
    report: list[dict[str, object]] = []
    for one in found:
        path = normpath(folder + one.path)
        said = json.dumps([path, one.rule, one.message])
        fingerprint = sha256(f"{said}{seen[said] or ''}".encode()).hexdigest()
        seen[said] += 1
        report.append(
            {
                "description": one.message,
                "check_name": one.rule,
                "fingerprint": fingerprint,
                "severity": _GITLAB[one.severity],
                "location": {"path": path, "lines": {"begin": one.line or 1}},
            }
        )
    return report


def junit(found: Sequence[Finding], folder: str, fails: Callable[[Finding], bool]) -> str:
    """Return findings as JUnit XML: a suite for each file. What does not fail the check passes, and is told."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    def element(parent: Element, tag: str, **attributes: object) -> Element:
        return SubElement(parent, tag, {name: plain(str(value)) for name, value in attributes.items()})

    top = Element("testsuites", name="amp check")
    for path, ones in groupby(sorted(found, key=lambda one: one.path), key=lambda one: one.path):
        file, members = normpath(folder + path), list(ones)
        failed = sum(map(fails, members))
        suite = element(top, "testsuite", name=file, tests=len(members), failures=failed, errors=0)
        for one in members:
            line = "" if one.line is None else f":{one.line}"
            case = element(suite, "testcase", classname=one.rule, name=f"{file}{line}: {one.message}", file=file)
            tag = "failure" if fails(one) else "system-out"
            kind = {"type": one.severity, "message": one.message} if fails(one) else {}
            element(case, tag, **kind).text = plain(f"{file}{line}: {one.severity}: {one.message}")
    if not found:
        suite = element(top, "testsuite", name="amp check", tests=1, failures=0, errors=0)
        element(suite, "testcase", classname="amp", name="nothing is wrong")
    top.set("tests", str(max(1, len(found))))
    top.set("failures", str(sum(map(fails, found))))
    top.set("errors", "0")
    indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(top, encoding="unicode")}'


def sarif(found: Sequence[Finding], folder: str) -> dict[str, object]:
    """Return findings as a SARIF 2.1.0 log."""
    used = sorted({one.rule for one in found})
    rules = [
        {
            "id": rule_id,
            "shortDescription": {"text": RULES[rule_id].about.partition(". ")[0].removesuffix(".") + "."},
            "help": {"text": RULES[rule_id].about},
            "defaultConfiguration": {"level": RULES[rule_id].severity},
        }
        for rule_id in used
    ]
    results = [
        {
            "ruleId": one.rule,
            "ruleIndex": used.index(one.rule),
            "level": one.severity,
            "message": {"text": one.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(normpath(folder + one.path))},
                        **({} if one.line is None else {"region": {"startLine": one.line}}),
                    }
                }
            ],
        }
        for one in found
    ]
    driver = {"name": "amp", "version": __version__, "rules": rules}
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
