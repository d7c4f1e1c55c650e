"""A snapshot can't bring along what only the user of a machine may allow."""

from __future__ import annotations

from pathlib import Path

from dowse import Index
from dowse.interfaces.cli.main import main

from helpers import write_tree


def test_an_import_allows_no_secrets_and_no_ignored_files(tmp_path: Path) -> None:
    theirs = write_tree(tmp_path / "theirs", {"a.py": "x = 1\n", ".env": "A=1\n"})
    their_index, our_index = str(tmp_path / "their-index"), str(tmp_path / "our-index")
    settings = {"include_secrets": True, "exclude": ["!.env", "!private.txt", "b.py"]}
    with Index.open(theirs, index_dir=their_index, encoder="none", **settings) as index:
        index.update()
    snapshot = str(tmp_path / "snapshot.dowse")
    assert main(["export", str(theirs), snapshot, "--index-dir", their_index]) == 0
    ours = write_tree(
        tmp_path / "ours",
        {"a.py": "x = 1\n", "b.py": "", ".env": "B=2\n", "private.txt": "", ".gitignore": "private.txt\n"},
    )
    assert main(["import", snapshot, str(ours), "--index-dir", our_index]) == 0
    with Index.open(ours, index_dir=our_index, encoder="none") as index:
        built = index.as_built()
        assert (built.settings.include_secrets, built.settings.exclude) == (False, ("b.py",))
        built.update()
        assert {file.path for file in index.files()} == {"a.py", ".gitignore"}
