"""Bare mirrors through GitPython: the only module that imports it.

The host never has a work tree, so no filter, hook, submodule or LFS object of a repository is
ever used here. Tokens travel in `GIT_CONFIG_*` variables of one git process, nowhere else.
"""

import asyncio
import base64
import fcntl
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any
from urllib.parse import urlsplit

from git import Git, Repo
from git.exc import GitCommandError, GitCommandNotFound, InvalidGitRepositoryError, NoSuchPathError

from app.github.errors import MirrorFailed

FETCH_TIMEOUT_S = 600.0
READ_TIMEOUT_S = 60.0
CHUNK = 1 << 16

# Byte for byte what was committed: nothing left out of archives, no conversion of line ends,
# no filter. This file outranks every .gitattributes of the tree.
ATTRIBUTES = (
    "* -export-ignore -export-subst -text -eol -crlf -ident -filter -working-tree-encoding\n"
)
# Old, harmless flaws that well-known projects carry in their history for ever.
TOLERATED = (
    "zeroPaddedFilemode",
    "badTimezone",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingNameBeforeEmail",
    "badDateOverflow",
    "zeroPaddedDate",
    "missingEmail",
    "duplicateEntries",
)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Mirror:
    """A bare repository on this machine, and the key that names it in caches and labels."""

    path: Path
    key: str


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to fetch from: base URL of the host, `owner/name`, and a token ("" for none)."""

    base_url: str
    full_name: str
    token: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """The repository's address, without the token."""
        return f"{self.base_url}/{self.full_name}.git"


def is_repository(text: str) -> bool:
    """Whether a text has the form of `owner/name`; such a name leads out of no folder."""
    return _NAME.fullmatch(text) is not None and ".." not in text


def is_commit(text: str) -> bool:
    """Whether a text has the form of a commit's full name."""
    return _COMMIT.fullmatch(text) is not None


def mirror_of(data_dir: Path, installation_id: int, repository_id: int) -> Mirror:
    """The mirror of a repository, by ids so that renames keep it; may not exist yet."""
    path = data_dir.absolute() / "mirrors" / str(installation_id) / f"{repository_id}.git"
    return Mirror(path, f"{installation_id}/{repository_id}")


async def fetch(mirror: Mirror, remote: Remote, branch: str) -> bool:
    """Create or update the mirror's copy of one branch; one fetch at a time per mirror.

    Returns False when the remote has no such branch (an empty repository has none). Raises
    MirrorFailed when git cannot fetch; what the mirror held before is kept.
    """
    _require_repository(remote)
    ref = f"refs/heads/{branch}"
    try:
        await asyncio.to_thread(_fetch_locked, mirror, remote, f"+{ref}:{ref}")
    except MirrorFailed as error:
        if "couldn't find remote ref" in str(error):
            return False
        raise
    return True


async def fetch_commit(mirror: Mirror, remote: Remote, commit: str) -> None:
    """Have one commit with its history in the mirror; nothing is fetched when it is there.

    The host must hand out commits by name, as GitHub does. Raises MirrorFailed.
    """
    _require_repository(remote)
    if not is_commit(commit):
        raise MirrorFailed(f"{commit!r} is not the full name of a commit.")
    if mirror.path.exists() and await resolve_commit(mirror, commit):
        return
    refspec = f"+{commit}:refs/prism/{commit}"  # named, so that git keeps it
    await asyncio.to_thread(_fetch_locked, mirror, remote, refspec)


async def resolve_commit(mirror: Mirror, revision: str) -> str | None:
    """The commit a revision names, None when there is none."""
    wanted = revision + "^{commit}"
    try:
        text = await git(mirror, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
    except MirrorFailed:
        return None
    found = text.decode().strip()
    return found if is_commit(found) else None


@contextmanager
def local_mirror(repository: Path) -> Iterator[Mirror]:
    """A temporary bare mirror that borrows the objects of a local repository.

    Config, hooks and attributes of the repository are not used and nothing is written into it.
    HEAD names the same commit. Raises MirrorFailed when `repository` is in no git repository.
    """
    try:
        found = Repo(repository, search_parent_directories=True)
    except (InvalidGitRepositoryError, NoSuchPathError):
        raise MirrorFailed(f"{repository} is not in a git repository.") from None
    with found, TemporaryDirectory(prefix="prism-mirror-") as folder:
        mirror = Mirror(Path(folder) / "mirror.git", f"local{Path(found.common_dir).absolute()}")
        _create(mirror)
        objects = Path(found.common_dir).absolute() / "objects"
        alternates = mirror.path / "objects/info/alternates"
        alternates.write_text(f"{objects}\n", encoding="utf-8")
        head = _local_commit(Path(found.git_dir), "HEAD")
        if head:
            run_git(mirror, ["git", "update-ref", "--no-deref", "HEAD", head])
        yield mirror


def local_commit(repository: Path, revision: str) -> str:
    """The commit that a revision names in a local repository, branches and tags of its own too;
    "" when there is none. Raises MirrorFailed when it is in no git repository."""
    try:
        found = Repo(repository, search_parent_directories=True)
    except (InvalidGitRepositoryError, NoSuchPathError):
        raise MirrorFailed(f"{repository} is not in a git repository.") from None
    with found:
        return _local_commit(Path(found.git_dir), revision)


def _local_commit(folder: Path, revision: str) -> str:
    """By git, which also takes a bare repository without a configuration."""
    wanted = revision + "^{commit}"
    command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", wanted]
    try:
        return run_git(Mirror(folder.absolute(), ""), command).decode().strip()
    except MirrorFailed:
        return ""


async def git(
    mirror: Mirror, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> bytes:
    """Run one git command in a mirror and return its output; raises MirrorFailed."""
    return await asyncio.to_thread(run_git, mirror, ["git", *arguments], stdin, env)


def run_git(
    mirror: Mirror,
    command: list[str],
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    timeout_s: float = READ_TIMEOUT_S,
) -> bytes:
    """The blocking form of `git`, for several commands in one thread.

    `command` is an argument list that may put a wrapper in front of git.
    """
    with TemporaryFile(prefix="prism-git-") as source:
        source.write(stdin)
        source.seek(0)
        try:
            output: Any = Git(str(mirror.path)).execute(
                command,
                istream=source,
                env={**git_environment(mirror), **(env or {})},
                kill_after_timeout=timeout_s,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
            )
        except (GitCommandError, GitCommandNotFound) as error:
            raise MirrorFailed(_reason(error)) from None
    return bytes(output)


async def stream_archive(mirror: Mirror, commit: str) -> AsyncIterator[bytes]:
    """The tree of a commit as a tar stream, in chunks of 64 KB; raises MirrorFailed."""
    process: Any = Git(str(mirror.path)).execute(
        ["git", "archive", "--format=tar", commit], env=git_environment(mirror), as_process=True
    )
    try:
        while chunk := await asyncio.to_thread(process.stdout.read, CHUNK):
            yield chunk
        await asyncio.to_thread(process.wait)
    except GitCommandError as error:
        raise MirrorFailed(_reason(error)) from None
    finally:
        if process.poll() is None:  # the reader went away
            process.kill()
            await asyncio.to_thread(process.proc.wait)
        process.stdout.close()
        process.stderr.close()


def _require_repository(remote: Remote) -> None:
    if not is_repository(remote.full_name):
        raise MirrorFailed(f"{remote.full_name!r} is not a repository name.")


def _fetch_locked(mirror: Mirror, remote: Remote, refspec: str) -> None:
    mirror.path.parent.mkdir(parents=True, exist_ok=True)
    with mirror.path.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other workers of this machine share the folder
        if not (mirror.path / "HEAD").exists():
            _create(mirror)
        _fetch(mirror, remote, refspec)


def _create(mirror: Mirror) -> None:
    mirror.path.mkdir(parents=True, exist_ok=True)
    run_git(mirror, ["git", "init", "--quiet", "--bare", "--template=", str(mirror.path)])
    info = mirror.path / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(ATTRIBUTES, encoding="ascii")


def _fetch(mirror: Mirror, remote: Remote, refspec: str) -> None:
    options = ["--quiet", "--force", "--no-tags", "--no-recurse-submodules", "--no-auto-gc"]
    command = ["git", "fetch", *options, "--", remote.url, refspec]
    run_git(mirror, command, env=git_environment(mirror, remote), timeout_s=FETCH_TIMEOUT_S)


def git_environment(mirror: Mirror, remote: Remote | None = None) -> dict[str, str]:
    """Variables of every git process: no outside config, no prompt, no transport but HTTP."""
    config = {
        "core.hooksPath": "/dev/null",
        "core.fsmonitor": "false",
        "core.attributesFile": "/dev/null",
        "core.quotePath": "false",
        "core.packedGitWindowSize": "16m",  # small maps, so that a memory limit is about content
        "core.packedGitLimit": "128m",
        "gc.auto": "0",
        "protocol.allow": "never",
        "transfer.fsckObjects": "true",
        "http.followRedirects": "false",
        **{f"fetch.fsck.{flaw}": "ignore" for flaw in TOLERATED},
    }
    if remote is not None:
        config[f"protocol.{urlsplit(remote.base_url).scheme}.allow"] = "always"
        if remote.token:
            basic = base64.b64encode(f"x-access-token:{remote.token}".encode()).decode()
            config[f"http.{remote.base_url}/.extraheader"] = f"AUTHORIZATION: basic {basic}"
    return {
        "GIT_DIR": str(mirror.path),
        "GIT_INDEX_FILE": str(mirror.path / "index"),
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_HTTP_LOW_SPEED_LIMIT": "1000",
        "GIT_HTTP_LOW_SPEED_TIME": "60",
        # git has no use for what this process was started with
        "PRIVATE_KEY": "",
        "WEBHOOK_SECRET": "",
        "ANTHROPIC_API_KEY": "",
        **_as_variables(config),
    }


def _as_variables(config: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def _reason(error: GitCommandError | GitCommandNotFound) -> str:
    """git's own last words, without the command line."""
    stderr = error.stderr if isinstance(error.stderr, str) else ""
    text = stderr.strip().removeprefix("stderr:").strip().strip("'").strip()
    return f"git failed: {text[-300:] or f'exit code {error.status}'}"
