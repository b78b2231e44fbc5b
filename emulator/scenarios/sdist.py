"""Fetch a source distribution with pip and unpack it."""

import asyncio
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from emulator.scenarios.scenario import Sdist


class SdistUnavailable(RuntimeError):
    """The package index did not give the archive, or gave another one; the message says which."""


async def fetch(sdist: Sdist, cache_dir: Path) -> Path:
    """The path of the archive, downloaded unless the cache has it with the right sha256.

    pip reads its index from its own configuration, as everywhere on the machine. It checks the
    hash before it looks inside; reading the metadata then needs the project's build tools,
    which it puts into a folder of its own. Takes 2–3 s. Raises SdistUnavailable.
    """
    return await asyncio.to_thread(_fetch, sdist, cache_dir)


def _fetch(sdist: Sdist, cache_dir: Path) -> Path:
    cache_dir.mkdir(parents=True, exist_ok=True)
    kept = cache_dir / f"{sdist.folder}.tar.gz"
    if _sha256(kept) == sdist.sha256:
        return kept
    # in the cache's own folder, so that the last step is a rename
    with tempfile.TemporaryDirectory(dir=cache_dir) as scratch:
        _pip_download(sdist, Path(scratch))
        got = Path(scratch) / kept.name
        if _sha256(got) != sdist.sha256:
            raise SdistUnavailable(f"pip left no {kept.name} with the expected sha256.")
        got.replace(kept)
    return kept


def unpack(archive: Path, into: Path) -> None:
    """Write the files below the archive's one folder to `into`, which must not exist yet.

    Only regular files with plain paths are taken, with mode 644 or 755; owners, times and
    links are not. Raises ValueError for a path that leads out.
    """
    with tarfile.open(archive) as tar:
        for member in tar:
            if not member.isfile():
                continue
            _, *parts = PurePosixPath(member.name).parts
            if not parts or ".." in parts or member.name.startswith("/"):
                raise ValueError(f"{archive.name} holds the path {member.name!r}.")
            data = tar.extractfile(member)
            assert data is not None
            target = into.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data.read())
            target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _pip_download(sdist: Sdist, into: Path) -> None:
    requirements = into / "requirements.txt"
    requirements.write_text(
        f"{sdist.distribution}=={sdist.version} --hash=sha256:{sdist.sha256}\n", encoding="utf-8"
    )
    pip = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            # only the project itself: its build tools may come as wheels
            *("--no-deps", "--no-binary", sdist.distribution, "--require-hashes"),
            *("--dest", str(into), "--requirement", str(requirements)),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if pip.returncode != 0:
        end = "\n".join(pip.stdout.splitlines()[-5:])
        raise SdistUnavailable(
            f"pip could not download {sdist.folder}. Is the package index reachable?\n{end}"
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
