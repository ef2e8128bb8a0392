"""What the apply and the commit of a plan will meet is met before the freeze (VR-5)."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared import drift
from shared.place.enter import CannotEnter
from shared.run import open_state
from tests.e2e.conftest import set_hook
from tests.journey import FILES, Answer, Journey, way_out, words_of
from tests.shared.git.layouts import played

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

SHORT = "[verify]\ntime_limit_s = 2\n"
# Whether HEAD is on a branch, and on which.
ON_MAIN = 'test "$(git symbolic-ref -q --short HEAD)" = main'


@pytest.fixture
def project(make_repo: Repositories) -> Repository:
    """Return a repository to plan for."""
    return make_repo(files=FILES)


def hooked(repository: Repository, name: str, body: str) -> Journey:
    """Return a run in a repository with this hook, whose plan is to be frozen next."""
    journey = Journey(repository).to("freeze")  # a walk that is kept, since it knows no hook
    set_hook(repository, name, body)
    drift.take(drift.tree_of(open_state(journey.state_dir, "/")))
    return journey


def freeze(journey: Journey) -> Answer:
    return journey.planner("plan", "freeze")


def refused(journey: Journey) -> Answer:
    """Freeze, which must be refused with the plan as it was; return the answer."""
    path = Path(journey.state_dir, "plan.json")
    before = path.read_bytes()
    answer = freeze(journey)
    assert answer.code == 1, answer.text
    assert path.read_bytes() == before
    return answer


def retry_of(answer: Answer) -> str:
    return way_out(answer.problems[0][1])


def no_place(*_: object, **__: object) -> None:
    raise CannotEnter("a test wants no place")


def assert_proved(journey: Journey) -> None:
    """Go on from the freeze to the proof, once a person has accepted what they have changed."""
    journey.planner("mode", "rebase")
    journey.last = journey.planner("step", "planner")
    journey.to("committed")
    assert "Plan-Digest: " in journey.repository.git("log", "-1", "--format=%B")


@pytest.mark.requirement("VR-5")
def test_a_message_hook_refuses_the_freeze_until_the_plan_has_a_title_that_it_accepts(
    project: Repository,
) -> None:
    body = 'head -1 "$1" | grep -q "^feat: " && exit 0\necho "begin with feat:"\nexit 1\n'
    journey = hooked(project, "commit-msg", body)
    answer = refused(journey)
    assert "the hook commit-msg refuses the commit" in answer.text
    assert "begin with feat:" in answer.text
    Path(journey.state_dir, "answers", "title.json").write_text('{"title": "feat: add two"}')
    assert journey.follow(retry_of(answer)).code == 0
    assert_proved(journey)
    assert project.git("log", "-1", "--format=%s") == "feat: add two"


@pytest.mark.requirement("VR-5")
@pytest.mark.parametrize(
    ("hook", "body"),
    [
        ("pre-commit", f"if {ON_MAIN}; then echo not on main; exit 1; fi\n"),
        ("reference-transaction", '! grep -q " refs/heads/main$"\n'),
    ],
)
def test_a_hook_that_protects_the_branch_is_named_and_another_branch_leads_out(
    project: Repository, hook: str, body: str
) -> None:
    journey = hooked(project, hook, body)
    answer = refused(journey)
    assert f"the hook {hook}" in answer.text
    assert "main" in answer.text
    project.git("switch", "-q", "-c", "planned-work")
    assert_proved(journey)


@pytest.mark.requirement("VR-5", "PL-29")
def test_a_hook_that_protects_the_branch_to_which_the_user_has_switched_leads_to_another(
    project: Repository,
) -> None:
    project.git("switch", "-q", "-c", "planned-work")
    journey = hooked(project, "pre-commit", f"! {{ {ON_MAIN}; }} || {{ echo not here; exit 1; }}\n")
    journey.to("approved")
    project.git("switch", "-q", "main")
    before = project.git("rev-parse", "main")
    answer = journey.planner("exec", "run")
    assert answer.code == 1, answer.text
    assert "not here" in answer.text
    assert "forbids commits on main: git switch -c BRANCH, then this command again" in answer.text
    assert project.git("rev-parse", "main") == before
    project.git("switch", "-q", "planned-work")
    proved = journey.planner("exec", "run")
    assert proved.code == 0, proved.text
    assert project.git("rev-parse", "planned-work") == proved.block.get("commit")


@pytest.mark.requirement("PL-29", "PL-31")
@pytest.mark.parametrize("hook", ["pre-commit", "commit-msg"])
def test_a_hook_that_refuses_only_after_the_approval_leads_out_by_undo_and_a_revision(
    project: Repository, hook: str
) -> None:
    journey = Journey(project).to("approved")
    set_hook(project, hook, "echo no; exit 1\n")
    answer = journey.planner("exec", "run")
    assert answer.code == 1, answer.text
    assert f"git commit failed (the hook {hook})" in answer.text
    undone = journey.follow(retry_of(answer))
    assert undone.code == 0, undone.text
    assert "plan revise" in undone.next("hook")
    set_hook(project, hook, "exit 0\n")
    proved = journey.follow(undone.next("again"))
    assert proved.block.get("commit") == project.git("rev-parse", "HEAD")


@pytest.mark.requirement("VR-5", "CM-4")
def test_a_hook_that_needs_a_branch_passes_on_the_users(project: Repository) -> None:
    journey = hooked(project, "commit-msg", f"{ON_MAIN} || {{ echo no branch; exit 1; }}\n")
    assert_proved(journey)


@pytest.mark.requirement("VR-5", "CM-4")
def test_a_hook_that_reads_from_the_git_folder_passes_the_trial_and_the_commit(
    project: Repository,
) -> None:
    body = 'test -d .git && . .git/hooks/lib.sh && check "$1"\n'
    journey = hooked(project, "commit-msg", body)
    project.write(".git/hooks/lib.sh", 'check() { grep -q "^Plan-Digest" "$1"; }\n')
    assert_proved(journey)


@pytest.mark.requirement("VR-5", "CM-4")
@pytest.mark.parametrize("has_place", [True, False])
def test_a_hook_that_reads_branch_and_author_at_the_capture_finds_those_of_the_commit(
    project: Repository, monkeypatch: pytest.MonkeyPatch, has_place: bool
) -> None:
    asked = (
        ON_MAIN,
        'test "$(git rev-parse --abbrev-ref HEAD)" = main',
        'test "$GIT_AUTHOR_NAME" = "$(git config user.name)"',
        'test "$GIT_EDITOR" = :',
    )
    set_hook(project, "pre-commit", "\n".join(f"{one} || exit 9" for one in asked))
    if not has_place:
        monkeypatch.setattr("developer.verify.at_home.run", no_place)
    assert Journey(project).to("freeze").last.code == 0


@pytest.mark.requirement("VR-5")
def test_a_hook_that_takes_the_digest_out_of_the_message_is_found_before_the_freeze(
    project: Repository,
) -> None:
    answer = refused(hooked(project, "prepare-commit-msg", 'echo Other >"$1"\n'))
    assert "removed this line from the commit message" in answer.text
    assert 'at="Plan-Digest: ' in answer.text


@pytest.mark.requirement("VR-5")
def test_a_hook_that_writes_the_branch_into_the_message_is_named_to_who_approves(
    project: Repository,
) -> None:
    body = 'branch=$(git symbolic-ref -q --short HEAD) && sed -i "1s/^/[$branch] /" "$1"\nexit 0\n'
    answer = freeze(hooked(project, "prepare-commit-msg", body))
    assert answer.code == 0, answer.text
    note = 'makes the title of the commit "[main] Add two"; the plan\'s is "Add two".'
    assert note in answer.data("summary")


@pytest.mark.requirement("VR-5")
def test_a_hanging_hook_is_ended_and_named(make_repo: Repositories) -> None:
    project = make_repo(files={**FILES, "planner.toml": SHORT})
    answer = refused(hooked(project, "prepare-commit-msg", "sleep 600\n"))
    assert "the hook prepare-commit-msg had not ended after 2 s, so it was ended" in answer.text
    assert "or give it more time: `[verify] time_limit_s`" in answer.text


@pytest.mark.requirement("VR-5")
def test_a_hanging_hook_that_had_the_most_time_is_not_offered_more(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("developer.verify.trial_commit.HOOK_LIMIT_S", 1.0)
    project = make_repo(files={**FILES, "planner.toml": SHORT})
    answer = refused(hooked(project, "prepare-commit-msg", "sleep 600\n"))
    assert "had not ended after 1 s" in answer.text
    assert "fix the hook: none gets more time" in answer.text
    assert "time_limit_s" not in answer.text


@pytest.mark.requirement("VR-5")
def test_hooks_of_a_folder_that_git_ignores_are_rehearsed_and_run_at_the_commit(
    make_repo: Repositories,
) -> None:
    """As husky has them: `.husky/_` is generated, and its hooks need installed packages."""
    files = {**FILES, ".gitignore": "__pycache__/\n.husky/_/\nnode_modules/\n"}
    repository = make_repo(files=files)
    repository.git("config", "core.hooksPath", ".husky/_")
    hook = repository.write(".husky/_/commit-msg", '#!/bin/sh\nnode_modules/.bin/lint <"$1"\n')
    lint = repository.write("node_modules/.bin/lint", "#!/bin/sh\ngrep -q '^feat: '\n")
    log = repository.write("node_modules/log", "")
    hook.chmod(0o755)
    lint.chmod(0o755)
    journey = Journey(repository).to("freeze")
    assert "the hook commit-msg refuses the commit" in refused(journey).text
    lint.write_text("#!/bin/sh\necho ran >>node_modules/log\n")
    assert_proved(journey)
    assert repository.git("status", "--porcelain") == ""
    assert log.read_text() == "ran\n"


@pytest.mark.quick
@pytest.mark.requirement("VR-5")
def test_everything_in_the_way_is_named_at_once(project: Repository) -> None:
    for name, value in (("commit.gpgSign", "true"), ("gpg.program", "no-such-program")):
        project.git("config", name, value)
    journey = hooked(project, "commit-msg", "exit 1\n")
    project.git("switch", "-q", "--detach")
    project.git("update-index", "--cacheinfo", f"100644,{blob(project, 'x')},src/a.py")
    journey.planner("mode", "rebase")
    answer = refused(journey)
    for word in ("no-such-program", "the hook commit-msg", "is staged as", "HEAD is detached"):
        assert word in answer.text
    assert len(answer.problems) == 4


def blob(repository: Repository, text: str) -> str:
    done = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], input=text, text=True, cwd=repository.path,
        capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.mark.requirement("VR-5")
@pytest.mark.parametrize("form", ["openpgp", "ssh", "x509"])
def test_signing_without_a_key_is_found_before_the_freeze(project: Repository, form: str) -> None:
    settings = {"commit.gpgSign": "true", "gpg.format": form, "user.signingKey": "/nowhere/key"}
    for name, value in settings.items():
        project.git("config", name, value)
    journey = Journey(project).to("freeze")
    assert "git is to sign commits" in refused(journey).text
    project.git("config", "commit.gpgSign", "false")
    assert_proved(journey)


@pytest.mark.requirement("VR-5")
def test_a_signing_program_that_hangs_when_it_is_asked_for_its_keys_is_ended_and_named(
    project: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "gpg"
    program.write_text("#!/bin/sh\nsleep 9731 &\nsleep 9731\n")
    program.chmod(0o755)
    for name, value in (("commit.gpgSign", "true"), ("gpg.program", str(program))):
        project.git("config", name, value)
    monkeypatch.setattr("shared.git.signing.LIMIT_S", 1.0)
    journey = Journey(project).to("freeze")
    assert f"{program} had not said after 1 s which keys it has" in refused(journey).text
    listed = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, check=True)
    assert b"sleep 9731" not in listed.stdout
    project.git("config", "commit.gpgSign", "false")
    assert_proved(journey)


@pytest.mark.requirement("VR-5", "CM-4")
@pytest.mark.parametrize("form", ["x509", "ssh"])
def test_a_program_that_signs_without_a_key_file_is_not_asked_for_one(
    project: Repository, tmp_path: Path, form: str
) -> None:
    """As gitsign and the signers of password managers do it."""
    program = Path(played(tmp_path, "SIGNED MESSAGE"))
    if form == "ssh":
        program.write_text(_SSH_SIGNER)
    settings = {"commit.gpgSign": "true", "gpg.format": form, f"gpg.{form}.program": str(program)}
    for name, value in {**settings, "user.signingKey": f"{tmp_path}/elsewhere.pub"}.items():
        project.git("config", name, value)
    (tmp_path / "elsewhere.pub").write_text("ssh-ed25519 AAAA\n")
    assert_proved(Journey(project).to("freeze"))
    assert "gpgsig" in project.git("cat-file", "commit", "HEAD")


# A program that signs as git calls it: the answer is in a file beside, by the key AAAA.
_SSH_SIGNER = """#!/bin/sh
for last; do :; done
n='SSH SIGNATURE-----'; s=U1NIU0lHAAAAAQAAAAMAAAA=
printf -- "-----BEGIN $n\\n$s\\n-----END $n\\n" >"$last.sig"
"""


@pytest.mark.requirement("VR-5")
def test_with_a_key_that_is_there_the_commit_is_signed(project: Repository, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    settings = {"commit.gpgSign": "true", "gpg.format": "ssh", "user.signingKey": f"{key}.pub"}
    for name, value in settings.items():
        project.git("config", name, value)
    assert_proved(Journey(project).to("freeze"))
    assert "gpgsig" in project.git("cat-file", "commit", "HEAD")


@pytest.mark.requirement("VR-5")
def test_uncommitted_work_in_a_planned_file_is_named_and_stashing_it_leads_out(
    project: Repository,
) -> None:
    project.write("src/a.py", "def f(x):\n    return x + 1  # mine\n")
    journey = Journey(project)
    journey.start("--base", "head")
    answer = refused(journey.to("freeze"))
    assert "uncommitted work of yours" in answer.text
    project.git("stash", "push", "-q", "--", "src/a.py")
    assert_proved(journey)


@pytest.mark.requirement("VR-5")
def test_a_planned_file_in_a_nested_repository_is_named(project: Repository) -> None:
    subprocess.run(["git", "init", "-q", "tools"], cwd=project.path, check=True)
    project.write("tools/own.py", "x = 1\n")
    journey = Journey(project)
    design = journey.answers["design.json"]
    design[2]["fields"]["files"].append("tools/new.py")
    fields = {"milestone": "$m", "file": "tools/new.py", "behavior": "a tool"}
    design.append({"op": "add", "kind": "intent", "fields": fields})
    Path(journey.to("code").state_dir, "worktree", "tools").mkdir()
    journey.edits["tools/new.py"] = "y = 1\n"
    answer = refused(journey.to("freeze"))
    assert "lies in another git repository of yours, tools" in answer.text


@pytest.mark.requirement("VR-5")
def test_a_planned_file_outside_of_a_sparse_checkout_is_named(make_repo: Repositories) -> None:
    repository = make_repo(files={**FILES, "docs/x.md": "x\n"})
    repository.git("sparse-checkout", "set", "docs")
    journey = Journey(repository).to("freeze")
    answer = refused(journey)
    assert "git sparse-checkout add src" in answer.text
    assert "git sparse-checkout add tests" in answer.text
    repository.git("sparse-checkout", "add", "src", "tests")
    assert_proved(journey)


@pytest.mark.requirement("VR-5", "CM-1")
def test_a_hook_that_rewrites_the_copy_of_the_plan_is_named_with_the_ways_out(
    make_repo: Repositories,
) -> None:
    project = make_repo(files={**FILES, "planner.toml": '[commit]\nplan = "file"\n'})
    body = "for f in $(git diff --cached --name-only -- planning); do echo >>$f; git add $f; done\n"
    journey = hooked(project, "pre-commit", body)
    answer = refused(journey)
    assert "planning/plans/" in answer.text
    assert 'plan = "ref"' in answer.text
    set_hook(project, "pre-commit", "exit 0\n")
    assert_proved(journey)


@pytest.mark.requirement("VR-5")
def test_without_a_place_the_hooks_are_rehearsed_in_the_worktree(
    project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("trial_commit", "confined"):
        monkeypatch.setattr(f"developer.verify.{module}.run", no_place)
    journey = hooked(project, "commit-msg", f"{ON_MAIN} && exit 3\nexit 0\n")
    confirm(journey, refused(journey))
    answer = refused(journey)
    assert "the hook commit-msg refuses the commit" in answer.text
    set_hook(project, "commit-msg", "exit 0\n")
    assert journey.planner("mode", "rebase").code == 0
    confirm(journey, refused(journey))
    assert_proved(journey)


def confirm(journey: Journey, answer: Answer) -> None:
    """Confirm hooks that were refused, since nothing holds them."""
    [(kind, text)] = answer.problems
    assert kind == "refused"
    assert "they run code that nobody has approved yet, nothing holds them here" in text
    assert "git hook commit-msg: SHA-256 " in text
    assert "· person: " in text
    assert journey.planner(*words_of(way_out(text))).code == 0
