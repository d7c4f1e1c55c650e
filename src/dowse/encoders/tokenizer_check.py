"""Untrusted tokenizer.json files are checked before they are loaded: no step may expand a text or hang.

The format holds no code, but regular expressions with catastrophic backtracking (ReDoS) and replacements that
multiply a text: nine replacements of "a" by ten of them fill the memory of any machine. So a step must be of
a known kind, and its settings must be those of real tokenizers (WordPiece of BERT, byte-level BPE of RoBERTa,
Llama and Qwen, sentencepiece with its precompiled table).
"""

from __future__ import annotations

import binascii
import re
import struct
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

# Real tokenizers have up to six.
_MAX_STEPS = 20
_MAX_AFFIX_CHARACTERS = _MAX_SPECIAL_IDS = 16
# sentencepiece's longest replacement has 33 bytes.
_MAX_REPLACEMENT_BYTES = 64
# Real templates have about two for each end of a text.
_MAX_TEMPLATE_PIECES = 16
# WordPiece takes time cubic in a word's length; real ones give up at 100 characters.
_MAX_WORD_CHARACTERS = 200
# Settings for what is put before or behind every part of a word, such as ## and </w>.
_AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")

_NORMALIZERS = frozenset(
    "Sequence BertNormalizer Strip StripAccents NFC NFD NFKC NFKD Lowercase Nmt Precompiled Replace Prepend "
    "ByteLevel".split()
)
_PRE_TOKENIZERS = frozenset(
    "Sequence BertPreTokenizer ByteLevel CharDelimiterSplit Metaspace Whitespace WhitespaceSplit Punctuation "
    "Digits UnicodeScripts Split".split()
)
_POST_PROCESSORS = frozenset("Sequence BertProcessing RobertaProcessing ByteLevel TemplateProcessing".split())
_DECODERS = frozenset(
    "Sequence BPEDecoder ByteFallback ByteLevel CTC Fuse Metaspace Replace Strip WordPiece".split()
)
_MODELS = frozenset("BPE WordPiece WordLevel Unigram".split())
# The keys of a sequence's steps.
_SEQUENCE_KEYS = ("normalizers", "pretokenizers", "processors", "decoders")
# Each makes a text longer, so only one is allowed.
_AT_MOST_ONCE = frozenset("ByteLevel Precompiled Prepend TemplateProcessing".split())

# The alternatives in the patterns of GPT-2, GPT-4, GPT-4o, Llama 3, Qwen, DeepSeek, CLIP, BLOOM, T5 and
# XLM-RoBERTa: a match never takes more than a few times as many steps as it has characters.
_KNOWN_ALTERNATIVES = frozenset(
    line.strip().replace("␠", " ")
    for line in r"""
    's
    't
    're
    've
    'm
    'll
    'd
    (?i:'s|'t|'re|'ve|'m|'ll|'d)
    '(?i:[sdmt]|ll|ve|re)
    (?i:[sdmt]|ll|ve|re)
    ␠?\p{L}+
    ␠?\p{N}+
    ␠?[^\s\p{L}\p{N}]+
    ␠?[^\s\p{L}\p{N}]+[\r\n]*
    ␠?[^\s\p{L}\p{N}]++[\r\n]*
    ␠?[^\s\p{L}\p{N}]+[\r\n/]*
    ␠?[^\s\p{L}\p{N}]+\r*
    ␠?[\p{P}\p{S}]+[\r\n]*
    ␠?[^(\s|[.,!?…。，、।۔،])]+
    [^\r\n\p{L}\p{N}]?\p{L}+
    [^\r\n\p{L}\p{N}]?+\p{L}+
    [^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+
    [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
    [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
    [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
    [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+
    [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*
    [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+
    [一-龥぀-ゟ゠-ヿ]+
    [一-龥]+
    [\p{L}]+
    [\p{N}]
    \p{L}+
    \p{N}
    \p{N}+
    \p{N}{1,3}
    [0-9]
    [0-9][0-9][0-9]
    \d
    \d+
    \d{1,3}
    [^\s\p{L}\p{N}]+
    \w+
    [^\w\s]+
    \s*[\r\n]
    \s*[\r\n]+
    \s+(?!\S)
    \s+$
    \s+
    \s
    \s{2,}
    ␠+
    ␠{2,}
    [\r\n]
    \r\n
    \n
    \r
    \t
    .
    """.split("\n")
)


class RefusedTokenizer(ValueError):
    """A tokenizer with a step that is not known to be harmless."""


def check_tokenizer(value: object) -> None:
    """Raise RefusedTokenizer if a tokenizer's JSON has a step that is not known to be harmless."""
    if not isinstance(value, dict):
        raise RefusedTokenizer("it is no object")
    for part, known, check in (
        ("normalizer", _NORMALIZERS, _check_normalizer),
        ("pre_tokenizer", _PRE_TOKENIZERS, _check_pattern),
        ("post_processor", _POST_PROCESSORS, _check_template),
        ("decoder", _DECODERS, _check_pattern),
    ):
        _check_steps(value.get(part), known, check)
    _check_model(value.get("model"))


def _check_steps(value: object, known: frozenset[str], check: Callable[[dict[str, Any]], None]) -> None:
    """Check one part of a tokenizer: nothing, one step, or a sequence of steps."""
    seen: Counter[str] = Counter()
    for step in _steps(value):
        kind = step.get("type")
        if not isinstance(kind, str) or kind not in known:
            raise RefusedTokenizer(f"it has a step of the kind {ascii(kind)[:80]}")
        seen[kind] += 1
        if seen.total() > _MAX_STEPS or (kind in _AT_MOST_ONCE and seen[kind] > 1):
            raise RefusedTokenizer(f"it has too many steps of the kind {kind}")
        check(step)


def _steps(value: object) -> Iterator[dict[str, Any]]:
    """Yield the steps of a part, also those within sequences."""
    pending = [] if value is None else [value]
    while pending:
        step = pending.pop()
        if not isinstance(step, dict):
            raise RefusedTokenizer("a step of it is no object")
        yield step
        for key in _SEQUENCE_KEYS:
            inner = step.get(key, [])
            if not isinstance(inner, list):
                raise RefusedTokenizer("a sequence of steps is no list")
            pending += inner


def _check_normalizer(step: dict[str, Any]) -> None:
    kind = step["type"]
    if kind == "Prepend":
        prefix = step.get("prepend")
        if not isinstance(prefix, str) or len(prefix) > _MAX_AFFIX_CHARACTERS:
            raise RefusedTokenizer("it puts a long text before each text")
    elif kind == "Precompiled":
        _check_precompiled(step.get("precompiled_charsmap"))
    elif kind == "Replace":
        _check_replacement(step)


def _check_replacement(step: dict[str, Any]) -> None:
    """Accept a replacement that is no longer than what it replaces."""
    _check_pattern(step)
    content, literal = step.get("content"), step["pattern"].get("String")
    # A match of a regular expression has one character at least.
    if not isinstance(content, str) or len(content) > (1 if literal is None else len(literal)):
        raise RefusedTokenizer("a replacement makes texts longer")


def _check_pattern(step: dict[str, Any]) -> None:
    """Accept a literal to search for, or a pattern of known alternatives."""
    if step["type"] not in ("Split", "Replace"):
        return
    pattern = step.get("pattern")
    pairs = list(pattern.items()) if isinstance(pattern, dict) else []
    kind, text = pairs[0] if len(pairs) == 1 else ("", "")
    if kind not in ("String", "Regex") or not isinstance(text, str) or not text:
        raise RefusedTokenizer("it has a pattern of an unknown form")
    if kind == "Regex":
        unknown = next((each for each in _alternatives(text) if each not in _KNOWN_ALTERNATIVES), None)
        if unknown is not None:
            raise RefusedTokenizer(f"it has the unknown pattern {ascii(unknown)[:80]}")


def _alternatives(pattern: str) -> list[str]:
    """Split a pattern at each `|` outside of brackets; a group around all of it is removed."""
    if pattern.startswith("(") and pattern.endswith(")") and pattern[1:2] != "?":
        inner = pattern[1:-1]
        if _is_balanced(inner):
            pattern = inner
    alternatives, depth, start = [], 0, 0
    for token in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]", pattern, re.DOTALL):
        if token[0] in "()":
            depth += 1 if token[0] == "(" else -1
        elif token[0] == "|" and depth == 0:
            alternatives.append(pattern[start : token.start()])
            start = token.end()
    return [*alternatives, pattern[start:]]


def _is_balanced(pattern: str) -> bool:
    """Whether every group that ends in a pattern begins there."""
    depth = 0
    for token in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|[()]", pattern, re.DOTALL):
        if token[0] in "()":
            depth += 1 if token[0] == "(" else -1
        if depth < 0:
            return False
    return depth == 0


def _check_precompiled(value: object) -> None:
    """Accept sentencepiece's table: a trie, and the NUL-terminated replacements that its leaves point to."""
    if value is None or value == "":
        return
    try:
        data = b64decode(value, validate=True) if isinstance(value, str) else b""
        (size,) = struct.unpack_from("<I", data)
    except (binascii.Error, ValueError, struct.error):
        raise RefusedTokenizer("its precompiled table can't be read") from None
    if size % 4 or 4 + size > len(data):
        raise RefusedTokenizer("its precompiled table can't be read")
    if max(map(len, data[4 + size :].split(b"\0"))) > _MAX_REPLACEMENT_BYTES:
        raise RefusedTokenizer("its precompiled table makes texts longer")


def _check_template(step: dict[str, Any]) -> None:
    """Accept a template that has each text once, with a few special tokens around them."""
    if step["type"] != "TemplateProcessing":
        return
    tokens = step.get("special_tokens")
    if not isinstance(tokens, dict):
        raise RefusedTokenizer("its template has no special tokens")
    for token in tokens.values():
        ids = token.get("ids") if isinstance(token, dict) else None
        if not isinstance(ids, list) or len(ids) > _MAX_SPECIAL_IDS:
            raise RefusedTokenizer("a special token of its template stands for too many")
    for name in ("single", "pair"):
        pieces = step.get(name)
        if not isinstance(pieces, list) or len(pieces) > _MAX_TEMPLATE_PIECES:
            raise RefusedTokenizer("its template is too long")
        texts = [str(each["Sequence"]) for each in pieces if isinstance(each, dict) and "Sequence" in each]
        if len(texts) > (1 if name == "single" else 2):
            raise RefusedTokenizer("its template repeats a text")


def _check_model(model: object) -> None:
    if not isinstance(model, dict):
        raise RefusedTokenizer("it has no model")
    kind = model.get("type")
    # Old files have none: the library then detects which of the four it is.
    if kind is not None and (not isinstance(kind, str) or kind not in _MODELS):
        raise RefusedTokenizer(f"it has a model of the kind {ascii(kind)[:80]}")
    longest = model.get("max_input_chars_per_word", 0)
    if type(longest) is not int or longest > _MAX_WORD_CHARACTERS:
        raise RefusedTokenizer("it takes words of any length")
    if any(len(str(model.get(name) or "")) > _MAX_AFFIX_CHARACTERS for name in _AFFIXES):
        raise RefusedTokenizer("it puts a long text before or behind parts of words")
