"""What an agent is shown of results, line by line: the same form for every tool.

A result is a heading, `3. path:10-25 name`, and its lines of code that are not blank, each with its number in
the file, as tools for agents print them. A tool that only names files first lists them, ten at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from dowse.eval.budget import BudgetMetrics, CodeLine, ShownLine
from dowse.eval.index_symbols import iter_symbols
from dowse.eval.index_targets import IndexTargets
from dowse.eval.matching import Target
from dowse.eval.systems.mirror import indexed_texts
from dowse.eval.systems.ripgrep import LISTED
from dowse.eval.types import Dataset, SearchResult
from dowse.index import Index
from dowse.storage.protocol import Reader
from dowse.types import SymbolRow

# Lines of code that are not blank, with their numbers.
_Lines = list[tuple[int, str]]


def budget_metrics(
    index: Index, dataset: Dataset, budgets: Sequence[int]
) -> tuple[BudgetMetrics, BudgetMetrics]:
    """Return the metrics of tools that show code, and of those that list files to be read."""
    texts = IndexTexts(index)
    metrics = BudgetMetrics(budgets, texts.code(dataset), texts.show)
    return metrics, replace(metrics, show=partial(texts.show, listed=LISTED))


class IndexTexts:
    """The texts of an index by results and targets; it must not change meanwhile."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._rows = {row.key: row for row in iter_symbols(index)}
        self._files = {file.path: file.file_id for file in index.files()}
        self._texts: dict[object, _Lines] = {}  # by id of a symbol, or number of a file

    def show(self, results: Sequence[SearchResult], listed: int = 0) -> Iterator[ShownLine]:
        """Give what is shown of results, in their order: a symbol, or the lines of a file that it names.

        `listed` files at a time are listed by their names before the first of them is shown.
        """
        names = list(dict.fromkeys(each.path for each in results)) if listed else []
        listed_paths: set[str] = set()
        with self._index.backend.reader() as reader:
            for rank, each in enumerate(results, 1):
                if names and each.path not in listed_paths:
                    new = names[len(listed_paths) : len(listed_paths) + listed]
                    yield from ((None, name) for name in new)
                    listed_paths.update(new)
                file_id, lines = self._result_lines(reader, each)
                yield None, _heading(rank, each, lines)
                yield from (((file_id, number), f"{number}  {text}") for number, text in lines)

    def code(self, dataset: Dataset) -> dict[str, frozenset[CodeLine]]:
        """Return the lines of every relevant target of a set; none of what the index does not hold."""
        targets = IndexTargets(self._index, dataset)
        lines = self._target_symbol_lines if dataset.level == "symbol" else self._target_file_lines
        with self._index.backend.reader() as reader:
            return {target.key: frozenset(lines(reader, targets, target)) for target in targets.all}

    def _result_lines(self, reader: Reader, result: SearchResult) -> tuple[int, _Lines]:
        """Return the file of a result, and the lines that it shows."""
        row = self._rows.get(result.id)
        if row is not None:
            return row.file_id, self._symbol_text(reader, row)
        file_id = self._files.get(result.path)
        if file_id is None:
            return 0, []
        lines = self._file_text(reader, file_id)
        if not result.start_line:
            return file_id, lines
        last = max(result.start_line, result.end_line)
        return file_id, [line for line in lines if result.start_line <= line[0] <= last]

    def _symbol_text(self, reader: Reader, row: SymbolRow) -> _Lines:
        if row.key not in self._texts:
            (symbol,) = reader.symbols([row])
            self._texts[row.key] = [line for line in symbol.numbered_lines if line[1].strip()]
        return self._texts[row.key]

    def _file_text(self, reader: Reader, file_id: int) -> _Lines:
        if file_id not in self._texts:
            ((_, data),) = indexed_texts(reader, [file_id])
            texts = enumerate(data.decode("utf-8", "replace").split("\n"), 1)
            self._texts[file_id] = [(number, text.rstrip("\r")) for number, text in texts if text.strip()]
        return self._texts[file_id]

    def _target_file_lines(self, reader: Reader, targets: IndexTargets, target: Target) -> Iterator[CodeLine]:
        """Give the lines of a file, or those of them that a target names."""
        for path in targets.paths(target)[:1]:
            file_id = self._files[path]
            for number, _ in self._file_text(reader, file_id):
                if not target.start or target.start <= number <= target.end:
                    yield file_id, number

    def _target_symbol_lines(
        self, reader: Reader, targets: IndexTargets, target: Target
    ) -> Iterator[CodeLine]:
        for row in targets.symbols(target):
            yield from ((row.file_id, number) for number, _ in self._symbol_text(reader, row))


def _heading(rank: int, result: SearchResult, lines: _Lines) -> str:
    """Return the line above the code of a result."""
    first, last = (lines[0][0], lines[-1][0]) if lines else (result.start_line, result.end_line)
    return f"{rank}. {result.path}:{first}-{last} {result.symbol}".rstrip()
