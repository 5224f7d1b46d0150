"""The contract that keeps modules private unless their room lists them. `make lint` checks the package itself."""

import grimp

from tests.private_modules import public_modules, wrong_imports

MODULES = ("pack", "pack.errors", "pack.hall", "pack.hall.door", "pack.hall.stairs", "pack.attic", "pack.attic.box")


def imports(*pairs):
    graph = grimp.ImportGraph()
    for module in MODULES:
        graph.add_module(module)
    for importer, imported in pairs:
        graph.add_import(importer=importer, imported=imported)
    return graph


def test_what_is_listed_and_what_lies_at_the_top_is_open_to_all():
    graph = imports(
        ("pack.attic.box", "pack.hall.door"),
        ("pack.attic.box", "pack.hall"),
        ("pack.attic.box", "pack.errors"),
        ("pack.hall.door", "pack.hall.stairs"),
        ("pack", "pack.hall.door"),
    )
    assert list(wrong_imports(graph, "pack", {"hall": ("door",), "attic": ()})) == []


def test_a_private_module_of_another_room_is_noticed():
    for importer in ("pack.attic.box", "pack.errors", "pack"):
        assert list(wrong_imports(imports((importer, "pack.hall.stairs")), "pack", {"hall": (), "attic": ()})) == [
            f"{importer} imports pack.hall.stairs, which hall/__init__.py does not list in PUBLIC"
        ]


def test_a_module_is_not_listed_for_nobody():
    graph = imports(("pack.hall.door", "pack.hall.stairs"))
    assert list(wrong_imports(graph, "pack", {"hall": ("stairs",)})) == [
        "hall/__init__.py lists stairs in PUBLIC, which no other room imports: take it off"
    ]


def test_lists_are_read_without_running_anything(tmp_path):
    for room, text in {"hall": 'PUBLIC = ("door",)\nraise RuntimeError', "attic": '"""Boxes."""'}.items():
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text(text)
    assert public_modules(tmp_path) == {"attic": (), "hall": ("door",)}
