"""Lines and messages of the commands: control characters of names are escaped."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dowse.security.terminal import escape_message, escape_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dowse.types import Note


def print_json(data: object) -> None:
    """Print plain data as one JSON document."""
    from dowse.formats.json_format import json_document

    sys.stdout.write(json_document(data))


def print_line(text: str) -> None:
    """Print one line of results, with control characters escaped."""
    sys.stdout.write(escape_name(text) + "\n")


def print_message(message: str) -> None:
    """Print a message to standard error, on one line: names in it may come from the repository."""
    sys.stderr.write(f"dowse: {escape_name(message)}\n")


def print_error(error: Exception) -> None:
    """Print an error to standard error; some list the candidates of a name, one a line."""
    sys.stderr.write(f"dowse: {escape_message(error)}\n")


def print_notes(notes: Iterable[Note]) -> None:
    """Print the notes of an answer to standard error."""
    for note in notes:
        print_message(str(note))
