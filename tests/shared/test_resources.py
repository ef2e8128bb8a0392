"""Words of printed commands reach a shell as they are, whatever they hold (05-contracts)."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.guard import own
from shared.resources import command, launcher_path, quote

WORDS = ["", "plain", "two words", "it's", "'-3' gives '-3rd'", 'say "it\'s"', "a\\'b", "$HOME's",
         "`id`'s", "what's new!", "one's\ntwo"]  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_quoted_word_is_one_word_to_a_shell(word: str) -> None:
    printed = subprocess.run(
        ["bash", "-c", f"printf %s {quote(word)}"], capture_output=True, text=True, check=True
    )
    assert printed.stdout == word


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0")))
def test_any_text_is_read_back(word: str) -> None:
    assert shlex.split(quote(word)) == [word]


def test_apostrophes_stay_readable() -> None:
    assert quote("'-3' gives '-3rd'") == "\"'-3' gives '-3rd'\""


@pytest.mark.parametrize("word", [w for w in WORDS if "\n" not in w and w])
def test_the_guard_reads_a_printed_command_of_ours(word: str) -> None:
    line = command("start", word)
    assert own.own_words(own.understand(line, "/"), "/") == ["start", word], launcher_path()
