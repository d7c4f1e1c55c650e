"""Random programs whose every call is known, as source, as truth, and as a compiler's SCIP index.

Each module has classes with a base class and methods, makers that return an instance, and a function that
calls methods of what the makers return. The truth about a call follows the chain of maker, class and base
classes through the modules, as a compiler would: none of the types is written where the call is.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from graph.scip.builder import ScipBuilder, ScipDocument, package_symbol

METHODS = ("open", "close", "read", "seek")


@dataclass
class Class:
    """A class: its base in another module, and its own methods."""

    base: tuple[str, str] | None = None
    methods: list[str] = field(default_factory=list)


@dataclass
class Module:
    """A module: classes by name, makers by name (with the class that they return), calls of a function."""

    classes: dict[str, Class] = field(default_factory=dict)
    makers: dict[str, tuple[str, str]] = field(default_factory=dict)
    calls: list[tuple[str, str, str]] = field(default_factory=list)  # module and name of the maker, method
    padding: int = 0  # empty lines above everything


@dataclass
class Program:
    """Modules by name."""

    modules: dict[str, Module]

    @classmethod
    def random(cls, rng: random.Random, size: int = 10) -> Program:
        """Make a program."""
        program = cls({f"m{number}": Module() for number in range(size)})
        for number, (name, module) in enumerate(program.modules.items()):
            below = [f"m{other}" for other in range(max(0, number - 2), number)]
            base = program.any_class(rng, below)
            module.classes[f"C{number}"] = Class(base, rng.sample(METHODS, 2))
            module.makers[f"make{number}"] = program.any_class(rng, [*below, name]) or (name, f"C{number}")
        for number, module in enumerate(program.modules.values()):
            module.calls = [program.any_call(rng, number) for _ in range(2)]
        return program

    def any_class(self, rng: random.Random, names: list[str]) -> tuple[str, str] | None:
        """Some class of these modules."""
        found = [(name, each) for name in names for each in self.modules[name].classes]
        return rng.choice(found) if found else None

    def any_call(self, rng: random.Random, number: int) -> tuple[str, str, str]:
        """A call of a method of what a maker returns, in this module or one of the few before."""
        other = rng.randrange(max(0, number - 2), number + 1)
        return f"m{other}", f"make{other}", rng.choice(METHODS)

    def resolve(self, maker_module: str, maker: str, method: str) -> tuple[str, str] | None:
        """The module and the class whose method a call runs."""
        module = self.modules.get(maker_module)
        owner = module.makers.get(maker) if module else None
        while owner is not None:
            holder = self.modules.get(owner[0])
            known = holder.classes.get(owner[1]) if holder else None
            if known is None:
                return None
            if method in known.methods:
                return owner
            owner = known.base
        return None

    def edit(self, rng: random.Random) -> None:
        """Change something, anywhere."""
        names = list(self.modules)
        number = int(rng.choice(names)[1:])
        module = self.modules[f"m{number}"]
        known = module.classes.get(f"C{number}")
        choice = rng.randrange(6)
        if choice == 0 and known:
            known.methods = rng.sample(METHODS, rng.randrange(1, 4))
        elif choice == 1 and known:
            known.base = self.any_class(rng, [f"m{other}" for other in range(max(0, number - 2), number)])
        elif choice == 2:
            target = self.any_class(rng, [f"m{other}" for other in range(max(0, number - 2), number + 1)])
            module.makers[f"make{number}"] = target or (f"m{number}", f"C{number}")
        elif choice == 3:
            module.padding = rng.randrange(3)
        elif choice == 4:
            module.calls = [self.any_call(rng, number) for _ in range(2)]
        elif known:
            del module.classes[f"C{number}"]
        else:
            module.classes[f"C{number}"] = Class(None, list(METHODS))

    def files(self) -> dict[str, str]:
        """The sources."""
        return {f"{name}.py": "\n".join(self.lines(name)) + "\n" for name in self.modules}

    def lines(self, name: str) -> list[str]:
        """The source of a module."""
        module = self.modules[name]
        lines = [""] * module.padding
        owners = [each.base for each in module.classes.values() if each.base]
        owners += module.makers.values()
        lines += [
            f"from {other} import {each}" for other, each in sorted({o for o in owners if o[0] != name})
        ]
        imported = sorted({(other, maker) for other, maker, _ in module.calls if other != name})
        lines += [f"from {other} import {maker}" for other, maker in imported]
        for each, known in module.classes.items():
            lines.append(f"class {each}({known.base[1]}):" if known.base else f"class {each}:")
            for method in known.methods:
                lines += [f"    def {method}(self):", "        pass"]
        for maker, owner in module.makers.items():
            lines += [f"def {maker}():", "    made = {}", f"    return made.get(0, {owner[1]}())"]
        lines.append(f"def run_{name}():")
        lines += [f"    {maker}().{method}()" for _, maker, method in module.calls]
        return lines

    def truth(self) -> set[tuple[str, int, str]]:
        """File, line and target of every call of a method, and of every maker."""
        calls = set()
        for name, module in self.modules.items():
            first = len(self.lines(name)) - len(module.calls) + 1
            for line, (other, maker, method) in enumerate(module.calls, first):
                if maker in self.modules[other].makers:
                    calls.add((f"{name}.py", line, f"{other}.py:{maker}"))
                if owner := self.resolve(other, maker, method):
                    calls.add((f"{name}.py", line, f"{owner[0]}.py:{owner[1]}.{method}"))
        return calls

    def scip(self) -> ScipBuilder:
        """What a compiler says about the program."""
        builder = ScipBuilder()
        documents = {f"{n}.py": builder.document(f"{n}.py", text) for n, text in self._texts().items()}
        for name in self.modules:
            for line, text in enumerate(self.lines(name), 1):
                words = text.replace("(", " ").replace(":", " ").split()
                if words[:1] == ["class"]:
                    inside = words[1]
                    documents[f"{name}.py"].define(line, inside, package_symbol(f"{name}/{inside}#"))
                elif words[:1] == ["def"]:
                    owner = f"{inside}#" if text.startswith(" ") else ""
                    documents[f"{name}.py"].define(
                        line, words[1], package_symbol(f"{name}/{owner}{words[1]}().")
                    )
                self._mark_names(documents[f"{name}.py"], name, line, text)
        for path, line, target in self.truth():
            module, _, symbol = target.partition(".py:")
            parts = symbol.split(".")
            descriptors = f"{parts[0]}#{parts[1]}()." if len(parts) > 1 else f"{symbol}()."
            documents[path].mark(line, parts[-1], package_symbol(f"{module}/{descriptors}"))
        return builder

    def _texts(self) -> dict[str, str]:
        return {path.removesuffix(".py"): text for path, text in self.files().items()}

    def _mark_names(self, document: ScipDocument, name: str, line: int, text: str) -> None:
        """Mark the classes that imports, bases and makers mention."""
        for other, module in self.modules.items():
            for each in module.classes:
                is_own = text.startswith(f"class {each}")
                if (f"{each}(" in text.replace(")", "(") and not is_own) or text.endswith(f"import {each}"):
                    document.mark(line, each, package_symbol(f"{other}/{each}#"))
