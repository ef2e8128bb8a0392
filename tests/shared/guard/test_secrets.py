"""No command reads a user's secrets, however it names them."""

from __future__ import annotations

import contextlib
import getpass
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.guard.decide import decide
from shared.guard.denial import Denied
from shared.guard.harden import harden, harden_text, left_out, why_not_as_given
from shared.guard.own import understand
from shared.guard.scene import Scene
from shared.guard.secrets import Pattern, excluded, expand
from shared.known_secrets import BEGINNINGS, NAMES, is_secret_name
from tests.effort import within
from tests.forms import part

PATH = os.environ["PATH"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a project in a home with keys; the project has a .env and links to the keys."""
    home = tmp_path / "me"
    files = (
        ".ssh/id_rsa", ".netrc", ".docker/config.json", ".config/git/credentials", "it/.env",
        "it/.env.example", "it/src/a.py", "it/src/b.py", "it/src/config.json", "it/keys/site.pem",
        "it/chromium/a.py",
    )  # fmt: skip
    for name in files:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("SECRET\n")
    (home / "it" / "notes.txt").symlink_to("../.ssh/id_rsa")
    (home / "it" / "[n]otes").symlink_to("../.ssh/id_rsa")
    (home / "it" / "above").symlink_to("..")
    os.mkfifo(home / "it" / "pipe")
    (home / "it" / ".git").mkdir()
    for name in (".git/config", ".gitmodules"):
        (home / "it" / name).write_text("[remote]\n\turl = https://me:SECRET@example.invalid/x\n")
    monkeypatch.setenv("HOME", str(home))
    return str(home / "it")


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize(
    "command",
    [
        "cat .env", "cat ./.env", "cat src/../.env", "cat .ENV", "cat .env.local", "cat .env*",
        "cat ./.e*", "cat ~/.ssh/id_rsa", "cat $HOME/.ssh/id_rsa", 'cat "$HOME/.netrc"',
        "cat ../.ssh/id_rsa", "cat ~/.SSH/id_rsa", "cat ~/.ssh/*", "cat ~/.s*/id*",
        "cat ../.ss?/id_rsa", "cat notes.txt", "cat notes.*", "cat above/.netrc", "cat keys/*",
        "cat ./*/site*", "cat keys/site.pem", "head -1 keys/site.pem", "wc -l < .env", "sort .env",
        "grep -r SECRET ~", "grep -r SECRET ..", "grep -r SECRET /", "grep -r SECRET above",
        "rg SECRET ~", "grep -r x ~/.config", "rg x ~/.docker", "grep -r x /home/other",
        "strings @x", "rg SECRET ..", "rg -uu SECRET /home", "rg -g '.env*' SECRET",
        "rg --glob=.env SECRET", "grep -r --include='.env*' SECRET .", "grep -f .env src/a.py",
        "diff -r ~ src", "diff .env src/a.py", "git diff --no-index ~ src", "git diff ~ src",
        "git show HEAD:.env", "git log -p -- .env", "git blame .env", "git grep SECRET -- '.env*'",
        "git cat-file -p :.env", "git log -L 1,5:.env", "git show HEAD:./.ENV",
        "git diff -- ':(icase).env'", "sed -n 1p .env", "awk '{print $1}' .env",
        "jq . ~/.docker/config.json", "strings keys/site.pem", "base64 .env", "xxd .env",
        "od -c .env", "cmp .env src/a.py", "comm .env src/a.py", "paste .env", "tac .env",
        "rev .env", "nl .env", "md5sum .env", "cut -c1- .env", "cat /proc/self/environ",
        "cat /proc/1/environ", "cat /proc/self/mem", "cat /proc/self/fd/0", "cat /etc/shadow",
        "cat /etc/ssh/ssh_host_rsa_key", "cat /dev/mem", "cat /dev/tty", "cat pipe",
        "head -c 5 /dev/random", "ls ~/.ssh", "ls -la ~/.ssh/", "find ~/.ssh",
        "stat ~/.ssh/id_rsa", "test -f ~/.ssh/id_rsa", "tree ~/.gnupg", "du -a ~/.aws",
        "cd ~/.ssh && cat config", "cat src/a.py .env", "cat src/*.py .env", "cat -- .env",
        "ls | cat .env", "jq env src/a.py", "jq -n '$ENV'", "jq -n env.HOME", "printenv", "env",
        "ps e", "ps auxe", "ps -o pid,environ", "cat .[[:alpha:]]nv", "cat .[e]nv", "cat .[!x]nv",
        "cat ~/.[[:lower:]]sh/id_[[:lower:]]sa", "cat /proc/[[:digit:]]*/environ", "cat .[^]x]nv",
        'cat .[e"]"a]nv', "cat .[[=e=]]nv", "cat .[e'x']nv", "cat .[e\\]]nv", "cat .[^x]nv",
        "cat '[n]'*", "cat '['n]ote?", "diff src/config.json ~/.docker", "diff ~/.docker src",
        "diff src ~/.config", "cat ~/.config/git/credentials",
        "cat ~/.config/containers/auth.json", "cat ~/.config/pypoetry/auth.toml",
        "cat /etc/kubernetes/admin.conf", "grep -r token ~/.config/git", "tail +1f src/a.py",
        "tail +f src/a.py", "tail +5cf src/a.py", "cat .git/config", "head -n 3 .git/config",
        "grep url .git/config",
        "grep -r url .git", "rg url .git", "cat .gitmodules", "cat src/../.git/config",
    ],
)  # fmt: skip
def test_secrets_are_not_read(command: str, project: str) -> None:
    answer = decide(command, cwd=project)
    assert not answer.allowed
    assert answer.instead


@pytest.mark.parametrize(
    "command",
    [
        "cat src/a.py", "cat src/*.py", "ls -la", "ls -la .env", "test -f .env",
        "[ -f .env ] && echo yes", "find . -name .env", "grep -r SECRET .", "grep -rn SECRET src",
        "rg SECRET", "rg SECRET src", "rg -g '!.env' SECRET", "cat ~/it/src/a.py",
        "git show HEAD:src/a.py", "git diff -- ':!.env'", "git grep SECRET -- '*.py'",
        "diff src/a.py src/b.py", "diff -r src keys", "jq .env src/a.py",
        "jq '.[\"env\"]' src/a.py", "cat /etc/hostname", "cat /proc/cpuinfo", "cat keys/site.pub",
        "ps aux", "cat environment.md", "cat src/env.py", "grep -rn TODO --include='*.py' .",
        "cat < src/a.py", "git log -- src", "cat .env.example", "cat chromium/a.py",
        "grep -r SECRET chromium", "ls ~/.config", "cat src/[ab].py", "cat src/[a-c]*.py",
        "cat src/?.py", "grep -n SECRET .env.example", "diff src/config.json keys", "cat .env.e*",
        "tail +5 src/a.py",
    ],
)  # fmt: skip
def test_files_without_secrets_are_read(command: str, project: str) -> None:
    answer = decide(command, cwd=project)
    assert answer.allowed, answer.reason


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["grep", "-r", "x", "."], "--exclude=.env"),
        (["grep", "-r", "x", "."], "--exclude=id_rsa"),
        (["rg", "x"], "--iglob=!.env"),
        (["rg", "x"], "--no-config"),
        (["diff", "-r", "a", "b"], "--exclude=*.pem"),
    ],
)
def test_reading_a_whole_folder_leaves_secrets_out(command: list[str], option: str) -> None:
    assert option in harden(command, os.sep, {})
    guarded = harden([*command, "--", "z"], os.sep, {})
    assert guarded.index(option) < guarded.index("--")
    assert guarded[: len(command)] == command


READING_ALL = (
    "rg -uu SECRET", "rg --hidden SECRET .",
    "grep -r SECRET .", "grep -r --include=* SECRET .", "grep -rn SECRET -- *", "egrep -r SECRET .",
    "grep -r --include='.e[[:alpha:]]v' SECRET .", "diff -r -N src .", "diff -N keys src",
)  # fmt: skip


@pytest.mark.requirement("PP-8")
@pytest.mark.parametrize("command", READING_ALL)
def test_reading_a_whole_folder_prints_no_secret(command: str, project: str) -> None:
    if not shutil.which(command.split(maxsplit=1)[0]):
        pytest.skip("ripgrep is missing: apt install ripgrep")
    for name in (".env", ".git/config", "keys/site.pem", "src/.env.local"):
        with open(os.path.join(project, name), "w", encoding="utf-8") as file:
            file.write("[x]\nurl = https://u:SECRET_VALUE@example.invalid/\n")
    os.unlink(os.path.join(project, "pipe"))
    before = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, check=False)
    assert b"SECRET_VALUE" in before.stdout, "the trap is none"
    commands = understand(command, project)
    assert why_not_as_given(commands, project), "a client that takes no changed text would run it"
    text = harden_text(commands, project, os.environ)
    done = subprocess.run(["bash", "-c", text], cwd=project, capture_output=True, check=False)
    assert b"SECRET_VALUE" not in done.stdout
    assert b"src/a.py" in done.stdout or b"src/b.py" in done.stdout or "'.e[" in command


@pytest.mark.requirement("PP-8")
def test_what_is_left_out_is_said(project: str) -> None:
    """Else `no match` would be believed, although a file was not read."""
    for command, wanted in (
        ("grep -r SECRET .", [".env", "keys/site.pem"]),
        ("grep -r SECRET src", []),
        ("cd src && grep -r SECRET ../keys", ["../keys/site.pem"]),
        ("rg SECRET src keys", ["keys/site.pem"]),
        ("diff -r src keys", ["keys/site.pem"]),
        ("grep -rl SECRET -- k*", ["keys/site.pem"]),
        ("cat src/a.py", []),
        ("ls | grep key", []),
        ("grep SECRET src/a.py", []),
        ("ls | rg key", []),
        ("rg SECRET src/a.py", []),
    ):
        assert left_out(understand(command, project), project, os.environ) == wanted, command


def test_the_patterns_leave_out_exactly_the_secret_names() -> None:
    from fnmatch import fnmatchcase

    endings = ("", "x", ".b", ".pub", ".example", ".sample", ".template", ".late", ".ample", "e")
    names = {f"{begin}{end}" for begin in (*BEGINNINGS, *NAMES, "a.pem", "env") for end in endings}
    names |= {f".env.local{end}" for end in endings} | {"a.py", "prod.env", ".env.e", ".envrc"}
    names |= {
        f"{b}{e}" for b in ("a.key", "id_rsa", "a.py") for e in ("~", ".bak", ".swp", ".orig")
    }
    names |= {".a.key.swp", "#.env#", "#a.key#", ".#a.key", ".a.py.swp"}
    names -= {".enve", ".envx"}
    patterns = list(excluded())
    found = {name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)}
    harmless = {n for n in names if n.endswith((".example", ".sample", ".template", ".pub"))}
    wanted = {name for name in names if is_secret_name(name)}
    assert wanted <= found
    assert found - wanted <= harmless - {n for n in harmless if n.startswith(".env")}


def test_a_shell_expands_a_pattern_to_no_file_that_the_guard_did_not_check(
    tmp_path: Path,
) -> None:
    """Real bash is asked, with names that have the characters of patterns in them."""
    dice = random.Random(20_261_122)  # noqa: S311 – inputs, not keys
    letters = ["a", "b", "]", "[", "-", "^", "*", ".", "e"]
    for _ in range(300):
        (tmp_path / f"{''.join(dice.choices(letters, k=dice.randint(1, 4)))}x").touch()
    parts = [*"abex]-^*?.*?[", "[a", "b]", "[ab]", "[^a]", "[a-e]", "'['", '"*"', "\\[", "'a]'"]
    parts += ["[[:alpha:]]", "[]a]", "[!a]", "x", "x"]
    words = {}
    for _ in range(3_000):
        pattern = "".join(dice.choices(parts, k=dice.randint(1, 6)))
        with contextlib.suppress(Denied, IndexError):
            word = understand(f"cat -- {pattern}", str(tmp_path))[0].words[2]
            if word.globs:
                words[pattern] = word
    lines = "".join(f"printf '%s\\0' {pattern}; printf '\\n\\0'\n" for pattern in words)
    done = subprocess.run(["bash", "-ec", lines], cwd=tmp_path, capture_output=True, check=True)
    seen = 0
    for (pattern, word), said in zip(words.items(), done.stdout.split(b"\n\0"), strict=False):
        expanded = {os.fsdecode(name) for name in said.split(b"\0")[:-1]} - {word.value}
        assert expanded <= set(expand(word, Scene(str(tmp_path)))), pattern
        seen += len(expanded) > 0
    assert done.stdout.count(b"\n\0") == len(words)
    assert seen > 100


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("a*b", "ab", True), ("a*b", "axxb", True), ("a*b", "axbc", False), ("?", "a", True),
        ("?", "ab", False), ("[ab]c", "xc", True), ("*", "", True), ("**a**", "bab", True),
        ("[", "[", True), ("a" * 300, "a", False), ("*a*a*a*", "banana", True),
        ("*a*a*a*a*", "banana", False),
    ],
)  # fmt: skip
def test_a_pattern_matches_at_least_what_a_shell_matches(
    pattern: str, name: str, fits: bool
) -> None:
    assert Pattern(pattern, range(len(pattern))).matches(name) is fits


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a folder of very many files, folders and links, which deciding only reads."""
    crowd = tmp_path_factory.mktemp("crowded")
    for number in range(2_900):
        (crowd / f"{'a' * 200}{number}").touch()
    deep = crowd / "d"
    for number in range(60):
        (deep / f"{number}" / "x").mkdir(parents=True)
    (crowd / "loop").symlink_to("loop")
    # Each link leads through the next one hundreds of times.
    for number in range(9):
        (crowd / f"l{number}").symlink_to("/".join([f"l{number + 1}"] * 400))
    (crowd / "l9").symlink_to(".")
    for number in range(350):
        (crowd / f"link{number}").symlink_to("d/../" * 800 + "d")
    return str(crowd)


@pytest.mark.requirement("PP-8")
@pytest.mark.parametrize(
    "command",
    part([
        "cat" + " *" * 1_992, "ls" + " */*" * 900, "cat *a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
        "cat" + " loop" * 790, "ls */*/*/*/*/*", "cat" + " ./*/../*" * 400,
        "ls" + " l0/l0" * 500, "stat" + "".join(f" link{n}" for n in range(350)),
    ], 2),
)  # fmt: skip
def test_no_command_is_decided_slowly_however_much_it_names(command: str, crowded: str) -> None:
    with within(80):
        answer = decide(command, cwd=crowded)
    assert not answer.allowed
    assert answer.instead
    assert "the guard failed" not in answer.reason


def test_a_folder_of_thousands_of_files_can_still_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Code whose coverage is measured takes several times as long.
    monkeypatch.setattr("shared.guard.scene.MAX_SECONDS", 30)
    for number in range(2_900):
        (tmp_path / f"{number}.txt").touch()
    for command in ("ls *", "wc -l *.txt", "cat -- *", "grep -l x *.txt", "ls"):
        assert decide(command, cwd=str(tmp_path)).allowed, command


@pytest.mark.requirement("PP-8")
@pytest.mark.skipif(not shutil.which("javac"), reason="Java is missing: apt install default-jdk")
@pytest.mark.parametrize("name", ["java", "javac"])
def test_java_says_its_version_without_writing_figures_about_itself(name: str) -> None:
    folder = Path(f"/tmp/hsperfdata_{getpass.getuser()}")  # noqa: S108 – Java chooses it

    def changes(words: list[str]) -> bool:
        before = folder.stat().st_mtime_ns if folder.exists() else 0
        done = subprocess.run(words, capture_output=True, check=True, env={"PATH": PATH})
        assert b"version" in done.stderr + done.stdout or b"javac" in done.stdout
        return (folder.stat().st_mtime_ns if folder.exists() else 0) != before

    given = [name, "-version"]
    assert changes(given), "the trap is none"
    assert decide(" ".join(given), cwd=os.sep).allowed
    assert not changes(harden(given, os.sep, {}))
