"""The style sheet of the page: two palettes here, the layout in page.css."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Blue for better and orange for worse can be told apart by nearly everyone. Every text colour has a contrast
# of at least 4.5 on every ground it stands on; a test computes it.
LIGHT: Mapping[str, str] = {
    "paper": "#f8f7f4",
    "card": "#ffffff",
    "ink": "#20262c",
    "muted": "#5a646d",
    "rule": "#e2e0da",
    "grid": "#e6e4de",
    "accent": "#1f5f99",
    "soft": "#8db4d8",
    "gain": "#17548b",
    "loss": "#984200",
    "l3": "#f0ac72",
    "l2": "#f7cfa8",
    "l1": "#fbe9d7",
    "even": "#f1f0ec",
    "g1": "#e0ebf6",
    "g2": "#b8d3ec",
    "g3": "#86b4de",
    "s0": "#0f62a0",
    "s1": "#bd4b00",
    "s2": "#007355",
    "s3": "#85407c",
    "s4": "#3b4248",
}
DARK: Mapping[str, str] = {
    "paper": "#13171b",
    "card": "#1a1f24",
    "ink": "#e6e9ec",
    "muted": "#a0abb5",
    "rule": "#2d343b",
    "grid": "#2d343b",
    "accent": "#7ab6ee",
    "soft": "#3f6c96",
    "gain": "#8fc2f2",
    "loss": "#f2ab6e",
    "l3": "#88490f",
    "l2": "#623711",
    "l1": "#3d2b1a",
    "even": "#242a30",
    "g1": "#1b3145",
    "g2": "#1d4568",
    "g3": "#215b8e",
    "s0": "#6bb5f0",
    "s1": "#f5944a",
    "s2": "#3cc9a0",
    "s3": "#d99fd0",
    "s4": "#dfe3e6",
}


def style_sheet() -> str:
    """Return the CSS: colours as variables, light unless the reader's system is dark."""
    dark = f"@media(prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    layout = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return f":root{{color-scheme:light dark;{_variables(LIGHT)}}}\n{dark}\n{layout}"


def _variables(palette: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in palette.items())
