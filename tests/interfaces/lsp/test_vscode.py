"""The VS Code extension: what it makes of a real server's answers, and what its manifest allows.

`scripts/vscode check` tests its parts alone, `scripts/vscode e2e` all of it in an editor.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dowse import Index
from dowse.config import MODES
from dowse.interfaces.lsp.options import ClientOptions
from lsp_clients import COMMAND, PATIENCE, SHOP

from helpers import age, need, write_tree

pytestmark = pytest.mark.large
EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text())
SETTINGS = MANIFEST["contributes"]["configuration"]["properties"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of one conversation with a server."""
    need("node")
    need_packages()
    tmp_path = tmp_path_factory.mktemp("vscode")
    root = write_tree(tmp_path / "my shop", SHOP)
    age(root)
    with Index.open(root, encoder="small") as index:
        index.update()
    script = tmp_path / "conversation.js"
    bundle = ["node_modules/.bin/esbuild", "tests/conversation.ts", "--bundle", "--platform=node"]
    subprocess.run(
        [*bundle, "--log-level=warning", f"--outfile={script}"], cwd=EXTENSION, check=True, timeout=PATIENCE
    )
    done = subprocess.run(
        ["node", script, root, *COMMAND, "--encoder", "small"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def need_packages() -> None:
    """Skip without the packages of npm, unless all tools are called for."""
    if not (EXTENSION / "node_modules" / ".bin" / "esbuild").exists():
        need("editors/vscode/node_modules (scripts/vscode install)")


def names(results: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the files of results, with the names in each."""
    return [(group["path"], [each["name"] for each in group["results"]]) for group in results["groups"]]


def test_a_question_has_results_by_file_with_reasons(found: dict[str, Any]) -> None:
    best = found["question"]["groups"][0]["results"][0]
    assert (best["name"], best["path"], best["place"]["line"], best["place"]["character"]) == (
        *("lookup", "shop/prices.py"),
        *(0, 4),
    )
    assert best["certainty"].endswith("%")
    assert {each["label"].split(" ")[0] for each in best["reasons"]} >= {"Meaning", "Words"}


def test_filters_and_all_modes_are_understood(found: dict[str, Any]) -> None:
    assert [path for path, _ in names(found["filtered"])] == ["web/page.ts"]
    assert set(found["modes"]) == set(MODES)
    assert found["modes"]["symbol"] == found["modes"]["regex"] == 1


def test_matched_lines_are_places(found: dict[str, Any]) -> None:
    reasons = [
        each
        for group in found["regex"]["groups"]
        for result in group["results"]
        for each in result["reasons"]
        if "größe" in each["label"]
    ]
    line = SHOP["shop/cart.py"].split("\n")[18]
    column = len(line[: line.index("lookup")].encode("utf-16-le")) // 2
    assert [(each["place"]["line"], each["place"]["character"]) for each in reasons] == [(18, column)]


def test_callers_are_certain_and_similar_symbols_are_listed(found: dict[str, Any]) -> None:
    assert names(found["callers"]) == [("shop/cart.py", ["total", "checkout"])]
    assert "resolved" in found["callers"]["groups"][0]["results"][0]["certainty"]
    assert found["related"]["title"] == "similar to lookup" and names(found["related"])


def test_the_status_bar_counts_symbols(found: dict[str, Any]) -> None:
    assert found["state"]["icon"] == "search" and found["state"]["text"].endswith(" symbols")
    assert "100 % embedded" in found["state"]["details"][0]


def test_settings_switch_what_the_server_has() -> None:
    known = {
        field.alias: field.default
        for field in ClientOptions.model_fields.values()
        if field.annotation is bool
    }
    offered = {name.split(".")[-1]: SETTINGS[name]["default"] for name in SETTINGS if ".features." in name}
    assert offered == known


def test_a_workspace_names_no_command_and_nothing_starts_unasked() -> None:
    assert SETTINGS["dowse.path"]["scope"] == "machine"
    trust = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert trust["supported"] == "limited" and trust["restrictedConfigurations"] == ["dowse.path"]
    assert MANIFEST["activationEvents"] == []


def test_the_package_has_licence_icon_and_screenshots() -> None:
    ignored = (EXTENSION / ".vscodeignore").read_text().split()
    assert "!LICENSE" in ignored and "--skip-license" not in MANIFEST["scripts"]["package"]
    assert (EXTENSION / MANIFEST["icon"]).read_bytes().startswith(b"\x89PNG")
    images = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (EXTENSION / "README.md").read_text())
    assert len(images) == 2 and all((EXTENSION / image).is_file() for image in images)
    assert MANIFEST["repository"]["url"].removesuffix(".git") in MANIFEST["scripts"]["package"]


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (EXTENSION / "package-lock.json").read_text()
