"""Commands whose purpose is to change files or packages: the one list of what writes.

Where the place holds, it would let them run and drop what they wrote. The assistant is told
beforehand (`shared/guard/advice.py`), since what it wants is a change, and a change belongs into
the plan. Where it does not hold, only what `shared/guard/policy/` knows passes anyway, and these
names say why another command does not (`policy/refused.py`).
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Which operands name what is changed: all, all but the first, or the last.
ALL, REST, LAST = "all", "rest", "last"
OPERANDS = {
    **dict.fromkeys(("rm", "rmdir", "mv", "mkdir", "touch", "tee", "mktemp"), ALL),
    **dict.fromkeys(("chmod", "chown"), REST),
    **dict.fromkeys(("cp", "ln", "install"), LAST),
}
# More of them, which are refused where nothing holds. The place drops what they write and says so.
FURTHER = (
    "chgrp", "mkfifo", "mknod", "truncate", "shred", "unlink", "link", "rename", "rsync", "dd",
    "sponge", "patch", "split", "csplit", "setfacl", "setfattr", "chattr",
)  # fmt: skip
# Options whose value is the next word.
VALUED = {"touch": ("-d", "-t", "-r"), "mkdir": ("-m",), "install": ("-m", "-o", "-g")}

EDITORS = (
    "nano", "vim", "vi", "nvim", "emacs", "ed", "ex", "pico", "view", "code", "subl",
)  # fmt: skip

_ADDS = "install add remove uninstall update upgrade publish"
_MANAGERS = {
    "pip pip3": "install uninstall",
    "pipx": "install uninstall upgrade upgrade-all inject reinstall reinstall-all",
    "uv": "add remove sync publish",
    "poetry pdm bun composer gem bundle": f"{_ADDS} require push",
    "conda mamba": f"{_ADDS} create",
    "npm pnpm": f"{_ADDS} i in ci un unlink rm r up link dedupe prune unpublish",
    "yarn": f"{_ADDS} up",
    "cargo": "install uninstall add remove rm publish",
    "go": "install get",
    "rustup": f"{_ADDS} self",
    "deno": "install uninstall add remove publish",
    "apt apt-get aptitude": "install remove purge autoremove update upgrade dist-upgrade",
    "yum dnf zypper": f"{_ADDS} in rm erase reinstall",
    "apk": "add del update upgrade",
    "brew port snap flatpak": f"{_ADDS} reinstall refresh tap",
    "twine": "upload",
    "mvn": "deploy",
    "gradle": "publish",
}
PACKAGES = {name: _words(verbs) for names, verbs in _MANAGERS.items() for name in names.split()}
# Package managers whose operations are options.
PACKAGE_FILES = {
    "dpkg": _words("-i -r -P --install --remove --purge"),
    "rpm": _words("-i -U -e -ivh -Uvh --install --upgrade --erase"),
    "pacman": _words("-S -R -U -Sy -Syu -Rs --sync --remove"),
}
# They run what a package contains, or manage packages by words that do not say so.
PACKAGE_RUNNERS = ("pip3.11", "uvx", "npx", "bunx", "corepack", "nix")

# git: what always writes; what writes with one of these words; what writes but with one of these.
GIT_WRITES = _words(
    "add am cherry-pick checkout commit fetch filter-branch gc init merge mv prune pull push rebase"
    " repack replace reset restore revert rm switch update-index update-ref"
)
GIT_WRITES_WITH = {
    "branch": _words(
        "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --unset-upstream"
        " --edit-description"
    ),
    "tag": _words("-a -d -f -m -s -u -F --annotate --delete --force --sign"),
    "config": _words(
        "set unset rename-section remove-section edit -e --add --unset --unset-all --replace-all"
        " --rename-section --remove-section --edit"
    ),
    "remote": _words("add rm remove rename set-url set-head set-branches prune update"),
    "submodule": _words("add init update deinit set-branch set-url sync"),
    "worktree": _words("add move remove prune repair lock unlock"),
    "notes": _words("add append copy edit merge prune remove"),
    "bisect": _words("start good bad new old skip reset replay run"),
}
# What takes back all that the verb has done.
GIT_TAKES_BACK = {"bisect": "reset", "stash": "pop", "worktree": "remove"}
GIT_WRITES_BUT = {
    "apply": _words("--check --stat --numstat --summary"),
    "clean": _words("-n --dry-run -nd -nfd -ndx -nx -dn"),
    "stash": _words("list show"),
}
# These list where they are given no name, and make something of that name where they are.
GIT_MAKES = ("branch", "tag")
