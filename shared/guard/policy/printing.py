"""Commands that print files, or lines that they are given."""

from __future__ import annotations

from shared.guard.policy.rule import Rule

_SUM = "-b -t -c -w -z --binary --text --check --tag --quiet --status --strict --warn --zero"

PRINTING = {
    "cat": Rule(
        "prints files",
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number"
        " --squeeze-blank --show-tabs --show-nonprinting",
        "file*", needs_input="", harmless=True,
    ),
    "head": Rule(
        "prints the beginning of files",
        "-# -n:count -c:count -q -v -z --lines=count --bytes=count --quiet --silent --verbose"
        " --zero-terminated",
        "file*", needs_input="", harmless=True,
    ),
    "tail": Rule(
        "prints the end of files, without waiting for more",
        "-# -n:count -c:count -q -v -z -r --lines=count --bytes=count --quiet --silent --verbose"
        " --zero-terminated",
        "file*", needs_input="",
    ),
    "tac": Rule(
        "prints files, last line first", "-b -r -s:text --before --regex --separator=text",
        "file*", needs_input="", harmless=True,
    ),
    "rev": Rule("prints lines backwards", "", "file*", needs_input="", harmless=True),
    "nl": Rule(
        "numbers lines",
        "-b:text -d:text -f:text -h:text -i:count -l:count -n:ln|rn|rz -p -s:text -v:count"
        " -w:count --body-numbering=text --number-format=ln|rn|rz --number-width=count"
        " --number-separator=text --starting-line-number=count",
        "file*", needs_input="", harmless=True,
    ),
    "wc": Rule(
        "counts lines, words and bytes",
        "-c -m -l -L -w --bytes --chars --lines --max-line-length --words",
        "file*", needs_input="", harmless=True,
    ),
    "cut": Rule(
        "prints columns",
        "-b:list -c:list -d:text -f:list -n -s -z --bytes=list --characters=list"
        " --delimiter=text --fields=list --complement --only-delimited --output-delimiter=text"
        " --zero-terminated",
        "file*", needs_input="", harmless=True,
    ),
    "tr": Rule(
        "replaces characters of its input",
        "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
        "text text?", needs_input="",
    ),
    "sort": Rule(
        "sorts lines",
        "-b -d -f -g -i -M -h -n -R -r -V -k:list -t:text -u -z -s -c -C -m"
        " --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort"
        " --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort"
        " --reverse --version-sort --key=list --field-separator=text --unique --zero-terminated"
        " --stable --check?=quiet|silent|diagnose-first --merge",
        "file*", needs_input="",
    ),
    "uniq": Rule(
        "prints lines that differ from the one before",
        "-c -d -D -i -u -z -f:count -s:count -w:count --count --repeated --all-repeated --unique"
        " --ignore-case --skip-fields=count --skip-chars=count --check-chars=count"
        " --zero-terminated",
        "file?", needs_input="",
    ),
    "comm": Rule(
        "compares two sorted files",
        "-1 -2 -3 -i -z --check-order --nocheck-order --output-delimiter=text --total"
        " --zero-terminated",
        "file file", harmless=True,
    ),
    "paste": Rule(
        "joins lines of files", "-d:text -s -z --delimiters=text --serial --zero-terminated",
        "file*", needs_input="", harmless=True,
    ),
    "join": Rule(
        "joins lines of two files by a column",
        "-a:1|2 -e:text -i -j:count -o:list -t:text -v:1|2 -1:count -2:count --header"
        " --ignore-case --check-order --nocheck-order",
        "file file",
    ),
    "fold": Rule(
        "breaks lines", "-# -b -s -w:count --bytes --spaces --width=count",
        "file*", needs_input="", harmless=True,
    ),
    "fmt": Rule(
        "fills lines", "-# -c -s -t -u -w:count --width=count --split-only --uniform-spacing",
        "file*", needs_input="", harmless=True,
    ),
    "expand": Rule(
        "replaces tabs", "-i -t:list --initial --tabs=list", "file*", needs_input="", harmless=True,
    ),
    "unexpand": Rule(
        "replaces blanks", "-a -t:list --all --first-only --tabs=list",
        "file*", needs_input="", harmless=True,
    ),
    "column": Rule(
        "arranges lines in columns",
        "-t -s:text -o:text -c:count -n -x -e -N:text -R:text -H:text -T:text -W:text --table"
        " --separator=text --output-separator=text --table-columns=text --table-right=text"
        " --output-width=count --fillrows --json",
        "file*", needs_input="",
    ),
    "od": Rule(
        "prints bytes",
        "-A:text -j:count -N:count -t:text -v -w?count -a -b -c -d -f -i -l -o -s -x"
        " --address-radix=text --skip-bytes=count --read-bytes=count --format=text"
        " --output-duplicates",
        "file*", needs_input="",
    ),
    "hexdump": Rule(
        "prints bytes",
        "-b -c -C -d -o -x -v -n:count -s:count --canonical --length=count --skip=count",
        "file*", needs_input="",
    ),
    "hd": Rule("prints bytes", "-v -n:count -s:count", "file*", needs_input=""),
    "xxd": Rule(
        "prints bytes; a second file would be written",
        "-a -b -c:count -e -E -g:count -i -l:count -o:count -p -s:count -u",
        "file?", needs_input="", clusters=False,
    ),
    "strings": Rule(
        "prints texts inside files",
        "-a -f -n:count -t:o|d|x -e:s|S|b|l|B|L --all --bytes=count --print-file-name"
        " --radix=o|d|x --encoding=s|S|b|l|B|L",
        "binary*", needs_input="",
    ),
    "base64": Rule("encodes a file", "-d -w:count --decode --wrap=count", "file?", needs_input=""),
    "cksum": Rule("prints a checksum", "", "file*", needs_input=""),
    "sum": Rule("prints a checksum", "-r -s", "file*", needs_input=""),
    **{
        name: Rule("prints checksums", _SUM, "file*", needs_input="", harmless=True)
        for name in ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum",
                     "b2sum")
    },
    "shasum": Rule("prints checksums", "-a:count -b -c -t", "file*", needs_input=""),
    "md5": Rule("prints checksums", "-q -r", "file*", needs_input=""),
    "sed": Rule(
        "prints lines, chosen or changed on the way, and leaves the file as it is",
        "-n -E -r -e:sed -s -u --quiet --silent --expression=sed --regexp-extended",
        "sed file*", needs_input="", first="-e --expression",
    ),
    "awk": Rule(
        "prints fields, in the part of its language that is understood",
        "-F:text", "awk file*", needs_input="",
    ),
    "jq": Rule(
        "prints parts of JSON files",
        "-r -c -n -s -S -e -a -j -C -M -R --raw-output --compact-output --null-input --slurp"
        " --sort-keys --exit-status --ascii-output --join-output --color-output"
        " --monochrome-output --raw-input --tab --indent=count",
        "jq file*", needs_input="-n --null-input",
    ),
    "echo": Rule("prints its words", whole="text", builtin=True),
    "printf": Rule("prints its words in a format", whole="printf", builtin=True),
    "seq": Rule(
        "prints numbers", "-f:text -s:text -w --separator=text --equal-width",
        "count step? count?",
    ),
    "diff": Rule(
        "compares two files or folders",
        "-a -b -B -c -d -e -E -i -n -N -p -q -r -s -t -T -u -w -y -Z -C:count -U:count -W:count"
        " -F:text -I:text -x:glob --brief --color?=always|never|auto --context?=count"
        " --exclude=glob --expand-tabs --ignore-all-space --ignore-blank-lines --ignore-case"
        " --ignore-matching-lines=text --ignore-space-change --ignore-trailing-space --label=text"
        " --minimal --new-file --normal --recursive --report-identical-files --show-c-function"
        " --side-by-side --speed-large-files --strip-trailing-cr --suppress-common-lines --text"
        " --unified?=count --width=count",
        "file file", tree="-r --recursive",
    ),
    "cmp": Rule(
        "compares two files byte by byte",
        "-b -i:list -l -n:count -s --print-bytes --ignore-initial=list --verbose --bytes=count"
        " --quiet --silent",
        "file file? count? count?",
    ),
}  # fmt: skip
