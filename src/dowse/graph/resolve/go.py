"""Go: a directory is a package, an import path is the name of a module and a directory in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dowse.graph.lookups import FileScope, Lookups
from dowse.graph.resolve.build_constraints import is_built
from dowse.graph.resolve.method_sets import MethodSets
from dowse.graph.resolve.rules import Rules
from dowse.graph.resolve.values import EXTERNAL, UNDEFINED, Candidate, Value
from dowse.parsing.static_types import TUPLE, parse_go_type
from dowse.storage.protocol import FileSymbol

_DECLARED = re.compile(r"^(?:type\s+)?\w+(?:\[[^\]]+\])?\s+=?\s*(.+)$")
# An instance of an interface from outside the index: its methods may be implemented here.
_DISPATCHED = Value("external", module="receiver")
_INTERFACES = frozenset(
    "bufio.ReadWriter context.Context crypto.Hash crypto.PrivateKey crypto.PublicKey crypto.Signer"
    " database/sql.Result database/sql.Scanner database/sql/driver.Conn database/sql/driver.Driver"
    " database/sql/driver.Valuer encoding.BinaryMarshaler encoding.BinaryUnmarshaler encoding.TextMarshaler"
    " encoding.TextUnmarshaler encoding/json.Marshaler encoding/json.Unmarshaler encoding/xml.Marshaler"
    " encoding/xml.Unmarshaler expvar.Var flag.Getter flag.Value fmt.Formatter fmt.GoStringer fmt.Scanner"
    " fmt.State fmt.Stringer container/heap.Interface go/ast.Node go/ast.Visitor go/types.Type hash.Hash"
    " hash.Hash32 hash.Hash64 image.Image image/draw.Image io.ByteReader io.ByteScanner io.ByteWriter"
    " io.Closer io.ReadCloser io.ReadSeekCloser io.ReadSeeker io.ReadWriteCloser io.ReadWriteSeeker"
    " io.ReadWriter io.Reader io.ReaderAt io.ReaderFrom io.RuneReader io.RuneScanner io.Seeker"
    " io.StringWriter io.WriteCloser io.WriteSeeker io.Writer io.WriterAt io.WriterTo io/fs.DirEntry io/fs.FS"
    " io/fs.File io/fs.FileInfo io/fs.GlobFS io/fs.ReadDirFS io/fs.ReadFileFS io/fs.StatFS io/fs.SubFS"
    " log/slog.Handler log/slog.Leveler log/slog.LogValuer math/rand.Source mime/multipart.File net.Addr"
    " net.Conn net.Error net.Listener net.PacketConn net/http.CloseNotifier net/http.CookieJar net/http.File"
    " net/http.FileSystem net/http.Flusher net/http.Handler net/http.Hijacker net/http.Pusher"
    " net/http.ResponseWriter net/http.RoundTripper net/rpc.ClientCodec net/rpc.ServerCodec net/smtp.Auth"
    " os.DirEntry os.FileInfo os.Signal reflect.Type runtime.Error sort.Interface sync.Locker syscall.Conn"
    " testing.TB text/template/parse.Node".split()
)


class GoRules(Rules):
    """Packages, embedded types and methods of Go."""

    self_names = frozenset[str]()
    super_names = frozenset[str]()
    shadows = True
    names_values = False

    def __init__(self, lookups: Lookups) -> None:
        super().__init__(lookups)
        self._method_sets = MethodSets(self)

    def reset(self) -> None:
        """Start on another file."""
        super().reset()
        self._method_sets.reset()

    def implemented_interfaces(self, file: FileScope, symbol: FileSymbol) -> Iterator[Value]:
        """Yield the interfaces that a type implements: Go has no declaration of it."""
        if symbol.kind in ("struct", "type"):
            value = self.scope_symbol(file, symbol.qualified_name)
            if value is not None and value.kind == "class":
                yield from self._method_sets.implemented(value.candidates[0])

    def preferred(self, file: FileScope, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return those of the same package that are built by default; a test file may be of another."""
        package = self._package(file.path)
        if package.endswith("_test"):
            own = [each for each in candidates if each.target and self._package(each.target.path) == package]
        else:
            own = [each for each in candidates if each.target and not self._is_test_package(each.target.path)]
        built = [each for each in own or candidates if each.target and self._is_built(each.target.path)]
        return built or own or candidates

    def _package(self, path: str) -> str:
        package = self.lookups.bindings(path, "package")
        return package[0][1] if package else ""

    def _is_test_package(self, path: str) -> bool:
        return path.endswith("_test.go") and self._package(path).endswith("_test")

    def _is_built(self, path: str) -> bool:
        constraint = self.lookups.bindings(path, "build")
        return is_built(path, constraint[0][1] if constraint else "")

    def instance_of(self, file: FileScope, type_name: str, enclosing: str) -> Value | None:
        """Return an instance of a type; an interface from outside may be implemented here."""
        value = super().instance_of(file, type_name, enclosing)
        if value is not EXTERNAL:
            return value
        package, _, name = type_name.rpartition(".")
        if not package:
            return _DISPATCHED if name == "error" else None if name in ("any", "comparable") else value
        origins = [origin for _, _, origin in self.lookups.bindings(file.path, f"import {package}")]
        is_standard = bool(origins) and "." not in origins[0].partition("/")[0]
        is_interface = f"{origins[0]}.{name}" in _INTERFACES if is_standard else bool(origins)
        return _DISPATCHED if is_interface else value

    def element(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return an element of a slice or map, also of a named one, or one of several results."""
        value = self._underlying(value)
        if name[1:-1].isdigit():
            index = int(name[1:-1])
            if value.candidates and value.candidates[0].full_name == TUPLE:
                return value.arguments[index] if index < len(value.arguments) else None
            return None if index else value  # `value, ok := all[key]`
        return super().element(file, value, name)

    def call_result(self, value: Value | None) -> Value | None:
        """Return the value of calling something, also of a named type of function."""
        if value is not None and value.kind == "instance":
            value = self._underlying(value)
        return super().call_result(value)

    def _underlying(self, value: Value) -> Value:
        """Return an instance of the type that a named type is declared as, if it is not a struct."""
        target = value.candidates[0].target if len(value.candidates) == 1 else None
        if value.kind != "instance" or target is None or target.kind != "type":
            return value
        file = self.lookups.file_scope(target.path)
        written = _DECLARED.match(target.signature)
        type_name = parse_go_type(written[1]) if written else ""
        if file is None or not type_name.endswith("]"):
            return value
        return self.instance_of(file, type_name, "") or value

    def class_member(self, file: FileScope, value: Value, name: str) -> Value | None:
        """Return a member; an embedded type is a field that has its name."""
        for each in value.candidates if value.kind == "instance" and not self.is_reading else ():
            if each.target is None:
                continue
            for _, path, _ in self.lookups.bindings(each.target.path, f"base {each.target.qualified_name}"):
                base_file = self.lookups.file_scope(each.target.path)
                if path.rpartition(".")[2] == name and base_file is not None:
                    return self.instance_of(base_file, path, "")
        return super().class_member(file, value, name)

    def resolve_import(self, file: FileScope, name: str, origin: str, enclosing: str) -> Value | None:
        """Return a package."""
        folder = self._package_folder(origin)
        return EXTERNAL if folder is None else Value("module", module=folder)

    def resolve_import_statement(self, file: FileScope, name: str, qualifier: str) -> Value | None:
        """Return EXTERNAL: a package has no symbol of its own."""
        return EXTERNAL

    def resolve_free_name(self, file: FileScope, name: str, enclosing: str) -> Value | None:
        """Return a variable from another file of the package, or a name from a dot import."""
        variable = self._variable(file.scope, name)
        if variable is not None:
            return variable
        for _, _, origin in self.lookups.bindings(file.path, "stars"):
            folder = self._package_folder(origin)
            value = self.symbol(file, folder, name) if folder is not None else None
            if value is not None:
                return value
        return EXTERNAL

    def module_member(self, file: FileScope, module: str, name: str) -> Value | None:
        """Return a name that a package exports."""
        return self.symbol(file, module, name) or self._variable(module, name) or UNDEFINED

    def _variable(self, folder: str, name: str) -> Value | None:
        for path in self.lookups.package_files("go variable", folder, name):
            file = self.lookups.file_scope(path)
            if file is not None:
                return self.bound_value(file, self.lookups.bindings(path, f"var {name}")) or Value("field")
        return None

    def _package_folder(self, origin: str) -> str | None:
        """Return the directory of a package, None if it is not in this index."""
        parts = origin.split("/")
        for count in range(len(parts), 0, -1):
            for manifest in self.lookups.package_files("go module", "/".join(parts[:count])):
                root = manifest.rpartition("/")[0]
                folder = "/".join([part for part in (root, *parts[count:]) if part])
                if self.lookups.package_files("go package", folder):
                    return folder
        for root in ("", "src/", "vendor/"):
            if self.lookups.package_files("go package", root + origin):
                return root + origin
        return None
