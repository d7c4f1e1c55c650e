"""Whether a way of searching may become the default: `gate(report, "new", "old")`, and how that is shown."""

from __future__ import annotations

from dowse.eval.gate.decide import GateRow, Verdict, as_dict, gate
from dowse.eval.gate.text import render_gate, render_gate_markdown

__all__ = ["GateRow", "Verdict", "as_dict", "gate", "render_gate", "render_gate_markdown"]
