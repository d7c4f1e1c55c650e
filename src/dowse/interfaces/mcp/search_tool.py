"""`search`: hits of one repository or of all, within the budget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dowse.errors import DowseError
from dowse.formats.answer_json import notes_to_json
from dowse.interfaces.mcp.arguments import SearchArguments
from dowse.interfaces.mcp.budget import beginning, clipped, json_bytes
from dowse.interfaces.mcp.hits import Shown, hits_data, hits_text, left_out
from dowse.interfaces.mcp.reply import Asked, Reply, for_agents, note_lines, places_said, work_said
from dowse.interfaces.mcp.repositories import Repository
from dowse.interfaces.mcp.snippets import Snippet, words_of
from dowse.services.filters import filters_text
from dowse.services.merge import AHEAD, Told, merged_notes, page
from dowse.token_estimate import BYTES_PER_TOKEN
from dowse.types import Note, NoteCode

# Hits that are named where none is relevant.
_NEAREST = 5
# Bytes of a query that is said again in the answer.
_ECHO = 200
_ADVICE = Note("other", "try other words, fewer filters, or detail=names with a larger k")


def search(asked: Asked, given: SearchArguments) -> Reply:
    """Search, and show as much of the hits as the budget allows."""
    started = time.perf_counter()
    told = _told(asked, given)
    if all(each.error for each in told):
        raise told[0].error or DowseError("nothing to search")
    answer = page(given.query, told, given.offset, given.k, 1000 * (time.perf_counter() - started))
    quoting, own = _notes(asked, told, answer["embedded"])
    notes = sorted([*quoting, *own], key=lambda note: note.code != "nothing-relevant")
    shown, nothing = _shown(answer, told, given.query), _is_nothing(told)
    if nothing and given.detail == "snippets":
        # What is not relevant should not cost much.
        shown, given = shown[:_NEAREST], given.model_copy(update={"detail": "names"})
    head = _head(asked, given, answer, len(shown), nothing, own)
    first = note_lines(quoting)
    text = hits_text(shown, head, given.detail, given.max_tokens, asked.several, first)
    return Reply(clipped(text, given.max_tokens), _data(answer, shown, notes, given, asked.several))


def _shown(answer: dict[str, Any], told: Sequence[Told], query: str) -> list[Shown]:
    """Return the hits of a page with the lines that can be shown of them."""
    words = words_of(query)
    by_id = {
        (each.index, hit.symbol.id): hit
        for each in told
        if each.answer is not None
        for hit in each.answer.hits
    }
    return [Shown(data, Snippet.of(by_id[data["index"], data["id"]], words)) for data in answer["hits"]]


def _is_nothing(told: Sequence[Told]) -> bool:
    """Whether every repository says that it has nothing relevant."""
    return all(_has_note(each, "nothing-relevant") for each in told if each.answer is not None)


def _told(asked: Asked, given: SearchArguments) -> list[Told]:
    """Return what each repository says, asked side by side."""
    if not asked.several:
        return [_one(asked, asked.repositories[0], given)]
    with ThreadPoolExecutor(len(asked.repositories)) as threads:
        told = list(threads.map(lambda each: _one(asked, each, given), asked.repositories))
    # Where nothing else decides, hits of those that know the name come first.
    return sorted(told, key=lambda each: _has_note(each, "unknown-name"))


def _has_note(told: Told, code: NoteCode) -> bool:
    return told.answer is not None and any(note.code == code for note in told.answer.notes)


def _one(asked: Asked, repository: Repository, given: SearchArguments) -> Told:
    asked.call.check()
    try:
        answer = repository.index.search(
            given.query,
            given.offset + given.k + (AHEAD if asked.several else 1),
            given.mode,
            plain=given.plain,
            filters=filters_text(given.lang, given.path, given.exclude, given.kind),
            min_score=given.min_score,
            page=given.k,
        )
    except DowseError as error:
        return Told(repository.name, None, error)
    return Told(repository.name, answer)


def _notes(
    asked: Asked, told: Sequence[Told], embedded: dict[str, Any] | None
) -> tuple[list[Note], list[Note]]:
    """Return the notes: those that may quote the repository, and those in words of our own."""
    notes = merged_notes(told)
    work = work_said(asked.repositories, by_meaning=False)
    if any(note.code in ("partly-embedded", "incomplete-index") for note in notes):
        embedded = embedded or {"symbols": 0, "total": 0}
        share = 100 * embedded["symbols"] // max(1, embedded["total"])
        doing = "; ".join(map(str, work_said(asked.repositories, by_meaning=True)))
        doing = f" ({doing})" if doing else ""
        text = f"by words all can be found, by meaning {share} % so far{doing}: ask again in a while"
        work = [Note("partly-embedded", text)]
    kept = for_agents(notes)
    nothing = [note for note in kept if note.code == "nothing-relevant"]
    return [note for note in kept if note not in nothing], [*nothing, *asked.notes, *work]


def _head(
    asked: Asked,
    given: SearchArguments,
    answer: dict[str, Any],
    count: int,
    nothing: bool,
    notes: Sequence[Note],
) -> str:
    """Return the first lines: how many hits, from where, by which lanes, how complete, and all notes."""
    hits = f"hits {given.offset + 1}-{given.offset + count}" if count else "no hits"
    if count and nothing:
        hits = f"nothing relevant; the {count} nearest"
    more = f" (more: offset={given.offset + count})" if answer["more"] and not nothing else ""
    answered = [lane["lane"] for lane in answer["lanes"] if not lane["problem"]]
    lanes = f"; lanes: {', '.join(answered)}" if answered else f"; mode: {answer['mode']}"
    sure = any(hit["confidence"] is not None for hit in answer["hits"])
    legend = "; [%]: how likely relevant" if sure else ""
    state = "; index complete" if _is_complete(asked, answer) else ""
    line = f"{hits}{more} in {places_said(asked.repositories)}{lanes}{state}{legend}"
    advice = [] if count else [_ADVICE]
    return "\n".join([line, *note_lines((*notes, *advice))])


def _is_complete(asked: Asked, answer: dict[str, Any]) -> bool:
    embedded = answer["embedded"]
    whole = not embedded or embedded["symbols"] >= embedded["total"]
    return whole and not work_said(asked.repositories, by_meaning=True) and not asked.notes


def _data(
    answer: dict[str, Any], shown: Sequence[Shown], notes: list[Note], given: SearchArguments, several: bool
) -> dict[str, Any]:
    """Return the answer as data, within the budget too: as many hits as fit, without plan and reasons."""
    query = beginning(given.query, _ECHO)
    base = {name: answer[name] for name in ("schema", "dowse", "mode", "generation", "candidates")}
    base |= {"query": query, "notes": notes_to_json(notes), "embedded": answer["embedded"], "plan": None}
    base |= {"lanes": answer["lanes"], "offset": answer["offset"], "more": answer["more"]}
    left = given.max_tokens * BYTES_PER_TOKEN - json_bytes({**base, "hits": []})
    hits = hits_data(shown, left, given.detail, several)
    cut = left_out(len(shown) - len(hits), given.detail)
    if cut:
        base["notes"].append({"code": "truncated", "text": cut[0]})
    return {**base, "more": answer["more"] or bool(cut), "hits": hits}
