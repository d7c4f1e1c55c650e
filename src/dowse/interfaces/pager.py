"""A pager for output that is longer than the screen, as git has one.

Loads next to nothing, for a command that a daemon answers starts here, too.
"""

from __future__ import annotations

import os
import sys

NO_PAGER = "--no-pager"
# What git sets: quit if it fits on one screen, pass colours on, leave the text on the screen.
_LESS_OPTIONS = "FRX"
_DEFAULT = "less"


def page(data: bytes) -> bool:
    """Show output in a pager; returns False if it is short, is not for a terminal, or there is no pager."""
    if not is_long(data):
        return False
    command = os.environ.get("DOWSE_PAGER", os.environ.get("PAGER", _DEFAULT)).strip()
    if command in ("", "cat"):
        return False
    import shlex
    import subprocess

    environment = {"LESS": _LESS_OPTIONS, "LV": "-c", **os.environ}
    try:
        pager = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, env=environment)
    except (OSError, ValueError):  # not installed, not executable, an unclosed quote
        return False
    try:
        pager.communicate(data)
    except KeyboardInterrupt:  # pagers take Ctrl-C themselves
        pager.wait()
    return True


def is_long(data: bytes) -> bool:
    """Whether output goes to a terminal with fewer lines."""
    try:
        return os.isatty(1) and data.count(b"\n") >= os.get_terminal_size(1).lines > 0
    except OSError:
        return False


class PagedOutput:
    """Stands for standard output on a terminal: collects what is written, and then shows it."""

    def __init__(self) -> None:
        self._stream, self._texts = sys.stdout, list[str]()

    def write(self, text: str) -> int:
        """Collect a text."""
        self._texts.append(text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Collect texts."""
        self._texts += lines

    def flush(self) -> None:
        """Do nothing: `show` writes."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def __enter__(self) -> PagedOutput:
        sys.stdout = self
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._stream
        self.show()

    def show(self) -> None:
        """Show what was written, in a pager if it is long."""
        from dowse.security.terminal import escape_for_terminal

        text = "".join(self._texts)
        if text and not page(escape_for_terminal(text).encode("utf-8", "backslashreplace")):
            self._stream.write(text)
            self._stream.flush()
