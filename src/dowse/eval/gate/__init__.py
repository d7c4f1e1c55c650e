"""Whether a way of searching may become the default: `gate(report, "new", "old")`, and how that is shown."""

from __future__ import annotations

from dowse.eval.gate.decide import GateRow, Verdict, gate, verdict_json
from dowse.eval.gate.text import render_gate, render_gate_markdown

__all__ = ["GateRow", "Verdict", "gate", "render_gate", "render_gate_markdown", "verdict_json"]
