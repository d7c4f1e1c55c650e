"""Permissions that an index must not carry from one machine to another."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def drop_permissions(
    meta: Mapping[str, str], *, include_secrets: bool = False, exclude: Collection[str] = ()
) -> dict[str, str]:
    """Return an index's metadata without permissions that let later updates read more of this machine.

    These are the permission to index secrets, and negated patterns, which bring back what git ignores. An
    index from another machine has none: only the user of this machine may give them.

    Args:
        meta: The metadata of an index.
        include_secrets: Whether the user allows secrets now.
        exclude: The user's current patterns.
    """
    kept = dict(meta)
    if not include_secrets:
        kept.pop("include_secrets", None)
    if "exclude" in kept:
        patterns = kept["exclude"].split("\n")
        kept["exclude"] = "\n".join(each for each in patterns if each[:1] != "!" or each in exclude)
    return kept
