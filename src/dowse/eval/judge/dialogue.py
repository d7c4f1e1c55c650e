"""Judging in a terminal: one result after another, a key and Enter for each, saved at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from dowse.eval.judge.judgements import GRADES, Judgements
from dowse.eval.judge.pool import Item, Question
from dowse.eval.reports.wording import one_line
from dowse.security.terminal import escape_controls

_RULE = "─" * 72
_HELP = "\n".join(
    [
        "How well does it answer the question? Judge what it is, not how it is written.",
        *(f"  {grade}  {meaning}" for grade, meaning in GRADES.items()),
        "  s  skip: leave it open; the next time asks again",
        "  b  back to the one before, to look or to grade it again (Enter keeps what it has)",
        "  u  undo: take the last answer back",
        "  n  write a note on this one",
        "  q  quit; everything is saved, and the next time goes on here",
        "  ?  this help",
    ]
)
_PROMPT = "grade 0–3, or s b u n q ? > "


def judge(questions: Sequence[Question], judgements: Judgements, answers: TextIO, screen: TextIO) -> bool:
    """Show what is not yet judged and save the answers; return whether everything is judged.

    The end of the input and Ctrl-C quit, as `q` does.
    """
    dialogue = _Dialogue(questions, judgements, answers, screen)
    try:
        return dialogue.run()
    except KeyboardInterrupt:
        dialogue.print("")
        return dialogue.quit()


@dataclass(frozen=True, slots=True)
class _Step:
    """One result of one question."""

    number: int  # of the question, from 1
    question: Question
    item: Item


class _Dialogue:
    """The state of a judging session."""

    def __init__(
        self, questions: Sequence[Question], judgements: Judgements, answers: TextIO, screen: TextIO
    ) -> None:
        self._questions = len(questions)
        self._judgements = judgements
        self._answers, self._screen = answers, screen
        numbered = enumerate(questions, 1)
        self._steps = [_Step(number, each, item) for number, each in numbered for item in each.items]
        self._at = 0
        self._skipped: set[int] = set()  # steps that are left open until the next time
        self._shown = -1  # the step that is on the screen

    def run(self) -> bool:
        """Ask until all is judged or skipped, or the judge quits."""
        if not self._go_on():
            return self._finish()
        self.print(_HELP)
        while True:
            if self._shown != self._at:
                self._show()
            answer = self._ask(_PROMPT)
            if answer is None or answer.lower() in ("q", "quit"):
                return self.quit()
            if not self._do(answer.strip().lower()):
                return self._finish()

    def print(self, text: str) -> None:
        """Write a line, or several."""
        self._screen.write(escape_controls(text, keep="\t\n") + "\n")
        self._screen.flush()

    def quit(self) -> bool:
        """Print how much is left."""
        left = self._left()
        self.print(f"{len(self._judgements)} judged, {left} left; all is saved, the next time goes on here")
        return not left

    def _finish(self) -> bool:
        if self._skipped:
            count = len(self._skipped)
            self.print(
                f"{len(self._steps) - count} judged, {count} skipped; the next time asks for those again"
            )
            return False
        self.print(f"all {len(self._steps)} results of {self._questions} queries are judged")
        return True

    def _ask(self, prompt: str) -> str | None:
        self._screen.write(prompt)
        self._screen.flush()
        line = self._answers.readline()
        return line.strip() if line else None

    def _do(self, answer: str) -> bool:
        """Execute one command; return whether there is more to judge."""
        if answer in ("?", "h", "help"):
            self.print(_HELP)
        elif answer == "b":
            self._back()
        elif answer == "u":
            self._undo()
        elif answer == "n":
            self._note()
        elif answer == "" and self._is_done(self._at):
            return self._go_on()
        elif answer == "s" or answer in map(str, GRADES):
            step = self._steps[self._at]
            grade = None if answer == "s" else int(answer)
            self._judgements.record(step.question, step.item, grade, skipped=grade is None)
            (self._skipped.add if grade is None else self._skipped.discard)(self._at)
            return self._go_on()
        else:
            self.print(f"{one_line(answer, 20)!r} is no answer; 0, 1, 2 or 3 grade it, ? explains")
        return True

    def _go_on(self) -> bool:
        """Move to the next result without an answer, from here on and then from the start; False if none."""
        count = len(self._steps)
        order = [(self._at + ahead) % count for ahead in range(count)]
        following = next((at for at in order if not self._is_done(at)), None)
        self._at = self._at if following is None else following
        return following is not None

    def _is_done(self, at: int) -> bool:
        """Whether this session need not ask for it again."""
        return at in self._skipped or self._is_graded(at)

    def _is_graded(self, at: int) -> bool:
        known = self._judgements.get(self._steps[at].question, self._steps[at].item)
        return known is not None and known.is_graded

    def _back(self) -> None:
        if self._at == 0:
            self.print("this is the first one")
        else:
            self._at -= 1

    def _undo(self) -> None:
        last = self._judgements.last()
        keys = [(step.question.id, step.item.key) for step in self._steps]
        if last is None or last.key not in keys:
            self.print("there is nothing to undo")
            return
        self._at = keys.index(last.key)
        step = self._steps[self._at]
        self._judgements.record(step.question, step.item, None)
        self._skipped.discard(self._at)
        self.print("taken back:")
        self._shown = -1

    def _note(self) -> None:
        step = self._steps[self._at]
        note = self._ask("note > ")
        if note:
            known = self._judgements.get(step.question, step.item)
            grade, skipped = (known.grade, known.skipped) if known else (None, False)
            self._judgements.record(step.question, step.item, grade, skipped=skipped, note=note)
            self.print("noted; it still wants its grade" if grade is None else "noted")

    def _left(self, number: int = 0) -> int:
        """Return how many results are left, of one question or of all."""
        steps = [at for at, step in enumerate(self._steps) if number in (0, step.number)]
        return sum(not self._is_graded(at) for at in steps)

    def _show(self) -> None:
        """Show a query and one result, without a hint at which search found it."""
        self._shown = self._at
        step = self._steps[self._at]
        here, everywhere = self._left(step.number), self._left()
        left = f"{here} left ({everywhere} left in all)"
        self.print(f"\n{_RULE}\nquery {step.number} of {self._questions}, {left}")
        self.print(f"  {one_line(step.question.query)}\n")
        for line in describe_item(step.item):
            self.print(line)
        known = self._judgements.get(step.question, step.item)
        if known and known.is_answered:
            answer = "skipped" if known.grade is None else f"{known.grade}, {GRADES[known.grade]}"
            self.print(f"\nso far: {answer}" + (f" (note: {one_line(known.note)})" if known.note else ""))
        self.print("")


def describe_item(item: Item) -> list[str]:
    """Return what a judge sees of a result: its location, kind, name and first lines."""
    head = " · ".join(part for part in (item.location, f"{item.kind} {item.symbol}".strip()) if part)
    lines = [f"{number:>6} | {escape_controls(text)}" for number, text in item.lines]
    whole = item.end_line - item.start_line + 1
    if lines and item.lines[-1][0] < item.end_line:
        lines.append(f"       … {whole} lines in all")
    return [one_line(head), *(lines or ["       (its text can't be shown)"])]
