"""Colours and OSC 8 hyperlinks of terminal output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from dowse.errors import DowseError
from dowse.security.safe_files import resolve_inside
from dowse.security.terminal import escape_name

# URI templates by name. `file` has no line: some openers take it as a part of the file's name.
_TEMPLATES = {
    "file": "file://{host}{path}",
    "vscode": "vscode://file{path}:{line}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "windsurf": "windsurf://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
    "textmate": "txmt://open?url=file://{path}&line={line}",
}
_TEMPLATE_VARIABLE = "DOWSE_LINK_FORMAT"
# Values of TERM for terminals that would print the OSC 8 sequence instead of hiding it.
_TERMS_WITHOUT_LINKS = ("", "dumb", "linux")


@dataclass(frozen=True, slots=True)
class Links:
    """Turns locations into OSC 8 hyperlinks."""

    root: Path
    template: str

    def wrap(self, text: str, path: str, line: int) -> str:
        """Return a text as a link to a location; unchanged if this machine has no such file."""
        try:
            file = resolve_inside(self.root, path)
        except OSError:
            return text
        if not file.is_file():
            return text
        import platform  # late: starting up stays fast without links

        # All but letters, digits and slashes is percent-encoded, so no path can end the sequence early.
        encoded = quote(os.fsencode(file))
        target = self.template.format(host=quote(platform.node()), path=encoded, line=line)
        return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"


@dataclass(frozen=True, slots=True)
class Style:
    """Escape sequences; all are empty without a terminal or with NO_COLOR."""

    path: str = ""
    line: str = ""
    match: str = ""
    dim: str = ""
    bold: str = ""
    reset: str = ""
    links: Links | None = None
    # From a path of the index to one that can be opened from the current folder; None shows the former.
    openable: Callable[[str], str] | None = None

    def location(self, path: str, line: int) -> str:
        """Return `path:line` with colours and a hyperlink, where they are enabled."""
        shown = escape_name(self.openable(path) if self.openable else path)
        text = f"{self.path}{shown}{self.reset}:{self.line}{line}{self.reset}"
        return self.links.wrap(text, path, line) if self.links else text


def choose_colors(color: str, environ: Mapping[str, str]) -> Style:
    """Return the colours for standard output: `auto`, `always` or `never`."""
    automatic = color == "auto" and sys.stdout.isatty() and not environ.get("NO_COLOR")
    if color != "always" and not automatic:
        return Style()
    return Style("\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[1m", "\x1b[0m")


def choose_style(color: str, links: str, root: Path, environ: Mapping[str, str]) -> Style:
    """Return the style for standard output.

    Args:
        color: `auto`, `always` or `never`.
        links: The same for hyperlinks.
        root: The folder that paths are relative to; a corpus is a file and gets no links.
        environ: Environment variables of the user: NO_COLOR, TERM, DOWSE_LINK_FORMAT.
    """
    style = choose_colors(color, environ)
    supported = sys.stdout.isatty() and environ.get("TERM", "") not in _TERMS_WITHOUT_LINKS
    if (links == "always" or (links == "auto" and supported)) and root.is_dir():
        return replace(style, links=Links(root, _link_template(environ)))
    return style


def _link_template(environ: Mapping[str, str]) -> str:
    name = environ.get(_TEMPLATE_VARIABLE) or "file"
    template = _TEMPLATES.get(name, name)
    try:
        filled = template.format(host="", path="/", line=1)
    except (KeyError, IndexError, ValueError):
        filled = ""
    if "{path}" not in template or not filled.isprintable():
        names = ", ".join(_TEMPLATES)
        raise DowseError(
            f"{_TEMPLATE_VARIABLE} is one of {names}, or a URI with {{path}} and {{line}}, not {name!r}"
        )
    return template
