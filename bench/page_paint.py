"""How soon the page is seen, and how much is sent: first and largest paint in a real Chromium, per page.

    python bench/page_paint.py REPOSITORY [--repeat N] [--out bench/results/page_paint.json]

Like Lighthouse, but with the browser's own clock: once over loopback as it is, once as on a desktop (40 ms
away, 10 Mbit/s), once as on a middling phone (150 ms away, 1.6 Mbit/s, a processor four times as slow),
always with an empty cache. Bytes are those of the page itself, packed as they were sent, without what the
API answers. Needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from common import beside_python, work_folder, write_results


class Line(NamedTuple):
    """How far away the server is, and how fast the machine that looks."""

    latency_ms: float = 0
    bytes_a_second: float = -1  # no limit
    slowdown: float = 1


# Lighthouse's own settings for the two.
LINES = {
    "loopback": Line(),
    "desktop": Line(40, 10_240 * 1024 / 8),
    "phone": Line(150, 1_638.4 * 1024 / 8, 4),
}
PAGES = {
    "/": "landing",
    "/search?q=read+settings+from+a+file": "search",
    "/eval": "eval",
    "/status": "status",
}
# Asked when the page has come to rest; the largest paint is only told to who listens.
_MEASURED = """() => new Promise(resolve => {
    new PerformanceObserver(list => {
        const paint = performance.getEntriesByName('first-contentful-paint')[0];
        const sent = ['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type));
        const own = sent.filter(each => !new URL(each.name).pathname.startsWith('/api/'));
        resolve({
            first: paint.startTime,
            largest: list.getEntries().at(-1).startTime,
            bytes: own.reduce((sum, each) => sum + each.transferSize, 0),
        });
    }).observe({ type: 'largest-contentful-paint', buffered: true });
})"""


def main() -> None:
    """Measure every page over every line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser")
    parser.add_argument("--work", type=Path, help="keep the index here")
    parser.add_argument("--out", type=Path, default=Path("bench/results/page_paint.json"))
    chosen = parser.parse_args()
    with (
        work_folder(chosen.work) as work,
        serving(chosen.repository, work) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chosen.chromium, args=["--no-sandbox"])
        results: dict[str, object] = {"repeat": chosen.repeat, "browser": browser.version}
        for name, line in LINES.items():
            results[name] = {
                page: middle([measured(browser, url + address, line) for _ in range(chosen.repeat)])
                for address, page in PAGES.items()
            }
            print(name, results[name], file=sys.stderr)
        browser.close()
    write_results(chosen.out, results)


@contextlib.contextmanager
def serving(repository: Path, work: Path) -> Iterator[str]:
    """Index a repository and serve it; gives the address."""
    environment = {**os.environ, "DOWSE_CACHE_DIR": str(work), "DOWSE_DATA_DIR": str(work / "data")}
    command = [beside_python(), "index", repository]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    command = [beside_python(), "serve", repository, "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            yield server.stdout.readline().split()[-1].rstrip("/")
        finally:
            server.terminate()


def measured(browser: Browser, address: str, line: Line) -> dict[str, float]:
    """Open an address with nothing in the cache; return milliseconds, and bytes of the page itself."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    limits = {"offline": False, "latency": line.latency_ms, "downloadThroughput": line.bytes_a_second}
    session.send("Network.emulateNetworkConditions", {**limits, "uploadThroughput": line.bytes_a_second})
    session.send("Emulation.setCPUThrottlingRate", {"rate": line.slowdown})
    page.goto(address, wait_until="load")
    page.get_by_role("heading", level=1).wait_for(state="attached")
    found: dict[str, float] = page.evaluate(_MEASURED)
    context.close()
    return found


def middle(runs: list[dict[str, float]]) -> dict[str, Any]:
    """Return the median of each figure."""
    first, largest, sent = (
        statistics.median(run[name] for run in runs) for name in ("first", "largest", "bytes")
    )
    return {"first_paint_ms": round(first), "largest_paint_ms": round(largest), "page_bytes": round(sent)}


if __name__ == "__main__":
    main()
