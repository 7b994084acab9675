"""What a browser would make of a page, as far as safety and soundness go."""

import re
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser
from urllib.parse import urlsplit

_VIEWS = "document|search|upkeep|history|records|compare|entry|prune|distill"
_ADDRESS = rf"/({_VIEWS}|)(\?[\w:.%&=+-]*)?(#[\w:.-]+)?"
VOID = {"meta", "input", "br", "hr", "rect", "path"}


class Seen(HTMLParser):
    """What a browser would make of a page: its elements and attributes, and the text of some."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.said = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        inside = self.inside.get(self.open[-1] if self.open else "")
        if inside:
            inside[-1] += data
        else:
            self.said += data

    def check(self, *, live: bool = False) -> None:
        """Check that nothing runs or loads but our own style and script, and that the page is sound."""
        kinds = Counter(tag for tag, _ in self.elements)
        assert not self.open
        assert (kinds["script"], kinds["style"], kinds["html"], kinds["body"]) == (1, 1, 1, 1)
        assert not kinds.keys() & {"iframe", "object", "embed", "link", "base", "img", "video", "audio", "math"}
        assert live or not kinds["form"]
        (policy,) = (one["content"] for tag, one in self.elements if one.get("http-equiv") == "Content-Security-Policy")
        for tag in ("script", "style"):
            digest = b64encode(sha256(self.inside[tag][0].encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        ids = [one["id"] for _, one in self.elements if "id" in one]
        assert len(ids) == len(set(ids))
        for tag, attributes in self.elements:
            names = set(attributes)
            assert not {name for name in names if name.startswith("on")} | (
                names & {"style", "src", "srcset", "srcdoc"}
            )
            if "href" in attributes:
                assert tag == "a"
                address = attributes["href"]
                assert (
                    urlsplit(address).scheme in ("http", "https")
                    or address[1:] in ids
                    or (live and re.fullmatch(_ADDRESS, address))
                ), address
