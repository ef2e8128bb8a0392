r"""Build the XML blocks that the planner prints; untrusted text can't end a block or pass as a tag.

Text of the user, of files and of the state goes into `data` or an attribute and nowhere else;
what XML cannot carry is shown as an escape such as `\x1b`, in `data` also what nobody would see.
Long text is cut with a note, so that a block stays below the 30,000 characters that hosts hand on
to their model.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from state.errors import Problem

DATA_LIMITS = {"step": 16_000, "result": 24_000}  # characters of one data element, by root
_ROOM, _LEAST = 24_000, 200  # of all data of a block; of what comes when that is used up
ERROR_LIMIT = 20_000  # characters of all problems together
_PART_LIMIT = 3_000  # of what a problem says, and of what it allows
_ATTRIBUTE_LIMIT = 4_200  # more than the longest path


class _Shown(dict[int, int | str]):
    """A `str.translate` table that maps characters to escapes; entries are added on first use."""

    def __init__(self, *escaped: range) -> None:
        super().__init__({ord("\r"): "\\r"})
        self.escaped = escaped

    def __missing__(self, code: int) -> int | str:
        shown: int | str = code
        if any(code in codes for codes in self.escaped):
            digits = 2 if code < _WIDE else 4 if code < _ASTRAL else 8
            shown = f"\\{'xuU'[digits // 4]}{code:0{digits}x}"
        self[code] = shown
        return shown


_WIDE, _ASTRAL = 0x100, 0x10000
_UNPRINTABLE = (
    range(0x09), range(0x0B, 0x20), range(0x7F, 0xA0), range(0xD800, 0xE000),
    range(0xFFFE, 0x10000),
)  # fmt: skip
# What takes no room, breaks a line or turns the direction: text that is not what it looks like.
# U+FE0E and U+FE0F stay, since they only choose between two pictures of a character.
_UNSEEN = (
    range(0xAD, 0xAE), range(0x34F, 0x350), range(0x61C, 0x61D), range(0x115F, 0x1161),
    range(0x17B4, 0x17B6), range(0x180B, 0x1810), range(0x200B, 0x2010), range(0x2028, 0x202F),
    range(0x2060, 0x2070), range(0x3164, 0x3165), range(0xFE00, 0xFE0E), range(0xFEFF, 0xFF00),
    range(0xFFA0, 0xFFA1), range(0xFFF0, 0xFFFC), range(0x1BCA0, 0x1BCA4),
    range(0x1D173, 0x1D17B), range(0xE0000, 0xE1000),
)  # fmt: skip


class _JsonShown(_Shown):
    """As `_Shown`, with the escapes of JSON: UTF-16 in hexadecimal digits."""

    def __missing__(self, code: int) -> int | str:
        shown = super().__missing__(code)
        if isinstance(shown, str):
            units = chr(code).encode("utf-16-be", "surrogatepass").hex()
            shown = self[code] = "".join(
                f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)
            )
        return shown


_IN_JSON = _JsonShown(*_UNPRINTABLE, *_UNSEEN)
_CARRIED = _Shown(*_UNPRINTABLE)
_VISIBLE = _Shown(*_UNPRINTABLE, *_UNSEEN)
_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})


def visible(value: str) -> str:
    """Return `value` with every invisible character written as an escape.

    Control characters and marks that turn the direction of the text count as invisible.
    """
    return value.translate(_VISIBLE)


def visible_line(value: str) -> str:
    """Return `value` with invisible characters, new lines and tabs written as escapes."""
    return visible(value).translate(_BREAKS)


def json_text(value: object, indent: int | None = 2) -> str:
    """Return a value as JSON for a reader: what nobody would see stands there as an escape."""
    import json  # not at the top: most blocks have none

    return json.dumps(value, indent=indent, ensure_ascii=False).translate(_IN_JSON)


def first_of(rows: Sequence[str], limit: int) -> list[str]:
    """Return the first `limit` rows, followed by a row such as "3 more" if there are others."""
    more = len(rows) - limit
    return [*rows[:limit], f"{more} more"] if more > 0 else list(rows)


def carried(value: str) -> str:
    """Return `value` with only those characters escaped that XML cannot contain.

    For commands and paths, which would not work with more.
    """
    return value.translate(_CARRIED)


def shortened(value: str, limit: int) -> str:
    """Return the first `limit` characters of `value`, with a note of how many were left out."""
    return _cut(visible(value), limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … [{len(text) - limit} characters left out]"


def escape(value: str) -> str:
    """Return `value` as XML text."""
    return carried(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attributes(values: dict[str, object]) -> str:
    """Return XML attributes, ` name="value"`, for each value that is not None."""
    parts = []
    for name, value in values.items():
        if value is not None:
            text = escape(_cut(carried(str(value)), _ATTRIBUTE_LIMIT))
            text = text.replace('"', "&quot;").translate(_BREAKS)
            parts.append(f' {name}="{text}"')
    return "".join(parts)


def cdata(value: str) -> str:
    """Return `value` as one CDATA section or, if it holds `]]>`, as several."""
    return "<![CDATA[" + carried(value).replace("]]>", "]]]]><![CDATA[>") + "]]>"


def _fitting(value: str, limit: int) -> tuple[str, int]:
    """Return the start of `value` as CDATA of about `limit` characters, and how many are left."""
    taken = limit
    while len(written := cdata(shortened(value, taken))) > limit + _LEAST:
        taken = taken * limit // len(written)
    return written, max(0, len(visible(value)) - taken)


def runnable(command: str) -> str:
    """Return a shell command as the text of an XML element, in CDATA if it has `<`, `>` or `&`."""
    return cdata(command) if any(c in command for c in "<>&") else carried(command)


class Block:
    """Builds one printed XML element; child elements appear in the order they were added in."""

    def __init__(self, root: str, **values: object) -> None:
        self.root = root
        self.values = values
        self.parts: list[str] = []
        self.room = _ROOM
        self.left = 0  # characters of data that did not fit
        self.wholes: dict[str, str] = {}  # which command prints all of the data with a name

    @property
    def is_cut(self) -> bool:
        """Whether some data did not fit and was shortened."""
        return self.left > 0

    def element(self, name: str, text: str, **values: object) -> Block:
        """Add an XML element whose text comes from the planner, not from a user or a file."""
        self.parts.append(f"<{name}{attributes(values)}>{escape(text)}</{name}>")
        return self

    def task(self, markdown: str) -> Block:
        """Add the element `<task>`, which tells the model what it must do now."""
        return self.element("task", markdown)

    def rules(self, markdown: str) -> Block:
        """Add the element `<rules>`: what the model must not do, each rule with its reason."""
        return self.element("rules", markdown)

    def data(self, name: str, value: str, **values: object) -> Block:
        """Add a `<data>` element, whose text is never an instruction; empty text adds nothing."""
        if value:
            shown = attributes({"name": name, **values})
            limit = DATA_LIMITS.get(self.root, DATA_LIMITS["result"])
            most = max(min(limit, self.room), _LEAST)
            text, left = _fitting(value, most)
            self.left += left
            self.room -= len(text)
            self.parts.append(f"<data{shown}>{text}</data>")
            if left and name in self.wholes:
                self.next(f"all of {name}", self.wholes[name])
        return self

    def dispatch(
        self,
        agent: str,
        commands: Sequence[str],
        *,
        parallel: bool = False,
        model: str | None = None,
    ) -> Block:
        """Add a `<dispatch>` element: the sub-agents that the model must start, one per command.

        `model` is the one that the settings choose for them.
        """
        at_once = "true" if parallel else None
        shown = attributes({"agent": agent, "model": model, "parallel": at_once})
        runs = "".join(f"<run>{runnable(c)}</run>" for c in commands)
        self.parts.append(f"<dispatch{shown}>{runs}</dispatch>")
        return self

    def ask(
        self, name: str, question: str, options: Iterable[tuple[str, str]], *, multi: bool = False
    ) -> Block:
        """Add an `<ask>` element with a question for the user; `options` are (value, text)."""
        shown = attributes({"id": name, "multi": "true" if multi else "false"})
        rows = "".join(
            f"<option{attributes({'value': value})}>{escape(visible(text))}</option>"
            for value, text in options
        )
        self.parts.append(
            f"<ask{shown}><question>{escape(visible(question))}</question>{rows}</ask>"
        )
        return self

    def next(self, on: str, command: str) -> Block:
        """Add a `<next>` element: the command that the model runs if the step ends as `on` says."""
        self.parts.append(f"<next{attributes({'on': on})}>{runnable(command)}</next>")
        return self

    def person(self, command: str) -> Block:
        """Add a `<person>` element: a command that only the user types, never the model."""
        self.parts.append(f"<person>{runnable(command)}</person>")
        return self

    def render(self) -> str:
        """Return the block as XML text that ends in a newline."""
        body = "\n".join(self.parts)
        inner = f"\n{body}\n" if body else ""
        return f"<{self.root}{attributes(self.values)}>{inner}</{self.root}>\n"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as `1 file` or `2,000 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def error_block(problems: Iterable[Problem], kept: str = "", call: Sequence[str] = ()) -> str:
    """Return the printed block that lists `problems`: an `<error>`, which means no change.

    Where a command has kept something all the same, it is a partial result that says what. `call`
    are the words of the refused command, from which each way out takes what it needs.
    """
    block = Block("result", partial="true").data("kept", kept) if kept else Block("error")
    every, room = list(problems), ERROR_LIMIT
    for number, problem in enumerate(every):
        # What is the same of each problem would only be read again and again, so the last has it.
        following = every[number + 1] if number + 1 < len(every) else None
        text = problem_text(
            problem, call,
            with_way=following is None or following.retry != problem.retry,
            with_allowed=following is None or following.allowed != problem.allowed,
        )  # fmt: skip
        room -= len(text) + len(problem.at)
        if room < 0 and number:
            left = f"{len(every) - number} more problems, shown when these are fixed"
            left += _way_out(problem, call)
            return block.element("problem", left, kind=problem.kind, at="…").render()
        block.element("problem", text, kind=problem.kind, at=problem.at)
        block.data("output", shortened(problem.output, _PART_LIMIT))
    return block.render()


def problem_text(
    problem: Problem, call: Sequence[str] = (), *, with_way: bool = True, with_allowed: bool = True
) -> str:
    """Return a problem as text; long parts are cut, except the command that leads on."""
    parts = [shortened(problem.problem, _PART_LIMIT)]
    if problem.allowed and with_allowed:
        parts.append(f"allowed: {shortened(problem.allowed, _PART_LIMIT)}")
    return " · ".join(parts) + (_way_out(problem, call) if with_way else "")


def _way_out(problem: Problem, call: Sequence[str]) -> str:
    if not problem.retry:
        return ""
    from shared.ways_out import way_out  # only a refusal needs it

    return way_out(problem.retry, call)
