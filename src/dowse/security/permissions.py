"""What an index may remember of its user's permissions: an index that came from elsewhere has none."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def drop_permissions(
    meta: Mapping[str, str], *, include_secrets: bool = False, exclude: Collection[str] = ()
) -> dict[str, str]:
    """Drop what would let later updates read more of this machine: only its user may allow that.

    These are the permission to index secrets, and negated patterns, which bring back what git ignores.

    Args:
        meta: The description of an index.
        include_secrets: Whether the user allows secrets now.
        exclude: The user's patterns now.
    """
    kept = dict(meta)
    if not include_secrets:
        kept.pop("include_secrets", None)
    if "exclude" in kept:
        patterns = kept["exclude"].split("\n")
        kept["exclude"] = "\n".join(each for each in patterns if each[:1] != "!" or each in exclude)
    return kept
