"""Policy rules for shell commands that print files or standard input, as is or transformed."""

from __future__ import annotations

from shared.guard.policy.rule import Options, Rule, Special

_SUM = "-b -t -c -w -z --binary --text --check --tag --quiet --status --strict --warn --zero"

PRINTING: dict[str, Rule] = {
    "cat": Options(
        "prints files",
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number"
        " --squeeze-blank --show-tabs --show-nonprinting",
        "file*", stdin_unless="", glob_safe=True,
        passes="cat -n README.md", denied="cat ~/.ssh/id_rsa",
    ),
    "head": Options(
        "prints the beginning of files",
        "-# -n:count -c:count -q -v -z --lines=count --bytes=count --quiet --silent --verbose"
        " --zero-terminated",
        "file*", stdin_unless="", glob_safe=True,
        passes="head -n 20 README.md", denied="head .env",
    ),
    "tail": Options(
        "prints the end of files, without waiting for more",
        "-# -n:count -c:count -q -v -z -r --lines=count --bytes=count --quiet --silent --verbose"
        " --zero-terminated",
        "file*", stdin_unless="",
        passes="tail -n +2 data/rows.csv", denied="tail -f data/app.log",
    ),
    "tac": Options(
        "prints files, last line first", "-b -r -s:text --before --regex --separator=text",
        "file*", stdin_unless="", glob_safe=True,
        passes="tac README.md", denied="tac .env",
    ),
    "rev": Options(
        "prints lines backwards", "", "file*", stdin_unless="", glob_safe=True,
        passes="rev README.md", denied="rev .env",
    ),
    "nl": Options(
        "numbers lines",
        "-b:text -d:text -f:text -h:text -i:count -l:count -n:ln|rn|rz -p -s:text -v:count"
        " -w:count --body-numbering=text --number-format=ln|rn|rz --number-width=count"
        " --number-separator=text --starting-line-number=count",
        "file*", stdin_unless="", glob_safe=True,
        passes="nl -ba src/app.py", denied="nl .netrc",
    ),
    "wc": Options(
        "counts lines, words and bytes",
        "-c -m -l -L -w --bytes --chars --lines --max-line-length --words",
        "file*", stdin_unless="", glob_safe=True,
        passes="wc -l README.md", denied="wc --files0-from=data/names",
    ),
    "cut": Options(
        "prints columns",
        "-b:list -c:list -d:text -f:list -n -s -z --bytes=list --characters=list"
        " --delimiter=text --fields=list --complement --only-delimited --output-delimiter=text"
        " --zero-terminated",
        "file*", stdin_unless="", glob_safe=True,
        passes="cut -d, -f2 data/rows.csv", denied="cut -d, -f2",
    ),
    "tr": Options(
        "replaces characters of its input",
        "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
        "text text?", stdin_unless="",
        passes="cat README.md | tr a-z A-Z", denied="tr a b",
    ),
    "sort": Options(
        "sorts lines",
        "-b -d -f -g -i -M -h -n -R -r -V -k:list -t:text -u -z -s -c -C -m"
        " --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort"
        " --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort"
        " --reverse --version-sort --key=list --field-separator=text --unique --zero-terminated"
        " --stable --check?=quiet|silent|diagnose-first --merge",
        "file*", stdin_unless="",
        passes="sort -u data/rows.csv", denied="sort -o out data/rows.csv",
    ),
    "uniq": Options(
        "prints lines that differ from the one before",
        "-c -d -D -i -u -z -f:count -s:count -w:count --count --repeated --all-repeated --unique"
        " --ignore-case --skip-fields=count --skip-chars=count --check-chars=count"
        " --zero-terminated",
        "file?", stdin_unless="",
        passes="sort data/rows.csv | uniq -c", denied="uniq data/rows.csv out",
    ),
    "comm": Options(
        "compares two sorted files",
        "-1 -2 -3 -i -z --check-order --nocheck-order --output-delimiter=text --total"
        " --zero-terminated",
        "file file", glob_safe=True,
        passes="comm -12 data/rows.csv data/other.csv", denied="comm data/rows.csv .env",
    ),
    "paste": Options(
        "joins lines of files", "-d:text -s -z --delimiters=text --serial --zero-terminated",
        "file*", stdin_unless="", glob_safe=True,
        passes="paste -d, data/rows.csv data/other.csv", denied="paste .env",
    ),
    "join": Options(
        "joins lines of two files by a column",
        "-a:1|2 -e:text -i -j:count -o:list -t:text -v:1|2 -1:count -2:count --header"
        " --ignore-case --check-order --nocheck-order",
        "file file",
        passes="join -t, -1 1 -2 1 data/rows.csv data/other.csv", denied="join data/rows.csv",
    ),
    "fold": Options(
        "breaks lines", "-# -b -s -w:count --bytes --spaces --width=count",
        "file*", stdin_unless="", glob_safe=True,
        passes="fold -w 72 README.md", denied="fold .env",
    ),
    "fmt": Options(
        "reflows text to a width",
        "-# -c -s -t -u -w:count --width=count --split-only --uniform-spacing",
        "file*", stdin_unless="", glob_safe=True,
        passes="fmt -w 72 README.md", denied="fmt .env",
    ),
    "expand": Options(
        "replaces tabs", "-i -t:list --initial --tabs=list",
        "file*", stdin_unless="", glob_safe=True,
        passes="expand -t 4 Makefile", denied="expand .env",
    ),
    "unexpand": Options(
        "replaces blanks", "-a -t:list --all --first-only --tabs=list",
        "file*", stdin_unless="", glob_safe=True,
        passes="unexpand -a README.md", denied="unexpand .env",
    ),
    "column": Options(
        "arranges lines in columns",
        "-t -s:text -o:text -c:count -n -x -e -N:text -R:text -H:text -T:text -W:text --table"
        " --separator=text --output-separator=text --table-columns=text --table-right=text"
        " --output-width=count --fillrows --json",
        "file*", stdin_unless="",
        passes="column -t -s, data/rows.csv", denied="column .env",
    ),
    "od": Options(
        "prints bytes",
        "-A:text -j:count -N:count -t:text -v -w?count -a -b -c -d -f -i -l -o -s -x"
        " --address-radix=text --skip-bytes=count --read-bytes=count --format=text"
        " --output-duplicates",
        "file*", stdin_unless="",
        passes="od -c README.md", denied="od .env",
    ),
    "hexdump": Options(
        "prints bytes",
        "-b -c -C -d -o -x -v -n:count -s:count --canonical --length=count --skip=count",
        "file*", stdin_unless="",
        passes="hexdump -C README.md", denied="hexdump -f format README.md",
    ),
    "hd": Options(
        "prints bytes", "-v -n:count -s:count", "file*", stdin_unless="",
        passes="hd -n 16 README.md", denied="hd .env",
    ),
    "xxd": Options(
        "prints bytes; denied: a second file, which would be written",
        "-a -b -c:count -e -E -g:count -i -l:count -o:count -p -s:count -u",
        "file?", stdin_unless="", clusters=False,
        passes="xxd -l 16 README.md", denied="xxd -r README.md out",
    ),
    "strings": Options(
        "prints the texts in binary files",
        "-a -f -n:count -t:o|d|x -e:s|S|b|l|B|L --all --bytes=count --print-file-name"
        " --radix=o|d|x --encoding=s|S|b|l|B|L",
        "binary*", stdin_unless="",
        passes="strings -n 8 README.md", denied="strings @options",
    ),
    "base64": Options(
        "encodes a file", "-d -w:count --decode --wrap=count", "file?", stdin_unless="",
        passes="base64 README.md", denied="base64 .env",
    ),
    "cksum": Options(
        "prints a checksum", "", "file*", stdin_unless="",
        passes="cksum README.md", denied="cksum .env",
    ),
    "sum": Options(
        "prints a checksum", "-r -s", "file*", stdin_unless="",
        passes="sum README.md", denied="sum .env",
    ),
    **{
        name: Options(
            "prints checksums", _SUM, "file*", stdin_unless="", glob_safe=True,
            passes=f"{name} README.md", denied=f"{name} .env",
        )
        for name in ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum",
                     "b2sum")
    },
    "shasum": Options(
        "prints checksums", "-a:count -b -c -t", "file*", stdin_unless="",
        passes="shasum -a 256 README.md", denied="shasum .env",
    ),
    "md5": Options(
        "prints checksums", "-q -r", "file*", stdin_unless="",
        passes="md5 README.md", denied="md5 .env",
    ),
    "sed": Options(
        "prints lines, selected or changed, without changing the file",
        "-n -E -r -e:sed -s -u --quiet --silent --expression=sed --regexp-extended",
        "sed file*", stdin_unless="", instead_of_first="-e --expression",
        passes="sed -n '10,20p' README.md",
        denied="sed -i s/a/b/ README.md\nsed -n 'w out' README.md",
    ),
    "awk": Options(
        "prints fields; only a part of its language is accepted",
        "-F:text", "awk file*", stdin_unless="",
        passes="awk -F, '{print $1}' data/rows.csv", denied="awk '{print > $1}' README.md",
    ),
    "jq": Options(
        "prints parts of JSON files",
        "-r -c -n -s -S -e -a -j -C -M -R --raw-output --compact-output --null-input --slurp"
        " --sort-keys --exit-status --ascii-output --join-output --color-output"
        " --monochrome-output --raw-input --tab --indent=count",
        "jq file*", stdin_unless="-n --null-input",
        passes="jq -r .name package.json", denied="jq -n env",
    ),
    "echo": Special("prints its words", "text", builtin=True, passes="echo done", denied="echo *"),
    "printf": Special(
        "prints its words in a format", "printf", builtin=True,
        passes="printf '%s\\n' done", denied="printf -v PATH x",
    ),
    "seq": Options(
        "prints numbers", "-f:text -s:text -w --separator=text --equal-width",
        "count step? count?",
        passes="seq 1 10", denied="seq 1 0 10",
    ),
    "diff": Options(
        "compares two files or folders",
        "-a -b -B -c -d -e -E -i -n -N -p -q -r -s -t -T -u -w -y -Z -C:count -U:count -W:count"
        " -F:text -I:text -x:glob --brief --color?=always|never|auto --context?=count"
        " --exclude=glob --expand-tabs --ignore-all-space --ignore-blank-lines --ignore-case"
        " --ignore-matching-lines=text --ignore-space-change --ignore-trailing-space --label=text"
        " --minimal --new-file --normal --recursive --report-identical-files --show-c-function"
        " --side-by-side --speed-large-files --strip-trailing-cr --suppress-common-lines --text"
        " --unified?=count --width=count",
        "file file", recursive="",
        passes="diff -u README.md CHANGELOG.md", denied="diff -r / src",
    ),
    "cmp": Options(
        "compares two files byte by byte",
        "-b -i:list -l -n:count -s --print-bytes --ignore-initial=list --verbose --bytes=count"
        " --quiet --silent",
        "file file? count? count?",
        passes="cmp README.md LICENSE", denied="cmp README.md .env",
    ),
}  # fmt: skip
