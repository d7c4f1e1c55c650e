"""A repository's `.dowse.toml` is data: it can't choose paths, hosts, models or limits, nor do harm."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.config import SETTINGS, Settings, load_settings, read_project_file, user_file
from dowse.errors import ConfigError, DowseError

from helpers import write_tree

CODE = {"shop/till.py": "def ring_up(items):\n    return sum(items)\n"}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository, and a user of its own."""
    monkeypatch.setenv("DOWSE_CONFIG", str(tmp_path / "config" / "config.toml"))
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("DOWSE_ENCODER", "DOWSE_ISOLATION"):
        monkeypatch.delenv(name)
    return write_tree(tmp_path / "repository", CODE)


def dowse(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command without a terminal; a hang fails the test."""
    return subprocess.run(
        [sys.executable, "-m", "dowse.entry", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


# Whatever a project may not choose, with a value that would count.
ELSEWHERE = {
    "index_dir": '".idx"',
    "backend": '"elastic://attacker:9200/x"',
    "encoder": '"./model"',
    "reranker": '"./model"',
    "device": '"cuda"',
    "max_file_bytes": "2000000000",
    "processes": "1000",
    "threads": "1000",
    "vectors": '"exact"',
    "lane_seconds": "1000.0",
    "adapter": "true",
    "exact_seconds": "1000.0",
    "query_seconds": "1000.0",
    "isolation": '"never"',
    "resident_minutes": "60",
    "include_secrets": "true",
    "refresh": '"never"',  # would hide new files
}


def test_every_setting_is_either_harmless_or_the_user_s():
    assert {name for name, spec in SETTINGS.items() if not spec.project} == set(ELSEWHERE)


@pytest.mark.parametrize("key", ELSEWHERE)
def test_a_repository_can_not_choose(repository, key, monkeypatch):
    monkeypatch.delenv("DOWSE_RESIDENT_MINUTES")  # not for all tests: searches would leave processes
    (repository / ".dowse.toml").write_text(f"{key} = {ELSEWHERE[key]}\ntop_k = 3\n")
    found = load_settings(repository)
    assert getattr(found, key) == getattr(Settings(), key)
    assert found.top_k == 3, "the rest of the file counts"
    note = read_project_file(repository).note
    assert key in note and "config.toml" in note and "\n" not in note


def test_numbers_are_bounded(repository):
    key, most = "top_k", SETTINGS["top_k"].project_maximum
    (repository / ".dowse.toml").write_text(f"{key} = {most}\n")
    assert getattr(load_settings(repository), key) == most
    for more in (f"{most + 1}", f"{most + 1}.0", f'"{most + 1}"', f'" {most}_0 "'):
        (repository / ".dowse.toml").write_text(f"{key} = {more}\n")
        assert getattr(load_settings(repository), key) == getattr(Settings(), key)
        assert read_project_file(repository).ignored == (key,)


def test_patterns_leave_out_but_bring_nothing_back(repository):
    (repository / ".dowse.toml").write_text('exclude = ["shop/"]\n')
    assert load_settings(repository).exclude == ("shop/",)
    for patterns in ('["shop/", "!.env"]', '"!.env"', f'"shop/{os.pathsep}!.env"'):
        (repository / ".dowse.toml").write_text(f"exclude = {patterns}\n")
        assert load_settings(repository).exclude == ()


def test_an_index_in_the_repository_gives_no_permissions(repository):
    (repository / ".env").write_text("PASSWORD=open sesame\n")
    write_tree(repository, {".gitignore": "own.py\n", "own.py": "def own(): pass\n", ".git/HEAD": "ref: x\n"})
    place = {"index_dir": str(repository / ".idx"), "encoder": "none"}
    allowed = {"include_secrets": True, "exclude": ["!own.py"]}
    Index.open(repository, **place, **allowed).update()
    again = Index.open(repository, **place).internals.as_built().settings
    assert (again.include_secrets, again.exclude) == (False, ())
    again = Index.open(repository, **place, **allowed).internals.as_built().settings
    assert (again.include_secrets, again.exclude) == (True, ("!own.py",))
    place["index_dir"] = str(repository.parent / "elsewhere")
    Index.open(repository, **place, **allowed).update()
    again = Index.open(repository, **place).internals.as_built().settings
    assert (again.include_secrets, again.exclude) == (True, ("!own.py",))


def test_no_code_of_a_model_in_the_repository_runs(repository, tmp_path):
    """`encoder = "./model"`, whose modules.json names a Python module that lies beside it."""
    marker = tmp_path / "executed"
    write_tree(
        repository,
        {
            ".dowse.toml": 'encoder = "./model"\nrerank = true\nreranker = "./model"\n',
            "model/modules.json": '[{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}]',
            "model/config.json": "{}",
            "model/evil.py": f"open({str(marker)!r}, 'w')\n",
        },
    )
    # Stands in for the package: it does what the real one does with such a folder.
    stand_in = write_tree(
        tmp_path / "packages",
        {
            "sentence_transformers/__init__.py": "import sys\n"
            "class SentenceTransformer:\n"
            "    def __init__(self, folder, **_):\n"
            "        sys.path.insert(0, folder)\n"
            "        import evil\n"
        },
    )
    places = os.pathsep.join([str(stand_in), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = dowse("search", "ring up", cwd=repository, PYTHONPATH=places, DOWSE_ISOLATION="auto")
    assert done.returncode == 0 and "ring_up" in done.stdout
    assert "ignored encoder, reranker" in done.stderr
    assert not marker.exists()


@pytest.mark.parametrize("command", [("search", "ring up"), ("index",)])
def test_no_credentials_leave(repository, command):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (repository / ".dowse.toml").write_text(f'backend = "elastic://127.0.0.1:{port}/code"\n')
        dowse(*command, cwd=repository, DOWSE_ELASTIC_API_KEY="secret", DOWSE_ENCODER="none")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_link_in_the_index_folder_is_not_followed(repository, tmp_path):
    """`index_dir = ".idx"` and a link `.idx/writer.lock` to a user's file; also where the user names it."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (repository / ".idx").mkdir()
    (repository / ".idx" / "writer.lock").symlink_to(precious)
    (repository / ".dowse.toml").write_text('index_dir = ".idx"\n')
    assert dowse("search", "ring up", cwd=repository, DOWSE_ENCODER="none").returncode == 0
    assert precious.read_text() == "mine"
    done = dowse("index", "--index-dir", ".idx", cwd=repository, DOWSE_ENCODER="none")
    assert done.returncode == 2 and "writer.lock is a symbolic link" in done.stderr
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["catalog.sqlite", "text", "vectors/base-1"])
@pytest.mark.parametrize("command", ["index", "clear"])
def test_no_link_in_a_named_index_folder_leads_out(repository, tmp_path, name, command):
    outside = write_tree(tmp_path / "outside", {"catalog.sqlite": "a user's file", "000001/meta.json": "{}"})
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    place = repository / ".idx" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(outside / "catalog.sqlite" if "." in name else outside)
    query = ("ring up",) if command == "search" else ()
    done = dowse(command, *query, "--index-dir", ".idx", cwd=repository, DOWSE_ENCODER="none")
    assert done.returncode in (0, 1, 2) and "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


def test_another_repository_s_index_is_not_overwritten(repository, tmp_path):
    other = write_tree(
        tmp_path / "other", {"README.md": "# other", **{f"m{i}.py": "x = 1" for i in range(9)}}
    )
    place = str(tmp_path / "index-of-other")
    Index.open(other, index_dir=place, encoder="none").update()
    write_tree(repository, {"README.md": "# looks alike"})
    with pytest.raises(DowseError, match="belongs to"):
        Index.open(repository, index_dir=place, encoder="none").update()


@pytest.mark.parametrize(
    "text",
    [
        "top_k = 1e400",
        'exclude = ["\\u0000"]',
        "exclude = " + "[" * 100_000,
        '"\\u001b]0;title\\u0007" = 1',
        "top_k =",
    ],
    ids=range(5),
)
def test_odd_values_are_one_line(repository, text):
    (repository / ".dowse.toml").write_text(text)
    done = dowse("search", "ring up", cwd=repository, DOWSE_ENCODER="none")
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr) < 3_000
    assert "\x1b" not in done.stderr


@given(st.dictionaries(st.sampled_from([*Settings.__slots__, "other"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5
)))  # fmt: skip
def test_any_value_is_converted_or_refused(values):
    try:
        found = load_settings(None, **values)
    except ConfigError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(found, Settings)


@pytest.mark.parametrize("kind", ["fifo", "device", "large"])
def test_only_a_regular_file_of_reasonable_size_is_read(repository, kind):
    place = repository / ".dowse.toml"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    else:
        place.write_bytes(b"#" * 1_000_000)
    done = dowse("search", "ring up", cwd=repository, DOWSE_ENCODER="none")
    assert done.returncode == 0 and "ring_up" in done.stdout
    assert ".dowse.toml is ignored" in done.stderr


def test_paths_of_the_user_s_file_are_not_relative_to_the_repository(repository, monkeypatch):
    user_file().parent.mkdir(exist_ok=True)
    user_file().write_text('encoder = "./model"\n')
    monkeypatch.chdir(repository)
    assert load_settings(repository).encoder == str(user_file().parent / "model")


def test_what_is_written_is_for_its_owner_alone(repository, tmp_path):
    old = os.umask(0)
    try:
        index = Index.open(repository, encoder="small")
        index.update()
        index.internals.count_terms()
        index.feedback.path.parent.parent.mkdir(parents=True, exist_ok=True)
    finally:
        os.umask(old)
    folders = [tmp_path / "cache", *(p for p in (tmp_path / "cache").rglob("*") if p.is_dir())]
    tops = [p for p in folders if p.parent in (tmp_path / "cache", tmp_path / "cache" / "indexes")]
    assert tops and all(stat.S_IMODE(p.stat().st_mode) == 0o700 for p in (tmp_path / "cache", *tops))


def test_an_index_that_others_could_read_is_closed_to_them(repository, tmp_path):
    place = tmp_path / "old-index"
    index = Index.open(repository, index_dir=str(place), encoder="none")
    index.update()
    place.chmod(0o755)
    (repository / "new.py").write_text("def new(): pass\n")
    index.update()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
