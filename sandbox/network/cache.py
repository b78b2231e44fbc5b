"""Files of public registries kept on disk, so that one package is fetched once.

Only what anybody gets without a password is kept. An entry is read back whole and compared with
its checksum before a byte of it is served; a file that is cut short or changed is removed.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from sandbox.network.allow import PUBLIC
from sandbox.network.request import Headers, Wanted, response_headers

TOTAL_LIMIT = 4 << 30
ENTRY_LIMIT = 512 << 20
FOREVER_S = 10 * 365 * 86400.0
_MAGIC = b"prism-cache-1\n"
_TAIL = 32 + 4 + len(_MAGIC)  # checksum of all before it, length of the head, mark
_VARY = {b"accept", b"accept-encoding", b"origin", b"x-forwarded-proto", b""}
# Names of files that a registry never replaces: a version is published once.
_IMMUTABLE = {
    "files.pythonhosted.org": r"/packages/.+\.(whl|tar\.gz|zip|tar\.bz2|metadata)",
    "registry.npmjs.org": r"/.+/-/[^/]+\.tgz",
    "registry.yarnpkg.com": r"/.+/-/[^/]+\.tgz",
    "nodejs.org": r"/(dist|download)/(release/)?v[\d.]+/[^/]+",
    "proxy.golang.org": r"/.+/@v/v[^/]+\.(zip|mod|info)",
    "static.crates.io": r"/crates/.+\.crate|/crates/.+/download",
    "crates.io": r"/api/v1/crates/[^/]+/[^/]+/download",
    "repo.maven.apache.org": r"/maven2/(?!.*(SNAPSHOT|maven-metadata)).+\.(jar|pom|module|sha1)",
    "repo1.maven.org": r"/maven2/(?!.*(SNAPSHOT|maven-metadata)).+\.(jar|pom|module|sha1)",
    "rubygems.org": r"/gems/[^/]+\.gem",
    "deb.debian.org": r"/.+/pool/.+\.deb|/.+/by-hash/SHA256/[0-9a-f]{64}",
    "security.debian.org": r"/.+/pool/.+\.deb|/.+/by-hash/SHA256/[0-9a-f]{64}",
}


def may_be_cached(wanted: Wanted, *, has_credentials: bool) -> bool:
    """Whether an answer could be kept or served from here at all."""
    private = has_credentials or wanted.header(b"authorization")
    special = any(key.startswith(b"if-") or key == b"range" for key, _ in wanted.headers)
    return wanted.method == "GET" and wanted.origin.host in PUBLIC and not private and not special


def fresh_for_s(wanted: Wanted, status: int, headers: Headers) -> float:
    """How long an answer may be served again; 0.0 for not at all."""
    if status != 200:
        return 0.0
    rules = b",".join(value for key, value in headers if key == b"cache-control").lower()
    vary = b",".join(value for key, value in headers if key == b"vary").lower()
    if re.search(rb"no-store|no-cache|private", rules) or any(
        key == b"content-range" for key, _ in headers
    ):
        return 0.0
    shape = _IMMUTABLE.get(wanted.origin.host)
    if shape and re.fullmatch(shape, wanted.target.partition("?")[0]):
        return FOREVER_S
    if not {name.strip() for name in vary.split(b",")} <= _VARY:
        return 0.0
    ages = [int(value) for value in re.findall(rb"\b(?:s-)?max-?age=(\d{1,9})\b", rules)]
    age = next((int(v) for k, v in headers if k == b"age" and v.isdigit()), 0)
    return max(0.0, float(min(ages) - age)) if ages else 0.0


def cache_key(wanted: Wanted) -> str:
    """The name of the file: address and what the answer may depend on."""
    parts = (
        wanted.url.encode(),
        wanted.header(b"accept"),
        wanted.header(b"accept-encoding"),
    )
    return sha256(b"\0".join(parts)).hexdigest()


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer read back and found whole. Close it when it was sent."""

    headers: Headers
    size: int
    file: BinaryIO

    def chunks(self) -> Iterator[bytes]:
        """The body in pieces."""
        left = self.size
        while left and (data := self.file.read(min(left, 131_072))):
            left -= len(data)
            yield data


class Cache:
    """A folder of answers within `limit` bytes, least recently used first out.

    Several workers may share it: every entry appears by one rename. All methods block briefly;
    call them in a thread.
    """

    def __init__(self, folder: Path, limit: int = TOTAL_LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        self._written = 0
        self._swept = False

    def find(self, key: str) -> Stored | None:
        """The whole, unexpired answer of a key, else None."""
        path = self._folder / key
        try:
            file = path.open("rb")
        except OSError:
            return None
        stored = _read(file)
        if stored is None:
            file.close()
            path.unlink(missing_ok=True)
            return None
        with suppress(OSError):  # evicted meanwhile by another worker; the open file is readable
            os.utime(path)
        return stored

    def begin(self, key: str, headers: Headers, fresh_s: float) -> "Writing | None":
        """Start to keep an answer; None when the folder cannot be written into."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._folder / f"{key}.{token_hex(6)}.part"
            return Writing(self, key, path, response_headers(headers), time.time() + fresh_s)
        except OSError:
            return None

    def keep(self, writing: "Writing") -> None:
        """Give a complete entry its name, and make room now and then."""
        writing.path.replace(self._folder / writing.key)
        self._written += writing.size
        if not self._swept or self._written > self._limit // 16:
            self.sweep()

    def sweep(self) -> None:
        """Remove the least recently used entries over the limit, and stale unfinished ones."""
        self._swept, self._written = True, 0
        entries: list[tuple[float, int, Path]] = []
        for path in self._folder.iterdir():
            try:
                found = path.stat()
            except OSError:
                continue
            if path.suffix != ".part":
                entries.append((found.st_mtime, found.st_size, path))
            elif found.st_mtime < time.time() - 3600:
                path.unlink(missing_ok=True)
        left = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if left <= self._limit * 9 // 10:
                break
            path.unlink(missing_ok=True)
            left -= size


class Writing:
    """An entry being written beside its place; `finish` or `drop` it."""

    def __init__(self, cache: Cache, key: str, path: Path, headers: Headers, until: float) -> None:
        self.key = key
        self.path = path
        self.size = 0
        self._cache = cache
        self._headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in headers]
        self._until = until
        self._digest = sha256()
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def feed(self, data: bytes) -> bool:
        """Add a piece; False when the entry cannot be kept and was dropped."""
        self.size += len(data)
        try:
            if self.size <= ENTRY_LIMIT:
                self._digest.update(data)
                self._file.write(data)
                return True
        except OSError:
            pass  # the disk is full: serving goes on without keeping
        self.drop()
        return False

    def finish(self) -> None:
        """Keep the entry: the answer came to its proper end."""
        head = json.dumps({"until": self._until, "headers": self._headers}).encode()
        try:
            self._digest.update(head)
            self._file.write(head + self._digest.digest() + len(head).to_bytes(4) + _MAGIC)
            self._file.close()
            self._cache.keep(self)
        except OSError:
            self.drop()

    def drop(self) -> None:
        """Forget the entry."""
        with suppress(OSError):
            self._file.close()
        self.path.unlink(missing_ok=True)


def _read(file: BinaryIO) -> Stored | None:
    """What is in an entry; None unless it is whole and of use."""
    try:
        end = file.seek(-_TAIL, os.SEEK_END)
        tail = file.read(_TAIL)
        size = end - int.from_bytes(tail[32:36])
        if tail[36:] != _MAGIC or size < 0 or tail[:32] != _checksum(file, end):
            return None
        file.seek(size)
        head = json.loads(file.read(end - size))
        if head["until"] < time.time():
            return None
        headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in head["headers"]]
        file.seek(0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Stored(headers, size, file)


def _checksum(file: BinaryIO, size: int) -> bytes:
    file.seek(0)
    digest = sha256()
    while size and (data := file.read(min(size, 1 << 20))):
        digest.update(data)
        size -= len(data)
    return digest.digest()
