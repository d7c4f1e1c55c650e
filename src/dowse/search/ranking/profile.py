"""What words and signals are worth, for the two shapes an index can have.

In a tree, files mean something: people ask where a thing is, its file and folder are named after it,
and related functions stand together. In a corpus of functions from many places they do not, and
only the words count. Both were chosen on the halves of the sets that are for choosing; docs/RANKING.md
has every signal's effect on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Blend:
    """What words and the graph add to a cosine; the formula is in search/ranking/blend.py."""

    words: float = 0.0
    long_words: float = 0.0
    coverage: float = 0.0
    name: float = 0.0
    graph: float = 0.05
    coherence: float = 0.0  # the signal of that name, beside a blend


@dataclass(frozen=True, slots=True)
class Profile:
    """Weights of the keyword fields, and of signals as shares of the best keyword score."""

    fields: Mapping[str, float]
    candidates: int = 100  # that each lane hands to ranking
    abbreviation: float = 0.3  # a short form of a word, as a share of the word itself
    definition: float = 0.6  # the query is this symbol's name
    name: float = 0.0  # words of the query in the name
    file: float = 0.0  # words of the query in the file's name
    folder: float = 0.0  # and in the folders above it
    header: float = 0.0  # the head of a file (imports, module documentation) speaks for all of it
    coherence: float = 0.0  # the best symbol of a file is held up by the others that match
    power: float = 1.0  # of their scores, before they are summed
    # What is left of a score, by role of the file, unless the query asks for that role.
    roles: Mapping[str, float] = field(default_factory=dict)
    far: float = 0.5  # how much of that counts for cosines, which lie closer together than keyword scores
    definitions: bool = False  # the best definition of a file takes the place of its head, if that is higher
    saturation: float = 1.0  # what every further hit of the same file keeps
    blend: Blend = Blend()
    # What signals keep beside a blend: its best score is larger than what tells its candidates apart.
    beside: float = 0.5

    def for_cosines(self) -> Profile:
        """Return what counts beside meaning: roles alone, and those less."""
        roles = {role: 1 - self.far * (1 - left) for role, left in self.roles.items()}
        return Profile(fields={}, definition=0.0, roles=roles)

    def for_blend(self) -> Profile:
        """Return what counts beside a blend of meaning and words."""
        share = self.beside
        return replace(
            self,
            name=0.0,  # the encoder has read it
            file=share * self.file,
            folder=share * self.folder,
            header=share * self.header,
            coherence=self.blend.coherence,
            # Cosines of what does not match at all are far from 0; their cubes count for little.
            power=3.0,
        )

    @property
    def only_words(self) -> bool:
        """Whether nothing but a name asked for can change the order of keyword scores."""
        shares = (self.name, self.file, self.folder, self.header, self.coherence)
        return not any(shares) and not self.roles and self.saturation == 1.0 and not self.definitions


TREE = Profile(
    fields={"name": 0.6, "signature": 0.3, "path": 0.3, "body": 1.0},
    name=0.2,
    file=0.3,
    folder=0.2,
    header=0.2,
    coherence=0.8,
    roles={"test": 0.4, "docs": 0.5, "example": 0.6, "benchmark": 0.6, "generated": 0.6, "vendored": 0.6},
    definitions=True,
    saturation=0.85,
    candidates=200,  # signals find more among more; .013 of nDCG on repositories
    blend=Blend(words=0.25, coverage=0.45, coherence=0.4),
)
CORPUS = Profile(
    fields={"name": 0.2, "context": 0.3, "signature": 0.3, "path": 0.3, "body": 1.0},
    blend=Blend(long_words=0.1, coverage=0.12, name=0.08),
)

# Where nothing but the lanes may decide the order.
LANES_ALONE = Profile(fields={}, definition=0.0)

# The symbol mode looks at names alone.
SYMBOL_FIELDS: Mapping[str, float] = {"name": 1.0, "context": 0.5}
