"""Knows in which signs code says what a sentence says in words."""

from __future__ import annotations

import re

from quality_reviewer.words import stem, words, words_with_names

# What stands in code, and words of which each may mean it.
_SIGNS: tuple[tuple[str, str], ...] = (
    (r"casefold|\blower\(|\bupper\(|IGNORECASE|NOCASE|to(?:Lower|Upper)|EqualFold|(?i:\bilike\b)"
     r"|\(\?i\)|/i\b|\[A-Za-z\]|sensitivity",
     "case insensitive sensitive lowercase uppercase letters capitals capital regard"),
    (r"strip\(|trim|TrimSpace|\\s\*", "trim strip whitespace spaces space blank blanks surrounding"),
    (r"\bround|toFixed|quantize|ROUND|Math\.floor|Math\.ceil", "round rounded cents decimals places"),
    (r"\*\*|<<|\*= ?2|\* 2\b|pow\(|backoff", "exponential double doubles doubling twice grow growing "
     "longer backoff increasing rising"),
    (r"sleep|setTimeout|time\.After|delay", "wait waits pause pauses delay sleep between"),
    (r"\b(?:for|while)\b.*(?:range|attempt|tries)|retry", "retry again try attempt repeat times"),
    (r"\blog(?:ger|ging|f|rus)?\b|console\.|slog|syslog|tracing|warn|print|LOG_LEVEL|echo",
     "log logs logged logging report warn warning print printed message say"),
    (r"smtp|sendmail|mail", "mail email e-mail send notify message"),
    (r"\w@\w", "mail email address addresses"),
    (r"\braise\b|\bthrow\b|\bthrows\b|Error|Err[A-Z]|Exception|panic|errors\.|exit [1-9]|exit\([1-9]"
     r"|reject|abort|assertRaises|toThrow",
     "raise throw error exception fail fails failure refuse refused reject rejected invalid "
     "raises raised deny denied forbid unreachable abort forbidden allowed up"),
    (r"\bNone\b|\bnull\b|\bnil\b|undefined|IS NULL", "none null nothing empty missing absent unset"),
    (r"\[\]|\{\}|(?<!\")\"\"(?!\")|(?<!')''(?!')|len\(.*\) == 0|\.length === 0|\bnot \w+:|is_empty|isEmpty",
     "empty nothing blank none without no"),
    (r"sort|ORDER BY|order_by|orderBy", "sort sorted order ordered first last ascending descending "
     "newest oldest latest alphabetical alphabetically by"),
    (r"DESC\b|reverse|b\.\w+ - a\.", "descending newest latest recent highest largest first reverse reversed most"),
    (r"LIMIT \d|\[:\w+\]|slice\(|\.limit\(|islice|max\(|min\(|MAX_|_MAX|>= ?\w|<= ?\w",
     "limit limited most maximum cap capped at least minimum up fit fits full"),
    (r"OFFSET|offset|page|cursor", "page pages paginate pagination paged"),
    (r"DISTINCT|UNIQUE|unique|\bset\(|new Set|dict\.fromkeys|ON CONFLICT|IGNORE",
     "unique distinct duplicate duplicates once twice same double repeated"),
    (r"\bINDEX\b", "index indexed fast quick"),
    (r"deleted_at|is_deleted|archived|removed_at", "soft mark marks marked deleted delete removed"),
    (r"CASCADE|DELETE FROM|\.delete\(|unlink|rm |rmtree|os\.remove|-delete", "delete deleted remove "
     "removed cascade gone drop purge clean"),
    (r"gzip|\bgz\b|tgz|zstd|zip|tar ", "compress compressed archive archives gzip"),
    (r"gpg|openssl|encrypt|cipher|fernet|AES|age -r", "encrypt encrypted encryption"),
    (r"sha\d|md5|hashlib|bcrypt|argon|digest", "hash hashed digest checksum fingerprint"),
    (r"lru_cache|functools\.cache|cache|memo|Cache", "cache cached remember memoize keep kept"),
    (r"\bLock\(|mutex|Mutex|synchronized|flock|FOR UPDATE|atomic|rename\(|replace\(",
     "lock locked safe thread atomic atomically concurrent once"),
    (r"\bBEGIN\b|commit|rollback|transaction|atomic", "transaction transactions rollback together"),
    (r"ThreadPool|gather|Promise\.all|go func|async|await|Pool\(|workers",
     "parallel concurrent concurrently async threads workers background"),
    (r"yield|stream|iter\(|chunk|bufio|generator", "stream streamed lazily chunk chunks piece memory"),
    (r"copy|\[\.\.\.|\{\.\.\.|slice\(\)|deepcopy|list\(|dict\(|clone", "copy copies copied new untouched "
     "unchanged original leave"),
    (r"utc|UTC|timezone|\bZ\b|tzinfo", "utc timezone zone time"),
    (r"timeout|Timeout|deadline|TIMEOUT|signal\.alarm", "timeout time out wait seconds long hang "
     "hangs deadline"),
    (r"(?i:addr)", "address addresses"), (r"(?i:\breq)", "request requests"),
    (r"(?i:\bresp?\b|respon)", "response responses answer answers"), (r"(?i:cfg|conf)", "config"),
    (r"(?i:msg)", "message messages"), (r"(?i:\bctx)", "context"), (r"(?i:auth)", "login user"),
    (r"(?i:\bdirs?\b|mkdir)", "directory folder"), (r"(?i:\bdb\b)", "database"),
    (r"(?i:\btmp|temp)", "temporary"), (r"(?i:\barg|param)", "argument parameter"),
    (r"(?i:count|len\(|length|\bnum)", "number count amount length many"),
    (r"[\"'`]-[\"'`]", "dash dashes hyphen hyphens"), (r"[\"'`]_[\"'`]", "underscore underscores"),
    (r"[\"'`]/[\"'`]", "slash slashes"), (r"[\"'`] [\"'`]", "space spaces blank"),
    (r"[\"'`]:[\"'`]", "colon colons"), (r"\\n|splitlines", "line lines newline"),
    (r"(?i:environ|getenv)|process\.env|\$\{?[A-Z_]+|LookupEnv", "environment variable env"),
    (r"add_argument|click\.option|flag\.|argparse|--[a-z]|typer|Option\(", "option flag switch "
     "argument command line"),
    (r"DeprecationWarning|deprecated|@Deprecated", "deprecate deprecated old warn"),
    (r"json|JSON", "json"), (r"yaml|yml", "yaml"), (r"csv|Comma", "csv comma separated columns"),
    (r"[\"'`][^\"'`\n]*;[^\"'`\n]*[\"'`]", "semicolon semicolons separated separator"),
    (r"[\"'`],[\"'`]", "comma commas separated separator"), (r"\\t", "tab tabs separated separator"),
    (r"\|", "pipe pipes or"), (r"\b5\d\d\b", "server error fail unavailable gateway"),
    (r"\b4\d\d\b", "client error bad request not found forbidden unauthorized missing many"),
    (r"\b2\d\d\b", "ok success successful created"), (r"% ?100|/ ?100\b|100 -", "percent percentage"),
    (r"date|strftime|datetime|\+%F|Date", "day date daily time timestamp per"),
    (r"mtime|older|-mtime|timedelta|expires", "age old older days week month expire expired"),
    (r"True|true|\bon\b|enabled", "on enabled enable default active"),
    (r"False|false|\boff\b|disabled", "off disabled disable default inactive"),
    (r"startswith|HasPrefix|startsWith|\^", "begin begins start starts prefix beginning"),
    (r"endswith|HasSuffix|endsWith|\$", "end ends suffix ending"),
    (r"\bin\b|includes|Contains|contains", "contain contains has holds part within"),
    (r"sys\.stderr|stderr|>&2|os\.Stderr", "stderr standard error output"),
    (r"sys\.exit|os\.Exit|process\.exit|exit ", "exit exits status code"),
    (r"test -f|os\.path\.exists|isfile|existsSync|os\.Stat", "exist exists there file missing"),
    (r"with open|write_text|writeFile|WriteFile|\.write\(", "write writes written file save saved"),
    (r"read_text|readFile|ReadFile|\.read\(|json\.load", "read reads load loads file"),
    (r"pytest\.raises|assertRaises|toThrow|rejects", "raise raises refuse refuses error fail"),
    (r"assert|expect", "test tested tests check checked"),
)  # fmt: skip
SIGNS = tuple(
    (re.compile(code), frozenset({stem(w) for w in said.split()} | {*said.split()}))
    for code, said in _SIGNS
)
_NUMBER_WORDS = dict(zip(
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], range(13),
    strict=True,
)) | {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
      "ninety": 90, "hundred": 100, "thousand": 1000, "once": 1, "twice": 2, "dozen": 12,
      "fiftieth": 50, "fifth": 5, "hundredth": 100}  # fmt: skip
_TENS = re.compile(r"\b(twenty|thirty|forty|fifty|sixty|ninety)-(\w+)", re.IGNORECASE)
_SPELLED = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)


def meant(text: str) -> set[str]:
    """Return the stems of words that code stands for in its signs."""
    return {one for sign, said in SIGNS if sign.search(text) for one in said}


def words_of_code(text: str) -> set[str]:
    """Return the stems of a text's rarer words, and of those that its code stands for."""
    return words(text) | words_with_names([text]) | meant(text)


def spelled_out(text: str) -> str:
    """Return a text with numbers in digits that it has in words."""
    known = _NUMBER_WORDS

    def added(match: re.Match[str]) -> str:
        more = known.get(match[2].lower())
        return match[0] if more is None else str(known[match[1].lower()] + more)

    text = _TENS.sub(added, text)
    return _SPELLED.sub(lambda match: str(_NUMBER_WORDS[match[0].lower()]), text)
