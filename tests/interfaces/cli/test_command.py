"""The command as a user runs it: exit codes, what goes where, and errors that help."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

from dowse.formats.style import Style
from dowse.formats.text import mark_spans
from dowse.interfaces.cli.main import main
from dowse.version import __version__

from helpers import run_dowse

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "answer.schema.json").read_text())
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], sample: Path, sample_index) -> Run:
    """Run a command on the sample in this process; returns exit code, output and what was said beside."""

    def command(name: str, *arguments: object) -> tuple[int, str, str]:
        place = [str(sample), "--index-dir", str(sample_index.backend.folder)]
        at = 1 if name in ("search", "symbols") else 0
        code = main([name, *map(str, arguments[:at]), *place, *map(str, arguments[at:])])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


# Searching


def test_the_first_search_indexes(sample_copy):
    done = run_dowse("search", "parse cookie header", cwd=sample_copy)
    assert done.returncode == 0
    assert done.stdout.startswith("web/cart.js:")
    assert "function parseCookieHeader" in done.stdout.splitlines()[0]
    assert "indexing" in done.stderr and "first use" in done.stderr
    again = run_dowse("search", "parse cookie header", cwd=sample_copy)
    assert (again.returncode, again.stdout) == (0, done.stdout)
    assert "indexing" not in again.stderr


def test_a_search_does_not_wait_for_a_writer(sample_copy, tmp_path, capsys):
    from dowse.storage.local.backend import LocalBackend

    place = [str(sample_copy), "--index-dir", str(tmp_path / "index")]
    assert main(["index", *place, "-q"]) == 0
    (sample_copy / "new.py").write_text("def zyxwvut(): ...\n")
    with LocalBackend(tmp_path / "index").writer():
        assert main(["search", "parse_order", *place]) == 0
        assert f"process {os.getpid()}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("query", "code"),
    [("bread", 0), ("zzzzqqqq", 1), ("/oven/", 0), ("/zzzzqqqq/", 1), ('"is cold"', 0), ('"zzzzqqqq"', 1)],
)
def test_exit_codes_are_those_of_grep(run, query, code):
    status, out, err = run("search", query)
    assert status == code
    assert bool(out) is (code == 0)
    assert ("nothing found" in err) is (code == 1)


def test_the_answer_is_path_line_kind_and_snippet(run):
    _, out, _ = run("search", "Preheat")
    first, *rest = out.splitlines()
    assert first.startswith("service/oven/oven.go:") and "method Oven.Preheat" in first
    assert any("func (o *Oven) Preheat(degrees int) error {" in line for line in rest)


def test_notes_go_beside_the_results(run):
    code, out, err = run("search", "preheet")
    assert code == 0 and out.startswith("service/oven/oven.go:")
    assert err == "dowse: not here as typed: preheet → Preheat\n" and "as typed" not in out


def test_top_k_zero_is_all(run):
    _, ten, _ = run("search", "/e/", "--json")
    _, every, _ = run("search", "/e/", "-k", 0, "--json")
    assert len(json.loads(ten)["hits"]) == 10 < len(json.loads(every)["hits"])
    places = [(hit["path"], hit["start_line"]) for hit in json.loads(every)["hits"]]
    assert places == sorted(places)


def test_paths_only(run):
    code, out, _ = run("search", "parse_order", "-l", "--fuzziness", "0")
    paths = out.splitlines()
    assert code == 0 and len(paths) == len(set(paths))
    assert paths[0] == "src/bakery/orders.py" and "vendor/yeast/yeast.py" in paths
    assert run("search", "zzzzqqqq", "-l")[:2] == (1, "")


@pytest.mark.parametrize("lines", [0, 1, 3])
def test_snippet_lines(run, lines):
    _, out, _ = run("search", "bake_bread", "-k", 1, "--snippet-lines", lines)
    assert len(out.strip().splitlines()) == 1 + lines


def test_filters_as_flags(run):
    for flags, allowed in (
        (("--lang", "go"), {".go"}),
        (("--lang", "go", "--lang", "rust"), {".go", ".rs"}),
        (("--path", "web/**"), {".js", ".ts"}),
        (("--not-path", "*.py", "--not-path", "*.md"), {".go", ".js", ".ts", ".rs", ".java", ".toml"}),
    ):
        _, out, _ = run("search", "order bread oven route item", "-k", 50, "-l", *flags)
        assert out and {Path(line).suffix for line in out.splitlines()} <= allowed, flags
    _, out, _ = run("search", "order", "--kind", "class", "--json")
    assert {hit["kind"] for hit in json.loads(out)["hits"]} == {"class"}


# JSON


def test_explain_shows_the_stages_of_a_search(run):
    for query, stages in {
        "knead the dough": ["plan", "lanes", "ranking", "refinement", "confidence", "texts"],
        "/knead/": ["plan", "exact", "ranking", "confidence", "texts"],
    }.items():
        _, out, _ = run("search", query, "--explain", "--mode", "regex" if "/" in query else "keyword")
        line = next(line for line in out.splitlines() if line.startswith("stages"))
        assert re.findall(r"([a-z]+) \d+\.\d ms", line) == stages


def test_explain_shows_contributions_that_sum_to_the_score(run):
    _, out, _ = run("search", "knead the dough", "--explain", "-k", 1)
    plan, _, hits = out.partition("\n\n")
    assert plan.startswith("plan ")
    head, *rest = hits.strip().splitlines()
    values = [float(line.split()[0]) for line in rest if line.lstrip()[:1] in "+-"]
    assert sum(values) == pytest.approx(float(head.split()[-1]), rel=0.05)
    assert "keyword.body" in out and "signal." in out


# Colours


def test_plain_when_piped_and_coloured_when_asked(run):
    assert "\x1b[" not in run("search", "bread")[1]
    assert "\x1b[" not in run("search", "bread", "--color", "never")[1]
    coloured = run("search", "bread", "--color", "always")[1]
    assert "\x1b[35m" in coloured and "\x1b[1;31m" in coloured


def test_overlapping_matches_are_marked_once():
    style = Style(match="<", reset=">")
    spans = ((0, 3), (1, 2), (2, 5), (5, 6), (7, 8))
    assert mark_spans("abcdefgh", spans, style) == "<abcde><f>g<h>"


# Errors


@pytest.mark.parametrize(
    ("arguments", "tells"),
    [
        (["search", "a(", "--mode", "regex"], "close it"),
        (["search", "lang:klingon bread"], "klingon"),
        (["search", "bread", "--lang", "klingon"], "klingon"),
        (["search", "bread", "--kind", "spoon"], "spoon"),
        (["search", "bread", "-k", "-1"], "`k`"),
        (["index", "/no/such/place"], "does not exist"),
        (["status", "--index-dir", "NOWHERE"], "dowse index"),
        (["index", "--index-dir", "FILE/x"], "--index-dir"),
    ],
)
def test_mistakes_get_one_line_and_a_remedy(sample_copy, tmp_path, capsys, monkeypatch, arguments, tells):
    monkeypatch.chdir(sample_copy)
    (tmp_path / "file").write_text("")
    places = {"NOWHERE": str(tmp_path / "nowhere"), "FILE/x": str(tmp_path / "file" / "x")}
    arguments = [places.get(argument, argument) for argument in arguments]
    if "--index-dir" not in arguments:
        arguments += ["--index-dir", str(tmp_path / "index")]
        main(["index", str(sample_copy), "-q", "--index-dir", str(tmp_path / "index")])
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("dowse: ") and captured.err.count("\n") == 1, captured.err
    assert tells in captured.err


@pytest.mark.parametrize(
    ("query", "note", "code"),
    [
        ("/(/", "/(/ is no regex: an unclosed '(' in the regex; close it, or write \\( for a literal one", 1),
        ("colour:red bread", "colour: is no filter", 0),
        ('"bread', 'the " at position 0 is never closed on its line', 0),
        ("(bread", "the ( at position 0 is never closed", 0),
        ("lang: bread", "lang: has no value right after the colon", 0),
    ],
)
def test_what_is_no_query_language_is_plain_text_with_a_note(run, query, note, code):
    found, out, err = run("search", query)
    assert found == code and ("src/bakery/bread.py:" in out) == (code == 0)
    first, *more = err.splitlines()
    assert first == f"dowse: taken as plain text: {note}"
    assert code == 0 or more == ["dowse: nothing found"]


def test_a_real_process_shows_no_traceback_either(sample, tmp_path):
    done = run_dowse("search", "lang:klingon", sample, "--index-dir", tmp_path / "index")
    assert done.returncode == 2 and done.stderr.startswith("dowse: ")
    assert done.stdout == "" and "Traceback" not in done.stderr
    for wrong in ((), ("bread", "--repo", "a", "--repo", "b")):
        refused = run_dowse("search", *wrong)
        assert refused.returncode == 2 and refused.stderr.startswith("usage: dowse search ")


def test_a_damaged_index(sample_copy, tmp_path, capsys):
    """Commands that use it build it again; `doctor` and `status` only say so."""
    place = [str(sample_copy), "--index-dir", str(tmp_path / "index")]
    assert main(["index", *place, "-q"]) == 0
    for command in (["search", "bread", *place], ["index", *place], ["symbols", "bake*", *place]):
        (tmp_path / "index" / "catalog.sqlite").write_bytes(b"garbage" * 2000)
        capsys.readouterr()
        assert main(["doctor", *place]) == main(["status", *place]) == 2
        captured = capsys.readouterr()
        assert "BAD  index" in captured.out and "dowse index --rebuild" in captured.err
        assert main(command) == 0
        assert "building it again" in capsys.readouterr().err
        assert main(["doctor", *place]) == 0


@pytest.mark.parametrize("arguments", [["--json", "-k", "0"], ["-k", "0"], ["-l"]])
def test_a_reader_that_has_seen_enough(sample, sample_index, arguments):
    """`| head -1` closes the pipe early; nobody complains."""
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", "search", "/./", str(sample), *arguments]
    command += ["--index-dir", str(sample_index.backend.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# Other commands


def test_index_reports(sample_copy, tmp_path, capsys):
    place = [str(sample_copy), "--index-dir", str(tmp_path / "index")]
    assert main(["index", *place]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"indexed {sample_copy}: ") and captured.err == ""
    assert main(["index", *place]) == 0
    assert capsys.readouterr().out.startswith("up to date: ")
    assert main(["index", *place, "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["index", *place, "--rebuild", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["added"] == 16 and report["failed"] == []


def test_index_no_wait(sample_copy, tmp_path, capsys):
    from dowse.storage.local.backend import LocalBackend

    with LocalBackend(tmp_path / "index").writer():
        assert main(["index", str(sample_copy), "--index-dir", str(tmp_path / "index"), "--no-wait"]) == 2
    assert f"process {os.getpid()}" in capsys.readouterr().err


def test_status(run, sample):
    code, out, err = run("status")
    assert (code, err) == (0, "")
    lines = dict(line.split(None, 1) for line in out.splitlines())
    assert lines["root"] == str(sample) and lines["fresh"] == "yes"
    assert "python 8" in lines["languages"]
    facts = json.loads(run("status", "--json")[1])
    assert facts["repo"] == "acme/bakery" and facts["generation"] == 1
    assert facts["changes"] == {"new": 0, "changed": 0, "deleted": 0}


def test_status_lists_files_and_reasons(run):
    code, out, _ = run("status", "--files")
    assert code == 0
    inside = {
        line.split("\t")[0][5:]: line.split("\t")[1] for line in out.splitlines() if line.startswith("in ")
    }
    outside = {
        line.split("\t")[0][5:]: line.split("\t")[1] for line in out.splitlines() if line.startswith("out")
    }
    assert "test" in inside["tests/test_orders.py"]
    assert "vendored" in inside["vendor/yeast/yeast.py"]
    assert "generated" in inside["gen/orders_pb2.py"]
    assert outside["assets/logo.dat"] == "binary"
    assert outside["assets/bundle.js"] == "minified"
    assert ".gitignore" in outside["build/"]
    listed = json.loads(run("status", "--files", "--json")[1])
    assert len(listed["files"]) == len(inside) and len(listed["skipped"]) == len(outside)


def test_symbols(run):
    code, out, _ = run("symbols", "Preheat")
    assert code == 0
    place, kind, name = out.strip().split("\t")
    assert place.startswith("service/oven/oven.go:") and (kind, name) == ("method", "Oven.Preheat")
    assert "parse_order" in run("symbols", "parse_*")[1]
    assert run("symbols", "nothing_like_it")[:2] == (1, "")
    rows = json.loads(run("symbols", "Order", "--json", "-k", 2)[1])
    assert len(rows) == 2 and {"path", "kind", "start_line"} <= set(rows[0])


def test_doctor(run, sample, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dowse.interfaces.cli.doctor_command.protections", lambda: ["seccomp"])
    code, out, _ = run("doctor")
    assert "parsers and patterns: seccomp, no Landlock" in out
    assert code == 0 and "BAD" not in out and "grammars as shipped" in out and "both halves agree" in out
    assert all(check["ok"] for check in json.loads(run("doctor", "--json")[1]))
    assert main(["doctor", str(sample), "--index-dir", str(tmp_path / "none")]) == 0
    assert "none yet" in capsys.readouterr().out


def test_clear(sample_copy, tmp_path, capsys):
    place = [str(sample_copy), "--index-dir", str(tmp_path / "index")]
    assert main(["clear", *place]) == 1
    assert main(["index", *place]) == 0
    assert main(["clear", *place]) == 0
    assert not (tmp_path / "index").exists() and (sample_copy / "README.md").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "dowse" in script
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "completion"), [("dowse sea", "search"), ("dowse callers --dep", "--depth")]
)
def test_a_shell_completes_commands_and_flags(tmp_path, line, completion):
    request = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_IFS": " "}
    completions = tmp_path / "completions"
    subprocess.run(
        ["bash", "-c", f"{sys.executable} -m dowse.interfaces.cli.main 8>{completions} 9>/dev/null"],
        env={**os.environ, **request},
        check=False,
        capture_output=True,
    )
    assert completions.read_text().split() == [completion]


def test_help_and_version(capsys):
    for arguments, tells in (
        (["--help"], "dowse search parse cookie header "),
        (["--version"], __version__),
        (["search", "-h"], "--lang"),
    ):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
        assert tells in capsys.readouterr().out


# Commands of other distributions


def test_a_command_of_another_distribution_is_an_entry_point(monkeypatch, capsys):
    def run(arguments: list[str]) -> int:
        sys.stdout.write(f"trained {' '.join(arguments)}\n")
        return 3

    found = {"train": SimpleNamespace(load=lambda: run)}
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group, name: [found[name]] if group == "dowse.commands" and name in found else [],
    )
    assert main(["train", "fit", "--out", "x"]) == 3
    assert capsys.readouterr().out == "trained fit --out x\n"
    del found["train"]
    assert main(["train", "fit"]) == 2
    assert "pip install dowse-training" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["tarin"])
    assert "did you mean `dowse train`" in capsys.readouterr().err


# Starting up


def loaded_by(program: str) -> set[str]:
    """Return the modules that a program loads, beyond those that Python itself does."""
    code = f"import sys\n{program}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


def test_the_version_is_told_without_loading_anything_heavy():
    start = "from dowse.interfaces.cli.main import main\n"
    program = start + "try:\n    main(['--version'])\nexcept SystemExit:\n    pass"
    loaded = loaded_by(program)
    assert "dowse.interfaces.cli.main" in loaded
    assert not loaded & {"tree_sitter", "tantivy", "numpy", "re2", "sqlite3", "rich", "shtab"}


def test_a_keyword_search_loads_no_grammar_and_no_regex_engine(sample, sample_index):
    arguments = ["search", "bread", str(sample), "--index-dir", str(sample_index.backend.folder)]
    loaded = loaded_by(f"from dowse.interfaces.cli.main import main\nassert main({arguments!r}) == 0")
    assert {"tantivy", "sqlite3"} <= loaded
    assert not loaded & {"re2", "tree_sitter", "numpy", "rich", "shtab", "multiprocessing"}


# Meaning


def test_index_embeds_and_a_search_by_meaning_needs_no_common_word(
    sample_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))  # other tests encode the same sample
    place = [sample_copy, "--index-dir", tmp_path / "i", "--encoder", "small"]
    made = run_dowse("index", *place, "--json")
    report = json.loads(made.stdout)
    assert made.returncode == 0
    assert report["embedding"]["encoded"] > 0
    assert report["embedding"]["missing"] == 0
    again = json.loads(run_dowse("index", *place, "--json").stdout)
    assert again["embedding"]["encoded"] == again["embedding"]["reused"] == 0
    found = run_dowse("search", "how hot is it inside", *place, "--mode", "embedding", "--json")
    answer = json.loads(found.stdout)
    jsonschema.validate(answer, SCHEMA)
    assert answer["mode"] == "embedding"
    assert answer["embedded"]["symbols"] == answer["embedded"]["total"]
    assert any("oven" in hit["path"] for hit in answer["hits"][:3])
    assert all(hit["explanation"][0]["source"] == "embedding" for hit in answer["hits"])


def test_related_shows_neighbours_and_asks_back(sample_copy: Path, tmp_path: Path) -> None:
    place = [sample_copy, "--index-dir", tmp_path / "i", "--encoder", "small"]
    run_dowse("index", *place)
    names = run_dowse("symbols", "*", sample_copy, "--index-dir", tmp_path / "i", "--json")
    functions = [row for row in json.loads(names.stdout) if row["kind"] == "function"]
    row = functions[0]
    at = f"{row['path']}:{row['start_line']}"
    found = json.loads(run_dowse("related", at, *place, "-k", "3", "--json").stdout)
    assert found["symbol"]["qualified_name"] == row["qualified_name"]
    assert len(found["neighbours"]) == 3
    assert found["cluster"]["size"] >= 1
    shown = run_dowse("related", sample_copy / at, *place, "-k", "3")
    assert shown.stdout.startswith(f"like {at}")
    unknown = run_dowse("related", "no_such_thing", *place)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "no symbol is called no_such_thing" in unknown.stderr


def test_an_unknown_encoder_is_one_clear_line(sample: Path, tmp_path: Path) -> None:
    place = [sample, "--index-dir", tmp_path / "i"]
    words = run_dowse("search", "bread", *place, "--encoder", "nosuch", "--mode", "keyword")
    assert words.returncode == 0  # words need none
    for mode in ("auto", "embedding"):
        meaning = run_dowse("search", "bread", *place, "--encoder", "nosuch", "--mode", mode)
        assert meaning.returncode == 2 and "Traceback" not in meaning.stderr
        assert "no encoder 'nosuch'" in meaning.stderr and "base" in meaning.stderr
