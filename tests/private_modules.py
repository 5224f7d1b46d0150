"""A contract for import-linter: of another room, only modules that its `__init__` lists in `PUBLIC` are imported.

`PUBLIC` is a tuple of modules below the room, such as `("votes", "voting.chunks")`. The room itself, with what its
`__init__` gives out, and single files at the top of the package are open to all. A listed module that no other room
imports is an error too, so that the lists stay short.
"""

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


def public_modules(package: Path) -> dict[str, tuple[str, ...]]:
    """What each room lists; nothing where it has no list."""
    return {init.parent.name: _listed(init) for init in sorted(package.glob("*/__init__.py"))}


def _listed(init: Path) -> tuple[str, ...]:
    for node in ast.parse(init.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PUBLIC":
            return tuple(ast.literal_eval(node.value))
    return ()


def wrong_imports(graph: ImportGraph, root: str, public: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """One line for each import that crosses into a private module, and for each listed module that nobody needs."""
    used = set()
    for importer in sorted(name for name in graph.modules if f"{name}.".startswith(f"{root}.")):
        for imported in sorted(graph.find_modules_directly_imported_by(importer)):
            room, _, module = imported.removeprefix(f"{root}.").partition(".")
            if not imported.startswith(f"{root}.") or not module or _room_of(importer, root) == room:
                continue
            used.add((room, module))
            if module not in public[room]:
                yield f"{importer} imports {imported}, which {room}/__init__.py does not list in PUBLIC"
    for room, modules in public.items():
        for module in modules:
            if (room, module) not in used:
                yield f"{room}/__init__.py lists {module} in PUBLIC, which no other room imports: take it off"


def _room_of(module: str, root: str) -> str:
    return module.removeprefix(root).lstrip(".").partition(".")[0]


class PrivateModules(Contract):
    """The contract; its only option is the root package."""

    type_name = "private_modules"
    root = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Compares all imports between rooms with the lists."""
        root = str(self.root)
        found = importlib.util.find_spec(root)
        package = Path(found.submodule_search_locations[0])
        wrong = list(wrong_imports(graph, root, public_modules(package)))
        return ContractCheck(kept=not wrong, metadata={"wrong": wrong})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Prints what is wrong."""
        for line in check.metadata["wrong"]:
            output.print_error(line)
