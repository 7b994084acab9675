"""The figures of a comparison as a picture: SVG, one panel for each thing measured, one bar for each format."""

from collections.abc import Callable, Sequence
from html import escape

from .measure import STEPS, Measured

WIDTH = 760
_LEFT, _RIGHT, _ROW, _TITLE, _GAP = 110, 130, 22, 30, 18
_COLOURS = ("#4269d0", "#efb118", "#3ca951", "#ff725c", "#6cc5b0", "#a463f2")


def chart(found: Sequence[Measured], title: str) -> str:
    """Return the picture. Bars of one panel share a scale; a panel's best bar is the shortest."""
    panels: list[tuple[str, Callable[[Measured], float], Callable[[float], str]]] = [
        ("size on disk", lambda one: float(one.size), size_text)
    ]
    panels += [(about, lambda one, step=step: one.middle(step), time_text) for step, about in STEPS.items()]  # type: ignore[misc]
    height = 54 + len(panels) * (_TITLE + len(found) * _ROW + _GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        "<style>text { font: 13px system-ui, sans-serif }</style>",
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="28" style="font-size: 16px; font-weight: 600" fill="#1b1e23">{escape(title)}</text>',
    ]
    top = 54
    for name, figure, spelled in panels:
        lines.append(f'<text x="16" y="{top + 16}" style="font-weight: 600" fill="#1b1e23">{escape(name)}</text>')
        top += _TITLE
        largest = max(map(figure, found), default=0) or 1
        for number, one in enumerate(found):
            value = figure(one)
            length = max(1, round((WIDTH - _LEFT - _RIGHT) * value / largest))
            colour = _COLOURS[number % len(_COLOURS)]
            middle = top + _ROW // 2 + 4
            lines += [
                f'<text x="{_LEFT - 8}" y="{middle}" text-anchor="end" fill="#3b4252">{escape(one.format.name)}</text>',
                f'<rect x="{_LEFT}" y="{top + 3}" width="{length}" height="{_ROW - 7}" rx="2" fill="{colour}"/>',
                f'<text x="{_LEFT + length + 6}" y="{middle}" fill="#3b4252">{escape(spelled(value))}</text>',
            ]
            top += _ROW
        top += _GAP
    return "\n".join([*lines, "</svg>", ""])


def time_text(*seconds: float) -> str:
    """Return a time as people say it, 4.56 ms; of several, the others in the unit of the first: 4.56 (3.9–5) ms."""
    factor, unit = next((pair for pair in ((1.0, "s"), (1e3, "ms")) if seconds[0] * pair[0] >= 1), (1e6, "µs"))
    first, *more = (f"{one * factor:.3g}" if one * factor < 1000 else f"{one * factor:,.0f}" for one in seconds)
    return f"{first} ({'–'.join(more)}) {unit}" if more else f"{first} {unit}"


def size_text(size: float) -> str:
    """Return a size in units of a thousand: 231 MB."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} B"
