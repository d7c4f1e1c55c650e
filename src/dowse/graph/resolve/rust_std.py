"""Rust: methods of common types of the standard library that pass on what their value holds."""

from __future__ import annotations

from dowse.graph.resolve.values import Candidate, Value

# Types whose methods are those of what they hold, by deref.
POINTERS = frozenset(
    "Box Rc Arc Pin Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard Cow Guard".split()
)
_OPTIONS = frozenset(["Option", "Result", "Poll"])
_CELLS = frozenset("RefCell Cell Mutex RwLock OnceCell OnceLock LazyLock Lazy UnsafeCell".split())
_COLLECTIONS = frozenset(
    "Vec VecDeque HashMap BTreeMap HashSet BTreeSet IndexMap IndexSet BinaryHeap LinkedList"
    " SmallVec Iterator IntoIterator DoubleEndedIterator ExactSizeIterator Stream Iter IntoIter"
    " Peekable Entry Drain !slice".split()
)
STANDARD = POINTERS | _OPTIONS | _CELLS | _COLLECTIONS | {"Weak", "Some", "Ok"}

_UNWRAPPING = frozenset(
    "unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked get_or_insert"
    " get_or_insert_with insert".split()
)
_SAME_OPTION = frozenset(
    "as_ref as_mut as_deref as_deref_mut take cloned copied ok map_err or or_else filter ok_or"
    " ok_or_else context with_context replace inspect iter iter_mut into_iter wrap_err"
    " wrap_err_with inspect_err".split()
)
_LENDING = frozenset(
    "borrow borrow_mut lock read write get get_mut load into_inner try_lock blocking_lock".split()
)
_ITERATING = frozenset(
    "iter iter_mut into_iter drain filter rev skip take chain cloned copied peekable values"
    " values_mut into_values by_ref skip_while take_while inspect step_by collect fuse cycle"
    " as_slice as_mut_slice to_vec into_vec sorted retain clone to_owned as_ref as_mut range"
    " split_off".split()
)
_PICKING = frozenset(
    "next last first get get_mut pop last_mut first_mut nth find min_by_key max_by_key min_by"
    " max_by min max peek peek_mut pop_front pop_back front back front_mut back_mut next_back"
    " reduce rfind next_if".split()
)
_ENTRY = frozenset("or_insert or_insert_with or_default or_insert_with_key".split())
# Methods of any value that return it again.
COPYING = frozenset(["clone", "to_owned", "by_ref", "borrow", "borrow_mut", "as_ref", "as_mut"])


def standard_value(name: str, arguments: tuple[Value | None, ...]) -> Value:
    """Return an instance of a type of the standard library."""
    return Value("external", (Candidate(None, "std", name),), arguments=arguments)


def standard_name(value: Value) -> str:
    """Return the name of the type of a value if it is one of the standard library, else ""."""
    return value.candidates[0].full_name if value.kind == "external" and value.candidates else ""


def held_value(value: Value) -> Value | None:
    """Return what an Option, a Result or a pointer holds, or an element of a collection."""
    if not value.arguments:
        return None
    return value.arguments[0 if standard_name(value) in _OPTIONS | POINTERS | _CELLS else -1]


def method_result(value: Value, method: str) -> Value | None:
    """Return the result of a method of the standard library; None if it is unknown."""
    name, held = standard_name(value), held_value(value)
    if held is None:
        return None
    if name in _OPTIONS:
        return held if method in _UNWRAPPING else value if method in _SAME_OPTION else None
    if name in _CELLS and method in _LENDING:
        return standard_value("Guard", (held,))
    if name in POINTERS:
        return held if name == "Guard" and method in _UNWRAPPING else value if method == "clone" else None
    if method in _ENTRY:
        return held
    if method in _ITERATING:
        return standard_value("Iter", (held,))
    if method == "enumerate":
        return standard_value("Iter", (standard_value("!tuple", (None, held)),))
    if method == "entry":
        return standard_value("Entry", (held,))
    if method in _PICKING or (method == "remove" and len(value.arguments) > 1):
        return standard_value("Option", (held,))
    return held if method in ("remove", "swap_remove") else None
