"""Prepared states: the same walk is done once and copied, and any other one is really done."""

from __future__ import annotations

import os
import stat
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import pytest

from shared.resources import ROOT
from tests import prepared
from tests.conftest import GIT_CONFIG, Repository
from tests.journey import FILES, Journey
from tests.prepared import Grounds, digest_of, kept, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Change = Callable[["Player", pytest.MonkeyPatch], object]

pytest_plugins = ["pytester"]
PRODUCT = {"constant": 1}


class Player:
    """Stands for the player of a host; counts in `walks` how often it really walked."""

    walks = 0
    attribute = 1

    def __init__(self, folder: Path) -> None:
        self.folder = self.path = folder
        self.answers: Any = {"design": ["one"]}
        self.read: list[str] = []

    @kept
    def prepare(self) -> None:
        """Make what the walk then changes."""
        Player.walks += 1
        (self.folder / "full" / "sub").mkdir(parents=True)
        (self.folder / "full" / "sub" / "file").write_text("gone")
        (self.folder / "full-of").write_text("gone")
        (self.folder / "becomes a folder").write_text("file")
        (self.folder / "becomes a file" / "sub").mkdir(parents=True)
        (self.folder / "link").symlink_to("here")
        (self.folder / "mode").write_text("mode")

    @kept
    def walk(self, word: str = "walked") -> Self:
        """Change every kind of thing in the folder, and fields of the player."""
        Player.walks += 1
        if word == "fails":
            raise LookupError(word)
        self.read.append(word)
        (self.folder / "full" / "sub" / "file").unlink()
        (self.folder / "full" / "sub").rmdir()
        (self.folder / "full-of").unlink()
        (self.folder / "becomes a folder").unlink()
        (self.folder / "becomes a folder").mkdir()
        (self.folder / "becomes a folder" / "file").write_text("made")
        (self.folder / "becomes a file" / "sub").rmdir()
        (self.folder / "becomes a file").rmdir()
        (self.folder / "becomes a file").write_bytes(b"\0\xff")
        (self.folder / "link").unlink()
        (self.folder / "link").symlink_to("/there is/nothing")
        (self.folder / "mode").chmod(0o640)
        (self.folder / "program").write_text("#!/bin/sh\n")
        (self.folder / "program").chmod(0o755)
        os.utime(self.folder / "program", ns=(5, 7_000_000_009))
        (self.folder / "empty").mkdir()
        (self.folder / "sealed").mkdir()
        (self.folder / "sealed" / "file").write_text("in")
        (self.folder / "sealed").chmod(0o555)
        return self

    @kept
    def answer(self) -> list[str]:
        """Return one of the player's own fields."""
        Player.walks += 1
        self.read = [*self.read, "answered"]
        return self.read

    @kept
    def turn(self) -> None:
        """Hold a method of one's own."""
        Player.walks += 1
        self.answers = self.answer

    @kept
    def write(self) -> None:
        """Write a file."""
        Player.walks += 1
        (self.folder / "file").write_text("written")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grounds:
    """Return grounds that no other test of this worker has."""
    grounds = Grounds(tmp_path / "own")
    monkeypatch.setattr(prepared, "_grounds", grounds)
    monkeypatch.setattr(Player, "walks", 0)
    begin_again(grounds)
    return grounds


def begin_again(grounds: Grounds) -> Player:
    """Begin as the next test does."""
    if grounds.files.is_dir():
        for folder in (path for path in grounds.files.rglob("*") if path.is_dir()):
            folder.chmod(0o755)
    grounds.clear()
    grounds.begin()
    return Player(grounds.files)


def test_a_walk_is_done_once_and_what_it_left_is_copied(own: Grounds) -> None:
    player = begin_again(own)
    player.prepare()
    assert player.walk() is player
    wanted, fields = read_tree(str(own.root)), dict(vars(player))
    assert Player.walks == 2

    again = begin_again(own)
    again.prepare()
    assert (own.files / "full" / "sub" / "file").read_text() == "gone"
    assert again.walk() is again
    assert Player.walks == 2
    assert vars(again) == fields == {**fields, "read": ["walked"]}
    found = read_tree(str(own.root))
    assert {n: e[:2] for n, e in found.items()} == {n: e[:2] for n, e in wanted.items()}
    assert digest_of(found) == digest_of(wanted)
    program = (own.files / "program").stat()
    assert (stat.S_IMODE(program.st_mode), program.st_mtime_ns) == (0o755, 7_000_000_009)
    assert stat.S_IMODE((own.files / "sealed").stat().st_mode) == 0o555
    assert os.readlink(own.files / "link") == "/there is/nothing"
    assert list((own.files / "empty").iterdir()) == []

    again.read.append("more")
    third = begin_again(own)
    third.prepare()
    assert third.walk().read == ["walked"]
    answer = third.answer()
    assert answer is third.read
    fourth = begin_again(own)
    fourth.prepare()
    assert fourth.walk().answer() is fourth.read
    assert fourth.read == ["walked", "answered"]
    assert Player.walks == 3


def test_a_walk_from_other_files_is_kept_once_it_recurs(own: Grounds) -> None:
    for walks in (1, 2, 2):
        player = begin_again(own)
        (own.files / "own").write_text("of a test")
        player.write()
        assert Player.walks == walks
        assert sorted(os.listdir(own.files)) == ["file", "own"]


def test_folders_that_a_test_has_not_used_are_left_and_any_others_made_anew(own: Grounds) -> None:
    def number() -> int:
        return own.files.stat().st_ino

    (own.home / ".gitconfig").write_text(GIT_CONFIG, encoding="utf-8")
    began = number()
    begin_again(own)
    assert (number(), list(own.home.iterdir())) == (began, [])
    for use in (
        (own.files / "file").touch, (own.home / ".gitconfig").mkdir, (own.home / "x").touch,
        (own.root / "beside").touch,
    ):  # fmt: skip
        use()
        own.clear()
        assert [*own.files.iterdir(), *own.home.iterdir()] == []
        assert sorted(os.listdir(own.root)) == ["files", "home"]
    own.home.chmod(0o500)
    own.clear()
    assert stat.S_IMODE(own.home.stat().st_mode) != 0o500


OTHERS: dict[str, Change] = {
    "content": lambda player, _: (player.folder / "mode").write_text("MODE"),
    "mode": lambda player, _: (player.folder / "mode").chmod(0o600),
    "folder": lambda player, _: (player.folder / "more").mkdir(),
    "file at home": lambda player, _: (player.folder / "../home/.x").write_text(""),
    "link": lambda player, _: (player.folder / "more").symlink_to("mode"),
    "variable": lambda _, patch: patch.setenv("PLANNER_X", "1"),
    "no variable": lambda _, patch: patch.delenv("TZ"),
    "working folder": lambda player, patch: patch.chdir(player.folder),
    "answers": lambda player, _: player.answers["design"].append("two"),
    "new field": lambda player, _: setattr(player, "review", "none"),
    "function": lambda player, _: setattr(player, "answers", lambda: 1),
    "open file": lambda player, _: setattr(player, "answers", sys.stdout),
    "itself": lambda player, _: setattr(player, "answers", player.answer),
    "itself deep": lambda player, _: player.answers.update({"a": [player.answers]}),
    "attribute": lambda _, patch: patch.setattr(Player, "attribute", 2),
    "no attribute": lambda _, patch: patch.delattr(Player, "attribute"),
    "by name": lambda _, patch: patch.setattr("tests.test_prepared.PRODUCT", {}),
    "entry": lambda _, patch: patch.setitem(PRODUCT, "constant", 2),
    "no entry": lambda _, patch: patch.delitem(PRODUCT, "constant"),
    "pipe": lambda player, _: os.mkfifo(player.folder / "pipe"),
    "large": lambda player, _: os.truncate(_made(player, "large"), 6_000_000),
}


def _made(player: Player, name: str) -> Path:
    (player.folder / name).touch()
    return player.folder / name


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_a_walk_that_could_come_out_otherwise_is_really_done(
    own: Grounds, monkeypatch: pytest.MonkeyPatch, change: Callable[..., object]
) -> None:
    for _ in range(2):
        player = begin_again(own)
        player.prepare()
        player.walk()
    assert Player.walks == 2
    other = begin_again(own)
    other.prepare()
    change(other, monkeypatch)
    assert other.walk() is other
    assert Player.walks == 3
    assert other.read == ["walked"]
    assert (own.files / "becomes a folder" / "file").read_text() == "made"


def test_other_arguments_and_a_walk_that_failed_are_walked_again(own: Grounds) -> None:
    for walks in (2, 4):
        player = begin_again(own)
        player.prepare()
        with pytest.raises(LookupError):
            player.walk("fails")
        assert Player.walks == walks
        assert player.walk("on").read == ["on"]
        assert own.in_use


def test_a_player_that_comes_to_hold_itself_is_not_copied(own: Grounds) -> None:
    for walks in (1, 2):
        player = begin_again(own)
        player.turn()
        assert player.answers.__self__ is player
        assert Player.walks == walks


def test_what_cannot_be_read_or_is_anothers_is_no_ground_for_a_copy(own: Grounds) -> None:
    begin_again(own).write()
    user = os.geteuid()
    for walks in (2, 3):
        player = begin_again(own)
        if user == 0:
            os.chown(own.files, 65534, 65534)
        else:
            own.home.chmod(0)
        player.write()
        assert Player.walks == walks
        own.home.chmod(0o755)
    begin_again(own).write()
    assert Player.walks == 3


def test_a_run_goes_on_from_a_copied_state_as_from_a_real_one(own: Grounds) -> None:
    (own.home / ".gitconfig").write_text(GIT_CONFIG, encoding="utf-8")
    texts, trees = [], []
    for _ in range(2):
        begin_again(own)
        repository = Repository(own.files / "repo")
        prepared.prepared(repository, ("make",), partial(_begin, repository))
        journey = Journey(repository).to("design")
        trees.append(digest_of(read_tree(str(own.root))))
        assert repository.git("status", "--porcelain", "--untracked-files=all") == ""
        commit = repository.git("rev-parse", "HEAD")
        texts.append((commit, journey.state_dir, list(journey.calls), list(journey.read)))
        assert journey.advance().code == 0
        assert journey.point == "planner 6"
    assert texts[0] == texts[1]
    assert trees[0] == trees[1]


def _begin(repository: Repository) -> None:
    repository.path.mkdir(parents=True)
    repository.git("init", "--quiet")
    repository.commit(FILES, "Begin")


def test_a_walk_in_a_folder_of_its_own_is_really_done(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    before = Player.walks
    for name in ("one", "two"):
        (elsewhere / name).mkdir()
        player = Player(elsewhere / "now")
        (elsewhere / name).rename(player.folder)
        player.prepare()
        assert (player.folder / "full-of").exists()
        player.folder.rename(elsewhere / name)
    assert Player.walks == before + 2


def test_opted_out_rooms_have_new_folders_and_walk_and_the_others_do_not(
    pytester: pytest.Pytester,
) -> None:
    text = """
        import pytest
        from tests import prepared
        class Player: pass
        SEEN = []
        @pytest.mark.parametrize("n", [1, 2])
        def test_it(n, tmp_path):
            assert not list(tmp_path.iterdir())
            walks = []
            step = lambda: walks.append((tmp_path / "file").touch())
            player = Player()
            player.path = tmp_path
            prepared.prepared(player, ("step",), step)
            assert (tmp_path / "file").exists()
            SEEN.append((tmp_path, len(walks)))
        @pytest.fixture(scope="module")
        def of_module():
            walks = []
            for _ in range(2):
                prepared.prepared(Player(), ("elsewhere",), lambda: walks.append(1))
            return walks
        def test_seen(of_module):
            assert len(of_module) == 2
            (first, walks), (second, others) = SEEN
            assert (first == second, walks, others) == {wanted}
    """
    for name, wanted in (
        ("tests/clients/test_out.py", (False, 1, 1)),
        ("tests/cli/test_in.py", (True, 1, 0)),
    ):
        path = pytester.path / name
        path.parent.mkdir(parents=True)
        lines = [line.removeprefix(" " * 8) for line in text.splitlines()]
        path.write_text("\n".join(lines).replace("{wanted}", str(wanted)), encoding="utf-8")
    pytester.makeconftest(f"""
        import sys; sys.path.insert(0, {ROOT!r})
        import pytest
        pytest_plugins = ["tests.prepared"]
        @pytest.fixture(autouse=True)
        def home(grounds):
            if grounds: grounds.begin()
    """)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--import-mode=importlib")
    done.assert_outcomes(passed=6)


def test_what_is_replaced_for_every_test_keeps_no_walk_from_being_kept(
    grounds: Grounds | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if grounds is None:
        pytest.skip("this process has no grounds")
    assert not grounds.patched
    monkeypatch.setattr("tests.test_prepared.PRODUCT", {})
    assert grounds.patched
