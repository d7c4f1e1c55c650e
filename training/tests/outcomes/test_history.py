"""Messages, blobs and the licence of real repositories."""

from __future__ import annotations

import pytest

from dowse.errors import DowseError
from dowse_training.outcomes.history import open_history

MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person …\n"
GPL = "GNU GENERAL PUBLIC LICENSE\nVersion 3, unlike BSD programs …\n"


def test_commits_are_read_newest_first_with_both_versions(repository):
    repository.commit("Bake bread", {"a.py": "one\n", "b.py": "b\n"})
    repository.commit(
        "Bake cake\n\nWith sugar.\n\nAnd eggs.", {"a.py": "two\n", "c é.py": "c\n", "b.py": None}
    )
    with open_history(repository.root) as history:
        newest, oldest = history.commits(10)
        (changed, added) = newest.changes
        assert (newest.subject, newest.body) == ("Bake cake", "With sugar.\n\nAnd eggs.")
        assert (changed.path, added.path, added.before) == ("a.py", "c é.py", "")
        assert history.blobs.read(changed.before) == b"one\n"
        assert history.blobs.read(changed.after) == b"two\n"
        assert oldest.subject == "Bake bread"
        assert [file.path for file in history.tree()] == ["a.py", "c é.py"]
        assert len(list(history.commits(1))) == 1


def test_a_bare_mirror_is_read_like_a_clone(repository, tmp_path):
    repository.commit("Bake bread", {"a.py": "one\n"})
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "mirror"))
    with open_history(tmp_path / "mirror") as history:
        assert [commit.subject for commit in history.commits(5)] == ["Bake bread"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"LICENSE": MIT}, True),
        ({"MIT-LICENSE": MIT}, True),
        ({"core/LICENSE.md": MIT}, True),
        ({"LICENSE-APACHE": "Apache License\nVersion 2.0\n"}, True),
        ({"COPYING": GPL}, False),
        ({"COPYING": GPL, "parts/LICENSE": MIT}, False),
        ({"LICENSE": GPL, "LICENSE.other": MIT}, False),
        ({"LICENSE-GPL": GPL, "LICENSE-MIT": MIT}, True),
        ({"a/b/LICENSE": MIT}, False),
        ({"README.md": MIT}, False),
    ],
)
def test_the_licence_decides(repository, files, expected):
    repository.commit("Bake bread", files)
    with open_history(repository.root) as history:
        assert history.is_permissive(history.tree()) is expected


def test_a_folder_without_commits_is_refused(tmp_path):
    with pytest.raises(DowseError, match="no git repository"), open_history(tmp_path):
        pass
