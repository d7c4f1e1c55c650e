"""Receivers of Python: how the types of attributes, variables and results decide what is called."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

ROOM = (
    "class Room:\n    def close_door(self): ...\n    def open(self): ...\n    def get(self): ...\n\n\n"
    "class Hall(Room):\n    def light(self): ...\n"
    "class Yard:\n    def close_door(self): ...\n    def open(self): ...\n    def get(self): ...\n\n\n"
    "def make_room() -> Room: ...\n"
)
IMPORTS = (
    "from __future__ import annotations\nfrom typing import *\nimport typing as t\nimport functools\n"
    "from room import Room, Hall, Yard, make_room\nimport room\n\n\n"
)

# The code, and the methods of `room.py` that its function or method `use` calls for certain.
RECEIVERS = {
    "constructor parameter": (
        "class A:\n    def __init__(self, room: Room):\n        self.room = room\n\n"
        "    def use(self):\n        self.room.close_door()\n",
        "Room.close_door",
    ),
    "constructor parameter, union with None, keyword only": (
        "class A:\n    def __init__(self, *, room: 't.Optional[room.Room] | None' = None):\n"
        "        self.room = room or Room()\n\n    def use(self):\n        self.room.get()\n",
        "Room.get",
    ),
    "field assigned in another class's method": (
        "class B:\n    def __init__(self):\n        self.room = Room()\n\n\n"
        "def use(b: B):\n    b.room.get()\n",
        "Room.get",
    ),
    "attribute of an attribute": (
        "class B:\n    def __init__(self, room: Room):\n        self.room = room\n\n\n"
        "class C:\n    def __init__(self, b: B):\n        self.b = b\n\n"
        "    def use(self):\n        self.b.room.get()\n",
        "Room.get",
    ),
    "factory with a return type": ("def use():\n    x = make_room()\n    x.get()\n", "Room.get make_room"),
    "factory without a return type": (
        "def build(n):\n    if n:\n        return None\n    room = Room()\n    return room\n\n\n"
        "def use():\n    x = build(1)\n    x.get()\n",
        "Room.get",
    ),
    "result of a method of self": (
        "class A:\n    def room(self):\n        return Room()\n\n    def use(self):\n"
        "        self.room().get()\n",
        "Room.get",
    ),
    "fluent interface": (
        "class A:\n    def a(self):\n        return self\n\n    def room(self) -> Room: ...\n\n"
        "    def use(self):\n        self.a().a().room().get()\n",
        "Room.get",
    ),
    "dataclass field": (
        "@dataclass\nclass A:\n    room: Room\n    other: Yard = field(default_factory=Yard)\n\n\n"
        "def use(a: A):\n    a.room.get()\n    a.other.open()\n",
        "Room.get Yard.open",
    ),
    "property": (
        "class A:\n    @property\n    def room(self) -> Room: ...\n\n"
        "    def use(self):\n        self.room.get()\n",
        "Room.get",
    ),
    "property without a type": (
        "class A:\n    def __init__(self):\n        self._room = Room()\n\n"
        "    @functools.cached_property\n    def room(self):\n        return self._room\n\n"
        "    def use(self):\n        self.room.get()\n",
        "Room.get",
    ),
    "loop over an annotated list": (
        "def use(rooms: list[Room]):\n    for room in rooms:\n        room.get()\n",
        "Room.get",
    ),
    "loop over a field": (
        "class A:\n    rooms: dict[str, Room]\n\n    def use(self):\n"
        "        for room in self.rooms.values():\n            room.get()\n",
        "Room.get",
    ),
    "loop over items and with numbers": (
        "def use(rooms: Mapping[str, Room], yards: t.List[Yard]):\n    for key, x in rooms.items():\n"
        "        x.get()\n    for i, y in enumerate(yards):\n        y.open()\n",
        "Room.get Yard.open",
    ),
    "comprehensions": (
        "def use(rooms: list[Room], yards: list[Yard]):\n    a = [x.get() for x in rooms]\n"
        "    b = {x.open() for x in yards}\n",
        "Room.get Yard.open",
    ),
    "elements": (
        "def use(rooms: list[Room], by_name: dict[str, Yard]):\n    rooms[0].get()\n"
        "    by_name.get('a').open()\n"
        "    rooms.pop().open()\n",
        "Room.get Yard.open Room.open",
    ),
    "context manager": (
        "class Door:\n    def __enter__(self) -> Room: ...\n\n\n"
        "def use():\n    with Door() as room:\n        room.get()\n",
        "Room.get",
    ),
    "context manager made of a generator": (
        "@contextmanager\ndef opened() -> Iterator[Room]: ...\n\n\n"
        "def use():\n    with opened() as room:\n        room.get()\n",
        "Room.get",
    ),
    "generator without a type": (
        "def rooms():\n    yield Room()\n\n\ndef use():\n    for room in rooms():\n        room.get()\n",
        "Room.get",
    ),
    "isinstance": (
        "def use(x):\n    if isinstance(x, Room):\n        x.get()\n    elif isinstance(x, Yard):\n"
        "        x.open()\n",
        "Room.get Yard.open",
    ),
    "return unless isinstance": (
        "def use(x):\n    if not isinstance(x, Room):\n        return\n    x.get()\n",
        "Room.get",
    ),
    "cls": (
        "class A:\n    @classmethod\n    def use(cls):\n        cls.build().get()\n\n"
        "    @classmethod\n    def build(cls) -> Room: ...\n",
        "Room.get",
    ),
    "class as a parameter": ("def use(kind: type[Room]):\n    kind().get()\n", "Room.get"),
    "conditional expression": ("def use(n):\n    x = Room() if n else None\n    x.get()\n", "Room.get"),
    "await": (
        "async def make() -> Room: ...\n\n\nasync def use():\n    x = await make()\n    x.get()\n",
        "Room.get",
    ),
    "cast": ("def use(x):\n    y = t.cast('Room', x)\n    y.get()\n", "Room.get"),
    "walrus": ("def use():\n    if (x := make_room()):\n        x.get()\n", "Room.get make_room"),
    "module-level singleton": ("ROOM = Room()\n\n\ndef use():\n    ROOM.get()\n", "Room.get"),
    "bound of a type variable": (
        "T = TypeVar('T', bound=Room)\n\n\ndef use(x: T) -> T:\n    x.get()\n",
        "Room.get",
    ),
    "bound of a type parameter": ("def use[T: Room](x: T) -> T:\n    x.get()\n", "Room.get"),
    "generic class": (
        "T = TypeVar('T')\n\n\nclass Box(Generic[T]):\n    item: T\n\n    def pick(self) -> T: ...\n\n\n"
        "def use(box: Box[Room]):\n    box.pick().get()\n    box.item.open()\n",
        "Room.get Room.open",
    ),
    "callable parameter": ("def use(make: Callable[[], Room]):\n    make().get()\n", "Room.get"),
    "super": (
        "class Mine(Hall):\n    def use(self):\n        super().close_door()\n        super().light()\n",
        "Room.close_door Hall.light",
    ),
    "alias of a type": ("Chamber = Room\n\n\ndef use(x: Chamber):\n    x.get()\n", "Room.get"),
    "tuples": (
        "def pair() -> tuple[Room, Yard]: ...\n\n\ndef use(pairs: list[tuple[int, Room]]):\n"
        "    a, b = pair()\n    a.get()\n    b.open()\n    for n, x in pairs:\n        x.close_door()\n",
        "Room.get Yard.open Room.close_door",
    ),
    "partial": ("def use():\n    build = functools.partial(Room, 1)\n    build().get()\n", "Room.get"),
}


@pytest.mark.parametrize("name", RECEIVERS)
def test_receivers(tmp_path, name):
    code, expected = RECEIVERS[name]
    with world(tmp_path, {"room.py": ROOM, "use.py": IMPORTS + code}) as graph:
        targets = {
            target.removeprefix("room.py:")
            for _, source, target, *_, confidence, _ in graph.named_edges("calls")
            if source.endswith("use") and target.startswith("room.py") and confidence == "resolved"
        }
        assert targets - {"Room", "Hall", "Yard"} == set(expected.split())


# The code, and the functions that `use` or the module calls possibly: by value.
VALUES = {
    "argument": ("def work(): ...\n\n\ndef use(x):\n    x.map(work)\n    x.map(x)\n", {"use -> work"}),
    "keyword argument and default": (
        "def work(): ...\n\n\ndef rest(): ...\n\n\ndef use(x, y=rest):\n    x(key=work)\n",
        {"use -> work", "use -> rest"},
    ),
    "table": (
        "def work(): ...\n\n\ndef rest(): ...\n\n\nTABLE = {'a': work, 'b': [rest]}\n",
        {"a -> work", "a -> rest"},
    ),
    "bound method": (
        "class A:\n    def work(self): ...\n    def use(self, x):\n        x.on(self.work, self.field)\n",
        {"A.use -> A.work"},
    ),
    "result": ("def use():\n    def inner(): ...\n    return inner\n", {"use -> use.inner"}),
    "decorator that registers": (
        "import web\napp = web.App()\n\n\n@app.route('/')\ndef index(): ...\n\n\n@property\ndef no(): ...\n",
        {"a -> index"},
    ),
    "decorated method": (
        "import web\n\n\nclass View:\n    @web.get('/')\n    def show(self): ...\n"
        "    @staticmethod\n    def no(): ...\n",
        {"View -> View.show"},
    ),
    "a variable hides a function": ("def work(): ...\n\n\ndef use(work):\n    print(work)\n", set()),
}


@pytest.mark.parametrize("name", VALUES)
def test_functions_as_values(tmp_path, name):
    code, expected = VALUES[name]
    with world(tmp_path, {"a.py": code}) as graph:
        possible = {
            f"{source} -> {target}".replace("a.py:", "")
            for _, source, target, *_, confidence, _ in graph.named_edges("calls")
            if confidence == "possible"
        }
        assert possible == expected


def test_what_an_outside_function_returns_is_unknown(tmp_path):
    code = "import click\n\n\ndef use(ctx):\n    click.find(Room).get()\n    click.Path().get()\n"
    with world(tmp_path, {"room.py": ROOM, "use.py": code}) as graph:
        calls = [(line, confidence) for *_, line, _, confidence, _ in graph.named_edges("calls")]
        assert set(calls) == {(5, "ambiguous")}
