"""Write the address of the repository into what names it, for the first release (`scripts/release`)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

# Its workflows, its action and the name in the registry of MCP servers (io.github.…) are those of GitHub.
_ADDRESS = re.compile(r"https://github\.com/([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]+?)/?")
_EXTENSION = "editors/vscode/package.json"
# Without an address vsce can't make links of the extension's README absolute.
_WITHOUT_ADDRESS = "--allow-missing-repository --no-rewrite-relative-links"


def main() -> None:
    """Fill in the address that the command line gives."""
    match = _ADDRESS.fullmatch(sys.argv[1]) if len(sys.argv) == 2 else None
    if not match:
        sys.exit("usage: repository_address.py https://github.com/ACCOUNT/NAME")
    fill_in(Path(__file__).parent.parent, match[1], match[2])


def fill_in(root: Path, account: str, name: str) -> None:
    """Name the repository in every file below `root` that is published."""
    url = f"https://github.com/{account}/{name}"
    registered = f"io.github.{account}/{name}"
    urls = f'[project.urls]\nRepository = "{url}"\nChangelog = "{url}/blob/main/CHANGELOG.md"\n\n'
    _replace(
        root / "pyproject.toml",
        "[project.optional-dependencies]\n",
        f"{urls}[project.optional-dependencies]\n",
    )
    _replace(root / "mkdocs.yml", '  repository: ""\n', f"  repository: {url}\n")
    # The registry looks for this mark in the description on PyPI.
    _replace(root / "README.md", "# dowse\n", f"# dowse\n\n<!-- mcp-name: {registered} -->\n")
    manual = f"Documentation={url}/blob/main/docs/OPERATIONS.md\n"
    _replace(
        root / "packaging/systemd/dowse.service", "After=network.target\n", f"{manual}After=network.target\n"
    )
    _replace(root / "docs/PACKAGING.md", "repo: REPOSITORY\n", f"repo: {url}\n")
    _replace(root / "docs/PACKAGING.md", "uses: REPOSITORY@", f"uses: {account}/{name}@")
    _replace(root / _EXTENSION, _WITHOUT_ADDRESS, f"--baseImagesUrl {url}/raw/HEAD/editors/vscode")
    repository = {"type": "git", "url": f"{url}.git", "directory": "editors/vscode"}
    _update(root / _EXTENSION, {"repository": repository})
    _update(root / "server.json", {"name": registered, "repository": {"url": url, "source": "github"}})


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{path} should contain {old.strip()!r} once")
    path.write_text(text.replace(old, new), "utf-8")


def _update(path: Path, values: dict[str, object]) -> None:
    document = {**json.loads(path.read_text("utf-8")), **values}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
