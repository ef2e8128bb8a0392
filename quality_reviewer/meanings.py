"""Knows in which signs code says what a sentence says in words."""

from __future__ import annotations

import re
from functools import lru_cache

from quality_reviewer.word_tables import pairs
from quality_reviewer.words import stem, words, words_with_names

# Words, and in which signs code may say one of them.
_SIGNS = r"""
case insensitive sensitive lowercase uppercase letters capitals capital regard = casefold
  |\blower\(|\bupper\(|IGNORECASE|NOCASE|to(?:Lower|Upper)|EqualFold|(?i:\bilike\b)|\(\?i\)
  |/i\b|\[A-Za-z\]|sensitivity
trim strip whitespace spaces space blank blanks surrounding = strip\(|trim|TrimSpace|\\s\*
round rounded cents decimals places = \bround|toFixed|quantize|ROUND|Math\.floor|Math\.ceil
exponential double doubles doubling twice grow growing longer backoff increasing rising = \*\*
  |<<|\*= ?2|\* 2\b|pow\(|backoff
wait waits pause pauses delay sleep between = sleep|setTimeout|time\.After|delay
retry again try attempt repeat times = \b(?:for|while)\b.*(?:range|attempt|tries)|retry
log logs logged logging report warn warning print printed message say = \blog(?:ger|ging|f
  |rus)?\b|console\.|slog|syslog|tracing|warn|print|LOG_LEVEL|echo
mail email e-mail send notify message = smtp|sendmail|mail
mail email address addresses = \w@\w
raise throw error exception fail fails failure refuse refused reject rejected invalid raises
   raised deny denied forbid unreachable abort forbidden allowed up = \braise\b|\bthrow\b
  |\bthrows\b|Error|Err[A-Z]|Exception|panic|errors\.|exit [1-9]|exit\([1-9]|reject|abort
  |assertRaises|toThrow
none null nothing empty missing absent unset = \bNone\b|\bnull\b|\bnil\b|undefined|IS NULL
empty nothing blank none without no = \[\]|\{\}|(?<!\")\"\"(?!\")|(?<!')''(?!')|len\(.*\) == 0
  |\.length === 0|\bnot \w+:|is_empty|isEmpty
sort sorted order ordered first last ascending descending newest oldest latest alphabetical
   alphabetically by = sort|ORDER BY|order_by|orderBy
descending newest latest recent highest largest first reverse reversed most = DESC\b|reverse
  |b\.\w+ - a\.
limit limited most maximum cap capped at least minimum up fit fits full = LIMIT \d|\[:\w+\]
  |slice\(|\.limit\(|islice|max\(|min\(|MAX_|_MAX|>= ?\w|<= ?\w
assume default fallback fall = (?:def|func|function)\b.*\w ?=|\?\?|\|\||:-|setdefault|\.get\(.*,
limit limits limited maximum minimum most = (?i:up to|at most|no more than|at least)
page pages paginate pagination paged = OFFSET|offset|page|cursor
unique distinct duplicate duplicates once twice same double repeated = DISTINCT|UNIQUE|unique
  |\bset\(|new Set|dict\.fromkeys|ON CONFLICT|IGNORE
index indexed fast quick = \bINDEX\b
soft mark marks marked deleted delete removed = deleted_at|is_deleted|archived|removed_at
delete deleted remove removed cascade gone drop purge clean = CASCADE|DELETE FROM|\.delete\(
  |unlink|rm |rmtree|os\.remove|-delete
compress compressed archive archives gzip = gzip|\bgz\b|tgz|zstd|zip|tar
encrypt encrypted encryption = gpg|openssl|encrypt|cipher|fernet|AES|age -r
hash hashed digest checksum fingerprint = sha\d|md5|hashlib|bcrypt|argon|digest
cache cached remember memoize keep kept = lru_cache|functools\.cache|cache|memo|Cache
lock locked safe thread atomic atomically concurrent once = \bLock\(|mutex|Mutex|synchronized
  |flock|FOR UPDATE|atomic|rename\(|replace\(
transaction transactions rollback together = \bBEGIN\b|commit|rollback|transaction|atomic
parallel concurrent concurrently async threads workers background = ThreadPool|gather
  |Promise\.all|go func|async|await|Pool\(|workers
stream streamed lazily chunk chunks piece memory = yield|stream|iter\(|chunk|bufio|generator
copy copies copied new untouched unchanged original leave = copy|\[\.\.\.|\{\.\.\.|slice\(\)
  |deepcopy|list\(|dict\(|clone
utc timezone zone time = utc|UTC|timezone|\bZ\b|tzinfo
timeout time out wait seconds long hang hangs deadline = timeout|Timeout|deadline|TIMEOUT
  |signal\.alarm
address addresses = (?i:addr)
request requests = (?i:\breq)
response responses answer answers = (?i:\bresp?\b|respon)
config = (?i:cfg|conf)
message messages = (?i:msg)
context = (?i:\bctx)
login user = (?i:auth)
directory folder = (?i:\bdirs?\b|mkdir)
database = (?i:\bdb\b)
temporary = (?i:\btmp|temp)
argument parameter = (?i:\barg|param)
number count amount length many = (?i:count|len\(|length|\bnum)
dash dashes hyphen hyphens = [\"'`]-[\"'`]
underscore underscores = [\"'`]_[\"'`]
slash slashes = [\"'`]/[\"'`]
space spaces blank = [\"'`] [\"'`]
colon colons = [\"'`]:[\"'`]
line lines newline = \\n|splitlines
environment variable env = (?i:environ|getenv)|process\.env|\$\{?[A-Z_]+|LookupEnv
option flag switch argument command line = add_argument|click\.option|flag\.|argparse|--[a-z]
  |typer|Option\(
deprecate deprecated old warn = DeprecationWarning|deprecated|@Deprecated
json = json|JSON
yaml = yaml|yml
csv comma separated columns = csv|Comma
semicolon semicolons separated separator = [\"'`][^\"'`\n]*;[^\"'`\n]*[\"'`]
comma commas separated separator = [\"'`],[\"'`]
tab tabs separated separator = \\t
pipe pipes or = \|
server error fail unavailable gateway = \b5\d\d\b
client error bad request not found forbidden unauthorized missing many = \b4\d\d\b
ok success successful created = \b2\d\d\b
percent percentage = % ?100|/ ?100\b|100 -
day date daily time timestamp per = date|strftime|datetime|\+%F|Date
age old older days week month expire expired = mtime|older|-mtime|timedelta|expires
on enabled enable default active = True|true|\bon\b|enabled
off disabled disable default inactive = False|false|\boff\b|disabled
begin begins start starts prefix beginning = startswith|HasPrefix|startsWith|\^
end ends suffix ending = endswith|HasSuffix|endsWith|\$
contain contains has holds part within = \bin\b|includes|Contains|contains
stderr standard error output = sys\.stderr|stderr|>&2|os\.Stderr
exit exits status code = sys\.exit|os\.Exit|process\.exit|exit
exist exists there file missing = test -f|os\.path\.exists|isfile|existsSync|os\.Stat
write writes written file save saved = with open|write_text|writeFile|WriteFile|\.write\(
read reads load loads file = read_text|readFile|ReadFile|\.read\(|json\.load
raise raises refuse refuses error fail = pytest\.raises|assertRaises|toThrow|rejects
test tested tests check checked = assert|expect
"""
SIGNS = tuple(
    (re.compile(code), frozenset(map(stem, said.split()))) for said, code in pairs(_SIGNS)
)
_NUMBER_WORDS = """
zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12
fifteen:15 twenty:20 thirty:30 forty:40 fifty:50 sixty:60 ninety:90 hundred:100 thousand:1000
once:1 twice:2 dozen:12 fifth:5 fiftieth:50 hundredth:100
"""
_SPELLED_NUMBERS = dict(pair.split(":") for pair in _NUMBER_WORDS.split())
_TENS = re.compile(r"\b(twenty|thirty|forty|fifty|sixty|ninety)-(\w+)", re.IGNORECASE)
# A text in marks stays as it is.
_SPELLED = re.compile(
    rf"`[^`]*`|\"[^\"]*\"|“[^”]*”|\b(?:{'|'.join(_SPELLED_NUMBERS)})\b", re.IGNORECASE
)


@lru_cache(maxsize=256)
def meant(text: str) -> frozenset[str]:
    """Return the stems of words that code stands for in its signs."""
    return frozenset(one for sign, said in SIGNS if sign.search(text) for one in said)


@lru_cache(maxsize=4096)
def is_meant(text: str, word: str) -> bool:
    """Return whether code stands for the stem of a word in its signs; of long texts cheaper."""
    return any(sign.search(text) for sign, said in SIGNS if word in said)


@lru_cache(maxsize=256)
def words_of_code(text: str) -> frozenset[str]:
    """Return the stems of a text's rarer words, and of those that its code stands for."""
    return frozenset(words(text)) | words_with_names([text]) | meant(text)


def spelled_out(text: str) -> str:
    """Return a text with numbers in digits that it has in words."""
    known = _SPELLED_NUMBERS

    def added(match: re.Match[str]) -> str:
        more = known.get(match[2].lower())
        return match[0] if more is None else str(int(known[match[1].lower()]) + int(more))

    return _SPELLED.sub(lambda match: known.get(match[0].lower(), match[0]), _TENS.sub(added, text))
