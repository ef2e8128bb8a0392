"""JSON that is damaged or means harm, with the words in which each place refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.journey import Answer

# What a file holds, and what is said of it.
TEXTS = {
    "not JSON": ('{"a": ', "the file is not JSON"),
    "a name twice": ('{"a": 1, "a": 2}', "an object has the name 'a' twice"),
    "no number": ('{"a": NaN}', "nan is not a JSON number"),
    "endless number": ("[1e999]", "inf is not a JSON number"),
    "large number": ("[12345678901234567890]", "12345678901234567890 cannot be stored exactly"),
    "digits": ("[" + "9" * 5_000 + "]", "a number has too many digits"),
    "half a character": ('{"a": "\\ud800"}', "the text has half a character"),
    "half a character in a name": ('[{"\\udfff": 1}]', "the text has half a character"),
    "deep": ("[" * 200 + "]" * 200, "nested more than 100 levels deep"),
    "very deep": ('{"a":' * 10_000 + "1" + "}" * 10_000, "nested too deeply to be read"),
    "text": ('"x"', "this is a text, not "),
    "nothing": ("null", "this is null, not "),
}  # fmt: skip
# What is said where the one is wanted, and the other given.
KINDS = {
    "a list": ("{}", "this is an object, not a list"),
    "an object": ("[]", "this is a list, not an object"),
}


def cases(wanted: str) -> list[tuple[str, str]]:
    """Return each text, with what is said of it where a list or an object is wanted."""
    return [*TEXTS.values(), KINDS[wanted]]


def is_refused(answer: Answer, said: str) -> None:
    """Assert that a command was refused in these words, and not for a fault of ours."""
    assert (answer.code, answer.stderr) == (1, ""), answer.text
    assert answer.text.startswith("<error"), answer.text
    assert {kind for kind, _ in answer.problems} == {"invalid"}, answer.text
    assert any(text.startswith(said) or said in text for _, text in answer.problems), answer.text
