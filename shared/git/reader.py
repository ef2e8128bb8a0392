"""Read objects of a repository and differences of its trees from git processes that stay.

Nothing is read whose size is not known before: what others have pushed may be of any size.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, NamedTuple, cast

from shared.git.change import Ends, Entry
from shared.git.failure import FETCH_ALL, error_text, failed
from shared.git.programs import is_partial
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BufferedReader
    from typing import IO, Self

    from shared.git.command import Git

_GONE = "000000"
# Git echoes a line that names no tree, and with it writes out what it still holds back.
_END = b"end\n"
# So many ids and their answers fit into pipes, of which git fills one while it reads the other.
_AT_ONCE = 400


class Head(NamedTuple):
    """An object's id, kind and size; all empty where there is none."""

    id: str = ""
    kind: str = ""
    size: int = -1


_NOWHERE = Head()


class Reader:
    """Answers questions about objects and trees, each kind by one process of git."""

    def __init__(self, git: Git, trees: Git | None = None) -> None:
        """`trees` is asked for differences, where that is another one, which borrows objects."""
        self.git = git
        self.trees = trees or git
        self._stack = contextlib.ExitStack()
        self._processes: dict[tuple[str, ...], _Asked] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def head(self, name: str) -> Head:
        """Return the id, kind and size of the object that a name without blanks names."""
        return self.heads([name])[name]

    def heads(self, names: Sequence[str]) -> dict[str, Head]:
        """Return the same for several names, asked together as far as pipes hold the answers."""
        asked, found = self._asked("cat-file", "--batch-check"), dict[str, Head]()
        for at in range(0, len(names), _AT_ONCE):
            part = names[at : at + _AT_ONCE]
            asked.say(os.fsencode("".join(f"{name}\n" for name in part)))
            for name, line in zip(part, asked.lines(len(part)), strict=True):
                *known, size = line.split(b" ")
                if size.isdigit():
                    found[name] = Head(known[0].decode(), known[1].decode(), int(size))
                else:  # a word that says why there is none
                    found[name] = _NOWHERE
        return found

    def content(self, name: str, most: int) -> bytes | None:
        """Return the content of a blob or commit; None if there is none, or it is larger."""
        found = self.head(name)
        is_read = found.kind in {"blob", "commit"} and found.size <= most
        return self.read(found) if is_read else None

    def read(self, found: Head) -> bytes:
        """Return the content of an object whose size is known."""
        asked = self._asked("cat-file", "--batch")
        asked.say(os.fsencode(found.id) + b"\n")
        asked.line()
        data = asked.bytes(found.size)
        asked.bytes(1)
        return data

    def changed(self, old: str, new: str, most: int) -> dict[str, Ends]:
        """Return each path that differs between two trees, by their ids, with its file in both.

        Refused where more than `most` do.
        """
        if old == new:
            return {}
        if self.is_partial:
            self._fetch(old, new)
        shape = ("-r", "-z", "--raw", "--full-index", "--no-renames")
        asked = self._asked("diff-tree", "--stdin", *shape)
        trees = f"{old} {new}"
        asked.say(f"{trees}\n".encode() + _END)
        if asked.line() != trees.encode():  # git passes over what it does not have
            text = "git does not have one of these trees, or not all of it"
            raise Refused("not_found", f"{old[:12]}..{new[:12]}", text, f"fetch it: {FETCH_ALL}")
        found: dict[str, Ends] = {}
        while asked.bytes(1) == b":":
            meta, name = asked.until(b"\0").decode(), asked.until(b"\0")
            if len(found) == most:
                text = f"more than {most:,} files differ there, which is as many as are compared"
                raise Refused("refused", f"{old[:12]}..{new[:12]}", text, "name a smaller range")
            old_mode, mode, before, after = meta.split(" ")[:4]
            found[name.decode("utf-8", "surrogateescape")] = Ends(
                None if old_mode == _GONE else Entry(old_mode, before),
                None if mode == _GONE else Entry(mode, after),
            )
        asked.bytes(len(_END) - 1)
        return found

    @functools.cached_property
    def is_partial(self) -> bool:
        """Whether the repository is a partial clone, in which git fetches what it needs."""
        return is_partial(self.git.settings())

    def _fetch(self, old: str, new: str) -> None:
        """Have git fetch those trees that a partial clone left out; Refused if it cannot.

        The other process borrows objects and knows no remote.
        """
        done = self.git.attempt("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        if done.returncode:
            said = error_text(done.stderr, done.returncode)
            raise failed("git diff-tree", said, f"fetch what is missing: {FETCH_ALL}")

    def _asked(self, *words: str) -> _Asked:
        if words not in self._processes:
            git = self.trees if words[0] == "diff-tree" else self.git
            self._processes[words] = self._stack.enter_context(_Asked(git, words))
        return self._processes[words]


class _Asked:
    """One process of git that answers line by line."""

    def __init__(self, git: Git, words: tuple[str, ...]) -> None:
        self.words = words
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 – open as long as the process
        self._process = git.started(words, self._stderr, subprocess.PIPE)
        self._into = cast("IO[bytes]", self._process.stdin)
        self._out = cast("BufferedReader", self._process.stdout)

    def say(self, data: bytes) -> None:
        """Ask; Refused if git has ended."""
        try:
            self._into.write(data)
            self._into.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def line(self) -> bytes:
        """Return the next line, without its end."""
        return self.lines(1)[0]

    def lines(self, count: int) -> list[bytes]:
        """Return the next lines, at least one, without their ends."""
        found = [self._out.readline() for _ in range(count)]
        if not found[-1].endswith(b"\n"):
            raise self._ended()
        return [line[:-1] for line in found]

    def until(self, end: bytes) -> bytes:
        """Return what comes before the next byte `end`."""
        found = b""
        while ready := self._out.peek():
            at = ready.find(end)
            if at >= 0:
                return found + self._out.read(at + 1)[:-1]
            found += self._out.read(len(ready))
        raise self._ended()

    def bytes(self, count: int) -> bytes:
        """Return so many bytes."""
        data = self._out.read(count)
        if len(data) < count:
            raise self._ended()
        return data

    def _ended(self) -> Refused:
        """Return why git has ended before its answer: as where a partial clone finds no remote."""
        self._process.kill()
        code = self._process.wait()
        self._stderr.seek(0)
        way = f"fetch what is missing, then run the same command again: {FETCH_ALL}"
        return failed(f"git {self.words[0]}", error_text(self._stderr.read(), code), way)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._into.close()
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._stderr.close()
