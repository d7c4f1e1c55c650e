"""Answers as HTML for notebooks: the lines of each hit that tell most, and why it was found.

All of a repository is untrusted: each text goes through `_text`. There are no classes and no scripts, since
a notebook shows many outputs on one page.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dowse.formats.snippets import Window, snippet, with_gaps
from dowse.formats.text import format_relevance, merge_spans, query_terms, tokenize_lazily
from dowse.security.terminal import escape_controls

if TYPE_CHECKING:
    from dowse.answer import Answer
    from dowse.types import Hit, Span

_WORD = re.compile(r"\w+")
_MAX_WIDTH, _MAX_MATCHES, _MAX_REASONS = 200, 20, 6
# Colours that can be read on white and on black, by the beginnings of Pygments' names of tokens.
_COLOURS = {
    "Token.Comment": "opacity:.65",
    "Token.Literal.String": "color:#3f8f3f",
    "Token.Literal.Number": "color:#b06a1a",
    "Token.Keyword": "color:#a64ca6",
    "Token.Name.Function": "color:#3b78c8",
    "Token.Name.Class": "color:#3b78c8",
}


def answer_html(answer: Answer) -> str:
    """Return the hits and notes of an answer; every text is escaped."""
    terms = query_terms(answer)
    notes = "".join(f'<p style="opacity:.7">{_text(str(note))}</p>' for note in answer.notes)
    hits = "".join(_hit(hit, terms) for hit in answer.hits) or "<p>no hits</p>"
    return f"<div>{notes}{hits}</div>"


def _hit(hit: Hit, terms: frozenset[str]) -> str:
    symbol = hit.symbol
    name = f"{symbol.kind} {symbol.qualified_name}"
    head = (
        f"<b>{_text(f'{symbol.path}:{symbol.start_line}')}</b> {_text(name)}"
        f' <span style="opacity:.7">{_text(format_relevance(hit))}</span>'
    )
    lines = "\n".join(_lines(hit, terms))
    pre = f'<pre style="margin:.2em 0 .2em 1em;text-align:left">{lines}</pre>' if lines else ""
    return f'<div style="margin:0 0 1em;text-align:left">{head}{pre}{_reasons(hit)}</div>'


def _lines(hit: Hit, terms: frozenset[str]) -> Iterator[str]:
    """Yield the lines that a pattern matched, else those that tell most."""
    language = hit.symbol.language
    if hit.matches:
        for match in hit.matches[:_MAX_MATCHES]:
            yield _line(match.line, match.text, match.spans, language)
        return
    for line in with_gaps(snippet(hit, terms, Window(), tokenize_lazily), hit.symbol):
        if line is None:
            yield f"{'⋮':>6}"
        else:
            words = [
                word for word in _WORD.finditer(line[1]) if not terms.isdisjoint(tokenize_lazily(word[0]))
            ]
            yield _line(*line, [word.span() for word in words], language)


def _line(number: int, text: str, marked: Iterable[Span], language: str) -> str:
    """Return a line of code with its tokens coloured and some spans marked."""
    text = text.rstrip("\r\n")[:_MAX_WIDTH]
    spans, parts, at = merge_spans(tuple(marked)), [], 0
    for kind, token in _tokens(text, language):
        style = next((css for name, css in _COLOURS.items() if kind.startswith(name)), "")
        code = _marked(token, [(start - at, end - at) for start, end in spans])
        parts.append(f'<span style="{style}">{code}</span>' if style else code)
        at += len(token)
    return f"{number:>6}  {''.join(parts)}"


def _marked(token: str, spans: Iterable[Span]) -> str:
    parts, at = [], 0
    for start, end in spans:
        start, end = max(at, start), min(len(token), end)
        if start < end:
            parts += [_text(token[at:start]), f"<mark>{_text(token[start:end])}</mark>"]
            at = end
    return "".join(parts) + _text(token[at:])


def _tokens(text: str, language: str) -> Iterable[tuple[str, str]]:
    """Return kinds and texts of the tokens of a line: one of no kind where Pygments is missing."""
    try:  # notebooks have it
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    except ImportError:
        return [("", text)]
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [("", text)]
    tokens = [(str(kind), token) for kind, token in lexer.get_tokens(text)]
    # Some lexers change what they read; then the spans would be of another text.
    return tokens if "".join(token for _, token in tokens) == text else [("", text)]


def _reasons(hit: Hit) -> str:
    """Return what the score is made of, the largest addend first, behind a fold."""
    parts = sorted(hit.explanation, key=lambda part: -abs(part.value))[:_MAX_REASONS]
    reasons = [f"{part.value:+.3f} {part.source} {part.detail}".rstrip() for part in parts]
    reasons += [f"{lane.lane}: {lane.detail}" for lane in hit.lanes if lane.detail]
    items = "".join(f"<li>{_text(reason)}</li>" for reason in reasons)
    return (
        f'<details style="margin-left:1em"><summary>why</summary><ul>{items}</ul></details>' if items else ""
    )


def _text(text: str) -> str:
    """Return a text without markup, control characters and characters that change its direction."""
    return html.escape(escape_controls(text))
