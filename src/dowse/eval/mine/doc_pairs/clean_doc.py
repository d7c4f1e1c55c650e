"""Documentation without the tags of documentation tools around what it says."""

from __future__ import annotations

import re

# Tags whose text is the documentation itself.
_SAYS_IT = re.compile(r"[@\\](?:brief|short|summary|description|desc)\b[ \t:]*\n?\s*", re.IGNORECASE)

# Lines that tell tools what a reader of the code sees anyway.
_LABEL = re.compile(
    r"""[@\\](?:name|function|func|fn|method|memberof|category|module|public|static|api|access|ingroup|since
        |version|author|export|async|kind|scope|instance|relates|relatesalso|addtogroup|overload)\b[^\n]*(?:\n\s*|\Z)""",
    re.VERBOSE | re.IGNORECASE,
)

# Where this is all there is, it is the best description: "@return the number of open files".
_RETURNS = re.compile(r"[@\\]returns?\b[ \t:]*(?:\{[^}\n]*\}[ \t]*)?", re.IGNORECASE)


def clean_doc(doc: str) -> str:
    """What a documentation says first, said first; texts without tags stay as they are."""
    doc = doc.strip()
    while label := _LABEL.match(doc):
        doc = doc[label.end() :]
    if said := _SAYS_IT.match(doc):
        doc = doc[said.end() :]
    elif returns := _RETURNS.match(doc):
        doc = "Returns " + doc[returns.end() :].lstrip("- ")
    return doc.strip()
