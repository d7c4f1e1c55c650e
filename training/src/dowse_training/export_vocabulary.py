"""A tokenizer without the entries that no text of ours can produce, and the rows of the embeddings that stay.

The encoder's words are lower-cased letters, or up to four digits, or letters of other scripts, each after a
space (see `dowse.encoders.word_tokenizer`). An entry of a byte-level BPE vocabulary whose bytes can't stand
in such a word is never produced, and neither is anything merged from it: leaving both out only renumbers the
ids.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from dowse.encoders.word_tokenizer import MAX_NUMBER_CHARACTERS, MAX_WORD_CHARACTERS, UNK
from dowse.errors import DowseError
from dowse_training.vocabulary import SPACE

# Byte-level BPE writes bytes above 127 and control bytes as letters beyond ASCII.
# A word of ASCII letters, or a number. In words of other scripts only two letters can become ASCII: the
# Kelvin sign is k in lower case, and İ is i with a dot.
_REACHABLE = re.compile(
    rf"{SPACE}?(?:[a-z]{{0,{MAX_WORD_CHARACTERS}}}|[0-9]{{0,{MAX_NUMBER_CHARACTERS}}}|[^\x00-\x7f{SPACE}ki]*(?:[^\x00-\x7f{SPACE}]|[ki])*)"
)


class Pruned(NamedTuple):
    """A smaller tokenizer.json, and which old id each of its entries had."""

    tokenizer: str
    kept: list[int]


def prune(tokenizer: str) -> Pruned:
    """Drop what can't occur; special tokens and the order of the rest stay."""
    settings = json.loads(tokenizer)
    model = settings["model"]
    _check(settings)
    special = {token["id"] for token in settings["added_tokens"] if token["id"] <= UNK}
    old = sorted(model["vocab"].items(), key=lambda entry: entry[1])
    kept = [(text, id_) for text, id_ in old if id_ in special or (id_ > UNK and reachable(text))]
    added = {token["content"] for token in settings["added_tokens"] if token["id"] not in special}
    kept = [(text, id_) for text, id_ in kept if text not in added]
    model["vocab"] = {text: number for number, (text, _) in enumerate(kept)}
    model["merges"] = [merge for merge in model["merges"] if reachable("".join(_pair(merge)))]
    settings["added_tokens"] = [token for token in settings["added_tokens"] if token["id"] in special]
    return Pruned(json.dumps(settings, ensure_ascii=False, separators=(",", ":")), [id_ for _, id_ in kept])


def reachable(entry: str) -> bool:
    """Tell whether an entry's bytes can stand in a word."""
    return _REACHABLE.fullmatch(entry) is not None


def _pair(merge: str | list[str]) -> list[str]:
    return merge.split(" ") if isinstance(merge, str) else merge


def _check(settings: dict[str, Any]) -> None:
    names = {token["id"]: token["content"] for token in settings["added_tokens"]}
    kind = settings["model"].get("type"), (settings.get("pre_tokenizer") or {}).get("type")
    if kind != ("BPE", "ByteLevel") or [names.get(i) for i in range(4)] != ["<s>", "<pad>", "</s>", "<unk>"]:
        raise DowseError("only a byte-level BPE tokenizer with <s>, <pad>, </s>, <unk> first can be exported")
