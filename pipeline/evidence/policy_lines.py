"""The patch policy for lines: secrets, characters nobody sees, risky calls, hosts. Pure.

Source: reliability.md §6.8. All of it is linear: secrets start with a literal, repeat one class a
fixed number of times and look back a fixed width; calls are looked up word by word.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from sandbox.patch.names import UNSEEN

# U+FE0F (draw the character before as emoji) is common in honest text: only a second one hides.
_INVISIBLE = re.compile(f"[{UNSEEN}]|\ufe0f{{2}}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]|\r(?![\n\r]|\Z)")


def hidden_characters(added: str) -> Iterator[str]:
    """What added text holds that a reader of the pull request would not see."""
    if found := _INVISIBLE.search(added):
        yield f"an added line holds the invisible character U+{ord(found[0][0]):04X}"
    if found := _CONTROL.search(added):
        yield f"an added line holds the control character U+{ord(found[0][0]):04X}"


# Name, literal start, the rest.
_SHAPES = (
    ("a GitHub token", "gh", r"[pousr]_[A-Za-z0-9]{36}"),
    ("a GitHub token", "ghs_", r"[A-Za-z0-9._-]{36}"),
    ("a GitHub token", "github_pat_", r"[A-Za-z0-9_]{30}"),
    ("a GitLab token", "gl", r"(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[\w.-]{20}"),
    ("an AWS key", "A", r"(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("a private key", "-----BEGIN ", r"(?:[A-Z0-9]{1,12} ?){0,3}PRIVATE ?KEY"),
    ("a private key", "PuTTY-User-Key-File-", r"\d"),
    ("a private key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50}"),
    ("a Slack token", "xox", r"[abceoprs]-[A-Za-z0-9-]{12}"),
    ("a Slack token", "xapp-", r"\d-[A-Z0-9]{6,16}-\d{6,16}-[a-z0-9]{16}"),
    ("a Slack webhook", "hooks.slack.com/", r"(?:services|workflows)/T[A-Za-z0-9_]{6}"),
    ("a Discord webhook", "/api/webhooks/", r"\d{15,20}/[\w-]{30}"),
    ("a Google key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("a Google token", "ya29.", r"[A-Za-z0-9_-]{30}"),
    ("a Google secret", "GOCSPX-", r"[A-Za-z0-9_-]{28}"),
    ("a Stripe key", "sk_", r"(?:live|test)_[A-Za-z0-9]{16}"),
    ("a Stripe key", "rk_", r"(?:live|test)_[A-Za-z0-9]{16}"),
    ("a Stripe secret", "whsec_", r"[A-Za-z0-9+/]{32}"),
    ("a Bedrock key", "ABSK", r"[A-Za-z0-9+/]{60}"),
    ("an Anthropic key", "sk-ant-", r"[A-Za-z0-9_-]{20}"),
    ("an OpenAI key", "sk-", r"(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40}"),
    ("an OpenAI key", "sk-", r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    ("a model provider's key", "sk-", r"(?:or-v1-)?[a-f0-9]{32}"),
    ("a model provider's key", "gsk_", r"[A-Za-z0-9]{36}"),
    ("a model provider's key", "xai-", r"[A-Za-z0-9]{36}"),
    ("a model provider's key", "pplx-", r"[A-Za-z0-9]{36}"),
    ("a Replicate token", "r8_", r"[A-Za-z0-9]{37}"),
    ("a Hugging Face token", "hf_", r"[A-Za-z0-9]{34}"),
    ("an npm token", "npm_", r"[A-Za-z0-9]{36}"),
    ("a PyPI token", "pypi-AgE", r"[A-Za-z0-9_-]{50}"),
    ("a RubyGems key", "rubygems_", r"[a-f0-9]{48}"),
    ("a Docker token", "dckr_", r"[po]at_[A-Za-z0-9_-]{27}"),
    ("a DigitalOcean token", "do", r"[opr]_v1_[a-f0-9]{64}"),
    ("a SendGrid key", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("a Twilio key", "SK", r"[a-f0-9]{32}(?![a-f0-9])"),
    ("a Shopify token", "shp", r"(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("a Databricks token", "dapi", r"[a-f0-9]{32}"),
    ("a Vault token", "hv", r"[bsr]\.[A-Za-z0-9_-]{24}"),
    ("a Grafana token", "gl", r"(?:c|sa)_[A-Za-z0-9+/_]{32}"),
    ("an Atlassian token", "ATATT3", r"[A-Za-z0-9_=-]{40}"),
    ("a Linear key", "lin_", r"(?:api|oauth)_[A-Za-z0-9]{40}"),
    ("a New Relic key", "NRAK-", r"[A-Z0-9]{27}"),
    ("an Azure key", "AccountKey=", r"[A-Za-z0-9+/]{86}=="),
)
_PLAIN = (
    ("a Telegram bot token", r":AA(?<=[0-9]{8}:AA)[A-Za-z0-9_-]{33}"),
    (
        "a signed web token",
        r"eyJ(?<![A-Za-z0-9_.-]eyJ)[A-Za-z0-9_-]{15,2000}\.eyJ[A-Za-z0-9_-]{15,2000}\.[\w-]{20}",
    ),
    *(
        ("an AWS secret", word + r"[\"']?\s{0,5}[=:]\s{0,5}[\"']?[A-Za-z0-9/+]{40}")
        for word in ("secret_access_key", "SECRET_ACCESS_KEY", "secretAccessKey", "SecretAccessKey")
    ),
)
# The look-back stands after the literal, so that the engine can search for the literal first.
SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = (
    *(
        (name, re.compile(f"{re.escape(start)}(?<![A-Za-z0-9]{re.escape(start)}){rest}"))
        for name, start, rest in _SHAPES
    ),
    *((name, re.compile(pattern)) for name, pattern in _PLAIN),
)
# So distinct that they also count when joined from pieces, where no edge can be asked for.
_DISTINCT = ("ghs_", "github_pat_", "sk-ant-", "AIza", "npm_", "pypi-AgE", "ATATT3", "rubygems_")
_JOINED: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(re.escape(start) + rest))
    for name, start, rest in (
        *(shape for shape in _SHAPES if shape[1] in _DISTINCT),
        ("a GitHub token", "gh", r"[pousr]_[A-Za-z0-9]{36}"),
        ("an AWS key", "AKIA", r"[A-Z2-7]{16}(?![A-Z0-9])"),
        ("a private key", "-----BEGIN", r" ?(?:[A-Z0-9]{1,12} ?){0,3}PRIVATE ?KEY"),
        ("a Slack token", "xox", r"[bp]-\d{8,14}-[A-Za-z0-9-]{12}"),
        ("a Stripe key", "sk_live_", r"[A-Za-z0-9]{20}"),
    )
)
_GLUE = re.compile(r"[\s\"'`+\\.]+(?=[\s\"'`+\\.])|[\"'`+\\\s]+")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{32,}")


def secrets_in(added: str) -> tuple[str, ...]:
    """Kinds of secrets in added text, also split over strings and lines or in base64; sorted."""
    found = {name for name, pattern in SECRETS if pattern.search(added)}
    for text in (_GLUE.sub("", added), "\n".join(_decoded(added))):
        found |= {name for name, pattern in _JOINED if pattern.search(text)}
    return tuple(sorted(found))


def _decoded(added: str) -> Iterator[str]:
    for found in _BASE64.finditer(added):
        run = found[0] if len(found[0]) % 4 != 1 else found[0][:-1]
        yield base64.b64decode(run + "=" * (-len(run) % 4)).decode("latin-1")


# --- risky calls ---------------------------------------------------------------------------

_CODE = (
    "py pyi pyx js jsx mjs cjs ts tsx mts cts rb php go rs java kt kts scala c h cc cpp hpp cs"
    " swift sh bash zsh ps1 pl lua ex exs clj r jl vue svelte"
)
CODE = frozenset(_CODE.split())
_PROGRAMS = "runs other programs"
_EVALUATES = "evaluates code"
_DESERIALISES = "reads serialised objects"
_NETWORK = "uses the network"
_LOOSENS = "loosens a safety check"
_JS_NET = r"[\"'](?:node:)?(?:https?|net|tls|dgram|dns|axios|node-fetch|got|undici|ws)[\"']"
_PY_NET = (
    r"(?:socket|requests|urllib[23]?|httpx|aiohttp|ftplib|smtplib|telnetlib|paramiko|websockets?"
    r"|xmlrpc|http\.client|asyncssh)\b"
)
_PICKLES = r"(?:pickle|_pickle|dill|marshal|shelve|cloudpickle|jsonpickle)\b"
_LOADS = r"\.(?:loads?|open|Unpickler)\b"
_CALL = r"[ \t]{0,3}\("
_OS_CALLS = r"\b(?:fork|system|popen|exec[lv]|spawn|posix_spawn|startfile)"

# Words, what they do, what must follow. A word that starts with `!` may not follow a dot.
_CALLS = (
    (
        "subprocess child_process execSync execFileSync spawnSync create_subprocess_exec"
        " create_subprocess_shell ProcessBuilder shell_exec proc_open",
        _PROGRAMS,
        "",
    ),
    ("os", _PROGRAMS, r"\.(?:fork|system|popen|exec[lv]|spawn|posix_spawn|startfile)|/exec\""),
    ("from", _PROGRAMS, r"[ \t]{1,5}os[ \t]{1,5}import\b[\w\s,(]{0,150}?" + _OS_CALLS),
    ("from", _PROGRAMS, r"[ \t]{1,5}(?:os|posix|pty|commands)[ \t]{1,5}import[ \t]{1,5}\*"),
    ("import", _PROGRAMS, r"[ \t]{1,5}os[ \t]{1,5}as\b"),
    ("!system !popen passthru", _PROGRAMS, _CALL),
    ("IO Kernel Open3", _PROGRAMS, r"\.(?:popen|system|exec|spawn|capture)"),
    ("exec", _PROGRAMS, r"\.Command"),
    ("posix pty commands", _PROGRAMS, r"\.(?:system|popen|exec|spawn|fork|getoutput)"),
    ("Runtime", _PROGRAMS, r"\.getRuntime"),
    ("Command", _PROGRAMS, r"::new"),
    ("Process", _PROGRAMS, r"\.Start\b"),
    ("Deno", _PROGRAMS, r"\.(?:run|Command)\b"),
    ("shell", _PROGRAMS, r"[ \t]{0,3}[=:][ \t]{0,3}[Tt]rue\b"),
    ("!eval !exec !compile !execfile __import__ instance_eval class_eval", _EVALUATES, _CALL),
    ("runpy ctypes cffi dlopen SourceFileLoader exec_module load_source codeop", _EVALUATES, ""),
    ("__builtins__ FunctionType CodeType zipimport", _EVALUATES, ""),
    ("builtins", _EVALUATES, r"\.(?:eval|exec|compile|__import__)\b"),
    ("from", _EVALUATES, r"[ \t]{1,5}builtins[ \t]"),
    ("getattr", _EVALUATES, r"[ \t]{0,3}\([ \t]{0,3}(?:os|sys|builtins|importlib|posix)\b"),
    ("importlib", _EVALUATES, r"\.(?:util|machinery|reload)\b"),
    ("process", _EVALUATES, r"\.(?:binding|dlopen)\b"),
    ("import_module", _EVALUATES, _CALL),
    ("new", _EVALUATES, r"[ \t]{1,3}Function[ \t]{0,3}\("),
    ("vm", _EVALUATES, r"\.run"),
    ("setTimeout setInterval", _EVALUATES, r"[ \t]{0,3}\([ \t]{0,3}[\"'`]"),
    ("pickle cPickle _pickle dill cloudpickle marshal shelve", _DESERIALISES, _LOADS),
    ("jsonpickle", _DESERIALISES, r"\.decode\b"),
    ("joblib torch Marshal", _DESERIALISES, r"\.load\b"),
    ("yaml", _DESERIALISES, r"\.(?:load|unsafe_load|full_load|load_all|unsafe_load_all)\b"),
    ("ObjectInputStream BinaryFormatter read_pickle", _DESERIALISES, ""),
    ("unserialize", _DESERIALISES, _CALL),
    ("import from", _DESERIALISES, r"[ \t]{1,5}" + _PICKLES),
    ("import from", _NETWORK, r"[ \t]{1,5}(?:" + _PY_NET + "|" + _JS_NET + ")"),
    ("require import", _NETWORK, r"\([ \t]{0,3}" + _JS_NET),
    ("urlopen urlretrieve XMLHttpRequest sendBeacon open_connection WebSocket", _NETWORK, ""),
    ("!fetch", _NETWORK, _CALL),
    ("socket", _NETWORK, r"\.(?:socket|create_connection)\b"),
    ("requests httpx axios", _NETWORK, r"\.(?:get|post|put|patch|delete|request|stream)\b"),
    ("requests httpx", _NETWORK, r"\.(?:Session|Client|AsyncClient)\b"),
    ("net http https", _NETWORK, r"\.(?:Dial|connect|Get|Post|request|get)[ \t]{0,3}\("),
    ("curl wget", _NETWORK, r"[ \t]{1,5}[-\"'$h]"),
    ("dev", _NETWORK, r"/(?:tcp|udp)/"),
    ("verify check_hostname", _LOOSENS, r"[ \t]{0,3}=[ \t]{0,3}False\b"),
    ("rejectUnauthorized", _LOOSENS, r"[ \t]{0,3}[=:][ \t]{0,3}false\b"),
    ("InsecureSkipVerify", _LOOSENS, r"[ \t]{0,3}[=:][ \t]{0,3}true\b"),
    ("CERT_NONE mark_safe dangerouslySetInnerHTML _create_unverified_context", _LOOSENS, ""),
)
_ASSERTS = "assertion"
_TESTS = "test"
_SKIPS = "skip"
_TEST_WORDS = (
    ("raises should", _ASSERTS, ""),
    ("expect", _ASSERTS, _CALL),
    ("fail", _ASSERTS, _CALL),
    ("def", _TESTS, r"[ \t]{1,5}test"),
    ("!it !test", _TESTS, r"(?:\.each)?[ \t]{0,3}[\(`]"),
    ("func", _TESTS, r"[ \t]{1,5}Test"),
    (
        "skipif skipIf skipUnless xfail importorskip expectedFailure skipTest SkipTest xit"
        " xdescribe xtest fdescribe Disabled collect_ignore collect_ignore_glob",
        _SKIPS,
        "",
    ),
    ("!fit", _SKIPS, _CALL),
    ("pytest unittest mark", _SKIPS, r"\.skip\b"),
    ("it test describe suite context", _SKIPS, r"\.(?:skip|only|todo|fixme|failing|fails)\b"),
    ("t", _SKIPS, r"\.Skip"),
    ("__test__", _SKIPS, r"[ \t]{0,3}=[ \t]{0,3}False"),
)

_Rules = tuple[tuple[str, str, re.Pattern[str]], ...]


def _compiled(rows: Iterable[tuple[str, str, str]]) -> _Rules:
    """(word, kind, pattern) of every word; the literal stands first so that it is searched for."""
    rules = []
    for words, kind, follow in rows:
        for marked in words.split():
            word = marked.lstrip("!")
            before = r"[\w.]" if marked != word else r"\w"
            pattern = re.compile(rf"{word}(?<!{before}{word})(?!\w)(?:{follow})")
            rules.append((word, kind, pattern))
    return tuple(rules)


_CALL_RULES = _compiled(_CALLS)
_TEST_RULES = (
    *_compiled(_TEST_WORDS),
    ("assert", _ASSERTS, re.compile(r"assert(?<!\wassert)\w{0,40}")),
)


def new_calls(added: str, removed: str) -> tuple[str, ...]:
    """Kinds of risky calls that there are more of in added than in removed code; sorted."""
    return tuple(sorted(_count(added, _CALL_RULES) - _count(removed, _CALL_RULES)))


def weakened(added: str, removed: str) -> tuple[str, ...]:
    """How a change of a test file makes it check less, as ends of a sentence."""
    before, after = _count(removed, _TEST_RULES), _count(added, _TEST_RULES)
    checks = (
        (before[_TESTS] > after[_TESTS], "removes a test"),
        (before[_ASSERTS] > after[_ASSERTS], "removes an assertion"),
        (after[_SKIPS] > before[_SKIPS], "skips a test"),
    )
    return tuple(sentence for holds, sentence in checks if holds)


def _count(text: str, rules: _Rules) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word, kind, pattern in rules:
        if word in text:
            counts[kind] += len(pattern.findall(text))
    return counts


# --- hosts ---------------------------------------------------------------------------------

_HOST = re.compile(
    r"://(?<=[A-Za-z0-9]://)(?:[^\s/@\"'<>]{1,100}@)?([A-Za-z0-9][A-Za-z0-9.-]{0,252})"
)
# Hosts that lead nowhere (RFC 2606, RFC 6761) or to this machine.
_HARMLESS = re.compile(
    r"localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|(?:.*\.)?(?:example|test|invalid|localhost)"
    r"|(?:.*\.)?example\.(?:com|org|net)"
)


def hosts_in(text: str) -> frozenset[str]:
    """Hosts of the addresses in a text, without reserved names and this machine."""
    hosts = {host.lower().rstrip(".-") for host in set(_HOST.findall(text))}
    return frozenset(host for host in hosts if not _HARMLESS.fullmatch(host))
