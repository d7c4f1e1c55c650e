"""The table of everything that is published: which command measures it, and on which code it depends.

`$NAME` in a command is a folder of data (`scripts/figures --data NAME=PATH`, or the environment), `{out}` the
result file, `{work}` a folder that is kept, `{python}` and `{dowse}` programs, `{version}` that of the wheel.
The steps of a measure follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from extract import Extract, exact_search, graph, install, leaves, long_questions, report

# Prefixes of the files of the repository.
ENGINE = tuple(
    f"src/dowse/{name}"
    for name in (
        "commit_search/ encoders/ formats/ graph/ history/ index/ indexing/ parsing/ query/ research/ "
        "search/ source/ storage/ vectors/ workers/ answer.py config.py deadline.py symbol_lookup.py types.py"
    ).split()
)
_PARSING = tuple(f"src/dowse/{name}/" for name in ("graph", "indexing", "parsing", "source", "storage"))
_ENCODERS = ("src/dowse/encoders/", "models/base/", "models/small/")
_SERVER = (*ENGINE, "src/dowse/interfaces/http/", "src/dowse/services/")
_COMMAND = (
    *ENGINE,
    "src/dowse/interfaces/cli/",
    "src/dowse/interfaces/daemon/",
    "src/dowse/entry.py",
    "models/base/",
)
_WRITERS = (
    *ENGINE,
    "src/dowse/feedback/",
    "src/dowse/transfer/",
    "src/dowse/watch/",
    "tests/index_writers.py",
)
_QUICK_EVAL = "--modes keyword --encoder none"
_PAGE = ("src/dowse/interfaces/http/page/",)
_TOOLS = "ripgrep,fts5"


@dataclass(frozen=True, slots=True)
class Measure:
    """A command, what is published of its result, and what it depends on."""

    name: str
    group: str  # quality, speed, sizes, scale, graph or reliability
    unit: str
    minutes: float  # on two cores, for the estimate before it was ever run
    steps: tuple[str, ...]
    extract: Extract
    depends: tuple[str, ...]
    results: tuple[str, ...] = ("{out}",)
    report: bool = False  # the page shows it
    quick: str = ""  # what makes the command try little; without it `--quick` leaves the measure out


def _script(name: str) -> tuple[str, ...]:
    return (f"bench/{name}.py",)


def _eval(
    name: str,
    minutes: float,
    modes: str,
    *,
    mine: str = "",
    tools: str = "",
    sets: str = "",
    encoder: str = "",
    quick: str = "",
    shown: bool = True,
) -> Measure:
    """Return a measure by `dowse eval` with a manifest; questions are mined where there are none."""
    manifest = f"bench/manifests/{name.partition('-')[0]}.json"
    options = f"--modes {modes}"
    options += f" --with {tools}" if tools else ""
    options += f" --build --from {mine}" if mine else ""
    options += f" --encoder {encoder}" if encoder else ""  # the default is measured as a user has it
    command = f"{{dowse}} eval --manifest {manifest} {options} --worst 0 -q --report {{out}}"
    rows = [*modes.split(","), *(tools.split(",") if tools else ())]
    depends = (*ENGINE, "src/dowse/eval/", f"models/{encoder or 'base'}/", manifest)
    return Measure(
        name,
        "quality",
        "share",
        minutes,
        (command,),
        report(*rows, sets=sets),
        depends,
        report=shown,
        quick=quick,
    )


_THREE = "keyword,embedding,auto"
MEASURES = (
    _eval("sets", 25, _THREE),
    _eval("repos", 12, _THREE, tools=_TOOLS, quick=_QUICK_EVAL),
    _eval("git", 8, _THREE, tools=_TOOLS, mine="git", quick=_QUICK_EVAL),
    _eval("git_unseen", 10, _THREE, mine="git"),
    _eval("docs", 10, _THREE, tools=_TOOLS, mine="docs"),
    _eval("structure", 5, "auto,hybrid", sets="structure/", quick=_QUICK_EVAL),
    _eval("classic", 15, "auto,auto+mmr,auto+cluster:euclidean,auto+sample:euclidean", shown=False),
    _eval("sets-small", 10, "embedding", encoder="small", shown=False),
    _eval("repos-small", 5, "embedding", encoder="small", shown=False),
    _eval("repos-tiny", 4, "embedding,auto", encoder="tiny", shown=False),
    Measure(
        "questions", "quality", "questions", 10,
        (
            "{python} bench/questions.py bench/data/questions/held.jsonl --checkouts $QUESTIONS "
            "--work {work} --out {out}",
        ),
        leaves(n="questions/all/asked"),
        (*ENGINE, *_script("questions"), "models/base/", "bench/data/questions/held.jsonl"),
    ),
    Measure(
        "long_questions", "quality", "share", 20,
        (
            "{python} bench/long_questions.py mine $REPOS/pytest $REPOS/sphinx $REPOS/xarray $REPOS/pylint "
            "$REPOS/seaborn $REPOS/cobra $REPOS/monolog $REPOS/axum --out {work}/questions.jsonl",
            "{python} bench/long_questions.py ask {work}/questions.jsonl --checkouts $REPOS "
            "--work {work} --out {work}/answers.json",
            "{python} bench/long_questions.py compare {work}/answers.json {work}/answers.json --out {out}",
        ),
        long_questions,
        (*ENGINE, *_script("long_questions"), "models/base/"),
    ),
    Measure(
        "first_search", "quality", "nDCG@10", 8,
        (
            "{python} bench/first_search.py quality bench/manifests/repos.json --counts 0 200 --work {work} "
            "--out {out}",
        ),
        leaves("mean/"),
        (*ENGINE, *_script("first_search"), "models/base/", "models/tiny/"),
    ),
    Measure(
        "names", "quality", "share", 60,
        ("{python} bench/names.py --repos $NAMES --work {work} --out {out}",),
        leaves(
            "search/all", "search/languages_without_mistakes/", "known/all_without", "symbols/all", "lsp/all",
            "parse/all",
            n="search/all/all/names",
        ),
        (*ENGINE, "src/dowse/interfaces/lsp/", *_script("names"), "bench/manifests/names.json"),
    ),
    Measure(
        "agent", "quality", "tokens", 10,
        ("{python} bench/agent.py --semble $TOOLS/semble/bin/python --semble-vectors small --out {out}",),
        leaves("resident/", "until_read/", "ratios/", n="questions"),
        (*ENGINE, "src/dowse/interfaces/mcp/", *_script("agent"), "models/base/"),
        quick="--only flask",
    ),
    Measure(
        "encode_speed", "speed", "functions a second", 3,
        ("{python} bench/encode_speed.py --data $DATA --out {out}",),
        leaves("encoders/base/", "encoders/small/", "query/", "ratios/small", n="functions"),
        (*_ENCODERS, *_script("encode_speed")),
        quick="--functions 200",
    ),
    Measure(
        "keyword_speed", "speed", "ms", 8,
        ("{python} bench/keyword_speed.py --corpus $CORPUS --work {work} --out {out}",),
        leaves(n="functions"),
        (*ENGINE, *_script("keyword_speed")),
        quick="--functions 500 --queries 20 --slow-queries 5",
    ),
    Measure(
        "hybrid_speed", "speed", "ms", 10,
        (
            "{python} bench/hybrid_speed.py --data $DATA --model $MODEL --queries 200 --work {work} "
            "--out {out}",
        ),
        leaves("queries/"),
        (*ENGINE, *_script("hybrid_speed"), "models/base/"),
        quick="--queries 5",
    ),
    Measure(
        "startup", "speed", "ms", 3,
        ("{python} bench/startup.py --tree $REPOS/flask --out {out}",),
        leaves("times/", "ratios/", n="runs"),
        (*_COMMAND, *_script("startup")),
        quick="--runs 1",
    ),
    Measure(
        "warm_speed", "speed", "ms", 2,
        ("{python} bench/warm_speed.py $REPOS/flask --out {out}",),
        leaves("milliseconds/python", "warm search", "milliseconds/cold", n="rounds"),
        (*_COMMAND, *_script("warm_speed")),
        quick="--rounds 1",
    ),
    Measure(
        "exact_speed", "speed", "ratio", 15,
        ("{python} bench/exact_speed.py --tree $TREES/go --work {work} --out {out}",),
        exact_search,
        (*ENGINE, *_script("exact_speed")),
        quick="--runs 1",
    ),
    Measure(
        "index_speed", "speed", "s", 10,
        (
            "{python} bench/index_speed.py --tree $TREES/assertj --tree $TREES/imgui "
            "--tree $TREES/rfcs --runs 2 --out {out}",
        ),
        leaves("trees/"),
        (*_PARSING, *_script("index_speed")),
    ),
    Measure(
        "first_answer", "speed", "s", 20,
        (
            "{python} bench/peers.py run --tools $TOOLS --first-answers --rounds 3 $TREES/flask "
            "$TREES/pydantic $TREES/gson $TREES/assertj $TREES/rfcs $TREES/go "
            "--work {work} --out {out}",
        ),
        leaves("repositories/"),
        (*_COMMAND, *_script("peers"), *_script("peers_workers")),
    ),
    Measure(
        "peers", "speed", "s, ms, MB", 20,
        (
            "{python} bench/peers.py run --tools $TOOLS --rounds 2 --limit 60 $TREES/pydantic $TREES/go "
            "--work {work} --out {out}",
        ),
        leaves("repositories/"),
        (*_COMMAND, *_script("peers"), *_script("peers_workers")),
    ),
    Measure(
        "install", "sizes", "bytes", 12,
        (
            "scripts/package",
            "{python} scripts/measure_install.py dist/dowse-{version}-py3-none-any.whl --python {python} "
            "--peer semble[mcp] --out {out}",
        ),
        install,
        ("pyproject.toml", "requirements/plain.txt", "models/base/", "models/tiny/", *_PAGE),
    ),
    Measure(
        "memory", "sizes", "bytes", 20,
        ("{python} bench/memory.py --tree $TREES/kubernetes --processes 2 --work {work} --out {out}",),
        leaves("files", "symbols", "source_bytes", "index_bytes", "seconds", "peak_bytes/"),
        (*_PARSING, *_script("memory")),
    ),
    Measure(
        "memory_gigabyte", "sizes", "bytes", 30,
        (
            "{python} bench/memory.py --tree $TREES/google-api-java-client-services --processes 2 "
            "--work {work} --out {out}",
        ),
        leaves("files", "symbols", "source_bytes", "index_bytes", "seconds", "peak_bytes/"),
        (*_PARSING, *_script("memory")),
    ),
    Measure(
        "million", "scale", "ms, s, MB", 150,
        ("{python} bench/million.py --corpus $CORPUS --work {work} --out {out}",),
        leaves("sizes/"),
        (*ENGINE, *_script("million"), "models/base/"),
        quick="--sizes 500 --queries 5",
    ),
    Measure(
        "cluster_curve", "scale", "ms, bytes", 25,
        (
            "{python} bench/cluster_curve.py $DATA/csn-python --backend $CLUSTER/curve "
            "--sizes 10000,100000 --processes 1 --work {work} --out {out}",
        ),
        leaves("sizes/"),
        (*ENGINE, *_script("cluster_curve"), "models/base/"),
    ),
    Measure(
        "cluster_kill", "reliability", "searches, documents", 15,
        (
            "{python} bench/cluster_kill.py $DATA/csn-python $REPOS/flask $REPOS/gin $REPOS/click "
            "$REPOS/requests --queries $DATA/csn-python/queries.jsonl.gz --work {work} --out {out}",
        ),
        leaves(),
        ("src/dowse/storage/", "src/dowse/ingest/", "src/dowse/search/", *_script("cluster_kill")),
    ),
    Measure(
        "graph", "graph", "share", 25,
        ("{python} bench/graph_oracle.py all --data $ORACLES --out {out}",),
        graph,
        ("src/dowse/graph/", "src/dowse/parsing/", *_script("graph_oracle")),
    ),
    Measure(
        "fuzz_queries", "reliability", "faults", 15,
        ("{python} bench/fuzz_queries.py --count 50000 --processes 2 --work {work} --out {out}",),
        leaves(n="queries"),
        (*ENGINE, *_script("fuzz_queries"), *_script("fuzz_texts")),
        quick="--count 40",
    ),
    Measure(
        "fuzz_requests", "reliability", "faults", 10,
        ("{python} bench/fuzz_requests.py --work {work} --out {out}",),
        leaves(n="requests"),
        (*_SERVER, *_script("fuzz_requests"), *_script("fuzz_texts")),
        quick="--count 30 --clients 2",
    ),
    Measure(
        "load_mixed", "reliability", "ms", 6,
        ("{python} bench/load_mixed.py --seconds 240 --work {work} --out {out}",),
        leaves(n="questions"),
        (*_SERVER, *_script("load_mixed"), *_script("serving")),
        quick="--seconds 5 --clients 2 --slow-heads 2 --encoder none",
    ),
    Measure(
        "slow_patterns", "reliability", "s", 14,
        (
            "{python} bench/slow_patterns.py --count 50 --only cli --work {work} --out {work}/cli.json",
            "{python} bench/slow_patterns.py --count 50 --only server --work {work} --out {out}",
        ),
        leaves(n="patterns"),
        (*_SERVER, *_script("slow_patterns")),
        results=("{work}/cli.json", "{out}"),
    ),
    Measure(
        "kills", "reliability", "faults", 8,
        ("{python} bench/kills.py --kills 400 --processes 2 --out {out}",),
        leaves("kills", "after", "updated", "with the", "damaged", "problems", n="kills"),
        (*_WRITERS, *_script("kills")),
        quick="--kills 3 --writers index",
    ),
    Measure(
        "power_cut", "reliability", "faults", 10,
        ("{python} bench/power_cut.py --draws 1 --processes 2 --out {out}",),
        leaves("states", "damaged", n="states"),
        (*_WRITERS, *_script("power_cut")),
        quick="--draws 1 --mended 0 --writers index",
    ),
    Measure(
        "errno", "reliability", "faults", 12,
        ("{python} bench/errno.py --runs 200 --processes 2 --seconds 450 --out {out}",),
        leaves("runs", "exit", "traceback", "wrong", "damaged", n="runs"),
        (*_WRITERS, *_script("errno")),
        quick="--runs 3",
    ),
    Measure(
        "races", "reliability", "bytes", 5,
        ("{python} bench/races.py --seconds 120 --out {out}",),
        leaves(n="exchanges"),
        (*_SERVER, "src/dowse/security/", "src/dowse/watch/", *_script("races")),
        quick="--seconds 2",
    ),
)  # fmt: skip
GROUPS = tuple(dict.fromkeys(measure.group for measure in MEASURES))
