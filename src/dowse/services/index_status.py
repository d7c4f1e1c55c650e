"""The status of served indexes: what is indexed, how much of it is embedded, what changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from dowse.errors import DowseError
from dowse.query.languages import KINDS
from dowse.security.terminal import escape_surrogates
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex
from dowse.services.models.status import IndexStatus, Language, Progress, Status
from dowse.version import __version__


def index_status(served: ServedIndex, broker: EventBroker) -> IndexStatus:
    """Return the status of one index."""
    index = served.index
    missing = IndexStatus(
        name=served.name,
        root=escape_surrogates(str(index.root)),
        kinds=list(KINDS),
        progress=Progress.model_validate(asdict(broker.latest(served.name))),
    )
    try:
        facts = index.status() if index.exists else None
    except DowseError as error:
        return missing.model_copy(update={"problem": str(error)})
    if facts is None:
        return missing
    languages = sorted(facts["languages"].items(), key=lambda each: (-each[1], each[0]))
    return IndexStatus.model_validate(
        {
            **{name: facts[name] for name in IndexStatus.model_fields if name in facts},
            **{name: getattr(missing, name) for name in ("name", "root", "kinds", "progress")},
            "exists": True,
            "languages": [Language(language=name or "text", files=count) for name, count in languages],
        }
    )


def server_status(indexes: Sequence[IndexStatus], *, feedback: bool) -> Status:
    """Return the status of a server, given that of its indexes."""
    encoder = next((each.encoder for each in indexes if each.encoder), "")
    return Status(dowse=__version__, feedback=feedback, encoder=encoder, indexes=list(indexes))
