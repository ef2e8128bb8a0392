from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.imports import circles, module_graph, read_modules, top_folder_graph

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def test_imports_count_wherever_they_stand(tmp_path: Path) -> None:
    lazy = "def f():\n    from low import one\n"
    typed = "if TYPE_CHECKING:\n    from low.two import Name\n"
    files = {"a.py": lazy, "b.py": typed, "c.py": "from low import name\nimport json\n"}
    write(tmp_path, {**files, "low/__init__.py": "", "low/one.py": "", "low/two.py": ""})
    graph = module_graph(read_modules(str(tmp_path)))
    assert {name: graph[name] for name in "abc"} == {
        "a": {"low.one"}, "b": {"low.two"}, "c": {"low"}
    }  # fmt: skip


def test_relative_imports_are_found(tmp_path: Path) -> None:
    text = "from . import d\nfrom .d import x\nfrom ..b import y\n"
    write(tmp_path, {"p/a/c.py": text, "p/a/d.py": "", "p/b.py": ""})
    assert module_graph(read_modules(str(tmp_path)))["p.a.c"] == {"p.a.d", "p.b"}


def test_what_is_not_of_the_product_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(("tests/a.py", ".deps/b.py", "cli/demo/repo/c.py"), ""))
    write(tmp_path, {"cli/demo/d.py": "\n\n"})
    modules = read_modules(str(tmp_path))
    assert [(m.path, m.folder, m.lines) for m in modules.values()] == [
        ("cli/demo/d.py", "cli/demo", 2)
    ]


def test_a_circle_is_named_with_all_that_is_in_it() -> None:
    graph: dict[str, set[str]] = {
        "top": {"left", "low"}, "left": {"right"}, "right": {"left", "low"}, "low": set()
    }  # fmt: skip
    assert circles(graph) == [["left", "right"]]


def test_a_top_folder_imports_what_all_modules_below_it_import(tmp_path: Path) -> None:
    up = {"up/a.py": "import up.b\nimport low.c\n", "up/b.py": "from up.in_it import d\n"}
    write(tmp_path, {**up, "up/in_it/d.py": "", "low/c.py": ""})
    modules = read_modules(str(tmp_path))
    assert top_folder_graph(modules, module_graph(modules)) == {"up": {"low"}, "low": set()}
