"""The outline of a file from query matches: nested, named and documented definitions, sorted references."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dowse.parsing.comments import Comments, clean_doc, docstring_at
from dowse.parsing.facts import Facts
from dowse.parsing.grammar import (
    IMPORT_STATEMENT,
    IMPORTED_NAME,
    REFERENCE_CAPTURES,
    TOKENS,
    CompiledGrammar,
    Pattern,
)
from dowse.parsing.languages import Language
from dowse.parsing.limits import MAX_DEPTH, MAX_IMPORT_BYTES, MAX_NAME_BYTES, MAX_QUALIFIED_NAME
from dowse.parsing.names import (
    ATTRIBUTE,
    BARE,
    MAX_CALLEE_BYTES,
    REGISTERED,
    TYPE,
    callees,
    clean_qualifier,
    split_definition_name,
    split_import,
    split_path,
    type_name,
)
from dowse.parsing.ruby_values import ROOT_NAMESPACE, bare_calls
from dowse.parsing.signature import MAX_HEAD_BYTES, make_signature
from dowse.parsing.source_text import SourceText
from dowse.parsing.spans import contains_offset
from dowse.parsing.token_trees import calls_in_tokens
from dowse.parsing.uses import CAPTURES, IMPLICIT_SELF, INHERITED_FIELDS, OWN_FIELD, find_uses
from dowse.types import TYPE_KINDS, Name, Span

if TYPE_CHECKING:
    from tree_sitter import Node

# Functions directly inside of these are methods.
_WITH_METHODS = TYPE_KINDS - {"type"}

NAMED_TYPES = TYPE_KINDS - {"impl"}

# The own text of these is without inner definitions.
CONTAINERS = frozenset(["class", "interface", "struct", "enum", "trait", "module", "object", "impl"])

# Shorter constants are more informative together, in the remainder of the module, than each alone.
_MIN_CONSTANT_LINES = 3

# Calls in a chain that are followed to its start, and the nodes of their arguments.
_MAX_CHAIN = 100
_ARGUMENT_LISTS = frozenset(
    "arguments argument_list value_arguments call_suffix annotated_lambda template_string".split()
)

# Decorators that make something of a function, and do not store it to be called.
_DECORATOR = re.compile(rb"@\s*(?:[\w$]+\s*\.\s*)*([\w$]+)")
_NON_REGISTERING = frozenset(
    b"property setter getter deleter staticmethod classmethod abstractmethod overload override final wraps"
    b" cached_property lru_cache cache contextmanager asynccontextmanager no_type_check deprecated"
    b" parametrize".split()
)

# Precedes the names of anonymous classes.
ANONYMOUS = "$"

# (byte offset of the name, kind, name, qualifier, number of arguments or -1)
RawReference = tuple[int, str, str, str, int]


class Entry:
    """A definition in progress: the range of its node, then the range of its text."""

    __slots__ = (
        "doc", "doc_spans", "end", "head_end", "holes", "kind", "last", "name", "name_start",
        "number", "path", "start", "text_end", "text_start",
    )  # fmt: skip

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = self.text_start = start
        self.end = self.text_end = end
        self.head_end = -1  # end of the signature; -1 for the end of the first line
        self.name = ""
        self.name_start = -1
        self.path: tuple[str, ...] = ()  # the segments of the qualified name
        self.last: Entry | None = None  # the last entry directly inside
        self.number = -1  # index among the definitions; scopes have that of what encloses them
        self.holes: list[Span] = []
        self.doc = ""
        self.doc_spans: list[Span] = []


class Outline:
    """The definitions of one syntax tree, sorted, and the innermost definition (owner) of every byte."""

    def __init__(self, text: SourceText, language: Language, matches: Matches) -> None:
        self._text = text
        self._language = language
        self._comments = Comments(text, language, matches.leads)
        self.entries: list[Entry] = []
        self.owner_starts = [0]
        self.owners = [-1]
        self.root = Entry("module", 0, len(text.data))
        self.impls: list[Entry] = []
        self.scopes: list[Entry] = []  # they only qualify the names inside
        self._types = {e.path[-1] for e in matches.entries if e.kind in NAMED_TYPES and e.path}
        self._nest(sorted(matches.entries, key=lambda e: (e.start, -e.end)))
        self._attach_inner_docs(matches.docs)
        if language.docstrings:
            self._attach_docstrings()

    def owner_at(self, offset: int) -> int:
        """Return the number of the innermost definition around this byte, -1 for the module."""
        return self.owners[bisect_right(self.owner_starts, offset) - 1]

    def _nest(self, entries: list[Entry]) -> None:
        """Nest the entries in one sweep over byte ranges."""
        licensed, header = self._comments.file_header()
        if licensed:
            self.root.holes.append((0, licensed))
            self.root.text_start = licensed
        stack, bodies = [self.root], set[int]()
        for entry in entries:
            while len(stack) > 1 and stack[-1].end <= entry.start:
                self._close(stack)
            # `typedef struct X {} Y` matches twice around one body.
            if entry.head_end > 0 and entry.head_end in bodies:
                continue
            bodies.add(entry.head_end)
            # Deeper ones stay part of what encloses them.
            if len(stack) <= MAX_DEPTH and self._accept(entry, stack[-1]):
                stack.append(self._open(entry, stack[-1]))
        while len(stack) > 1:
            self._close(stack)
        self._file_doc(header)

    def _accept(self, entry: Entry, parent: Entry) -> bool:
        """Whether an entry becomes a definition; if so, its kind and path are set."""
        if entry.kind == "member" and parent.kind != "object":
            return False
        if entry.kind == "constant":
            lines = self._text.data.count(b"\n", entry.start, entry.end) + 1
            if lines < _MIN_CONSTANT_LINES:
                return False
        if not entry.path and entry.kind != "object":
            return False
        qualified = len(entry.path) > 1
        if entry.kind == "member" or (
            entry.kind == "function" and (qualified or parent.kind in _WITH_METHODS)
        ):
            entry.kind = "method" if parent is not self.root or qualified else "function"
        if entry.kind == "method" and not parent.path and not qualified:
            entry.kind = "function"
        entry.name = entry.path[-1] if entry.path else ""
        entry.path = _truncate_path(parent.path + entry.path)
        return True

    def _open(self, entry: Entry, parent: Entry) -> Entry:
        """Find the entry's own text, merge it with an earlier clause, and number it."""
        before, own = parent.last, entry.start
        floor = before.text_end if before else max(parent.head_end, parent.start, parent.text_start)
        if floor < own:
            own = self._text.extend_to_line_start(own)
            if own < floor:
                own = floor
            start, docs, attributed = self._comments.leading(own, floor)
        else:
            start, docs, attributed = own, [], False
        entry.text_start, entry.start = start, own
        entry.text_end = self._text.extend_to_line_end(entry.end)
        if entry.text_end > parent.end:
            entry.text_end = max(parent.end, entry.end)
        if before and self._is_next_clause(before, entry, attributed):
            before.end, before.text_end = entry.end, entry.text_end
            self.owner_starts.append(start)
            self.owners.append(before.number)
            return before
        parent.last = entry
        if docs:
            entry.doc_spans = docs
            entry.doc = clean_doc(b"\n".join([self._text.data[s:e] for s, e in docs]))
        self._number(entry, parent)
        return entry

    def _number(self, entry: Entry, parent: Entry) -> None:
        """Number an entry among the definitions unless it only qualifies the names inside of it."""
        kind = entry.kind
        if kind == "scope" and entry.doc:
            kind = entry.kind = "module"
        # An impl of a type from another file is a definition: else nothing here would implement the trait.
        has_type = kind == "impl" and entry.name in self._types
        if has_type:
            self.impls.append(entry)
        if has_type or kind == "scope" or (kind == "object" and not entry.name):
            entry.number, entry.holes = parent.number, parent.holes
            self.scopes.append(entry)
            return
        entry.number = len(self.entries)
        self.entries.append(entry)
        self.owner_starts.append(entry.text_start)
        self.owners.append(entry.number)

    def _is_next_clause(self, before: Entry, entry: Entry, attributed: bool) -> bool:
        """Whether an entry is one more clause of the function before it."""
        return (
            self._language.merges_clauses
            and not attributed
            and before.name == entry.name
            and before.kind == entry.kind
            and not self._text.data[before.text_end : entry.text_start].strip()
        )

    def _close(self, stack: list[Entry]) -> None:
        """Close the innermost entry: its text is a hole in what encloses it."""
        entry = stack.pop()
        parent = stack[-1]
        if entry.number != parent.number:
            if parent.holes and parent.holes[-1][0] == entry.text_start:
                parent.holes.pop()
            parent.holes.append((entry.text_start, entry.text_end))
            self.owner_starts.append(entry.text_end)
            self.owners.append(parent.number)

    def _file_doc(self, header: Span | None) -> None:
        """Attach the comment at the top of the file, unless it documents a definition."""
        if header and self.owner_at(header[0]) < 0:
            self.root.doc = clean_doc(self._text.data[header[0] : header[1]])
            self.root.doc_spans = [header]

    def _attach_inner_docs(self, docs: list[Span]) -> None:
        """Attach docstrings to the innermost definition around them; they override comments."""
        for start, end in docs:
            number = self.owner_at(start)
            entry = self.entries[number] if number >= 0 else self.root
            entry.doc = clean_doc(self._text.data[start:end])
            entry.doc_spans = [(start, end)]

    def _attach_docstrings(self) -> None:
        """Attach strings at the start of bodies; they override the comment above."""
        data, header = self._text.data, self.root.doc_spans
        for entry in self.entries:
            if entry.head_end > 0:
                span = docstring_at(data, entry.head_end, entry.end)
                if span:
                    entry.doc, entry.doc_spans = clean_doc(data[span[0] : span[1]]), [span]
        start = header[0][1] if header else self.root.text_start
        start += len(data[start : start + 4096]) - len(data[start : start + 4096].lstrip())
        span = docstring_at(data, start, len(data))
        if span:
            self.root.doc, self.root.doc_spans = clean_doc(data[span[0] : span[1]]), [span]


class Matches:
    """The query matches of one syntax tree: definitions, references, attributes and docstrings."""

    def __init__(
        self,
        text: SourceText,
        language: Language,
        grammar: CompiledGrammar,
        root: Node,
        definitions_only: bool = False,
    ) -> None:
        self._data, self._language = text.data, language.name
        self.entries: list[Entry] = []
        self.facts = Facts(text, language.name)
        self.leads: dict[int, int] = {}
        self.docs: list[Span] = []
        self.uses: dict[str, list[Node]] = {kind: [] for kind in CAPTURES}  # nodes of patterns of uses
        self.names: list[tuple[int, int, str]] = []  # start, end and kind of names that are no symbols
        self.macros: list[Span] = []  # names of macros that are blank in the tree
        self._misread: set[int] = set()  # where no variables are declared, though the tree has declarations
        self._calls: list[RawReference] = []
        self._others: list[RawReference] = []  # references that are no calls
        self._values: list[Span] = []  # names that may be functions used as values
        self._bare: list[Span] = []  # names that may be calls, of Ruby and Scala
        self._imports: list[Span] = []
        self._setters: set[int] = set()  # of Ruby
        self._skip: set[int] = set()
        self._imported_names: list[Span] = []
        self._import_statements: list[tuple[int, int, str]] = []
        self.references: list[RawReference] = []
        self._read(grammar, root, language)
        for _, end in self.docs:
            self.leads.pop(end, None)
        if definitions_only:
            return
        if language.name == "kotlin":  # a call with a lambda after its arguments matches without it, too
            self._calls = list({call[:4]: call for call in sorted(self._calls)}.values())
        self._add_imported_names()
        self.references = self._ordered_references(drop_in_leads=bool(language.lead_keywords))

    def _read(self, grammar: CompiledGrammar, root: Node, language: Language) -> None:
        """Iterate over the matches once; plain calls, most of them, take a fast path."""
        data, add, bind = self._data, self._calls.append, self.facts.bind
        split = _whole_callee if language.hyphens else callees.__getitem__
        is_ruby = self._is_ruby = language.name == "ruby"
        for cursor, patterns in grammar.queries:
            plain = [pattern.plain_call for pattern in patterns]
            names = {"value": self._values.append, "bare": self._bare.append}
            plain_names = [pattern.plain_name for pattern in patterns]
            binds = [pattern.binds and not pattern.words for pattern in patterns]
            is_name = [pattern.is_name for pattern in patterns]
            use_kinds = [pattern.use for pattern in patterns]
            uses = [self.uses[kind].append if kind else None for kind in use_kinds]
            for index, captures in cursor.matches(root):
                if add_use := uses[index]:  # most are uses
                    add_use(captures[use_kinds[index]][0])
                elif plain[index]:
                    start, end = captures["call"][0].byte_range
                    if end - start > MAX_CALLEE_BYTES:
                        source = _shorten(captures["call"][0], data)
                    else:
                        source = data[start:end]
                    name, qualifier, back = split(source)
                    if "on" in captures:
                        begin, stop = captures["on"][0].byte_range
                        if stop - begin > MAX_CALLEE_BYTES:
                            begin = stop - MAX_CALLEE_BYTES
                        qualifier = clean_qualifier(data[begin:stop])
                        if is_ruby and data.startswith(b"::", begin):
                            qualifier = f"{ROOT_NAMESPACE}.{qualifier}"
                    if name:
                        count = captures["args"][0].named_child_count if "args" in captures else -1
                        if "trailing" in captures:  # a lambda after the arguments
                            count = max(count, 0) + 1
                        add((end - back, "call", name, qualifier, count))
                elif is_name[index]:
                    for kind, nodes in captures.items():
                        self.names += [(*node.byte_range, kind) for node in nodes]
                elif plain_names[index]:
                    kind = plain_names[index]
                    names[kind](captures[kind][0].byte_range)
                elif binds[index]:
                    bind(patterns[index], captures)
                else:
                    self._read_other(patterns[index], captures, language)

    def _read_other(self, pattern: Pattern, captures: dict[str, list[Node]], language: Language) -> None:
        if pattern.words:
            start, end = captures["word"][0].byte_range
            if self._data[start:end] not in pattern.words:
                return
            if not pattern.binds:
                self._skip.add(start)
        if pattern.binds:
            self.facts.bind(pattern, captures)
            return
        if pattern.defines:
            self._define(pattern, captures, language)
        for kind in pattern.other_captures:
            if kind == "lead":
                start, end = captures[kind][0].byte_range
                self.leads[end] = start
            elif kind == "registered":
                self._register(captures)
            elif kind == "doc":
                self.docs.append(captures[kind][0].byte_range)
            elif kind == "skip":
                self._skip.add(captures[kind][0].start_byte)
            elif kind == "setter":
                self._setters.add(captures[kind][0].start_byte)
            elif kind == "symbol":
                self._refer_by_symbol(captures[kind])
            elif kind == TOKENS:
                self._refer_in_tokens(*captures[kind][0].byte_range)
            elif kind == IMPORTED_NAME:
                self._imported_names.append(captures[kind][0].byte_range)
            elif kind == IMPORT_STATEMENT:
                self._import_statements.append((*captures[kind][0].byte_range, self._module(captures)))
            else:
                self._refer(kind, captures)

    def _define(self, pattern: Pattern, captures: dict[str, list[Node]], language: Language) -> None:
        kind = pattern.defines
        start, end = captures[kind][0].byte_range
        entry = Entry(kind, start, end)
        if pattern.role == "anonymous":
            self._define_anonymous(entry, captures)
            return
        if "name" in captures:
            start, end = captures["name"][0].byte_range
            if kind != "impl":  # which uses the name of its type
                self._skip.add(start)
            source = self._data[start : min(end, start + MAX_NAME_BYTES)]
            if kind == "impl":
                bare = type_name(source)
                entry.path = (bare,) if bare else ()
            else:
                entry.path = split_definition_name(source, language.separators)
            entry.name_start = start
        if "receiver" in captures:
            start, end = captures["receiver"][0].byte_range
            receiver = type_name(self._data[start : min(end, start + MAX_NAME_BYTES)])
            entry.path = (receiver, *entry.path) if receiver and entry.path else entry.path
        if "body" in captures:
            entry.head_end, stop = captures["body"][0].byte_range
            entry.end = entry.text_end = max(entry.end, stop)  # in Dart, a body is the sibling of its head
        elif "head" in captures:
            entry.head_end = captures["head"][0].end_byte
        elif pattern.is_head:
            entry.head_end = entry.end
        self.entries.append(entry)

    def _define_anonymous(self, entry: Entry, captures: dict[str, list[Node]]) -> None:
        """Add a class without a name: it is called after its base class."""
        for node in captures["base"]:
            start, end = node.byte_range
            name, qualifier, _ = callees[self._data[start : min(end, start + MAX_NAME_BYTES)]]
            if name:
                entry.path = entry.path or (ANONYMOUS + name,)
                self._others.append((entry.start, "extends", name, qualifier, -1))
        entry.head_end = entry.start
        self.entries.append(entry)

    def _refer(self, kind: str, captures: dict[str, list[Node]]) -> None:
        """Add a reference that is no plain call."""
        for node in captures[kind]:
            start, end = node.byte_range
            if kind in ("import", "path", "imports"):
                self._import(kind, start, end, captures)
                continue
            name, qualifier, back = callees[self._data[max(start, end - MAX_CALLEE_BYTES) : end]]
            if not name or (kind == "component" and not (qualifier or name[0].isupper())):
                continue
            if kind == "value" and "on" in captures:
                begin, stop = captures["on"][0].byte_range
                qualifier = clean_qualifier(self._data[max(begin, stop - MAX_CALLEE_BYTES) : stop])
            count = ATTRIBUTE if kind == "attribute" else -1
            raw = (end - back, REFERENCE_CAPTURES[kind], name, qualifier, count)
            (self._calls if raw[1] in ("call", "value") else self._others).append(raw)

    def _refer_by_symbol(self, symbols: list[Node]) -> None:
        """Add methods of the class around that a call is given by their names: `before_action :login`."""
        for node in symbols:
            start = node.start_byte + 1
            self._others.append((start, "value", self._decode(start, node.end_byte)[:MAX_NAME_BYTES], "", -1))

    def _refer_in_tokens(self, start: int, end: int) -> None:
        """Add the calls in the arguments of a macro."""
        for begin, stop in calls_in_tokens(self._data, start, end):
            name, qualifier, back = callees[self._data[max(begin, stop - MAX_CALLEE_BYTES) : stop]]
            if name:
                self._calls.append((stop - back, "call", name, qualifier, -1))

    def _register(self, captures: dict[str, list[Node]]) -> None:
        """Add a function as a value that its decorator is given, unless that is known not to store it."""
        start, end = captures["decorator"][0].byte_range
        decorator = _DECORATOR.match(self._data, start, end)
        if decorator and decorator[1] not in _NON_REGISTERING:
            name = self._decode(*captures["registered"][0].byte_range)
            self._others.append((start, "value", name[:MAX_NAME_BYTES], REGISTERED, -1))

    def _import(self, kind: str, start: int, end: int, captures: dict[str, list[Node]]) -> None:
        """Add what is imported, with its module as qualifier."""
        if end - start > (MAX_IMPORT_BYTES if kind == "imports" else MAX_NAME_BYTES):
            return
        source = self._decode(start, end)
        if kind == "path":
            pairs = [split_path(source)]
        elif kind == "imports":
            self._imports.append((start, end))
            pairs = _import_list(source)
        else:
            pairs = [split_import(source, self._module(captures))]
        for name, qualifier in pairs:
            if name:
                at = end - len(name.encode()) if source.endswith(name) else start
                self._others.append((at, "import", name, qualifier, -1))

    def _add_imported_names(self) -> None:
        """Add each name in an import statement, with the module at the end of the statement."""
        self._import_statements.sort()
        starts = [start for start, _, _ in self._import_statements]
        for start, end in self._imported_names:
            index = bisect_right(starts, start) - 1
            if index >= 0 and start < self._import_statements[index][1] and end - start <= MAX_NAME_BYTES:
                name, qualifier = split_import(self._decode(start, end), self._import_statements[index][2])
                if name:
                    self._others.append((start, "import", name, qualifier, -1))

    def _module(self, captures: dict[str, list[Node]]) -> str:
        if "from" not in captures:
            return ""
        start, end = captures["from"][0].byte_range
        return self._decode(start, min(end, start + MAX_NAME_BYTES))

    def _decode(self, start: int, end: int) -> str:
        """Return text without NUL, the separator of stored names."""
        return self._data[start:end].decode("utf-8", "ignore").replace("\0", "")

    def _ordered_references(self, drop_in_leads: bool) -> list[RawReference]:
        """Return the references sorted; defined names, keywords and attributes are no calls."""
        calls, taken = self._calls, self._skip
        taken.update([at for at, kind, *_ in self._others if kind != "import"])
        if not taken.isdisjoint([call[0] for call in calls]):
            calls = [call for call in calls if call[0] not in taken]
        if drop_in_leads and self.leads:
            spans = sorted((start, end) for end, start in self.leads.items())
            starts = [start for start, _ in spans]
            calls = [call for call in calls if not contains_offset(call[0], starts, spans)]
        if self._bare:
            calls = self._calls_of_ruby(calls) if self._is_ruby else calls + self._bare_names(calls)
        calls += self._function_values({call[0] for call in calls})
        source = {call[0] for call in calls} | {other[0] for other in self._others} | self._skip
        count = TYPE if self._language == "csharp" else -1
        uses = self.facts.type_uses()
        types = [(at, "use", name, path, count) for at, name, path in uses if at not in source]
        # The parser inserts empty names where it expects one.
        return sorted(raw for raw in {*calls, *self._others, *types} if raw[2])

    def drop_variables(self, starts: set[int]) -> None:
        """Take names for uses that the tree has as variables."""
        self._misread = starts
        self.names = [each for each in self.names if each[0] not in starts or each[2] != "variable"]

    def add_uses(self, names: Sequence[Name], owner_at: Callable[[int], int]) -> None:
        """Add the uses of names that are no references yet; `names` are those that the file defines."""
        if not any(self.uses.values()):
            return
        taken = {raw[0] for raw in self.references} | self._skip | (self.facts.bound_starts() - self._misread)
        data = self._data
        taken.update(
            [
                start
                for start, end, kind in self.names
                # `Foo.name = …` defines the last name, and uses the first
                if kind != OWN_FIELD and not (kind == "property" and data.find(b".", start, end) > 0)
            ]
        )
        imports = self.facts.imports()
        known = {bound.encode() for _, bound, imported, _ in imports if imported}  # not modules
        known |= {entry.path[-1].encode() for entry in self.entries if entry.path}
        # Elsewhere, only `self` has the members of the class around.
        has_members = self._language in IMPLICIT_SELF
        known |= {
            each.name.encode()
            for each in names
            if has_members or ("." not in each.qualified_name and each.kind != "property")
        }
        variables = self.facts.variables()
        # A variable of one method can have the name of an inherited field that another method uses.
        is_scoped = self._language in INHERITED_FIELDS
        owners = self.facts.variable_owners(owner_at) if is_scoped else {}

        def is_elsewhere(name: bytes, offset: int) -> bool:
            return is_scoped and owner_at(offset) not in owners[name]

        has_wildcard = any(name[-1:] == "*" for _, name, _, _ in imports)
        spans = sorted(self.facts.import_spans())
        uses = find_uses(
            self._data, self._language, self.uses, taken, variables, is_elsewhere, known, spans, has_wildcard
        )
        macros = ((start, "read", self._decode(start, end), "", -1) for start, end in self.macros)
        self.references = sorted([*self.references, *uses, *macros])

    def _calls_of_ruby(self, calls: list[RawReference]) -> list[RawReference]:
        """Return the calls with those that are bare names; `a.b = c` calls `b=`, `a.class` makes nothing."""
        named = [
            (at, kind, f"{name}=" if at in self._setters else name, path, count)
            for at, kind, name, path, count in calls
            if name != "class"
        ]
        taken = self._skip | {call[0] for call in calls} | {other[0] for other in self._others}
        identifiers = (span for span in self._bare if span[0] not in taken)
        bare = bare_calls(self._data, identifiers, self.facts.bound_names())
        return named + [
            (start, "call", self._decode(start, min(end, start + MAX_NAME_BYTES)), "", -1)
            for start, end in bare
        ]

    def _bare_names(self, calls: list[RawReference]) -> list[RawReference]:
        """Return the names that may be calls of methods without parameters, of Scala."""
        imports = sorted(self._imports)
        starts = [start for start, _ in imports]
        taken = self._skip | {call[0] for call in calls} | {other[0] for other in self._others}
        variables = self.facts.variables()
        return [
            (start, "call", self._decode(start, end), "", BARE)
            for start, end in self._bare
            if start not in taken
            and end - start <= MAX_NAME_BYTES
            and not self._data[start : start + 1].isupper()  # a class or a type parameter
            and self._data[start:end] not in variables
            and not contains_offset(start, starts, imports)
        ]

    def _function_values(self, called: set[int]) -> list[RawReference]:
        """Return the values that can be functions: most are variables, which the file binds."""
        if not self._values:
            return []
        defined = {entry.path[-1].encode() for entry in self.entries if entry.path}
        variables, taken = self.facts.variables() - defined, called | self._skip
        names = ((start, self._data[start:end]) for start, end in self._values if start not in taken)
        return [
            (start, "value", name.decode("utf-8", "ignore"), "", -1)
            for start, name in names
            if name not in variables and not name.isupper() and len(name) <= MAX_NAME_BYTES
        ]


def _whole_callee(source: bytes) -> tuple[str, str, int]:
    """Return a callee that is one name, with marks that are operators elsewhere."""
    return source.decode("utf-8", "ignore"), "", len(source)


def _shorten(callee: Node, data: bytes) -> bytes:
    """Return a long callee without the arguments of the calls in it, or the end of it."""
    node, parts, length = callee, list[bytes](), 0
    for _ in range(_MAX_CHAIN):
        start, end = node.byte_range
        if end - start + length <= MAX_CALLEE_BYTES:
            return b"".join([data[start:end], *reversed(parts)])
        if not node.child_count:
            break
        receiver, last = node.children[0], node.children[-1]
        rest = b"()" if last.type in _ARGUMENT_LISTS else data[receiver.end_byte : end]
        parts.append(rest)
        length += len(rest)
        node = receiver
    return data[callee.end_byte - MAX_CALLEE_BYTES : callee.end_byte]


def _truncate_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the end of a qualified name that is too long."""
    while len(path) > 1 and sum(map(len, path)) > MAX_QUALIFIED_NAME:
        path = path[1:]
    return path


def _import_list(source: str) -> list[tuple[str, str]]:
    """Parse a Scala import with several names: `a.b.{C, D => E}`."""
    clause = source.removeprefix("import").strip()
    module, brace, names = clause.partition("{")
    if not brace:
        return [split_import(" ".join(each.split()).partition(" as ")[0], "") for each in clause.split(",")]
    picked = (re.split(r"=>|\sas\s", name)[0].strip() for name in names.rstrip("} \n").split(","))
    module = module.rstrip(". ")[:MAX_NAME_BYTES]
    return [(name, module) for name in picked]


def signature(data: bytes, entry: Entry, comments: re.Pattern[str]) -> str:
    """Return the signature of a definition on one line."""
    start, end = entry.start, entry.head_end
    if end <= start:
        end = entry.end
        if entry.head_end == -1:
            line = data.find(b"\n", max(start, entry.name_start), end)
            end = line if line >= 0 else end
    return make_signature(data[start : min(end, start + MAX_HEAD_BYTES)], comments)
