"""Likely secrets in what the graph answers: names and signatures, such as the default of a parameter."""

from __future__ import annotations

from dataclasses import replace

from dowse.graph.answer import GraphAnswer, GraphStep
from dowse.security.secret_masking import mask_row, mask_text, masked_note


def without_secrets(answer: GraphAnswer) -> GraphAnswer:
    """Return an answer with likely secrets masked, and a note if there were some."""
    masked = replace(
        answer,
        seeds=tuple(mask_row(seed) for seed in answer.seeds),
        steps=tuple(_masked_step(step) for step in answer.steps),
        target=answer.target and mask_row(answer.target),
        notes=tuple(replace(note, text=mask_text(note.text)) for note in answer.notes),
    )
    if masked == answer:
        return answer
    before = (*answer.seeds, *(step.symbol for step in answer.steps), answer.target)
    after = (*masked.seeds, *(step.symbol for step in masked.steps), masked.target)
    count = sum(old != new for old, new in zip(before, after, strict=True))
    return replace(masked, notes=(*masked.notes, masked_note(max(1, count))))


def _masked_step(step: GraphStep) -> GraphStep:
    symbol, other, through = mask_row(step.symbol), mask_text(step.other), mask_text(step.through)
    if symbol is step.symbol and other is step.other and through is step.through:
        return step
    return replace(step, symbol=symbol, other=other, through=through)
