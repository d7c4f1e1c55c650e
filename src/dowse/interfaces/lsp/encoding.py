"""How clients count the characters of a line: in code units of UTF-16, UTF-8 or UTF-32."""

from __future__ import annotations

from enum import Enum


class Encoding(Enum):
    """The position encoding that was agreed on; a value is the codec and its bytes per unit."""

    UTF8 = ("utf-8", 1)
    UTF16 = ("utf-16-le", 2)
    UTF32 = ("utf-32-le", 4)

    @classmethod
    def named(cls, name: str) -> Encoding:
        """Return the encoding that the protocol calls `utf-8`, `utf-16` or `utf-32`."""
        return cls[name.upper().replace("-", "")]

    def to_units(self, text: str) -> int:
        """Return the length of a text in code units."""
        codec, size = self.value
        return len(text) if text.isascii() else len(text.encode(codec, "surrogatepass")) // size

    def to_index(self, line: str, units: int) -> int:
        """Return the index of the character at an offset; the length of the line where that is shorter."""
        if line.isascii():
            return min(units, len(line))
        codec, size = self.value
        # An offset inside a character means its start.
        return len(line.encode(codec, "replace")[: units * size].decode(codec, "ignore"))
