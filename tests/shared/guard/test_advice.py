"""Shell texts that clearly mean a change of the user's files, and texts that only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.guard.advice import check_text
from shared.guard.denial import Denied
from shared.guard.policy import COMMANDS
from shared.guard.policy.git import GIT
from shared.guard.settings import Settings
from shared.guard.targets import View
from shared.resources import launcher
from tests.shared.guard.corpus.corpus import must_pass

pytestmark = pytest.mark.requirement("PP-4")


@pytest.fixture
def view(tmp_path: Path) -> View:
    """A repository with a run's worktree, below a folder that is no temporary one."""
    repository = tmp_path / "repository"
    home = repository / ".planner" / "runs" / "r"
    (home / "worktree").mkdir(parents=True)
    ours = (f"{home}/answers/", f"{home}/worktree")
    found = View(str(repository), str(repository), ours, Settings(deny=(("tokei",),)))
    found.temporary = (str(tmp_path / "tmp"), "/tmp/only")  # noqa: S108
    return found


def reason(text: str, view: View) -> str:
    """Return why a text is denied, "" if it passes; {repo}, {worktree} and {tmp} are folders."""
    repository = view.repository
    worktree = f"{repository}/.planner/runs/r/worktree"
    for slot, value in (("repo", repository), ("worktree", worktree), ("tmp", "/tmp/only")):  # noqa: S108
        text = text.replace("{" + slot + "}", value)
    try:
        check_text(text, view)
    except Denied as denied:
        return denied.reason if denied.instead else ""
    return ""


@pytest.mark.parametrize(
    "text",
    [
        # the names of the seed
        "rm README.md", "rm -rf /", "rmdir src", "mv a b", "cp a b", "mkdir d", "touch new.py",
        "mkdir a b && cd b", "mkdir d && cd d && touch a", "cd d; mkdir d",
        "ln -s a b", "install -m 644 a b", "chmod +x a", "chown me a", "tee a", "mktemp ./x.XXXX",
        "sed -i s/a/b/ a", "sed -Ei.bak -e s/a/b/ a", "sed --in-place s/a/b/ a",
        # wherever bash takes them for a command
        "ls && rm a", "ls | tee log", "ls; (cd src && rm a)", 'for f in *.py; do rm "$f"; done',
        "if true; then touch a; fi", "echo $(rm a)", 'echo "`touch a`"', "f() { mkdir d; }; f",
        "A=1 rm a", "\\rm a", "'rm' a", "/bin/rm a", "timeout 5 rm a", "env A=1 rm -f a",
        "find . -name x | xargs rm", "find . -print0 | xargs -0 -I{} mv {} d", "bash -c 'rm a'",
        "cd src && touch a", "cd {tmp} && cd {repo} && touch a", "mv {tmp}/a src/", "cp {tmp}/a .",
        "touch -d 2020-01-01 a", "rm -- -a", "sudo rm a", "nohup touch a &", "rm ~/a",
        "touch /etc/a",
        # redirections
        "echo x > a", "cat a >> b", "ls &> log", "make 2> log", "cat > src/a.py <<'EOF'\nx\nEOF",
        "echo x >| a", "{ echo x; } > a", "while read l; do echo $l; done > a", "echo > $HOME/a",
        # editors
        "vim a", "nano a", "code .", "ed a",
        # packages
        "pip install requests", "pip3.11 install -e .", "python3 -m pip install x",
        "uv pip install x",
        "uv add x", "npm ci", "npm i x", "npm --silent install", "yarn", "yarn add x",
        "pnpm add x", "poetry add x", "cargo install x", "cargo add x", "go get x",
        "apt-get -y install x",
        "sudo apt install x", "brew install x", "gem install x", "bundle install", "npm publish",
        "cargo publish", "twine upload dist/a", "dpkg -i a.deb", "conda create -n x",
        # git
        "git add .", "git commit -m x", "git commit -n -m x", "git push", "git checkout -b x",
        "git reset --hard", "git stash", "git stash pop", "git -C src rm a", "git -c a.b=c add .",
        "git branch x", "git branch -D x", "git tag v1", "git tag -a v1 -m x", "git config a.b c",
        "git config --global a.b c", "git remote add a b", "git worktree add ../x", "git clean -fd",
        "git apply a.patch", "git pull", "git fetch", "git rebase -i x", "git init",
        "cd {worktree} && git add .", "git submodule update", "git bisect start",
    ],
)  # fmt: skip
def test_what_clearly_changes_files_or_packages_is_denied(text: str, view: View) -> None:
    assert reason(text, view)


@pytest.mark.parametrize(
    "text",
    [
        # only looks like it
        "grep rm a", "grep -rn 'rm -rf' .", 'echo "a > b"', "echo 'x' | grep -c '>'", "ls # rm a",
        "cat <<EOF\nrm a\necho > b\nEOF", "python3 - <<'EOF'\nopen('a', 'w')\nEOF", "command -v rm",
        "which rm mv", "type touch", "man rm", "rm --help", "git help commit", "rg -n 'git commit'",
        "[[ a > b ]] && echo yes", "(( a > b ))", "awk '$1 > 2 {print}' a", "jq '.a > 1' a.json",
        "test -x rm", "for tool in rm mv; do echo $tool; done", "echo rm a", "git log --grep=rm",
        "git grep 'touch '", "sed -n '/rm/p' a", "sed 's/-i/x/' a", "find . -name rm",
        "echo $((1 > 2))", "diff <(sort a) <(sort b)",
        # output that does not last, or is not the user's
        "ls 2>/dev/null", "ls >/dev/null 2>&1", "make &>/dev/null", "ls > /dev/stderr",
        "ls > {tmp}/x",
        'echo x > "$out"', "ls >&2", "rm -rf {tmp}/x", "mkdir -p {tmp}/a && cp -r src {tmp}/a",
        'rm -rf "$(mktemp -d)"', 'd=$(mktemp -d); cp a "$d"; rm -rf "$d"', "mktemp", "mktemp -d",
        "mktemp -t x.XXXX", "cd {tmp} && touch a && git init && git add . && git commit -m x",
        'cd "$(mktemp -d)" && touch a', "sed -i s/a/b/ {tmp}/a", "ls | tee {tmp}/log | head",
        "cd {worktree} && rm a.py", "touch {worktree}/a",
        "echo x > {repo}/.planner/runs/r/answers/a",
        "git init {tmp}/x", "ls | tee", "ls | tee /dev/null",
        "mkdir -p build && cd build && cmake .. && make",
        # tests, builds, wrappers, loops, interpreters
        "pytest -q", "npm test", "npm run build", "make -j4", "cargo test", "cargo build --release",
        "go test ./...", "mvn -q test", "gradle build", "tox",
        "python3 -c 'import os; os.remove(\"a\")'",
        "python3 setup.py build", "node -e 'x'", "timeout 5 pytest", "xargs -0 wc -l",
        "env A=1 make",
        'while read f; do wc -l "$f"; done', "find . -name '*.py' -exec wc -l {} +", "time make",
        "bash -lc 'pytest -q'", "npm ls", "npm outdated", "npm view x", "pip list", "pip show x",
        "uv run pytest",
        "uv pip list", "cargo tree", "go list ./...", "poetry show", "poetry run pytest",
        "yarn test",
        "npm install --help", "apt list --installed", "dpkg -l", "rpm -qa", "pacman -Q",
        "brew list",
        # git that reads
        "git status", "git log -3", "git diff", "git show HEAD", "git branch", "git branch -a",
        "git branch --list 'x*'", "git branch --contains x", "git tag", "git tag -l 'v*'",
        "git config a.b", "git config --get a.b", "git config -l", "git remote -v",
        "git stash list",
        "git stash show -p", "git worktree list", "git apply --check a", "git clean -n",
        "git push --dry-run", "git merge-base a b", "git -C src log", "git rev-parse HEAD",
        "git submodule status", "git notes show", "git bisect log", "git --version", "git",
        "", "   ", "# only this", "(", "echo 'not closed",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_passes(text: str, view: View) -> None:
    assert reason(text, view) == ""


def test_nothing_that_passes_where_the_place_does_not_hold_is_denied_here(view: View) -> None:
    lines = [
        line for rule in (*COMMANDS.values(), *GIT.values()) for line in rule.passes.split("\n")
    ]
    denied = {}
    for text in (*lines, *(command.text for command in must_pass())):
        view.folder = view.repository
        denied[text] = reason(text, view)
    assert {text: why for text, why in denied.items() if why} == {}


@pytest.mark.parametrize(
    "text",
    [
        "echo 'print(1)' > new.py && python3 new.py; rm -f new.py; ls",
        "cd src && echo x > new.py; python3 new.py; rm new.py",
        "mkdir new && touch new/a && ls new; rm -rf new", "cp README.md a.md; wc a.md; rm -- a.md",
        "sed -i s/a/b/ README.md && pytest -q; git checkout -q -- README.md; git status --short",
        "sed -i s/a/b/ README.md; git diff; git restore .", "pytest > log; tail log; rm log",
        "cp README.md a.bak && sed -i s/a/b/ README.md && pytest; mv a.bak README.md",
        "cp README.md a.bak; echo x > README.md; cp a.bak README.md; rm a.bak",
        "git stash -q; pytest -q; git stash pop -q; git status --short",
        "git stash && git stash pop",
        "git worktree add -q ../old v1 && ls ../old; git worktree remove --force ../old",
        "git bisect start HEAD v1; git bisect run make; git bisect reset",
        "echo x > a; rm a; touch b; rm b", "timeout 5 git stash; env A=1 git stash pop",
    ],
)  # fmt: skip
def test_a_text_that_takes_its_own_changes_back_passes(text: str, view: View) -> None:
    (Path(view.repository) / "README.md").touch()
    assert reason(text, view) == ""


@pytest.mark.parametrize(
    "text",
    [
        "rm new.py; echo x > new.py", "echo x > new.py; rm new.py; echo x > new.py",
        "echo x > README.md; rm README.md", "sed -i s/a/b/ README.md; rm README.md",
        "echo x > a; rm a README.md", "echo x > a > b; rm a", "echo x > a; rm b",
        "touch a b; rm a", "mkdir new; rm -rf new src", "rm -rf src; git status", "rm a; rm a",
        "sed -i s/a/b/ a; git checkout -- b", "git checkout -- a; sed -i s/a/b/ a",
        "git stash pop; git stash", "git stash; git worktree remove x",
        "git stash pop; git stash pop",
        "git stash; git stash drop", "cp a README.md; mv a README.md", 'echo x > a; rm "$f"',
        "cp x new; cp new README.md; rm new", "git bisect start; ls", "git add a; git restore a",
        "echo x > new; tokei; rm new",
    ],
)  # fmt: skip
def test_a_text_that_leaves_a_change_is_denied(text: str, view: View) -> None:
    for name in ("README.md", "src"):
        (Path(view.repository) / name).touch()
    assert reason(text, view)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("git stash", "end the same command with `git stash pop`"),
        ("git bisect start", "end the same command with `git bisect reset`"),
        ("git worktree add ../x", "end the same command with `git worktree remove`"),
        ("sed -i s/a/b/ a", "end the same command with `git checkout -- FILE`"),
        ("echo x > a.py", "write below /tmp"), ("cp a b", "write below /tmp"),
        ("rm a", "put the change into the plan"), ("git commit -m x", "git log"),
    ],
)  # fmt: skip
def test_a_denial_names_a_way_that_fits(text: str, way: str, view: View) -> None:
    with pytest.raises(Denied) as caught:
        check_text(text, view)
    assert way in caught.value.instead


@pytest.mark.requirement("PP-5")
@pytest.mark.parametrize(
    "text",
    ["cd src && P status", "P status | head", "P status > {tmp}/x", "x=$(P status)",
     "for i in 1 2; do P step planner $i; done", "bash -c 'P status'", "timeout 5 P status",
     "env -u CLAUDECODE script -qec 'P approve d' /dev/null", "setsid -w P approve d",
     "env -u A P cancel", "find . -exec P cancel \\;", "script -c 'cd /; P cancel'",
     "python3 -c \"import os; os.system('P cancel')\""],
)  # fmt: skip
def test_our_own_program_among_other_commands_is_to_be_sent_alone(text: str, view: View) -> None:
    assert "must be sent alone" in reason(text.replace("P ", f"{launcher()} "), view)


@pytest.mark.parametrize("text", ["cat P", "grep -n exec P README.md", "ls -l P", "echo 'see P'"])
def test_our_own_program_may_be_read(text: str, view: View) -> None:
    assert reason(text.replace("P", launcher()), view) == ""


@pytest.mark.parametrize("text", ["tokei x", "ls | tokei x", "for i in 1; do tokei $i; done"])
def test_what_the_settings_deny_is_denied_wherever_it_stands(text: str, view: View) -> None:
    assert "[guard] deny" in reason(text, view)
