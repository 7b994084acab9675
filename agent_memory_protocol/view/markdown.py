"""Markdown of memory as HTML in which nothing runs and nothing loads.

Anyone may have written what is in memory. HTML in it is shown as text, an image is the text that it was written as, and
a link leads to the web or to a place on the same page. Any other link says where it leads, and leads nowhere.
"""

from collections.abc import Iterator, Mapping
from html import escape
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

# markdown-it may take minutes over one text of brackets.
_LONGEST = 30_000
_MOST_BRACKETS = 50

# A link definition would be text that no reader sees.
_markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table").disable(["image", "reference"])


def as_html(text: str, places: Mapping[str, str]) -> str:
    """Return a text as HTML. `places` has the anchor on the page of each file that a link may name."""
    if len(text) > _LONGEST or text.count("[") > _MOST_BRACKETS:
        return f"<pre>{escape(text)}</pre>\n"
    tokens = _markdown.parse(text)
    for token in tokens:
        # The columns of a table bring `style`, and the language of a sample brings a class that its writer chooses.
        token.attrs = {"start": token.attrs["start"]} if "start" in token.attrs else {}
        token.info = ""
        if token.type in ("heading_open", "heading_close"):
            # The headings of the page are its own: a text must not pose as a part of it.
            token.tag = "p"
        token.children = token.children and [*_with_safe_links(token.children, places)]
    return str(_markdown.renderer.render(tokens, _markdown.options, {}))


def _with_safe_links(children: list[Token], places: Mapping[str, str]) -> Iterator[Token]:
    leads_to = ""
    for child in children:
        if child.type == "link_open":
            target = str(child.attrs.get("href", ""))
            place = places.get(unquote(target.partition("#")[0]).removeprefix("./"))
            child.attrs = {"href": f"#{place}"} if place else {"href": target, "rel": "noopener noreferrer"}
            leads_to = "" if place or target.lower().startswith(("https://", "http://")) else target
            if leads_to:
                child.tag, child.attrs = "span", {}
        elif child.type == "link_close" and leads_to:
            yield Token("text", "", 0, content=f" ({unquote(leads_to)})")
            child.tag, leads_to = "span", ""
        yield child
