"""Registries are read as they are served: here by a server of our own, from real archives."""

from __future__ import annotations

import io
import json
import lzma
import subprocess
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dowse_training.pairs.sources.archives import project_folder, unpack
from dowse_training.pairs.sources.crates import Crates, index_path, newest_version
from dowse_training.pairs.sources.debian import Debian
from dowse_training.pairs.sources.debian_source import DebianSource
from dowse_training.pairs.sources.local import Local
from dowse_training.pairs.sources.maven import Maven
from dowse_training.pairs.sources.npm import Npm
from dowse_training.pairs.sources.protocol import FetchError
from dowse_training.pairs.sources.pypi import PyPI, choose_file
from dowse_training.pairs.sources.web import read_url


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format, *arguments):
        pass


@contextmanager
def served(folder):
    """The address of a server of this folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def web(tmp_path):
    (tmp_path / "web").mkdir()
    with served(tmp_path / "web") as address:
        yield tmp_path / "web", address


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def tarred(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


def put(folder, path, content):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())


def laid_out(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_pypi_takes_the_newest_pure_wheel(web, scratch):
    folder, address = web
    metadata = "Name: My.Thing\nLicense-Expression: MIT\n\nText"
    put(folder, "files/a.whl", zipped({"thing/core.py": "x", "my_thing-1.10.dist-info/METADATA": metadata}))
    links = [
        f'<a href="{address}/files/old.tar.gz#sha256=1">my_thing-1.9.tar.gz</a>',
        f'<a href="{address}/files/none.tar.gz">my_thing-1.10.tar.gz</a>',
        f'<a href="{address}/files/a.whl#sha256=2">my_thing-1.10-py3-none-any.whl</a>',
        f'<a href="{address}/files/none.whl" data-yanked="bad">my_thing-3.0-py3-none-any.whl</a>',
        f'<a href="{address}/files/none.whl">my_thing-2.0rc1-py3-none-any.whl</a>',
    ]
    put(folder, "simple/my-thing/index.html", "<body>\n" + "<br/>\n".join(links) + "</body>")
    package = PyPI(f"{address}/simple").fetch("My.Thing", scratch)
    assert (package.name, package.version, package.licence) == ("My.Thing", "1.10", "MIT")
    assert laid_out(package.folder) == ["my_thing-1.10.dist-info/METADATA", "thing/core.py"]


def test_pypi_takes_the_source_where_wheels_are_compiled(web, scratch):
    folder, address = web
    metadata = "Name: thing\nLicense: UNKNOWN\nClassifier: License :: OSI Approved :: BSD License\n"
    put(folder, "thing-2.tar.gz", tarred({"thing-2/PKG-INFO": metadata, "thing-2/src/thing/a.py": "x"}))
    page = (
        f'<a href="{address}/x.whl">thing-2-cp311-cp311-manylinux1_x86_64.whl</a>'
        f'<a href="{address}/thing-2.tar.gz">thing-2.tar.gz</a>'
    )
    put(folder, "simple/thing/index.html", page)
    package = PyPI(f"{address}/simple/").fetch("thing", scratch)
    assert (package.version, package.licence) == ("2", "BSD License")
    assert laid_out(package.folder) == ["PKG-INFO", "src/thing/a.py"]


def test_pypi_names_can_be_sampled(web):
    folder, address = web
    names = [f"p{number}" for number in range(50)]
    put(
        folder,
        "simple/index.html",
        "\n".join(f'<a href="/simple/{name}/">{name.upper()}</a>' for name in names),
    )
    sample = PyPI(f"{address}/simple").sample(10, seed=1)
    assert len(set(sample)) == 10
    assert set(sample) <= set(names)
    assert sample == PyPI(f"{address}/simple").sample(10, seed=1)
    assert sorted(PyPI(f"{address}/simple").sample(99, seed=1)) == sorted(names)


@pytest.mark.parametrize(
    ("page", "releases", "reason"),
    [
        ("", 1, "no source to download"),
        ("", 0, "no source to download"),
        ('<a href="u">a-1.0-cp39-cp39-win32.whl</a>', 1, "no source to download"),
        ('<a href="u">a-1.0.tar.gz</a>', 2, "too few releases"),
    ],
)
def test_pypi_pages_without_anything_to_take(page, releases, reason):
    with pytest.raises(FetchError, match=reason):
        choose_file(page, releases)


def test_npm_takes_the_latest(web, scratch):
    folder, address = web
    release = {"version": "1.2.3", "license": {"type": "ISC"}, "dist": {"tarball": f"{address}/pad.tgz"}}
    put(folder, "@scope/pad/latest", json.dumps(release))
    put(folder, "pad.tgz", tarred({"package/index.js": "x", "package/logo.png": "y"}))
    package = Npm(address).fetch("@scope/pad", scratch)
    assert (package.name, package.version, package.licence) == ("@scope/pad", "1.2.3", "ISC")
    assert laid_out(package.folder) == ["index.js"]


def test_crates_take_the_last_that_is_not_withdrawn(web, scratch):
    folder, address = web
    versions = [("0.9.0", False), ("1.0.0", False), ("1.1.0-beta", False), ("1.0.1", True)]
    lines = "\n".join(json.dumps({"vers": version, "yanked": yanked}) for version, yanked in versions)
    put(folder, "index/sl/ug/slug", lines)
    toml = '[package]\nname = "slug"\nlicense = "MIT OR Apache-2.0"\n'
    put(
        folder,
        "files/slug/slug-1.0.0.crate",
        tarred({"slug-1.0.0/Cargo.toml": toml, "slug-1.0.0/src/lib.rs": ""}),
    )
    package = Crates(f"{address}/index", f"{address}/files").fetch("slug", scratch)
    assert (package.version, package.licence) == ("1.0.0", "MIT OR Apache-2.0")
    assert laid_out(package.folder) == ["Cargo.toml", "src/lib.rs"]


@pytest.mark.parametrize(
    ("name", "path"), [("a", "1/a"), ("ab", "2/ab"), ("abc", "3/a/abc"), ("Serde", "se/rd/serde")]
)
def test_crates_lie_under_their_first_letters(name, path):
    assert index_path(name) == path


@pytest.mark.parametrize("lines", ["", "nonsense", "[]", '{"vers": "1", "yanked": true}'])
def test_crates_without_a_release(lines):
    with pytest.raises(FetchError):
        newest_version(lines)


def test_maven_takes_the_source_jar_of_the_release(web, scratch):
    folder, address = web
    put(folder, "org/acme/lib/maven-metadata.xml", "<metadata><release>2.0</release></metadata>")
    put(folder, "org/acme/lib/2.0/lib-2.0-sources.jar", zipped({"org/acme/A.java": "x", "A.class": "y"}))
    pom = "<project><licenses><license><url>u</url><name>EPL 2.0</name></license></licenses></project>"
    put(folder, "org/acme/lib/2.0/lib-2.0.pom", pom)
    package = Maven(address).fetch("org.acme:lib", scratch)
    assert (package.name, package.version, package.licence) == ("org.acme:lib", "2.0", "EPL 2.0")
    assert laid_out(package.folder) == ["acme/A.java"]
    with pytest.raises(FetchError, match="not found"):
        Maven(address).fetch("org.acme:lib:1.0", scratch)
    with pytest.raises(FetchError, match="group:artifact"):
        Maven(address).fetch("lib", scratch)


def test_a_local_repository_is_read_where_it_lies(tmp_path, scratch):
    project = tmp_path / "project"
    project.mkdir()
    (project / "LICENSE").write_text("\n   The MIT License\n\nPermission …")
    subprocess.run(["git", "init", "-q", project], check=True)
    subprocess.run(["git", "-C", project, "remote", "add", "origin", "git@host:acme/shop.git"], check=True)
    package = Local().fetch(str(project), scratch)
    assert (package.name, package.licence, package.folder) == ("acme/shop", "The MIT License", project)
    with pytest.raises(FetchError, match="no such folder"):
        Local().fetch(str(tmp_path / "missing"), scratch)


def test_debian_names_are_checked_before_anything_runs(scratch):
    with pytest.raises(FetchError, match="not a package name"):
        Debian().fetch("--option=x", scratch)


def test_debian_sources_are_found_in_the_index(web, scratch):
    folder, address = web
    index = """Package: sum
Version: 1.2-3
Files:
 4d5f 2565 sum_1.2-3.dsc
 11b7 300 sum_1.2.orig.tar.gz
 ef75 50 sum_1.2-3.debian.tar.xz
Checksums-Sha256:
 4a99 300 sum_1.2.orig.tar.gz
Directory: pool/main/s/sum

Package: vast
Version: 1
Files:
 11b7 99999999 vast_1.tar.xz
Directory: pool/main/v/vast
"""
    put(folder, "dists/stable/main/source/Sources.xz", lzma.compress(index.encode()))
    put(
        folder,
        "pool/main/s/sum/sum_1.2.orig.tar.gz",
        tarred({"sum-1.2/src/sum.cc": "x", "sum-1.2/NEWS": "y"}),
    )
    source = DebianSource(address)
    package = source.fetch("sum", scratch)
    assert (package.registry, package.name, package.version) == ("debian-src", "sum", "1.2-3")
    assert laid_out(package.folder) == ["src/sum.cc"]
    with pytest.raises(FetchError, match="too large"):
        source.fetch("vast", scratch)
    with pytest.raises(FetchError, match="not found"):
        source.fetch("missing", scratch)


def test_what_is_missing_too_large_or_not_http_is_a_reason(web):
    folder, address = web
    put(folder, "large", b"x" * 100)
    assert read_url(f"{address}/large", 100) == b"x" * 100
    with pytest.raises(FetchError, match="too large"):
        read_url(f"{address}/large", 99)
    with pytest.raises(FetchError, match="not found"):
        read_url(f"{address}/missing")
    with pytest.raises(FetchError, match="not http"):
        read_url("file:///etc/hostname")
    with served(folder) as gone:
        pass
    with pytest.raises(FetchError, match="connection failed"):
        read_url(f"{gone}/large")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_archives_are_unpacked_inside_only_and_source_only(pack, scratch):
    hostile = {
        "../outside.py": "x",
        "/absolute.py": "x",
        "a/../../outside.py": "x",
        "ok/fine.py": "y",
        "ok/picture.png": "z",
        "ok/huge.py": "h" * 500_000,
    }
    (scratch / "inside").mkdir()
    unpack(pack(hostile), scratch / "inside")
    assert laid_out(scratch) == ["inside/ok/fine.py"]


def test_links_in_archives_are_left_out(scratch):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, kind in (("a.py", tarfile.SYMTYPE), ("b.py", tarfile.LNKTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    unpack(stream.getvalue(), scratch)
    assert laid_out(scratch) == []


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04nonsense", b"\x1f\x8bnonsense", b"plain text"])
def test_damaged_archives_are_a_reason(data, scratch):
    with pytest.raises(FetchError, match="damaged archive"):
        unpack(data, scratch)


def test_a_lone_folder_is_entered_unless_it_is_a_package(tmp_path):
    put(tmp_path, "one/thing-1.0/a.py", "")
    put(tmp_path, "two/thing/__init__.py", "")
    assert project_folder(tmp_path / "one").name == "thing-1.0"
    assert project_folder(tmp_path / "two").name == "two"
