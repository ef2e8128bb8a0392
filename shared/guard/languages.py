"""Accepts the small parts of sed, awk, jq, printf and test that only print or compare."""

from __future__ import annotations

from shared.guard.denial import Denied

_DIGITS = frozenset("0123456789")
_SED_FLAGS = frozenset("gpIi0123456789")
_SED_INSTEAD = "use `sed -n '10,20p' FILE`, `sed -n '/text/p' FILE`, `sed 's/a/b/g' FILE`"
_AWK_INSTEAD = "use `awk '{print $1, $NF}' FILE`, `cut -f 1 FILE`, `sed -n '10,20p' FILE`"
_AWK_FIELDS = frozenset(("NR", "FNR", "NF", "$NF", "length"))
_AWK_COMPARED = ("==", "!=", ">=", "<=", ">", "<")
_JQ_REFUSED = (
    "env", "import", "include", "input_filename", "get_search_list", "modulemeta",
    "def", "repeat", "until", "while", "recurse", "infinite",
)  # fmt: skip
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_TESTS_OF_ONE = frozenset(
    ("-d", "-e", "-f", "-h", "-L", "-n", "-r", "-s", "-S", "-p", "-w", "-x", "-z")
)
_TESTS_OF_TWO = frozenset(("=", "!=", "-nt", "-ot", "-ef"))
_TESTS_OF_NUMBERS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))


def check_sed(script: str) -> None:
    """Deny a sed script unless it consists of `p`, `d`, `=`, `q` and `s///`, with addresses."""
    rest = script
    while rest:
        rest = _sed_command(rest.lstrip(" "))
        if rest and rest[0] != ";":
            raise Denied(f"`{rest}` in a sed script is not accepted", _SED_INSTEAD)
        rest = rest[1:].lstrip(" ;")


def _sed_command(rest: str) -> str:
    """Check the first command of the sed script `rest`; return the text after that command."""
    before = rest
    rest = _sed_address(rest)
    if rest != before and rest.startswith(","):
        after = _sed_address(rest[1:].removeprefix("+"))
        if after == rest[1:].removeprefix("+"):
            raise Denied(f"`{rest}` in a sed script is not accepted", _SED_INSTEAD)
        rest = after
    rest = rest.lstrip(" ")
    rest = rest.removeprefix("!")
    if rest[:1] and rest[0] in "pd=q":
        return rest[1:].lstrip(" ")
    if rest[:1] == "s" and rest[1:2] and rest[1] in "/|#,@:!%_":
        rest = _sed_part(_sed_part(rest[2:], rest[1], regex=True), rest[1], regex=False)
        flags = len(rest) - len(rest.lstrip("".join(_SED_FLAGS)))
        return rest[flags:].lstrip(" ")
    raise Denied(f"`{rest}` in a sed script may write or run something", _SED_INSTEAD)


def _sed_address(rest: str) -> str:
    """Return the sed script `rest` without the line address at its beginning, if it has one."""
    if rest[:1] == "$":
        return rest[1:]
    if rest[:1] == "/":
        return _sed_part(rest[1:], "/", regex=True)
    return rest.lstrip("0123456789")


def _sed_part(rest: str, delimiter: str, *, regex: bool) -> str:
    """Return the text after the delimiter that ends a pattern or replacement of a sed command.

    Only some seds accept the delimiter inside a bracket, so that is denied.
    """
    at = 0
    while at < len(rest) and rest[at] != delimiter:
        if rest[at] == "\\":
            at += 2
        elif regex and rest[at] == "[":
            at = _bracket_end(rest, at, delimiter)
        else:
            at += 1
    if at >= len(rest):
        raise Denied("a part of the sed script lacks its closing delimiter", _SED_INSTEAD)
    return rest[at + 1 :]


def _bracket_end(rest: str, at: int, delimiter: str) -> int:
    first = at + 2 if rest.startswith("[^", at) else at + 1
    end = rest.find("]", first + 1)
    # `[[:alpha:]]` ends after its class.
    while end > 0 and rest[end - 1] == ":" and "[:" in rest[at + 1 : end]:
        end = rest.find("]", end + 1)
    inside = rest[at:end]
    if end < 0 or any(odd in inside for odd in (delimiter, "\\", "[.", "[=")):
        raise Denied("`[` in a sed script is not accepted here", _SED_INSTEAD)
    return end + 1


def check_awk(program: str) -> None:
    """Deny an awk program unless it only chooses lines by number or text and prints fields."""
    condition, brace, action = program.strip().partition("{")
    if brace and not action.endswith("}"):
        raise Denied("an awk program with more than one action is not accepted", _AWK_INSTEAD)
    if condition.strip():
        for part in condition.split("&&"):
            _check_awk_condition(part.strip())
    elif not brace:
        raise Denied(
            "the guard accepts only simple awk programs, and this is not one", _AWK_INSTEAD
        )
    printed = action[:-1].strip(" ;")
    if brace and printed != "print":
        if not printed.startswith("print "):
            raise Denied("an awk action other than `print` is not accepted", _AWK_INSTEAD)
        for item in _awk_items(printed[6:]):
            _check_awk_item(item)


def _check_awk_condition(part: str) -> None:
    if len(part) > 2 and part[0] == part[-1] == "/":  # noqa: PLR2004 – two slashes and a text
        if "/" not in part[1:-1] and "\\" not in part:
            return
    elif operator := next((o for o in _AWK_COMPARED if o in part), None):
        left, _, right = part.partition(operator)
        _check_awk_field(left.strip())
        if _is_number(right.strip()) or right.strip() in _AWK_FIELDS or _is_string(right.strip()):
            return
    raise Denied(f"`{part}` in an awk program is not accepted", _AWK_INSTEAD)


def _awk_items(text: str) -> list[str]:
    """Return the items of an awk `print` statement: strings, and the expressions between them."""
    items, strings = list[str](), text.split('"')
    if len(strings) % 2 == 0:
        raise Denied("a string in the awk program lacks its closing quote", _AWK_INSTEAD)
    for at, piece in enumerate(strings):
        items += [f'"{piece}"'] if at % 2 else piece.replace(",", " ").split()
    return items


def _check_awk_item(item: str) -> None:
    if not _is_string(item):
        _check_awk_field(item)


def _check_awk_field(text: str) -> None:
    if text not in _AWK_FIELDS and not (text[:1] == "$" and _is_number(text[1:])):
        raise Denied(f"`{text}` in an awk program is not accepted", _AWK_INSTEAD)


def _is_number(text: str) -> bool:
    return bool(text) and _DIGITS.issuperset(text)


def _is_string(text: str) -> bool:
    inside = text[1:-1]
    return len(text) > 1 and text[0] == text[-1] == '"' and not {'"', "\\"} & {*inside}


def check_jq(program: str) -> None:
    """Deny a jq program that may read the environment or other files, or may never end."""
    for before, letter, after in zip(program, program[1:], program[2:], strict=False):
        if before in _DIGITS and letter in "eE" and after in "+-0123456789":
            raise Denied(
                "a number such as 1e9 in a jq program may mean endless work",
                "use a number without `e`",
            )
    for name in _JQ_REFUSED:
        at = program.lower().find(name)
        while at >= 0:
            end = at + len(name)
            whole = program[end : end + 1] not in _NAME and program[at - 1 : at] not in _NAME
            before, after = program[at - 1 : at] if at else "", program[end : end + 1]
            field = before == "." or before == after == '"'
            if whole and not (field and not program[:at].endswith("..")):
                raise Denied(
                    f"`{name}` in a jq program reads other data or never ends",
                    "use filters such as `.key`",
                )
            at = program.lower().find(name, end)


def check_printf(words: list[str]) -> None:
    """Deny a printf format that assigns to a variable or makes the shell evaluate an operand."""
    if not words or words[0].startswith("-"):
        raise Denied("`printf` needs a format as its first argument", "write `printf '%s\\n' TEXT`")
    pieces = words[0].replace("%%", "").split("%")[1:]
    for piece in pieces:
        letter = piece.lstrip("-+ 0#123456789.")[:1]
        width = piece[: piece.find(letter)] if letter else piece
        if letter not in ("s", "b", "q", "c", "d", "i") or len(width) > 4:  # noqa: PLR2004 – 9999
            raise Denied(f"`%{piece}` in a format is not accepted", "write `printf '%s\\n' TEXT`")
        if letter in "di" and not all(_is_number(word) for word in words[1:]):
            raise Denied("`%d` and `%i` make the shell compute their arguments", "use `%s`")


def check_test(words: list[str]) -> None:
    """Deny a `test` command unless it asks about one file or text, or compares two."""
    words = words[1:] if words[:1] == ["!"] else words
    match words:
        case [operator, _] if operator in _TESTS_OF_ONE:
            return
        case [_, operator, _] if operator in _TESTS_OF_TWO and words[0] not in ("!", "("):
            return
        case [left, operator, right] if operator in _TESTS_OF_NUMBERS:
            if _is_number(left) and _is_number(right):
                return
    raise Denied(
        "this form of `test` is not accepted", "use `test -f FILE`, `[ -d FOLDER ]`, `[ a = b ]`"
    )
