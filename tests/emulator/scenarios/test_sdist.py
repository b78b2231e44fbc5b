"""Source distributions are fetched once, checked, and unpacked without surprises."""

import asyncio
import io
import os
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.scenarios.scenario import Scenario, load
from emulator.scenarios.sdist import SdistUnavailable, fetch, unpack


def make_tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def member(name: str, mode: int = 0o644, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.mode, made.type = mode, kind
    return made


def test_a_cached_archive_is_not_fetched_again(
    archive_of: Callable[[Scenario], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the archive in the cache no index is needed."""
    sdist = load("sqlparse").sdist
    kept = tmp_path / f"{sdist.folder}.tar.gz"
    kept.write_bytes(archive_of(load("sqlparse")).read_bytes())
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    assert asyncio.run(fetch(sdist, tmp_path)) == kept


def test_another_archive_than_the_expected_one_is_refused(tmp_path: Path) -> None:
    """A wrong hash gives a plain error and leaves nothing in the cache."""
    sdist = replace(load("sqlparse").sdist, sha256="0" * 64)
    with pytest.raises(SdistUnavailable, match=r"sqlparse-0\.5\.3"):
        asyncio.run(fetch(sdist, tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_cache_is_replaced(tmp_path: Path) -> None:
    """What does not have the hash is fetched again."""
    sdist = load("sqlparse").sdist
    (tmp_path / f"{sdist.folder}.tar.gz").write_bytes(b"half a download")
    archive = asyncio.run(fetch(sdist, tmp_path))
    assert tarfile.is_tarfile(archive)


def test_files_lose_the_archive_folder_and_keep_the_executable_bit(tmp_path: Path) -> None:
    """The tree starts below the one folder; modes are 644 and 755 only."""
    archive = make_tar(
        tmp_path / "a.tar.gz",
        (member("a-1/pkg/__init__.py", 0o664), b"x = 1\n"),
        (member("a-1/run.sh", 0o700), b"exit 0\n"),
    )
    unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/pkg/__init__.py").read_text() == "x = 1\n"
    assert (tmp_path / "out/pkg/__init__.py").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "out/run.sh").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["a-1/../../escape", "/a-1/escape"])
def test_paths_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written outside the given folder."""
    archive = make_tar(tmp_path / "a.tar.gz", (member(name), b"x"))
    with pytest.raises(ValueError, match="escape"):
        unpack(archive, tmp_path / "deep" / "out")
    assert not list(tmp_path.rglob("escape"))


def test_links_are_left_out(tmp_path: Path) -> None:
    """A symbolic link in an archive is not made."""
    link = member("a-1/link", kind=tarfile.SYMTYPE)
    link.linkname = "/etc/passwd"
    archive = make_tar(tmp_path / "a.tar.gz", (link, b""), (member("a-1/file"), b"x"))
    unpack(archive, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["file"]
