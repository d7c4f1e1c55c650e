"""OSC 8: places in a terminal that can be clicked."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from dowse.errors import DowseError
from dowse.interfaces.cli.environment import environment
from dowse.security.safe_files import resolve_inside

if TYPE_CHECKING:
    from dowse.formats.text import Style

WHEN = ("auto", "always", "never")
# What a click opens, by name. `file` has no line: some openers take one for a part of the file's name.
_FORMATS = {
    "file": "file://{host}{path}",
    "vscode": "vscode://file{path}:{line}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "windsurf": "windsurf://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
    "textmate": "txmt://open?url=file://{path}&line={line}",
}
_VARIABLE = "DOWSE_LINK_FORMAT"
# Terminals that would show the sequence instead of hiding it.
_WITHOUT = ("", "dumb", "linux")


@dataclass(frozen=True, slots=True)
class Links:
    """How a place becomes a link."""

    root: Path
    template: str

    def around(self, text: str, path: str, line: int) -> str:
        """Return a text as a link to a place; as it is where there is no such file on this machine."""
        try:
            file = resolve_inside(self.root, path)
        except OSError:
            return text
        if not file.is_file():
            return text
        import platform  # only where there is a link: starting up stays fast

        # Everything but letters, digits and slashes is encoded, so no path can end the sequence early.
        encoded = quote(os.fsencode(file))
        target = self.template.format(host=quote(platform.node()), path=encoded, line=line)
        return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


def with_links(style: Style, options: argparse.Namespace, root: Path) -> Style:
    """Return a style whose places are links, where the user and the terminal wish for them."""
    when = getattr(options, "links", "auto")
    wanted = when == "always" or (
        when == "auto" and sys.stdout.isatty() and environment().get("TERM", "") not in _WITHOUT
    )
    if not wanted or not root.is_dir():
        return style
    return replace(style, links=Links(root, _template()))


def _template() -> str:
    named = environment().get(_VARIABLE) or "file"
    template = _FORMATS.get(named, named)
    try:
        filled = template.format(host="", path="/", line=1)
    except (KeyError, IndexError, ValueError):
        filled = ""
    if "{path}" not in template or not filled.isprintable():
        names = ", ".join(_FORMATS)
        raise DowseError(f"{_VARIABLE} is one of {names}, or a URI with {{path}} and {{line}}, not {named!r}")
    return template
