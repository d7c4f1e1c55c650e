"""Settings: who wins, and what is told of mistakes."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from dowse.config import SETTINGS, Settings, index_folder, load_settings
from dowse.errors import ConfigError


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project, and a user with a settings file."""
    monkeypatch.setenv("DOWSE_CONFIG", str(tmp_path / "user.toml"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_flag_beats_environment_beats_project_beats_user_beats_default(root, tmp_path, monkeypatch):
    assert load_settings(root).top_k == Settings().top_k
    (tmp_path / "user.toml").write_text("top_k = 11\n")
    assert load_settings(root).top_k == 11
    (root / ".dowse.toml").write_text("top_k = 12\n")
    assert load_settings(root).top_k == 12
    monkeypatch.setenv("DOWSE_TOP_K", "13")
    assert load_settings(root).top_k == 13
    assert load_settings(root, top_k=14).top_k == 14
    assert load_settings(root, top_k=None).top_k == 13


def test_every_type_from_files_and_environment(root, monkeypatch):
    (root / ".dowse.toml").write_text('exclude = ["a", "b"]\nstrip_docs = true\nfuzziness = 1\n')
    found = load_settings(root)
    assert (found.exclude, found.strip_docs, found.fuzziness) == (("a", "b"), True, "1")
    monkeypatch.setenv("DOWSE_EXCLUDE", "x:y")
    monkeypatch.setenv("DOWSE_STRIP_DOCS", "no")
    assert (load_settings(root).exclude, load_settings(root).strip_docs) == (("x", "y"), False)


@pytest.mark.parametrize(
    ("flags", "tells"),
    [
        ({"top_k": 0}, "--top-k"),
        ({"top_k": "x"}, "can't be 'x'"),
        ({"fuzziness": "3"}, "auto, 0, 1, 2"),
        ({"refresh": "often"}, "always"),
        ({"strip_docs": "perhaps"}, "strip_docs"),
        ({"colour": "red"}, "there is no setting `colour`"),
    ],
)
def test_mistakes_name_the_place_and_what_exists(root, flags, tells):
    with pytest.raises(ConfigError) as raised:
        load_settings(root, **flags)
    assert tells in str(raised.value)


def test_the_index_lies_in_the_cache_by_the_path_of_the_root(tmp_path, monkeypatch):
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    one, two = (index_folder(Path(place), Settings()) for place in ("/a/x y", "/b/x y"))
    assert one != two and one.parent == two.parent == tmp_path / "cache" / "indexes"
    assert one.name.startswith("x-y-")
    assert index_folder(Path("/a"), Settings(index_dir="/elsewhere")) == Path("/elsewhere")


def test_there_are_few_settings_and_the_docs_list_them():
    assert len(SETTINGS) <= 32
    page = Path(__file__).parents[1] / "docs" / "SETTINGS.md"
    made = runpy.run_path(str(page.parents[1] / "scripts" / "docs_site" / "settings_reference.py"))
    assert page.read_text() == made["settings_page"]()


def test_defaults_are_values_that_may_be_set(root):
    defaults = {name: spec.default for name, spec in SETTINGS.items()}
    assert load_settings(root, **defaults) == Settings()
