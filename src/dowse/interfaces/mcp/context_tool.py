"""The tool `context`: the lines that matter for an issue text, within the budget."""

from __future__ import annotations

from dowse.interfaces.mcp.arguments import ContextArguments
from dowse.interfaces.mcp.budget import truncate
from dowse.interfaces.mcp.frame import FRAME_BYTES, frame, quote_name
from dowse.interfaces.mcp.reply import Reply, ToolContext, describe_roots, note_lines
from dowse.lazy_classes import dataclass
from dowse.search.token_budget import ContextAnswer, file_text
from dowse.security.terminal import escape_controls
from dowse.token_estimate import BYTES_PER_TOKEN, byte_length


@dataclass(frozen=True, slots=True)
class ContextPage:
    """The lines of each index."""

    indexes: tuple[str, ...]
    answers: tuple[ContextAnswer, ...]


def context(tool: ToolContext, arguments: ContextArguments) -> Reply:
    """Show the lines; of several repositories each gets the same share of the budget."""
    repositories = tool.repositories
    head = "\n".join([f"lines for the question in {describe_roots(repositories)}", *note_lines(tool.notes)])
    spent = -(-(byte_length(head) + FRAME_BYTES + 1) // BYTES_PER_TOKEN)
    share = max(1, (arguments.max_tokens - spent) // max(1, len(repositories)))
    answers = []
    lines: list[str] = []
    for repository in repositories:
        tool.call.check()
        name = [f"in {repository.name}:"] if tool.several else []
        budget = share - sum(-(-byte_length(each) // BYTES_PER_TOKEN) + 1 for each in name)
        answer = repository.index.context(arguments.text, max(1, budget), embed=False)
        texts = [f"{file_text(file, quote_name)}\n" for file in answer.files]
        lines += [*name, *"\n".join(texts).split("\n")]
        answers.append(answer)
    text = "\n".join([head, *frame([escape_controls(line) for line in lines[:-1] or ["nothing found"]])])
    page = ContextPage(tuple(each.name for each in repositories), tuple(answers))
    return Reply(truncate(text, arguments.max_tokens), page)
