"""Write docs/SETTINGS.md from the fields of `dowse.Settings`."""

from __future__ import annotations

from pathlib import Path

from dowse.config import SETTINGS, SettingSpec

PAGE = Path(__file__).parents[2] / "docs" / "SETTINGS.md"
_HEAD = """\
# Settings

A flag overrides `DOWSE_NAME` in the environment, then `.dowse.toml` in the repository, then
`~/.config/dowse/config.toml`. The last column says what counts in a `.dowse.toml`
([SECURITY.md](SECURITY.md)). `scripts/docs_site/settings_reference.py` makes this page from
`src/dowse/config.py`.

| setting | default | meaning | repository |
|---|---|---|---|
"""


def settings_page() -> str:
    """Return the page."""
    return _HEAD + "".join(map(_row, SETTINGS.values()))


def _row(spec: SettingSpec) -> str:
    default = spec.shown_default or ("" if spec.default in ("", ()) else f"`{str(spec.default).lower()}`")
    choices = f": {', '.join(f'`{choice}`' for choice in spec.choices if choice)}" if spec.choices else ""
    allowed = f"up to {spec.project_maximum}" if spec.project_maximum else "yes" if spec.project else ""
    return f"| `{spec.name}` | {default} | {spec.help}{choices} | {allowed} |\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page())
