"""Ten shapes that real repositories have: files, how a user sets them up, a change, a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Files = dict[str, str]


class Shape(NamedTuple):
    """A repository as its developers have it on their machines.

    `needs` are programs; `set_up` are shell commands after the first commit; `candidates` those
    that must be found, the first of which is used. `change` is right, `mistake` replaces a part of
    it by what the tests must notice. `made` is what hooks make of files of the change. `checks`
    must pass in the user's tree once the commit is there.
    """

    files: Files
    needs: Sequence[str]
    set_up: Sequence[str]
    candidates: Sequence[str]
    change: Files
    mistake: Files
    made: Mapping[str, str] = {}
    checks: Sequence[str] = ()


PY_ANSWER = "def answer():\n    return 1\n"
PY_TWO = "def answer():\n    return 2\n"
PY_WRONG = "def answer():\n    return 3\n"


def _py_test(module: str, wanted: int) -> str:
    return f"from {module} import answer\n\n\ndef test_answer():\n    assert answer() == {wanted}\n"


def _project(name: str, more: str = "") -> str:
    head = '[build-system]\nrequires = ["setuptools>=61"]\nbuild-backend = "setuptools.build_meta"'
    return f'{head}\n\n[project]\nname = "{name}"\nversion = "1.0"\n{more}'


_IGNORED = "__pycache__/\n*.egg-info/\n.venv/\n.tox/\n.pytest_cache/\nbuild/\n"
_VENV = "python3 -m venv .venv && .venv/bin/pip install -q"
_PYTEST = '\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'
_HOOK = "printf '#!/bin/sh\\n%s\\n' '{}' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit"

PIP = Shape(
    files={
        "pyproject.toml": _project("pack", _PYTEST), ".gitignore": _IGNORED,
        "src/pack/__init__.py": PY_ANSWER, "tests/test_answer.py": _py_test("pack", 1),
    },
    needs=["python3"],
    set_up=[f"{_VENV} pytest -e ."],
    candidates=[".venv/bin/python -m pytest -q"],
    change={"src/pack/__init__.py": PY_TWO, "tests/test_answer.py": _py_test("pack", 2)},
    mistake={"src/pack/__init__.py": PY_WRONG},
    checks=[".venv/bin/python -m pytest -q"],
)  # fmt: skip

TOX = Shape(
    files={
        "setup.py": "from setuptools import setup\n\nsetup(name='flat', py_modules=['flat'])\n",
        "tox.ini": "[tox]\nenvlist = py3\n\n[testenv]\ndeps = pytest\ncommands = pytest -q\n",
        ".gitignore": _IGNORED, "flat.py": PY_ANSWER, "test_flat.py": _py_test("flat", 1),
    },
    needs=["tox"],
    set_up=["tox -q"],
    candidates=[".tox/py3/bin/python -m pytest -q", "tox -e py3"],
    change={"flat.py": PY_TWO, "test_flat.py": _py_test("flat", 2)},
    mistake={"flat.py": PY_WRONG},
    checks=["tox -q"],
)  # fmt: skip

UV = Shape(
    files={
        "pyproject.toml": _project("pack", '\n[dependency-groups]\ndev = ["pytest"]\n'),
        ".gitignore": _IGNORED, "src/pack/__init__.py": PY_ANSWER,
        "tests/test_answer.py": _py_test("pack", 1),
    },
    needs=["uv"],
    set_up=["uv sync -q", "git add uv.lock && git commit -qm Lock"],
    candidates=[".venv/bin/python -m pytest -q"],
    change={"src/pack/__init__.py": PY_TWO, "tests/test_answer.py": _py_test("pack", 2)},
    mistake={"src/pack/__init__.py": PY_WRONG},
    checks=["uv run -q --no-sync pytest -q"],
)  # fmt: skip

JS_TEST = """\
import assert from "node:assert";
import test from "node:test";
import {{ answer }} from "lib";

test("answer", () => assert.equal(answer(), {}));
"""
_LIB = '{\n  "name": "lib",\n  "version": "1.0.0",\n  "type": "module",\n  "main": "index.js"\n}\n'


def _app(lib: str) -> str:
    return (
        '{\n  "name": "app",\n  "version": "1.0.0",\n  "type": "module",\n  "scripts": {\n'
        '    "test": "node --test"\n  },\n  "dependencies": {\n    "lib": '
        f'"{lib}"\n  }}\n}}\n'
    )


def _js(value: int) -> str:
    return f"export const answer = () => {value};\n"


NPM = Shape(
    files={
        "package.json": '{\n  "private": true,\n  "workspaces": ["packages/*"],\n  "scripts": {\n'
        '    "prepare": "husky"\n  },\n  "devDependencies": {\n    "husky": "^9",\n'
        '    "lint-staged": "^15",\n    "prettier": "^3"\n  },\n  "lint-staged": {\n'
        '    "*.{json,js}": "prettier --write"\n  }\n}\n',
        ".husky/pre-commit": "npx lint-staged\n", ".gitignore": "node_modules/\n",
        "packages/lib/package.json": _LIB, "packages/lib/index.js": _js(1),
        "packages/app/package.json": _app("*"), "packages/app/app.test.js": JS_TEST.format(1),
    },
    needs=["npm"],
    set_up=["npm install --silent", "npx prettier --write --log-level silent . && git add -A",
            "git commit -qm Install"],
    candidates=["npm test --workspaces --if-present"],
    change={
        "packages/lib/index.js": "export const answer = ()=>2\n",
        "packages/app/app.test.js": JS_TEST.format(2),
        "packages/app/data.json": '{"a":1}\n',
    },
    mistake={"packages/lib/index.js": _js(3)},
    made={"packages/app/data.json": '{ "a": 1 }\n', "packages/lib/index.js": _js(2)},
    checks=["npx prettier --check .", "npm test --workspaces --if-present"],
)  # fmt: skip

PNPM = Shape(
    files={
        "package.json": '{\n  "private": true,\n  "scripts": {\n    "test": "pnpm -r test"\n'
        "  }\n}\n",
        "pnpm-workspace.yaml": "packages:\n  - packages/*\n", ".gitignore": "node_modules/\n",
        "packages/lib/package.json": _LIB, "packages/lib/index.js": _js(1),
        "packages/app/package.json": _app("workspace:*"),
        "packages/app/app.test.js": JS_TEST.format(1),
    },
    needs=["pnpm", "node"],
    set_up=["pnpm install --silent", "git add -A && git commit -qm Install"],
    candidates=["pnpm test"],
    change={"packages/lib/index.js": _js(2), "packages/app/app.test.js": JS_TEST.format(2)},
    mistake={"packages/lib/index.js": _js(3)},
    checks=["pnpm test"],
)  # fmt: skip


def _rust(value: int, wanted: int) -> str:
    return (
        f"pub fn answer() -> u32 {{\n    {value}\n}}\n\n#[test]\nfn it_answers() {{\n"
        f"    assert_eq!(answer(), {wanted});\n}}\n"
    )


CARGO = Shape(
    files={
        "Cargo.toml": '[package]\nname = "pack"\nversion = "1.0.0"\nedition = "2021"\n',
        ".gitignore": "target/\n", "src/lib.rs": _rust(1, 1),
        "tests/whole.rs": "#[test]\nfn answers() {\n    assert!(pack::answer() < 3);\n}\n",
    },
    needs=["cargo"],
    set_up=["cargo test -q --offline", "git add -A && git commit -qm Lock",
            _HOOK.format("exec cargo fmt --check")],
    candidates=["cargo test --offline"],
    change={"src/lib.rs": _rust(2, 2),
            "tests/whole.rs": "#[test]\nfn answers() {\n    assert!(pack::answer() < 4);\n}\n"},
    mistake={"src/lib.rs": _rust(3, 2)},
    checks=["cargo test -q --offline", "cargo fmt --check"],
)  # fmt: skip


def _go(value: int) -> str:
    return f"package pack\n\nfunc Answer() int {{\n\treturn {value}\n}}\n"


def _go_test(wanted: int) -> str:
    return (
        'package pack\n\nimport "testing"\n\nfunc TestAnswer(t *testing.T) {\n'
        f'\tif Answer() != {wanted} {{\n\t\tt.Fatal("wrong")\n\t}}\n}}\n'
    )


GO = Shape(
    files={"go.mod": "module example.com/pack\n\ngo 1.19\n", "pack.go": _go(1),
           "pack_test.go": _go_test(1)},
    needs=["go", "gofmt"],
    set_up=["go test ./...", _HOOK.format('test -z "$(gofmt -l .)"')],
    candidates=["go test ./..."],
    change={"pack.go": _go(2), "pack_test.go": _go_test(2)},
    mistake={"pack.go": _go(3)},
    checks=["go test ./..."],
)  # fmt: skip


def _c_test(wanted: int) -> str:
    return f'#include "answer.h"\n\nint main(void) {{ return answer() != {wanted}; }}\n'


MAKE = Shape(
    files={
        "Makefile": "run-tests: test.o answer.o\n\t$(CC) -o $@ $^\n%.o: %.c answer.h\n"
        "\t$(CC) -c -o $@ $<\n.PHONY: test\ntest: run-tests\n\t./run-tests\n",
        ".gitignore": "*.o\nrun-tests\n", "answer.h": "int answer(void);\n",
        "answer.c": '#include "answer.h"\n\nint answer(void) { return 1; }\n',
        "test.c": _c_test(1),
    },
    needs=["make", "cc"],
    set_up=["make test"],
    candidates=["make test"],
    change={"answer.c": '#include "answer.h"\n\nint answer(void) { return 2; }\n',
            "test.c": _c_test(2)},
    mistake={"answer.c": '#include "answer.h"\n\nint answer(void) { return 3; }\n'},
    checks=["make test"],
)  # fmt: skip

MANIFEST = Shape(
    files={
        **PIP.files,
        "MANIFEST.in": "include MANIFEST.in\ngraft src\ngraft tests\nexclude .gitignore\n"
        "prune .github\nglobal-exclude *.py[co]\n",
        ".github/workflows/ci.yml": "on: push\njobs:\n  test:\n"
        "    runs-on: ubuntu-latest\n    steps:\n"
        "      - run: pip install check-manifest -e .\n      - run: check-manifest\n"
        "      - run: python -m pytest -q\n",
    },
    needs=["python3"],
    set_up=[f"{_VENV} pytest check-manifest setuptools wheel -e .",
            _HOOK.format("exec .venv/bin/check-manifest --no-build-isolation")],
    candidates=[".venv/bin/python -m pytest -q"],
    change=PIP.change,
    mistake=PIP.mistake,
    checks=[".venv/bin/check-manifest --no-build-isolation"],
)  # fmt: skip

_PRE_COMMIT = """\
repos:
  - repo: local
    hooks:
      - id: trim
        name: trim trailing blanks
        language: system
        entry: sed -i 's/ *$//'
        types: [python]
"""

VERSION = Shape(
    files={
        ".pre-commit-config.yaml": _PRE_COMMIT,
        ".gitignore": _IGNORED + "src/pack/_version.py\n",
        "pyproject.toml": '[build-system]\nrequires = ["setuptools>=61", "setuptools-scm>=8"]\n'
        'build-backend = "setuptools.build_meta"\n\n[project]\nname = "pack"\n'
        'dynamic = ["version"]\n\n[tool.setuptools_scm]\nversion_file = "src/pack/_version.py"\n'
        + _PYTEST,
        "src/pack/__init__.py": "from pack._version import version\n\n\n" + PY_ANSWER,
        "tests/test_answer.py": _py_test("pack", 1),
    },
    needs=["python3"],
    set_up=["git tag v1.0", f"{_VENV} pytest pre-commit -e .", ".venv/bin/pre-commit install"],
    candidates=[".venv/bin/python -m pytest -q"],
    change={
        "src/pack/__init__.py": "from pack._version import version   \n\n\n" + PY_TWO,
        "tests/test_answer.py": _py_test("pack", 2),
    },
    mistake={"src/pack/__init__.py": "from pack._version import version\n\n\n" + PY_WRONG},
    made={"src/pack/__init__.py": "from pack._version import version\n\n\n" + PY_TWO},
    checks=[".venv/bin/python -m pytest -q"],
)  # fmt: skip

SHAPES = {
    "pip editable, src layout": PIP, "flat Python with tox": TOX, "uv": UV,
    "npm workspaces with husky": NPM, "pnpm": PNPM, "Cargo": CARGO, "Go": GO, "Makefile C": MAKE,
    "check-manifest in CI": MANIFEST, "generated version file": VERSION,
}  # fmt: skip
