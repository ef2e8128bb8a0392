"""git's commands that read, each with the options that start no program and write no file."""

from __future__ import annotations

from shared.guard.policy.rule import Rule

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
_BLAME = Rule(
    "says who wrote each line",
    "-b -c -C?count -e -f -l -L:lines -M?count -n -p -s -t -w --abbrev=count --date=text"
    " --first-parent --incremental --line-porcelain --porcelain --root --show-email --show-name"
    " --show-number --show-stats",
    "rev+", clusters=False,
)  # fmt: skip
_REFS = (
    " --contains=rev --format=format --ignore-case --merged=rev --no-contains=rev --no-merged=rev"
    " --points-at=rev --sort=text --no-color --color?=always|never|auto"
)

GIT = {
    "log": Rule("prints the history", _DIFF + _LOG, "rev*", clusters=False),
    "show": Rule("prints commits and files of the history", _DIFF + _LOG, "rev*", clusters=False),
    "diff": Rule(
        "prints differences",
        f"{_DIFF} --cached --staged --merge-base --no-index", "revtree*", clusters=False,
    ),
    "shortlog": Rule(
        "counts commits by author",
        "-c -e -n -s --after=text --all --author=text --before=text --committer --email"
        " --group=author|committer --merges --no-merges --numbered --since=text --summary"
        " --until=text",
        "rev*", needs_input="--all",
    ),
    "status": Rule(
        "says what is changed and not committed",
        "-b -s -u?no|normal|all -v -z --ahead-behind --branch --column?=always|never|auto"
        " --find-renames?=text --ignored?=traditional|no|matching --long --no-ahead-behind"
        " --no-renames --porcelain?=v1|v2 --renames --short --show-stash"
        " --untracked-files?=no|normal|all",
        "rev*",
    ),
    "blame": _BLAME,
    "annotate": _BLAME,
    "branch": Rule(
        "lists branches",
        "-a -i -l -r -v --abbrev?=count --all --column?=always|never|auto --list --remotes"
        " --show-current --verbose" + _REFS,
        "text*", with_operands="--list",
    ),
    "tag": Rule(
        "lists tags",
        "-i -l -n?count --column?=always|never|auto --list" + _REFS,
        "text*", with_operands="--list -l",
    ),
    "remote": Rule("lists remotes", "-v --verbose"),
    "remote get-url": Rule("prints where a remote is", "--all --push", "name"),
    "rev-parse": Rule(
        "prints what a name stands for",
        "-q --abbrev-ref?=strict|loose --absolute-git-dir --all --branches?=text"
        " --git-common-dir --git-dir --is-bare-repository --is-inside-git-dir"
        " --is-inside-work-tree --is-shallow-repository --local-env-vars --quiet --remotes?=text"
        " --short?=count --show-cdup --show-object-format --show-prefix"
        " --show-superproject-working-tree --show-toplevel --symbolic --symbolic-full-name"
        " --tags?=text --verify",
        "rev*", clusters=False,
    ),
    "rev-list": Rule(
        "lists commits",
        _LOG +
            " --count --objects --children --timestamp --header --no-commit-header"
            " --disk-usage?=human|", "rev+", clusters=False,
    ),
    "ls-files": Rule(
        "lists files that git knows",
        "-c -d -i -k -m -o -s -t -u -v -x:glob -z --abbrev?=count --cached --deduplicate"
        " --deleted --directory --eol --error-unmatch --exclude=glob --exclude-standard"
        " --full-name --ignored --killed --modified --no-empty-directory --others --stage"
        " --unmerged",
        "rev*",
    ),
    "ls-tree": Rule(
        "lists files of a commit",
        "-d -l -r -t -z --abbrev?=count --format=format --full-name --full-tree --long"
        " --name-only --name-status --object-only",
        "rev rev*",
    ),
    "cat-file": Rule("prints an object", "-e -p -s -t", "rev rev?", clusters=False),
    "grep": Rule(
        "prints the lines that match in files that git knows",
        "-# -a -A:count -b -B:count -c -C:count -e:text -E -f:file -F -G -h -H -i -I -l -L"
        " -m:count -n -o -p -P -q -v -w -W -z --after-context=count --all-match --and"
        " --basic-regexp --before-context=count --break --cached --color?=always|never|auto"
        " --column --context=count --count --extended-regexp --files-with-matches"
        " --files-without-match --fixed-strings --full-name --function-context --heading"
        " --ignore-case --invert-match --line-number --max-count=count --max-depth=count"
        " --name-only --no-color --no-textconv --not --null --only-matching --or --perl-regexp"
        " --quiet --show-function --text --threads=count --word-regexp",
        "text rev*", first="-e -f",
    ),
    "describe": Rule(
        "names a commit by the tag before it",
        "--abbrev=count --all --always --candidates=count --contains --exact-match"
        " --exclude=text --first-parent --long --match=text --tags",
        "rev*",
    ),
    "merge-base": Rule(
        "finds where histories part", "-a --all --fork-point --independent --is-ancestor --octopus",
        "rev rev*",
    ),
    "name-rev": Rule("names a commit", "--all --always --name-only --tags", "rev*"),
    "for-each-ref": Rule("lists refs", "--count=count" + _REFS, "text*"),
    "show-ref": Rule("lists refs",
        "-d -q -s --dereference --hash --head --heads --quiet --tags --verify", "text*"),
    "show-branch": Rule("compares branches", "-a -r --all --current --remotes", "rev*"),
    "symbolic-ref": Rule("prints what HEAD stands for", "-q --quiet --short", "HEAD|"),
    "reflog": Rule(
        "prints where HEAD has been",
        "-# -n:count --date=text --format=pretty --oneline", clusters=False,
    ),
    "reflog show": Rule(
        "prints where a ref has been", "-# -n:count --all --date=text --format=pretty --oneline",
        "rev*", clusters=False,
    ),
    "stash list": Rule(
        "lists stashes", "-# -n:count --date=text --format=pretty --oneline", clusters=False,
    ),
    "stash show": Rule("prints a stash", _DIFF, "rev?", clusters=False),
    "worktree list": Rule("lists worktrees", "-v -z --porcelain --verbose"),
    "config": Rule(
        "prints one setting",
        "-z --get --get-all --global --local --null --show-origin --show-scope --system"
        " --type=bool|int|path --worktree",
        "setting",
    ),
    "check-ignore": Rule(
        "says what is ignored, and why",
        "-n -q -v --no-index --non-matching --quiet --verbose", "path+",
    ),
    "check-attr": Rule("prints attributes", "-a --all --cached", "text path*"),
    "count-objects": Rule("counts objects", "-H -v --human-readable --verbose"),
    "diff-tree": Rule(
        "prints differences between trees",
        _DIFF + " -c -m -r -t -v --no-commit-id --pretty?=pretty --root", "rev+", clusters=False,
    ),
    "cherry": Rule("lists commits that are not upstream", "-v --abbrev?=count", "rev? rev? rev?"),
    "var": Rule(
        "prints who the author is",
        "", "GIT_AUTHOR_IDENT|GIT_COMMITTER_IDENT|GIT_DEFAULT_BRANCH|GIT_EDITOR|GIT_PAGER",
    ),
    "version": Rule("prints git's version", "--build-options"),
}  # fmt: skip
# They compare files of the work tree with the index, for which git runs the filters configured.
READS_WORK_TREE = frozenset(("status", "diff", "blame", "annotate", "ls-files"))
