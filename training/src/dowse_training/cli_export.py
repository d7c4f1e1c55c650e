"""`dowse train export`: weights and tokenizer in, model folder out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this step can be told."""
    parser.add_argument("weights", type=Path, help="a .safetensors file, or FOLDER/NAME of weights in parts")
    parser.add_argument(
        "--tokenizer", type=Path, required=True, help="the tokenizer.json it was trained with"
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--name", help="what users call the encoder (default: the folder's name)")
    parser.add_argument(
        "--calibrate",
        type=Path,
        nargs="+",
        default=[],
        metavar="PAIRS",
        help="files of pairs, the more languages the better: the scales of int8 are found with them",
    )
    parser.add_argument("--float", action="store_true", help="write 32-bit floats: larger, slower, exact")
    parser.add_argument(
        "--tokens", type=int, default=128, help="longest sequence, with <s> and </s> (default: %(default)s)"
    )
    parser.add_argument(
        "--docs-weight",
        type=float,
        default=0.4,
        help="of the documentation's vector, where the code's counts 1 (default: %(default)s)",
    )
    parser.add_argument(
        "--place", type=int, default=8, help="tokens of folder and file that are read (default: %(default)s)"
    )
    parser.add_argument(
        "--name-weight", type=float, default=0.2, help="of the name's vector (default: %(default)s)"
    )
    parser.add_argument(
        "--unit",
        type=float,
        help="for a cross-encoder: what a point of its scores is worth in the scores of a search",
    )


def run(options: argparse.Namespace) -> int:
    """Export."""
    from dowse.encoders.document import Form
    from dowse_training.export import export, read_documents
    from dowse_training.weights import read

    weights = read([options.weights.parent], options.weights.name)
    tokenizer = options.tokenizer.read_text(encoding="utf-8")
    name = options.name or options.out.name
    calibration = [] if options.float else read_documents(options.calibrate)
    if options.unit is not None:
        from dowse_training.export_cross import export_cross

        export_cross(weights, tokenizer, options.out, name=name, unit=options.unit, calibration=calibration)
        return _told(options.out)
    export(
        weights,
        tokenizer,
        options.out,
        name=name,
        calibration=calibration,
        form=Form(
            tokens=options.tokens,
            place=options.place,
            docs_weight=options.docs_weight,
            name_weight=options.name_weight,
        ),
        kind="float" if options.float else "int8",
    )
    return _told(options.out)


def _told(folder: Path) -> int:
    """Say what was written."""
    size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    sys.stderr.write(f"wrote {folder} ({size:.1f} MB)\n")
    return 0
