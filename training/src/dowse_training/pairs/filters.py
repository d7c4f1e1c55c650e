"""Which documented functions make no pair, and under which name that is counted."""

from __future__ import annotations

from collections.abc import Callable

from dowse.eval.mine.doc_pairs import code_filters, doc_filters
from dowse.eval.mine.doc_pairs.candidate import Candidate

# The order is that of the questions, cheap and common ones first; a candidate is counted under the first
# that it answers with yes.
FILTERS: dict[str, Callable[[Candidate], bool]] = {
    "test": code_filters.is_test,
    "documentation not ASCII": doc_filters.not_ascii,
    "documentation too short": doc_filters.too_short,
    "documentation too long": doc_filters.too_long,
    "documentation is boilerplate": doc_filters.is_boilerplate,
    "documentation is a licence": doc_filters.is_licence,
    "documentation not prose": doc_filters.not_prose,
    "documentation not English": doc_filters.not_english,
    "code too short": code_filters.too_short,
    "code too long": code_filters.too_long,
    "stub": code_filters.is_stub,
    "trivial": code_filters.is_trivial,
}


def drop_reason(candidate: Candidate) -> str:
    """The name of the first filter that a candidate does not pass, or "" when it passes all."""
    return next((reason for reason, drops in FILTERS.items() if drops(candidate)), "")
