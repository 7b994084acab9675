"""The pictures of the page in README and docs: `python -m tests.view.pictures` takes them again, light and dark."""

import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from agent_memory_protocol import Tier, Workspace
from agent_memory_protocol.answers import About

from .browser import REPOSITORY, browser, served

SIZE = {"width": 1240, "height": 760}
_FACTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("Infrastructure", "Redis loses its queue on restart unless AOF is on.", {"source": "incident 12"}),
    ("Infrastructure", "The staging database is on port 5432.", {}),
    ("Infrastructure", "The staging database is on port 6432, behind pgbouncer.", {"writer": "backend"}),
    ("Infrastructure", "Log in JSON; the collector drops other lines.", {}),
    ("Infrastructure", "[AGO 12] The CDN keeps `index.html` for five minutes.", {}),
    ("Testing", "Run the migrations before the tests.", {}),
    ("Testing", "[AGO 400] The upload test is flaky on CI; retry it once.", {}),
    ("Testing", "Tests must not sleep; wait for the outcome.", {}),
    ("Releases", "[until AGO 20] The feature freeze holds.", {}),
    ("Releases", "[AGO 55] Deploys take four minutes since images are built once.", {}),
    ("Releases", "Releases leave on Tuesdays, when support is there.", {}),
)


def fill(root: Path) -> Workspace:
    """Write the memory that the pictures show."""
    here = Workspace.open(root, environ={"HOME": str(root.parent)})
    here.init(agents=["backend", "frontend"])
    for section, text, about in _FACTS:
        front, ago, rest = text.partition("AGO ")
        days, _, rest = rest.partition("]")
        dated = f"{front}{date.today() - timedelta(days=int(days))}]{rest}" if ago else text
        here.remember(dated, tier=Tier.SHARED, section=section, about=About(**about))
    one, other = (entry.id for entry in here.entries() if "staging database" in entry.text)
    here.dispute(one, other, reason="only one of them can be right")
    return here


def take(chromium: Any, folder: Path) -> list[Path]:
    """Take both pictures into a folder with this browser, and return their paths."""
    taken = []
    with tempfile.TemporaryDirectory() as above:
        root = Path(above, "shop")
        root.mkdir()
        fill(root)
        with served(root) as site:
            for scheme in ("light", "dark"):
                context = chromium.new_context(color_scheme=scheme, viewport=SIZE)
                page = context.new_page()
                page.goto(site.address)
                page.goto(f"{site.base}/document?of=shared")
                page.get_by_role("link", name="Without findings").wait_for()
                taken.append(folder / f"view-{scheme}.png")
                page.screenshot(path=taken[-1])
                context.close()
    return taken


if __name__ == "__main__":
    with browser() as started:
        for path in take(started, REPOSITORY / "docs"):
            print(f"{path.relative_to(REPOSITORY)}: {path.stat().st_size:,} bytes", file=sys.stderr)
