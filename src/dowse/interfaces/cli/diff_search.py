"""What `dowse diff-search` does before it searches: find the symbols that a branch changed."""

from __future__ import annotations

import argparse
from typing import Any

from dowse.errors import DowseError
from dowse.history.changes import is_checked_out, parse_range, read_changes
from dowse.index import Index
from dowse.interfaces.cli.common import ensure_current, open_index
from dowse.interfaces.cli.printing import print_message
from dowse.search.changed_symbols import changed_rows


def enter_changes(index: Index, options: argparse.Namespace, values: dict[str, Any]) -> Index:
    """Limit the options of a search to what was changed, and return the index that has it.

    That of the work tree, where it has the commit's files as they are; else that of the commit.
    """
    if index.is_shared:
        raise DowseError("diff-search needs an index on this machine, not one on a cluster")
    base, head = parse_range(options.range)
    files = () if head else [file.path for file in index.contents.files()]
    changes = read_changes(index.root, base, head, files)
    if head and not is_checked_out(index.root, changes):
        options.path = str(index.root)
        index = open_index(options, revision=head)
        ensure_current(index)
    with index.backend.reader() as reader:
        values["rows"] = changed_rows(reader, changes.hunks)
    print_message(
        f"{len(values['rows']):,} symbols in {len(changes.hunks):,} files changed since {changes.base[:12]}"
    )
    return index
