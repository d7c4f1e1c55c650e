"""What every test stands on: no setting of this machine, a sample repository, and one index of it."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite(
    "storage.conformance", "storage.tfidf_conformance", "storage.vector_conformance", "helpers"
)

# Before NumPy is loaded: each test process has a core at most, and threads of OpenBLAS that wait for another
# use it up, which makes small matrices five times as slow.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from dowse import Index  # noqa: E402
from dowse.indexing.parse_jobs import ParserSetup  # noqa: E402
from dowse.indexing.parse_pool import keep_idle_workers  # noqa: E402

DATA = Path(__file__).parent / "data"
# What says how to test, not how dowse works.
_KEPT = (
    *("DOWSE_REQUIRE_TOOLS", "DOWSE_REQUIRE_INTEGRATIONS", "DOWSE_EXPLORE"),
    *("DOWSE_REQUIRE_CLUSTER", "DOWSE_TEST_CLUSTER", "DOWSE_TEST_TOOLS", "DOWSE_TEST_ELASTICSEARCH"),
    "DOWSE_TEST_NODES",
)
pytest_plugins = ["storage.elastic_fixtures", "storage.secured_fixtures", "eval.small_tree"]
# Sample sources are material, not tests.
collect_ignore = ["data", "parsing/samples"]

# Started in the background by a shell, tests ignore Ctrl-C, and so would the commands that they interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Machines that run tests differ in speed, so no example has a deadline. The same examples every time, so that
# a run fails for what was changed; DOWSE_EXPLORE=1 draws new ones, and more.
settings.register_profile(
    "dowse",
    deadline=None,
    max_examples=500 if os.environ.get("DOWSE_EXPLORE") else 25,
    print_blob=True,
    derandomize=not os.environ.get("DOWSE_EXPLORE"),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("dowse")


# What `--fast` leaves out: tests that start clusters, browsers, servers and watchers, or kill many processes.
_SLOW = (
    *("web/", "ingest/", "interfaces/", "watch/", "transfer/", "search/lanes/", "storage/elastic/"),
    *("storage/test_elastic", "storage/local/test_kill", "storage/local/test_damage", "storage/test_local"),
    *("storage/local/test_readers", "indexing/", "security/", "eval/test_run"),
    *("eval/test_mine", "parsing/test_scan_time", "query/test_ripgrep_parity"),
    *("graph/resolve/test_update", "graph/resolve/test_history", "search/test_hybrid"),
    *("install/", "packaging/", "workers/", "storage/local/test_locks", "storage/local/test_portable"),
    *("source/test_git_hostile", "source/test_walk", "vectors/test_matrix"),
    *("storage/local/test_limits", "storage/local/test_power_cut", "storage/local/test_random_damage"),
)
# What takes half a minute to start: tests that need it are large.
_LARGE_FIXTURES = frozenset(["secured", "ray_cluster"])
# Files that take longest, begun first so that no worker has one left when the others are done.
_LONGEST = (
    *("ingest/test_ray", "interfaces/cli/test_examples", "storage/test_elastic", "interfaces/cli/test_eval"),
    *("test_setting_combinations", "storage/elastic/", "storage/local/"),
    *("security/", "indexing/", "web/", "watch/", "interfaces/"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast` and `--all`."""
    parser.addoption("--fast", action="store_true", help="without clusters, browsers, servers and mass kills")
    parser.addoption("--all", action="store_true", help="with the tests marked `large`: what a release needs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; select what `--fast`, `--all` or neither of them asks for."""
    here = Path(__file__).parent
    longest = [str(here / each) for each in _LONGEST]
    # Stable: pytest-randomly has shuffled files and the tests in them before.
    items.sort(key=lambda item: [not str(item.path).startswith(each) for each in longest])
    slow = (*(str(here / each) for each in _SLOW), str(here.parent / "training"))

    def is_selected(item: pytest.Item) -> bool:
        if config.getoption("--fast") and str(item.path).startswith(slow):
            return False
        is_large = item.get_closest_marker("large") or _LARGE_FIXTURES & set(item.fixturenames)
        return config.getoption("--all") or not is_large

    config.hook.pytest_deselected(items=[item for item in items if not is_selected(item)])
    items[:] = [item for item in items if is_selected(item)]


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking through all tests whenever a test calls it."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Keep the user's settings, caches and git configuration out, for this process and its children."""
    config.addinivalue_line("markers", "large: only with --all; takes minutes, or other programs")
    if config.getoption("--all"):
        os.environ["DOWSE_TEST_NODES"] = "3"
    home = Path(tempfile.mkdtemp(prefix="dowse-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    for name in [name for name in os.environ if name.startswith(("DOWSE_", "GIT_", "XDG_"))]:
        if name not in _KEPT:
            del os.environ[name]
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        os.environ.pop(name, None)
    places = {
        "HOME": home,
        "DOWSE_CACHE_DIR": home / "cache",
        "SEMBLE_GRAMMARS_CACHE_DIR": home / "grammars",  # once, not for each cache
        "DOWSE_ENCODER": "none",  # tests that want one name it
        "DOWSE_RESIDENT_MINUTES": "0",  # tests must not leave processes behind
        "DOWSE_ISOLATION": "never",  # processes for lanes cost time; tests of them ask for them
        "DOWSE_CONFIG": home / "config.toml",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "GIT_CONFIG_GLOBAL": home / "gitconfig",
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    os.environ.update({name: str(place) for name, place in places.items()})


@pytest.fixture(scope="session", autouse=True)
def idle_parsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep parser processes from test to test, as a watcher does: starting one is most of a small update.

    So those of all trees in temporary folders have the same rights.
    """
    base = str(tmp_path_factory.getbasetemp())

    def make_setup(seconds: float, folders: tuple[tuple[str, tuple[int, int]], ...]) -> ParserSetup:
        is_shared = all(path.startswith(base) for path, _ in folders) and not os.path.islink(base)
        return ParserSetup(seconds, ((base, (0, 0)),) if is_shared else folders)

    with keep_idle_workers(2), pytest.MonkeyPatch.context() as patch:
        patch.setattr("dowse.indexing.parse_pool.ParserSetup", make_setup)
        yield


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample repository, for reading only; what git can't hold is added here."""
    return make_sample(tmp_path_factory.mktemp("sample") / "bakery")


@pytest.fixture
def sample_copy(tmp_path: Path) -> Path:
    """A copy of the sample repository to change."""
    return make_sample(tmp_path / "bakery")


@pytest.fixture(scope="session")
def sample_index(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The index of the sample repository, for reading only."""
    index = Index.open(sample, index_dir=str(tmp_path_factory.mktemp("index") / "i"), refresh="never")
    index.update()
    return index


def make_sample(target: Path) -> Path:
    """Copy the sample and add a repository's folder, an ignored file, a binary and a minified one."""
    shutil.copytree(DATA / "sample", target)
    git = target / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = https://example.org/acme/bakery.git\n')
    (target / "build").mkdir()
    (target / "build" / "ignored.py").write_text("def ignored_by_git():\n    return 'never seen'\n")
    (target / "assets").mkdir()
    (target / "assets" / "logo.dat").write_bytes(b"\x00\x01\x02bread" * 40)
    (target / "assets" / "bundle.js").write_text("var bread=1;" + "function a(b){return b+1};" * 200)
    old = 1_600_000_000  # long ago: nothing of it is fresh, so times can be trusted
    for path in target.rglob("*"):
        os.utime(path, (old, old))
    return target


@pytest.fixture(scope="session")
def bakery(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The sample repository, with vectors."""
    place = str(tmp_path_factory.mktemp("bakery") / "i")
    index = Index.open(sample, index_dir=place, refresh="never", encoder="small")
    index.update()
    return index
