"""Colours and OSC 8 hyperlinks of terminal output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from dowse.lazy_classes import dataclass, replace
from dowse.security.safe_files import resolve_inside
from dowse.security.terminal import escape_name

# Values of TERM for terminals that would print the OSC 8 sequence instead of hiding it.
_TERMS_WITHOUT_LINKS = ("", "dumb", "linux")


@dataclass(frozen=True, slots=True)
class Style:
    """Escape sequences; all are empty without a terminal or with NO_COLOR."""

    path: str = ""
    line: str = ""
    match: str = ""
    dim: str = ""
    bold: str = ""
    reset: str = ""
    root: Path | None = None  # of the files that locations are links to; None for no links
    # From a path of the index to one that can be opened from the current folder; None shows the former.
    openable: Callable[[str], str] | None = None

    def location(self, path: str, line: int) -> str:
        """Return `path:line` with colours and a hyperlink, where they are enabled."""
        shown = escape_name(self.openable(path) if self.openable else path)
        text = f"{self.path}{shown}{self.reset}:{self.line}{line}{self.reset}"
        return link(text, self.root, path) if self.root else text


def choose_colors(color: str, environ: Mapping[str, str]) -> Style:
    """Return the colours for standard output: `auto`, `always` or `never`."""
    automatic = color == "auto" and sys.stdout.isatty() and not environ.get("NO_COLOR")
    if color != "always" and not automatic:
        return Style()
    return Style("\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[1m", "\x1b[0m")


def choose_style(color: str, root: Path, environ: Mapping[str, str]) -> Style:
    """Return the style for standard output.

    Args:
        color: `auto`, `always` or `never`.
        root: The folder that paths are relative to; a corpus is a file and gets no links.
        environ: Environment variables of the user: NO_COLOR and TERM.
    """
    style = choose_colors(color, environ)
    supported = sys.stdout.isatty() and environ.get("TERM", "") not in _TERMS_WITHOUT_LINKS
    return replace(style, root=root) if supported and root.is_dir() else style


def link(text: str, root: Path, path: str) -> str:
    """Return a text as an OSC 8 hyperlink to a file; unchanged if this machine has no such file."""
    try:
        file = resolve_inside(root, path)
    except OSError:
        return text
    if not file.is_file():
        return text
    import platform  # late: starting up stays fast without links

    # All but letters, digits and slashes is percent-encoded, so no path can end the sequence early.
    from urllib.parse import quote  # late: most output has no links

    target = f"file://{quote(platform.node())}{quote(os.fsencode(file))}"
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"
