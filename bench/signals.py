"""What each ranking signal and each field adds, on its own and taken away, written to a result file.

    python bench/signals.py --data DIR --repos DIR --out bench/results/signals.json

The sets are those of quality.py. "alone" starts from BM25 over all fields and adds one signal;
"without" takes one away from the default. Values are means over the cases of a set; repos is the mean
over repositories.
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import replace
from pathlib import Path

from dowse.search.options import SearchRequest, make_options
from dowse.search.pipeline import search
from dowse.search.ranking.profile import CORPUS, TREE, Profile

from common import write_results
from quality import Set, by_half, open_sets, plain, set_parser

SHARES = ("definition", "name", "file", "folder", "header", "coherence")


def bare(profile: Profile) -> Profile:
    """Return a profile with its fields and no signal."""
    none = dict.fromkeys(SHARES, 0.0)
    return replace(profile, roles={}, saturation=1.0, promote_definitions=False, abbreviation=0.0, **none)


def variants(profile: Profile) -> dict[str, tuple[Profile, str | None]]:
    """Return every profile to measure, with a fuzziness where it differs."""
    plain_words = bare(profile)
    found: dict[str, tuple[Profile, str | None]] = {
        "default": (profile, None),
        "words only": (plain_words, None),
        "default, no fuzziness": (profile, "0"),
        "without: abbreviations": (replace(profile, abbreviation=0.0), None),
    }
    for name in SHARES:
        if value := getattr(profile, name):
            found[f"alone: {name}"] = (replace(plain_words, **{name: value}), None)
            found[f"without: {name}"] = (replace(profile, **{name: 0.0}), None)
    if profile.roles:
        found["alone: roles"] = (replace(plain_words, roles=profile.roles), None)
        found["without: roles"] = (replace(profile, roles={}), None)
        found["alone: saturation"] = (replace(plain_words, saturation=profile.saturation), None)
        found["without: saturation"] = (replace(profile, saturation=1.0), None)
        found["without: definitions"] = (replace(profile, promote_definitions=False), None)
    for name in profile.fields:
        fewer = {key: value for key, value in profile.fields.items() if key != name}
        found[f"without field: {name}"] = (replace(profile, fields=fewer), None)
    return found


def measure(each: Set, profile: Profile, fuzziness: str | None) -> dict[str, float]:
    """Return the mean over a set, and over its two halves."""
    values = []
    with each.index.backend.reader() as reader:
        for case in each.cases:
            options = make_options(each.index.settings, k=each.k, mode="keyword", fuzziness=fuzziness)
            request = SearchRequest(plain(case.query), options)
            answer = search(reader, request, each.index.settings, profile=profile)
            values.append((case, each.metric(answer, case)))
    return by_half(values)


def main() -> None:
    """Measure everything."""
    parser = set_parser(__doc__)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table: dict[str, dict[str, list[dict[str, float]]]] = {}
    for each in open_sets(options.data, options.repos, options.work, options.only):
        group = "repos" if each.name.startswith("repos/") else each.name
        for name, (profile, fuzziness) in variants(TREE if group == "repos" else CORPUS).items():
            row = table.setdefault(group, {}).setdefault(name, [])
            row.append(measure(each, profile, fuzziness))
        print(each.name, file=sys.stderr, flush=True)
    results = {
        group: {
            name: {key: round(statistics.mean(v[key] for v in rows), 4) for key in ("all", "tune", "report")}
            for name, rows in found.items()
        }
        for group, found in table.items()
    }
    for group, found in results.items():
        for name, values in found.items():
            print(f"{group:24} {name:28} {values}")
    if options.out:
        write_results(options.out, {"sets": results})


if __name__ == "__main__":
    main()
