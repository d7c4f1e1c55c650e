"""Go: a directory is a package, an import path is a module's name and a directory in it."""

from __future__ import annotations

from dowse.graph.lookups import Place
from dowse.graph.resolve.expressions import OUTSIDE, Value
from dowse.graph.resolve.rules import Rules


class GoRules(Rules):
    """Packages, embedded types and methods of Go."""

    selves = frozenset[str]()
    supers = frozenset[str]()

    def imported(self, place: Place, kind: str, value: str, origin: str, within: str) -> Value | None:
        """A package."""
        folder = self._folder(origin)
        return OUTSIDE if folder is None else Value("module", module=folder)

    def import_reference(self, place: Place, name: str, qualifier: str) -> Value | None:
        """A package has no symbol of its own."""
        return OUTSIDE

    def elsewhere(self, place: Place, name: str, within: str) -> Value | None:
        """A variable of another file of the package, what a dot import brings in, or something built in."""
        found = self._variable(place, place.scope, name)
        if found is not None:
            return found
        for _, _, origin in self.lookups.face(place.path, "stars"):
            folder = self._folder(origin)
            value = self.symbol(place, folder, name) if folder is not None else None
            if value is not None:
                return value
        return OUTSIDE

    def module_member(self, place: Place, module: str, name: str) -> Value | None:
        """A name that a package exports."""
        return self.symbol(place, module, name) or self._variable(place, module, name) or OUTSIDE

    def _variable(self, place: Place, folder: str, name: str) -> Value | None:
        for path in self.lookups.marked("go variable", folder, name):
            home = self.lookups.place(path)
            if home is not None:
                return self.said(home, self.lookups.face(path, f"var {name}")) or Value("field")
        return None

    def _folder(self, origin: str) -> str | None:
        """The directory of a package, None if it is not of this index."""
        parts = origin.split("/")
        for count in range(len(parts), 0, -1):
            for manifest in self.lookups.marked("go module", "/".join(parts[:count])):
                above = manifest.rpartition("/")[0]
                folder = "/".join([part for part in (above, *parts[count:]) if part])
                if self.lookups.marked("go package", folder):
                    return folder
        for above in ("", "src/", "vendor/"):
            if self.lookups.marked("go package", above + origin):
                return above + origin
        return None
