"""Finds the test commands of projects in JavaScript, Rust, Go and Java, and of Makefiles."""

from __future__ import annotations

import glob
import json
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

from developer.candidates.found import Candidate, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from developer.candidates.found import Project

_SCRIPTS = ("test", "check", "lint", "typecheck", "type-check")
_UNSPECIFIED = "no test specified"
_MANAGERS = (
    ("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)  # fmt: skip
_IN_WORKSPACES = {
    "npm": "npm test --workspaces --if-present", "pnpm": "pnpm -r test",
    "yarn": "yarn workspaces run test", "bun": "bun run --filter '*' test",
}  # fmt: skip
_MOST_WORKSPACES = 50
_TARGETS = ("test", "tests", "check", "lint")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")


def javascript_candidates(project: Project) -> Iterator[Candidate]:
    """Yield the scripts of package.json that test, by the package manager of the lock file."""
    text = project.read("package.json")
    package = _json(text)
    manager = _manager(project, package)
    scripts = _scripts(package)
    for name in _SCRIPTS:
        if name in scripts and _UNSPECIFIED not in scripts[name]:
            line = line_of(text, rf'^\s*"{re.escape(name)}"\s*:') if "\n" in text else 1
            run = f"{manager} test" if name == "test" and manager != "bun" else None
            yield Candidate(run or f"{manager} run {name}", f"package.json:{line}")
    if "test" not in scripts or _UNSPECIFIED in scripts["test"]:
        tested = next(_tested_workspaces(project, package), "")
        if tested:
            yield Candidate(_IN_WORKSPACES[manager], tested)


def _manager(project: Project, package: dict[str, Any]) -> str:
    for lock, manager in _MANAGERS:
        if project.has(lock):
            return manager
    named = str(package.get("packageManager", "")).partition("@")[0]
    return named if named in _IN_WORKSPACES else "npm"


def _tested_workspaces(project: Project, package: dict[str, Any]) -> Iterator[str]:
    """Yield file and line of the test scripts of the packages of a workspace."""
    named = package.get("workspaces", [])
    patterns = named.get("packages", []) if isinstance(named, dict) else named
    if not patterns:
        listed = project.read("pnpm-workspace.yaml")
        patterns = re.findall(r"""^\s*-\s*["']?([^"'\s#!]+)""", listed, re.MULTILINE)
    for pattern in (p for p in patterns if isinstance(p, str) and not p.startswith(("/", "!"))):
        found = sorted(glob.glob(os.path.join(pattern, "package.json"), root_dir=project.files))
        for name in found[:_MOST_WORKSPACES]:
            text = project.read(name)
            if _UNSPECIFIED not in _scripts(_json(text)).get("test", _UNSPECIFIED):
                line = line_of(text, r'^\s*"test"\s*:')
                yield f"{os.path.normpath(name)}:{line}"


def _scripts(package: dict[str, Any]) -> dict[str, str]:
    found = package.get("scripts", {})
    return {n: c for n, c in found.items() if isinstance(c, str)} if isinstance(found, dict) else {}


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def compiled_candidates(project: Project) -> Iterator[Candidate]:
    """Yield the test commands of Cargo, Go, Maven and Gradle, without a network."""
    cargo = project.read("Cargo.toml")
    if cargo:
        everything = " --workspace" if "workspace" in _toml(cargo) else ""
        line = line_of(cargo, r"^\[(package|workspace)\]")
        yield Candidate(f"cargo test --offline{everything}", f"Cargo.toml:{line}")
    if module := project.read("go.mod"):
        yield Candidate("go test ./...", f"go.mod:{line_of(module, r'^module ')}")
    if project.has("pom.xml"):
        maven = "./mvnw" if project.has("mvnw") else "mvn"
        yield Candidate(f"{maven} -o -q test", "pom.xml:1")
    for name in ("build.gradle.kts", "build.gradle"):
        if project.has(name):
            gradle = "./gradlew" if project.has("gradlew") else "gradle"
            yield Candidate(f"{gradle} --offline test", f"{name}:1")
            break


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def target_candidates(project: Project) -> Iterator[Candidate]:
    """Yield the targets of a Makefile and the recipes of a justfile that test, check or lint."""
    for names, program, after in ((_MAKEFILES, "make", r"\s*::?(?!=)"),
                                  (_JUSTFILES, "just", r"(\s[^:=]*)?:(?!=)")):  # fmt: skip
        name = next(filter(project.has, names), "")
        text = project.read(name) if name else ""
        for target in _TARGETS:
            found = re.search(rf"^{target}{after}", text, re.MULTILINE)
            if found:
                line = text.count("\n", 0, found.start()) + 1
                yield Candidate(f"{program} {target}", f"{name}:{line}")
