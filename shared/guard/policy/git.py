"""Policy rules for git commands that only read: no option starts a program or writes a file."""

from __future__ import annotations

from shared.guard.policy.rule import Options

_DIFF = (
    " -a -b -B -C?text -D -E -F -G:text -i -l:count -M?text -p -P -R -s -S:text -u -U:count -w -W"
    " -z --abbrev?=count --binary --break-rewrites --check --cc --color?=always|never|auto"
    " --color-moved?=text --color-words?=text --combined-all-paths --compact-summary --cumulative"
    " --diff-algorithm=patience|minimal|histogram|myers|default --diff-filter=text"
    " --diff-merges=text --dirstat?=text --exit-code --find-copies?=text --find-copies-harder"
    " --find-renames?=text --full-index --function-context --histogram --ignore-all-space"
    " --ignore-blank-lines --ignore-space-at-eol --ignore-space-change --inter-hunk-context=count"
    " --minimal --name-only --name-status --no-color --no-ext-diff --no-indent-heuristic"
    " --no-patch --no-prefix --no-renames --no-textconv --numstat --patch --patch-with-stat"
    " --patience --pickaxe-all --pickaxe-regex --quiet --raw --relative?=text --shortstat"
    " --stat?=text --summary --text --unified=count --word-diff?=color|plain|porcelain|none"
    " --word-diff-regex=text"
)
_LOG = (
    " -# -c -g -L:lines -m -n:count -q -t --abbrev-commit --after=text --all --all-match"
    " --ancestry-path --author=text --author-date-order --basic-regexp --before=text --boundary"
    " --branches?=text --cherry-mark --cherry-pick --committer=text --date=text --date-order"
    " --decorate?=short|full|auto|no --dense --do-walk --exclude=text --expand-tabs?=count"
    " --extended-regexp --first-parent --fixed-strings --follow --format=pretty --full-history"
    " --glob=text --graph --grep=text --grep-reflog=text --invert-grep --left-only --left-right"
    " --log-size --mailmap --max-age=count --max-count=count --max-parents=count --merge --merges"
    " --min-age=count --min-parents=count --no-abbrev-commit --no-decorate --no-expand-tabs"
    " --no-mailmap --no-max-parents --no-merges --no-min-parents --no-notes"
    " --no-walk?=sorted|unsorted --not --notes?=text --oneline --parents --perl-regexp"
    " --pretty?=pretty --reflog --regexp-ignore-case --relative-date --remotes?=text"
    " --remove-empty --reverse --right-only --root --show-pulls --simplify-by-decoration"
    " --simplify-merges --since=text --skip=count --source --sparse --tags?=text --topo-order"
    " --until=text --use-mailmap --walk-reflogs"
)
_REFS = (
    " --contains=rev --format=format --ignore-case --merged=rev --no-contains=rev --no-merged=rev"
    " --points-at=rev --sort=text --no-color --color?=always|never|auto"
)


def _blame(name: str) -> Options:
    return Options(
        "says who wrote each line",
        "-b -c -C?count -e -f -l -L:lines -M?count -n -p -s -t -w --abbrev=count --date=text"
        " --first-parent --incremental --line-porcelain --porcelain --root --show-email --show-name"
        " --show-number --show-stats",
        "rev+", clusters=False,
        passes=f"git {name} -L 1,5 src/app.py", denied=f"git {name} --contents=.env src/app.py",
    )  # fmt: skip


GIT = {
    "log": Options(
        "prints the history", _DIFF + _LOG, "rev*", clusters=False,
        passes="git log --oneline -5 -- src", denied="git log --output=out",
    ),
    "show": Options(
        "prints commits and files of the history", _DIFF + _LOG, "rev*", clusters=False,
        passes="git show HEAD:src/app.py", denied="git show HEAD:.env",
    ),
    "diff": Options(
        "prints differences",
        f"{_DIFF} --cached --staged --merge-base", "revtree*", clusters=False,
        passes="git diff --stat HEAD~1", denied="git diff --ext-diff",
    ),
    "diff --no-index": Options(
        "prints the differences between two files", _DIFF, "plain plain", clusters=False,
        passes="git diff --no-index README.md LICENSE", denied="git diff --no-index src README.md",
    ),
    "shortlog": Options(
        "counts commits by author",
        "-c -e -n -s --after=text --all --author=text --before=text --committer --email"
        " --group=author|committer --merges --no-merges --numbered --since=text --summary"
        " --until=text",
        "rev*", stdin_unless="--all",
        passes="git shortlog -sn HEAD", denied="git shortlog --output=out HEAD",
    ),
    "status": Options(
        "says what has changed since the last commit",
        "-b -s -u?no|normal|all -z --ahead-behind --branch --column?=always|never|auto"
        " --find-renames?=text --ignored?=traditional|no|matching --long --no-ahead-behind"
        " --no-renames --porcelain?=v1|v2 --renames --short --show-stash"
        " --untracked-files?=no|normal|all",
        "rev*",
        passes="git status -sb", denied="git status --ignore-submodules=none",
    ),
    "blame": _blame("blame"),
    "annotate": _blame("annotate"),
    "branch": Options(
        "lists branches",
        "-a -i -l -r -v --abbrev?=count --all --column?=always|never|auto --list --remotes"
        " --show-current --verbose" + _REFS,
        "text*", operands_need="--list",
        passes="git branch -a", denied="git branch new",
    ),
    "tag": Options(
        "lists tags",
        "-i -l -n?count --column?=always|never|auto --list" + _REFS,
        "text*", operands_need="--list -l",
        passes="git tag --list 'v*'", denied="git tag v2",
    ),
    "remote": Options(
        "lists remotes", "-v --verbose",
        passes="git remote -v", denied="git remote update",
    ),
    "remote get-url": Options(
        "prints the URL of a remote", "--all --push", "name",
        passes="git remote get-url origin", denied="git remote get-url origin x",
    ),
    "rev-parse": Options(
        "prints the commit or path that a name means",
        "-q --abbrev-ref?=strict|loose --absolute-git-dir --all --branches?=text"
        " --git-common-dir --git-dir --is-bare-repository --is-inside-git-dir"
        " --is-inside-work-tree --is-shallow-repository --local-env-vars --quiet --remotes?=text"
        " --short?=count --show-cdup --show-object-format --show-prefix"
        " --show-superproject-working-tree --show-toplevel --symbolic --symbolic-full-name"
        " --tags?=text --verify",
        "rev*", clusters=False,
        passes="git rev-parse --short HEAD", denied="git rev-parse --parseopt",
    ),
    "rev-list": Options(
        "lists commits",
        _LOG +
            " --count --objects --children --timestamp --header --no-commit-header"
            " --disk-usage?=human|", "rev+", clusters=False,
        passes="git rev-list --count HEAD", denied="git rev-list --use-bitmap-index HEAD",
    ),
    "ls-files": Options(
        "lists files that git knows",
        "-c -d -i -k -m -o -s -t -u -v -x:glob -z --abbrev?=count --cached --deduplicate"
        " --deleted --directory --eol --error-unmatch --exclude=glob --exclude-standard"
        " --full-name --ignored --killed --modified --no-empty-directory --others --stage"
        " --unmerged",
        "rev*",
        passes="git ls-files src", denied="git ls-files --exclude-from=.env",
    ),
    "ls-tree": Options(
        "lists files of a commit",
        "-d -l -r -t -z --abbrev?=count --format=format --full-name --full-tree --long"
        " --name-only --name-status --object-only",
        "rev rev*",
        passes="git ls-tree -r --name-only HEAD", denied="git ls-tree",
    ),
    "cat-file": Options(
        "prints an object", "-e -p -s -t", "rev rev?", clusters=False,
        passes="git cat-file -p HEAD", denied="git cat-file --textconv HEAD:README.md",
    ),
    "grep": Options(
        "prints the lines that match in files that git knows",
        "-# -a -A:count -b -B:count -c -C:count -e:text -E -f:file -F -G -h -H -i -I -l -L"
        " -m:count -n -o -p -P -q -v -w -W -z --after-context=count --all-match --and"
        " --basic-regexp --before-context=count --break --cached --color?=always|never|auto"
        " --column --context=count --count --extended-regexp --files-with-matches"
        " --files-without-match --fixed-strings --full-name --function-context --heading"
        " --ignore-case --invert-match --line-number --max-count=count --max-depth=count"
        " --name-only --no-color --no-textconv --not --null --only-matching --or --perl-regexp"
        " --quiet --show-function --text --threads=count --word-regexp",
        "text rev*", instead_of_first="-e -f",
        passes="git grep -n main", denied="git grep -O main",
    ),
    "describe": Options(
        "names a commit by the nearest tag before it",
        "--abbrev=count --all --always --candidates=count --contains --exact-match"
        " --exclude=text --first-parent --long --match=text --tags",
        "rev*",
        passes="git describe --tags", denied="git describe --dirty",
    ),
    "merge-base": Options(
        "finds where two histories divide",
        "-a --all --fork-point --independent --is-ancestor --octopus",
        "rev rev*",
        passes="git merge-base HEAD feature", denied="git merge-base",
    ),
    "name-rev": Options(
        "names a commit", "--all --always --name-only --tags", "rev*",
        passes="git name-rev HEAD", denied="git name-rev --stdin",
    ),
    "for-each-ref": Options(
        "lists refs", "--count=count" + _REFS, "text*",
        passes="git for-each-ref --sort=-committerdate", denied="git for-each-ref --shell",
    ),
    "show-ref": Options("lists refs",
        "-d -q -s --dereference --hash --head --heads --quiet --tags --verify", "text*",
        passes="git show-ref --heads", denied="git show-ref --exclude-existing"),
    "show-branch": Options(
        "compares branches", "-a -r --all --current --remotes", "rev*",
        passes="git show-branch --all", denied="git show-branch --reflog",
    ),
    "symbolic-ref": Options(
        "prints the branch of HEAD", "-q --quiet --short", "HEAD|",
        passes="git symbolic-ref --short HEAD", denied="git symbolic-ref HEAD refs/heads/x",
    ),
    "reflog": Options(
        "prints the earlier commits of HEAD",
        "-# -n:count --date=text --format=pretty --oneline", clusters=False,
        passes="git reflog -n 5", denied="git reflog expire",
    ),
    "reflog show": Options(
        "prints the earlier commits of a ref",
        "-# -n:count --all --date=text --format=pretty --oneline",
        "rev*", clusters=False,
        passes="git reflog show HEAD", denied="git reflog show --output=out",
    ),
    "stash list": Options(
        "lists stashes", "-# -n:count --date=text --format=pretty --oneline", clusters=False,
        passes="git stash list", denied="git stash list --output=out",
    ),
    "stash show": Options(
        "prints a stash", _DIFF, "rev?", clusters=False,
        passes="git stash show -p", denied="git stash show --output=out",
    ),
    "worktree list": Options(
        "lists worktrees", "-v -z --porcelain --verbose",
        passes="git worktree list", denied="git worktree list x",
    ),
    "config": Options(
        "prints one setting",
        "-z --get --get-all --global --local --null --show-origin --show-scope --system"
        " --type=bool|int|path --worktree",
        "setting",
        passes="git config --get user.name", denied="git config user.name Eve",
    ),
    "check-ignore": Options(
        "says what is ignored, and why",
        "-n -q -v --no-index --non-matching --quiet --verbose", "path+",
        passes="git check-ignore -v build", denied="git check-ignore --stdin",
    ),
    "check-attr": Options(
        "prints attributes", "-a --all --cached", "text path*",
        passes="git check-attr -a README.md", denied="git check-attr --stdin",
    ),
    "count-objects": Options(
        "counts objects", "-H -v --human-readable --verbose",
        passes="git count-objects -v", denied="git count-objects x",
    ),
    "diff-tree": Options(
        "prints differences between trees",
        _DIFF + " -c -m -r -t -v --no-commit-id --pretty?=pretty --root", "rev+", clusters=False,
        passes="git diff-tree -r HEAD", denied="git diff-tree --output=out HEAD",
    ),
    "cherry": Options(
        "lists commits that are not upstream", "-v --abbrev?=count", "rev? rev? rev?",
        passes="git cherry -v feature HEAD", denied="git cherry a b c d",
    ),
    "var": Options(
        "prints who the author is",
        "", "GIT_AUTHOR_IDENT|GIT_COMMITTER_IDENT|GIT_DEFAULT_BRANCH|GIT_EDITOR|GIT_PAGER",
        passes="git var GIT_AUTHOR_IDENT", denied="git var -l",
    ),
    "version": Options(
        "prints git's version", "--build-options",
        passes="git version", denied="git version x",
    ),
}  # fmt: skip
# What prints the content of many files: always, or with an option that begins so.
SHOWS_FILES = frozenset(("show", "diff", "diff-tree", "grep"))
SHOWS_FILES_WITH = (
    "-p", "-u", "-U", "-W", "-c", "-m", "--cc", "--patch", "--unified", "--function-context",
    "--word-diff", "--color-words", "--binary", "--diff-merges",
)  # fmt: skip
