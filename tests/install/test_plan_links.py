"""A project may be anybody's: its links must not lead `dowse install` to the user's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.install.clients import CLIENTS
from dowse.install.plan import client_target, section_target


@pytest.mark.parametrize("name", [name for name, client in CLIENTS.items() if client.project])
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_out_of_the_project_is_refused(tmp_path, name, linked):
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    path = project / CLIENTS[name].project[0]
    if linked == "file" or path.parent == project:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(outside / "settings.json")
    else:
        top = project / CLIENTS[name].project[0].split("/")[0]
        top.symlink_to(outside)
    with pytest.raises(DowseError, match="leads out of"):
        client_target(CLIENTS[name], project, "dowse")


def test_a_link_within_the_project_is_followed(tmp_path):
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / ".mcp.json").symlink_to("real.json")
    assert client_target(CLIENTS["claude"], tmp_path, "dowse").path == tmp_path / ".mcp.json"


def test_a_file_of_instructions_leads_nowhere_else(tmp_path, monkeypatch):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "profile").write_text("export A=1")
    (project / "AGENTS.md").symlink_to(tmp_path / "profile")
    (project / "docs").symlink_to(tmp_path)
    for here in (project, tmp_path / "project" / "..", tmp_path.parent):
        monkeypatch.chdir(here)
        with pytest.raises(DowseError, match="leads out of"):
            section_target(project / "AGENTS.md")
    monkeypatch.chdir(project)
    with pytest.raises(DowseError, match="leads out of"):
        section_target(Path("docs/AGENTS.md"))
    (project / "CLAUDE.md").symlink_to("NOTES.md")
    assert section_target(Path("CLAUDE.md")).path == Path("CLAUDE.md")
