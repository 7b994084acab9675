"""One self-contained file of a page: everything escaped, and a policy that lets nothing in it run or load but our own.

It needs no server and no network. A browser runs the one script only because the policy names its digest, and reading
needs no script at all.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache, partial
from hashlib import sha256

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from ..project.templates import shipped_file
from ..records.record import came_disputed, until_of
from ..secrets.mask import beginning, masked
from ..text import labels
from ..text.headers import front_matter_end
from ..text.markdown import marker_width
from ..text.visible import show_invisible
from .markdown import as_html
from .page import MemoryPage, mark_of, tell_failure

LARGEST = 2_000_000
"""What a file may weigh in bytes, so that it can be attached to a pull request. A larger one leaves something out."""

_MAIN = "<main"
_BROKEN = '<h1>A fault</h1>\n<p class="error" role="alert">{}</p>\n</main>\n</body>\n</html>\n'

LEAVES_OUT = ("history", "texts of notes", "block")  # What a file that would be too large does without, in this order


def single_file(page: MemoryPage, *, largest: int = LARGEST) -> bytes:
    """Return the page as one HTML file. One that would be larger leaves out the history first, and says so."""
    whole = render("file", page=page, leaves_out=LEAVES_OUT)
    data = b""
    for number in range(len(LEAVES_OUT) + 1):
        data = _PART.sub(partial(_part, LEAVES_OUT[:number]), whole)
        if len(data) <= largest:
            break
    return data


# Comments can only be ours: what memory says is escaped.
_PART = re.compile(rb"<!--(with|without) ([a-z ]+)-->(.*?)<!--end-->", re.DOTALL)


def _part(left_out: Sequence[str], found: re.Match[bytes]) -> bytes:
    """Return a part of the page as it is in a file that leaves these out."""
    when, name, text = found.groups()
    return text if (when == b"without") == (name.decode() in left_out) else b""


def render(name: str, *, live: object = None, **values: object) -> bytes:
    """Return a template of this folder with these values. `live` is what serves it; None for a file."""
    return b"".join(stream(name, live=live, **values))


def stream(name: str, *, live: object = None, **values: object) -> Iterator[bytes]:
    """Return the same in two pieces, so that a browser shows what is above the main part while that is made."""
    template = _environment().get_template(f"{name}.html.j2")
    style, script = (_shipped(file) for file in ("style.css", "script.js"))
    made: list[str] = []
    is_open = False
    try:
        for piece in template.generate(
            policy=policy(live=live is not None), style=style, script=script, live=live, **values
        ):
            made.append(piece)
            if not is_open and _MAIN in piece:
                is_open = True
                yield "".join(made).encode("utf-8", "backslashreplace")
                made.clear()
    except Exception as error:
        if live is None or not is_open:
            raise
        # What is above was sent already. A page that ends here must say why.
        made = [_BROKEN.format(escape(tell_failure(error, f"/{name}")))]
    yield "".join(made).encode("utf-8", "backslashreplace")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_shipped),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters |= {
        "markdown": lambda text, places: Markup(as_html(_visible(text), places)),  # noqa: S704 escaped there
        "label": lambda label: labels.in_front(label, "").rstrip(" "),
        "undisputed": lambda text: text.replace("[disputed] ", "", 1),
        "prose": _prose,
        "body": _body,
        "beginning": lambda text, most: beginning(text.strip()[marker_width(text.strip() or "-") :], most),
        "day": lambda stamp: stamp[:10],
        "minute": lambda stamp: stamp[:16].replace("T", " "),
        "mark": mark_of,
        "until_of": until_of,
        "came_disputed": came_disputed,
    }
    return environment


def policy(*, live: bool) -> str:
    """Return the Content-Security-Policy of a page: our style and script alone; a live one asks its server, too."""
    style, script = (_digest(_shipped(file)) for file in ("style.css", "script.js"))
    asks = "connect-src 'self'; form-action 'self'" if live else "form-action 'none'"
    return f"default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; {asks}"


def _shipped(name: str) -> str:
    return shipped_file("view", name).decode()


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _visible(value: object) -> str:
    """Return a value as text without secrets in which a reader sees every character: what hides is escaped."""
    if isinstance(value, Markup):
        return value
    return "\n".join(map(show_invisible, masked(str(value)).expandtabs(4).splitlines()))


def _prose(text: str) -> Markup:
    """Return a sentence of ours, with what is between backticks as code."""
    parts = re.split("`([^`]+)`", _visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def _body(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(lines[front_matter_end(lines) :])
