"""Policy rules for shell commands that search files for text, or find and list files."""

from __future__ import annotations

from shared.guard.policy.rule import Options, Rule, Special

_GREP = (
    "-# -a -A:count -b -B:count -c -C:count -e:text -E -f:file -F -G -h -H -i -I -l -L -m:count"
    " -n -o -P -q -r -s -T -v -w -x -y -z -Z --after-context=count --basic-regexp"
    " --before-context=count --binary-files=binary|text|without-match --byte-offset"
    " --color?=always|never|auto --colour?=always|never|auto --context=count --count"
    " --exclude=glob --exclude-dir=glob --extended-regexp --file=file"
    " --files-with-matches --files-without-match --fixed-strings --ignore-case --include=glob"
    " --initial-tab --invert-match --label=text --line-buffered --line-number --line-regexp"
    " --max-count=count --no-filename --no-ignore-case --no-messages --null --null-data"
    " --only-matching --perl-regexp --quiet --recursive --regexp=text --silent --text"
    " --with-filename --word-regexp"
)


def _grep(name: str) -> Options:
    return Options(
        "prints the lines that match", _GREP, "text file*", glob_safe=True,
        instead_of_first="-e -f --regexp --file",
        recursive="-r --recursive", stdin_unless="-r --recursive",
        passes=f"{name} -rn main src", denied=f"{name} -r key ~",
    )  # fmt: skip


SEARCHING: dict[str, Rule] = {
    "grep": _grep("grep"),
    "egrep": _grep("egrep"),
    "fgrep": _grep("fgrep"),
    "rg": Options(
        "prints the lines that match, in all files of a folder",
        "-# -a -A:count -b -B:count -c -C:count -e:text -E:text -f:file -F -g:glob -H -i -I"
        " -j:count -l -m:count -M:count -n -N -o -p -P -q -r:text -s -S -t:name -T:name -U -u"
        " -v -V -w -x -0 -d:count --after-context=count --before-context=count --case-sensitive"
        " --color=always|never|auto --column --context=count --context-separator=text --count"
        " --count-matches --encoding=text --engine=default|pcre2|auto"
        " --field-match-separator=text --file=file --files --files-with-matches"
        " --files-without-match --fixed-strings --glob=glob --glob-case-insensitive"
        " --heading --hidden --iglob=glob --ignore-case --include-zero --invert-match --json"
        " --line-buffered --line-number --line-regexp --max-columns=count --max-columns-preview"
        " --max-count=count --max-depth=count --max-filesize=count --mmap --multiline"
        " --multiline-dotall --no-column --no-config --no-filename --no-heading --no-ignore"
        " --no-ignore-parent --no-ignore-vcs --no-line-number --no-messages --no-mmap"
        " --no-require-git --null --one-file-system --only-matching --passthru"
        " --path-separator=text --pcre2 --pretty --quiet --regexp=text --replace=text"
        " --smart-case --sort=path|modified|accessed|created|none"
        " --sortr=path|modified|accessed|created|none --stats --text --threads=count --trim"
        " --type=name --type-list --type-not=name --unrestricted --version --vimgrep"
        " --with-filename --word-regexp",
        "text file*", instead_of_first="-e -f --regexp --file --files --type-list --version -V",
        recursive="",
        passes="rg -n main src", denied="rg --pre=sh main src",
    ),
    "find": Special(
        "lists files by name, type, size and age", "find",
        passes="find src -name '*.py' -type f", denied="find . -delete",
    ),
    "fd": Options(
        "lists files by name",
        "-a -c:always|never|auto -d:count -e:name -E:glob -F -g -H -i -I -L -p -s -S:measure"
        " -t:f|d|l|x|e|file|directory|symlink|executable|empty -u -0 --absolute-path"
        " --changed-within=measure --changed-before=measure --color=always|never|auto"
        " --exact-depth=count --exclude=glob --extension=name --fixed-strings --follow"
        " --full-path --glob --hidden --ignore-case --max-depth=count --max-results=count"
        " --min-depth=count --no-ignore --no-ignore-vcs --print0 --size=measure"
        " --type=f|d|l|x|e|file|directory|symlink|executable|empty --unrestricted",
        "text? path*",
        passes="fd -e py text src", denied="fd text -x rm",
    ),
    "ls": Options(
        "lists files",
        "-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I:glob -k -l -L -m -n -N -o -O -p -q -Q"
        " -r -R -s -S -t -T:count -u -U -v -w:count -x -X -Z -1 -@ -e --all --almost-all --author"
        " --classify --color?=always|never|auto --dereference --directory --escape --file-type"
        " --format=across|commas|horizontal|long|single-column|verbose|vertical --full-time"
        " --group-directories-first --hide=glob --human-readable --ignore=glob --ignore-backups"
        " --indicator-style=none|slash|file-type|classify --inode --kibibytes --literal"
        " --no-group --numeric-uid-gid --quote-name --recursive --reverse --si --size"
        " --sort=none|size|time|version|extension|width"
        " --time=atime|access|use|ctime|status|birth --time-style=text --width=count --zero",
        "path*", glob_safe=True,
        passes="ls -la src", denied="ls ~/.ssh",
    ),
    "tree": Options(
        "lists files as a tree; denied: -o and -R, which write",
        "-a -A -C -d -D -f -F -g -h -i -I:glob -l -L:count -n -N -p -P:glob -q -Q -r -s -S -t -u"
        " -U -v -x -X -J --dirsfirst --du --filelimit=count --gitignore --ignore-case --inodes"
        " --matchdirs --noreport --prune --si --sort=name|version|size|mtime|ctime",
        "path*",
        passes="tree -L 2 src", denied="tree -o out",
    ),
    "du": Options(
        "sums up file sizes",
        "-0 -a -b -B:count -c -d:count -D -h -H -k -l -L -m -P -s -S -t:measure -x --all"
        " --apparent-size --block-size=count --bytes --exclude=glob --human-readable --inodes"
        " --max-depth=count --null --one-file-system --separate-dirs --si --summarize --time"
        " --total",
        "path*", glob_safe=True,
        passes="du -sh src", denied="du --files0-from=data/names",
    ),
    "df": Options(
        "shows free space",
        "-a -B:count -h -H -i -k -l -m -P -t:name -T -x:name --all --human-readable --inodes"
        " --local --portability --print-type --si --total --type=name",
        "path*", glob_safe=True,
        passes="df -h .", denied="df --output .",
    ),
    "stat": Options(
        "shows size, owner, times and rights of a file",
        "-c:text -f -L -l -n -q -r -s -t:text -x --dereference --file-system --format=text"
        " --printf=text --terse",
        "path+", glob_safe=True,
        passes="stat -c %s README.md", denied="stat ~/.ssh/id_rsa",
    ),
    "file": Options(
        "tells a file's type; denied: -C, which writes, and -z, which starts programs",
        "-b -h -i -I -k -L -N -r -0 -F:text --brief --dereference --extension --keep-going"
        " --mime --mime-type --mime-encoding --no-dereference --no-pad --print0 --raw"
        " --separator=text",
        "file+",
        passes="file README.md", denied="file -C -m magic",
    ),
    "realpath": Options(
        "prints paths",
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical"
        " --physical --quiet --no-symlinks --relative-to=path --relative-base=path",
        "path+", glob_safe=True,
        passes="realpath src/app.py", denied="realpath ~/.ssh",
    ),
    "readlink": Options(
        "prints where a link leads",
        "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing"
        " --no-newline --quiet --silent --verbose",
        "path+", glob_safe=True,
        passes="readlink -f src", denied="readlink ~/.ssh/id_rsa",
    ),
    "basename": Options(
        "prints the end of a path", "-a -s:text -z --multiple --suffix=text --zero",
        "text text*", glob_safe=True,
        passes="basename src/app.py .py", denied="basename",
    ),
    "dirname": Options(
        "prints the folder of a path", "-z --zero", "text+", glob_safe=True,
        passes="dirname src/app.py", denied="dirname",
    ),
}  # fmt: skip

# find's tests and its actions that only print, each with the kind of its value.
FIND = {
    **dict.fromkeys(
        (
            "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
            "-lname", "-ilname", "-printf", "-regextype", "-newermt",
        ),
        "text",
    ),
    **dict.fromkeys(
        (
            "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
            "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-fstype", "-used",
        ),
        "measure",
    ),
    **dict.fromkeys(("-maxdepth", "-mindepth"), "count"),
    **dict.fromkeys(("-newer", "-anewer", "-cnewer", "-samefile"), "path"),
    **dict.fromkeys(
        (
            "-a", "-o", "-and", "-or", "-not", "!", "(", ")", ",", "-print", "-print0", "-prune",
            "-ls", "-quit", "-true", "-false", "-empty", "-executable", "-readable", "-writable",
            "-xdev", "-mount", "-depth", "-daystart", "-follow", "-nouser", "-nogroup",
            "-noleaf", "-ignore_readdir_race",
        ),
        "",
    ),
}  # fmt: skip
FIND_LINKS = ("-H", "-L", "-P")
