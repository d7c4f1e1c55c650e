"""The flags of `dowse eval` and of its steps, and the configurations that they name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from dowse.config import SETTINGS
from dowse.eval.configurations import COMPARED, DEFAULT_BASELINE, Configuration, parse_configuration
from dowse.eval.types import HALVES, LEVELS
from dowse.interfaces.cli.command import CommandParser

STEPS = {
    "gate": "decide whether one configuration may replace another",
    "report": "render a saved report",
}
# Flags of the gate with a meaning or a form of their own.
_GATE_FLAGS = frozenset(["path", "report", "json"])


def parse_eval(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse what follows `dowse eval`."""
    step = arguments[0] if arguments and arguments[0] in STEPS else ""
    parser = eval_parser(step)
    options = parser.parse_args(arguments[1:] if step else arguments)
    options.step = step
    if not step:
        _check_step(parser, options.path)
    if not step and options.origin == "docs" and not options.level:
        options.level = "symbol"  # what is documented is a function, not a file
    return options


def _check_step(parser: argparse.ArgumentParser, path: str | None) -> None:
    """Refuse a path that does not exist and is probably a misspelt step."""
    steps = get_close_matches(path or "", STEPS, 1)
    if path and steps and not Path(path).exists():
        parser.error(f"there is no {path} to search; did you mean the step `dowse eval {steps[0]}`")


def eval_parser(step: str = "") -> argparse.ArgumentParser:
    """Return the parser of `dowse eval`, or of one of its steps."""
    add = {"": _add_run, "gate": _add_gate, "report": _add_report}[step]
    text = STEPS.get(step) or "measure search quality, on queries with known answers"
    steps = "".join(f"  dowse eval {name:8} {what}\n" for name, what in STEPS.items())
    parser = CommandParser(
        "" if step else "eval",
        prog=f"dowse eval {step}".strip(),
        description=text[0].upper() + text[1:] + ".",
        epilog=None if step else f"steps (each has --help):\n{steps}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add(parser)
    return parser


def chosen_configurations(options: argparse.Namespace) -> tuple[Configuration, ...]:
    """Return the rows that the flags name; `--compare` adds each lane alone, hybrid and the default."""
    compared = COMPARED if options.compare else ()
    return named_configurations([*compared, *split_list(options.modes)] or (DEFAULT_BASELINE,))


def named_configurations(names: Sequence[str]) -> tuple[Configuration, ...]:
    """Return configurations by their names, each once."""
    configurations = [parse_configuration(name) for name in names]
    return tuple({each.name: each for each in configurations}.values())


def split_list(text: str | None) -> list[str]:
    """Return the parts of a comma-separated list."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _count(text: str) -> int:
    """Parse a number from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)


def _positive(text: str) -> int:
    """Parse a number from 1 on."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_datasets(parser)
    _add_configurations(parser)
    _add_scoring(parser)
    _add_mining(parser)
    _add_outputs(parser)


def _add_datasets(parser: argparse.ArgumentParser) -> None:
    """Add what is searched, and the queries."""
    group = parser.add_argument_group("repositories and queries")
    group.add_argument(
        "path", nargs="?", help="repository, folder or corpus (default: that of the dataset, or .)"
    )
    group.add_argument(
        "--dataset",
        metavar="D",
        help="cases (.jsonl[.gz]), BEIR folder, CodeSearchNet file, or `repos` folder "
        "(default: mined from git history)",
    )
    group.add_argument(
        "--manifest",
        metavar="FILE",
        help="many datasets: a JSON list of {name, watched_dir, store_dir, dataset}",
    )
    group.add_argument("--checkouts", metavar="DIR", help="the repositories of a suite, by name")
    group.add_argument(
        "--queries",
        default="",
        metavar="NAME",
        help="one of several: a file of queries of a BEIR folder, a repository of a suite",
    )
    group.add_argument(
        "--half",
        choices=HALVES,
        default="all",
        help="use only one half: for tuning, or for the report",
    )
    group.add_argument("--index-dir", metavar="DIR", help="folder of the index (default: one of its own)")
    group.add_argument(
        "--backend", metavar="URL", help="build indexes in a cluster, beside elastic://host:9200/NAME"
    )
    group.add_argument("--index", action="store_true", help="update indexes also where they are named")
    group.add_argument("--exclude", action="append", metavar="GLOB", help="exclude files; may be repeated")
    group.add_argument(
        "--strip-docs", action="store_true", default=None, help="exclude documentation from the index"
    )
    group.add_argument("--encoder", metavar="NAME", help="base, small, a model's folder, or none")
    group.add_argument("--view", choices=SETTINGS["view"].choices, help=SETTINGS["view"].help)


def _add_configurations(parser: argparse.ArgumentParser) -> None:
    """Add the rows of the table."""
    group = parser.add_argument_group("configurations, one row each")
    group.add_argument(
        "--mode", "--modes", dest="modes", metavar="W,W", help="e.g. keyword,rrf,auto+expand (default: auto)"
    )
    group.add_argument("--compare", action="store_true", help="each lane alone, hybrid, and auto")
    group.add_argument("--reranker", metavar="MODEL", help="the cross-encoder: rerank (shipped), or a folder")
    group.add_argument(
        "--with",
        dest="systems",
        default="",
        metavar="T,T",
        help="other tools: ripgrep, fts5",
    )
    group.add_argument("--against", metavar="ROW", help="compare the others with this row (default: auto)")


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scoring")
    group.add_argument("--level", choices=LEVELS, default="", help="what must be found")
    group.add_argument("--ks", default="1,5,10", metavar="K,K", help="cutoffs of the metrics (1,5,10)")
    group.add_argument(
        "--depth", type=_positive, default=100, metavar="N", help="results of each query (100)"
    )


def _add_mining(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("mining queries")
    group.add_argument("--build", action="store_true", help="mine queries (into --dataset FILE), and stop")
    group.add_argument(
        "--from", dest="origin", choices=("git", "docs"), default="git", help="source of mined queries"
    )
    group.add_argument("--max-cases", type=_count, default=200, metavar="N", help="0: no limit (200)")
    group.add_argument("--since", default="", metavar="DATE", help="commits from then on")
    group.add_argument("--with-tests", action="store_true", help="tests count as answers too")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add how the report is shown and saved."""
    group = parser.add_argument_group("reports")
    group.add_argument("--json", action="store_true", help="print the report as JSON")
    group.add_argument("--report", metavar="FILE", help="save it as JSON, for `eval gate` and `eval report`")
    group.add_argument("--worst", type=_count, metavar="N", help="worst queries listed (5; in files 20)")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress")


def _add_gate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--candidate", required=True, metavar="X", help="a row, or FILE.json[:ROW]")
    parser.add_argument("--baseline", required=True, metavar="Y", help="a row, or FILE.json[:ROW]")
    parser.add_argument("--report", metavar="FILE", help="saved by `dowse eval --report FILE`")
    parser.add_argument("--manifest", metavar="FILE", help="run both rows on these repositories now")
    parser.add_argument("--dataset", metavar="D", help="run both rows on this dataset now")
    parser.add_argument(
        "--path", metavar="PATH", help="what to search for --dataset (default: its own, or .)"
    )
    parser.add_argument("--checkouts", metavar="DIR", help="the repositories of a suite")
    parser.add_argument("--level", choices=LEVELS, default="", help="what must be found")
    parser.add_argument("--half", choices=HALVES, default="all", help="use only one half")
    parser.add_argument("--index", action="store_true", help="update indexes also where they are named")
    parser.add_argument("--encoder", metavar="NAME", help="base, small, a model's folder, or none")
    parser.add_argument("--metric", default="", metavar="M", help="instead of the metric of each dataset")
    parser.add_argument(
        "--within-noise",
        action="store_true",
        help="let a dataset with a lower score pass if that may be chance",
    )
    parser.add_argument("--reranker", metavar="MODEL", help="the cross-encoder of `+rerank` in a row")
    parser.add_argument("--json", action="store_true", help="as JSON")
    defaults = eval_parser().parse_args([])  # those of a run
    parser.set_defaults(**{name: value for name, value in vars(defaults).items() if name not in _GATE_FLAGS})


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("saved", metavar="FILE", help="a report saved by `dowse eval --report`")
    _add_outputs(parser)
