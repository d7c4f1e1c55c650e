"""Repositories whose history connects words with code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eval.git_repo import GitRepo

# Codenames, which only the history connects with code.
TOPICS = {
    "falcon": ("dates", "parse_calendar_day", "return datetime.strptime(text, '%Y-%m-%d').date()"),
    "otter": ("mail", "send_message", "return smtp.sendmail(sender, text.recipients, text.as_string())"),
    "walnut": ("images", "scale_picture", "return text.resize((text.width // 2, text.height // 2))"),
    "glacier": ("storage", "open_database", "return sqlite3.connect(text, isolation_level=None)"),
    "saffron": ("crypto", "hash_password", "return hashlib.scrypt(text, salt=salt, n=16384, r=8, p=1)"),
    "bamboo": ("network", "listen_on_port", "return socket.create_server(('', int(text)))"),
}
THINGS = "wagons kettles ladders marbles ropes candles barrels anchors violins lanterns".split()
QUESTION = "Fix the falcon workshop for tulips"


def source(topic: str, number: int) -> dict[str, str]:
    """Return the file of a topic after a change."""
    module, name, line = TOPICS[topic]
    return {f"{module}.py": f"def {name}(text):\n    step = {number}\n    {line}\n"}


def commits(subject: str, things: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield one commit for each topic and thing."""
    for number, thing in enumerate(things):
        for topic, (_, name, _) in TOPICS.items():
            words = subject.format(topic=topic, thing=thing, name=name.replace("_", " "))
            yield words, source(topic, number)


def make(folder: Path, subject: str, things: list[str]) -> GitRepo:
    """Make a repository with such commits."""
    repo = GitRepo(folder)
    files = {name: text for topic in TOPICS for name, text in source(topic, -1).items()}
    repo.commit("Initial import of all the code", files)
    repo.commit_many(commits(subject, things))
    return repo
