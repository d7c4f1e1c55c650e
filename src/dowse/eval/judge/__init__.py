"""Judging by hand where there is no ground truth: pool the results of several searches, grade them blind.

questions = pool(index, read_queries("queries.txt"))
with Judgements("judgements.jsonl") as judgements:
    judge(questions, judgements, sys.stdin, sys.stdout)     # or write_sheet and read_sheet
    write_cases("cases.jsonl", judgements.cases())
"""

from __future__ import annotations

from dowse.eval.judge.dialogue import judge
from dowse.eval.judge.judgements import GRADES, Agreement, Judgement, Judgements, agreement
from dowse.eval.judge.pool import Item, Question, pool, read_queries
from dowse.eval.judge.sheet import Sheet, read_sheet, write_sheet

__all__ = [
    "GRADES",
    "Agreement",
    "Item",
    "Judgement",
    "Judgements",
    "Question",
    "Sheet",
    "agreement",
    "judge",
    "pool",
    "read_queries",
    "read_sheet",
    "write_sheet",
]
