"""The options of a language server, and those that a client sends when it connects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from dowse.lazy_classes import dataclass, field
from dowse.services.web.options import Limits

# The first request for a folder waits so long until its index can be searched.
FIRST_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class LspOptions:
    """The options of one language server."""

    paths: tuple[Path, ...] = ()  # folders that a client may open, or parts of them; none: any folder
    settings: Mapping[str, Any] = field(default_factory=dict)  # of each index
    first_seconds: float = FIRST_SECONDS
    limits: Limits = field(default_factory=Limits)


class ClientOptions(BaseModel):
    """The `initializationOptions` of a client. Unknown ones are ignored: they may be of a newer version.

    By default only what other language servers rarely answer is on, so that nothing is listed twice.
    """

    model_config = ConfigDict(
        extra="ignore", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True
    )

    workspace_symbol: bool = True
    call_hierarchy: bool = True
    type_hierarchy: bool = True
    definition: bool = False
    references: bool = False
    hover: bool = False
    document_symbol: bool = False
    code_lens: bool = False
    max_results: int = Field(default=50, ge=1, le=500)
    code_lens_command: str = ""  # of the client, that a click on a lens runs; "" for none
