"""A call whose name matches a definition is never lost: it is resolved, or possible with a reason."""

from __future__ import annotations

import pytest

from dowse.graph.model import describe_confidence
from graph.resolve.world import world

_OUTSIDE = "may mean one outside the index: "
_DOOR = "class Door:\n    def shut(self): ...\n"

# Files, and the certainty of each call of the definition that the name says.
CASES = {
    "a parameter without a type": (
        {"door.py": _DOOR, "a.py": "def f(door):\n    door.shut()\n"},
        {"a.py:f": _OUTSIDE + "receiver's type unknown"},
    ),
    "a base class outside the index": (
        {
            "door.py": _DOOR,
            "a.py": "from lib import Base\n\n\nclass A(Base):\n    def f(self):\n        self.shut()\n",
        },
        {"a.py:A.f": _OUTSIDE + "a base class is outside the index"},
    ),
    "an import that is not found": (
        {
            "door.py": "def shut(): ...\n",
            "a.py": "from generated.door import shut\n\n\ndef f():\n    shut()\n",
        },
        {"a.py:f": _OUTSIDE + "imported from outside the index"},
    ),
    "a variable": (
        {"door.py": "def shut(): ...\n", "a.py": "def f(shut):\n    shut()\n"},
        {"a.py:f": _OUTSIDE + "a variable of this name is called"},
    ),
    "typescript: a member of a class that extends one outside": (
        {
            "door.ts": "export class Door { shut() {} }\n",
            "a.ts": 'import { Base } from "lib";\n\nclass A extends Base {\n  f() { this.door.shut(); }\n}\n',
        },
        {"a.ts:A.f": _OUTSIDE + "a base class is outside the index"},
    ),
    "java: a method without a receiver, of a base class outside": (
        {
            "Door.java": "package a;\n\nclass Door {\n  void shut() {}\n}\n",
            "A.java": "package a;\n\nimport lib.Base;\n\nclass A extends Base {\n  void f() { shut(); }\n}\n",
        },
        {"A.java:A.f": _OUTSIDE + "not defined or imported where it is called"},
    ),
    "rust: a function of a crate that is not found": (
        {"src/lib.rs": "pub fn shut() {}\n", "other/a.rs": "use house::shut;\n\nfn f() { shut(); }\n"},
        {"other/a.rs:f": _OUTSIDE + "imported from outside the index"},
    ),
    "several of the name": (
        {
            "door.py": _DOOR + "\n\nclass Gate:\n    def shut(self): ...\n",
            "a.py": "def f(x):\n    x.shut()\n",
        },
        {"a.py:f": "one of 2 possible: receiver's type unknown"},
    ),
}

# Calls that certainly mean something else.
KNOWN = {
    "a receiver of another type": {
        "door.py": _DOOR,
        "a.py": "import socket\n\n\ndef f(s: socket.socket):\n    s.shut()\n",
    },
    "a module of a library": {
        "door.py": "def shut(): ...\n",
        "a.py": "import os\n\n\ndef f():\n    os.shut()\n",
    },
    "a built-in": {"door.py": "def print(): ...\n", "a.py": "def f():\n    print()\n"},
    "javascript: an object of the platform": {
        "door.js": "export function log() {}\n",
        "a.js": "function f() {\n  console.log(1);\n}\n",
    },
}


@pytest.mark.parametrize("name", CASES)
def test_possible_calls(tmp_path, name):
    files, expected = CASES[name]
    with world(tmp_path, files) as graph:
        names = graph.rows()
        calls = [edge for edge in graph.edges() if edge.kind == "calls"]
        assert {names[edge.source]: describe_confidence(edge) for edge in calls} == expected


@pytest.mark.parametrize("name", KNOWN)
def test_calls_of_something_else(tmp_path, name):
    with world(tmp_path, KNOWN[name]) as graph:
        assert graph.calls() == set()
