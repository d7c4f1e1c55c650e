"""A confined process that finds the definitions in files of a history, which anybody may have written."""

from __future__ import annotations

import contextlib

from dowse.errors import DowseError
from dowse.history.sources import MAX_BYTES, Definitions, DefinitionsRequest, parse_definitions
from dowse.parsing.grammar_library import GrammarMissing, ask_for_missing, grammars_folder
from dowse.parsing.limits import PROCESS_MEMORY_BYTES
from dowse.workers.child import READY, Channel, limit_memory, time_limit
from dowse.workers.sandbox import confine, program_paths


def main() -> None:
    """Answer requests with definitions, or with the name of a missing grammar, until the parent is gone."""
    channel = Channel(MAX_BYTES)
    limit_memory(PROCESS_MEMORY_BYTES)
    with contextlib.suppress(EOFError):
        channel.receive()
        confine([*program_paths(), grammars_folder()])
        channel.send(READY)
        while True:
            request: DefinitionsRequest = channel.receive()
            ask_for_missing(request.asks)
            reply: Definitions | str | DowseError
            try:
                with time_limit(request.seconds):
                    reply = parse_definitions(request.data, request.path)
            except GrammarMissing as missing:
                reply = str(missing)
            except DowseError as error:  # a grammar can't be loaded
                reply = error
            channel.send(reply)
