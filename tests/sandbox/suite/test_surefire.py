"""The XML files of Maven and Gradle, gathered by a real shell, and hostile tars."""

import io
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from sandbox.suite.report import ReportInvalid
from sandbox.suite.surefire import parse_surefire, surefire_line

FAILED = "<failure message='no'/>"


def xml(name: str, body: str = "", suite: str = "shop.PriceTest") -> str:
    return (
        f"<testsuite name='{suite}'><testcase name='{name}' classname='{suite}'>{body}</testcase>"
        "<system-out><![CDATA[<?xml?><testsuite><testcase name='forged'/>]]></system-out>"
        "</testsuite>"
    )


def run(folder: Path, command: str) -> tuple[int, bytes]:
    """Run a test command's line in a folder; its exit code and report."""
    line = surefire_line(command, (), str(folder / "report"))
    done = subprocess.run(["bash", "-c", line], cwd=folder, check=False)
    return done.returncode, (folder / "report").read_bytes()


def test_files_of_all_modules_are_read(tmp_path: Path) -> None:
    """Reports of every module and both tools count; the exit code is the command's own."""
    write = "mkdir -p {0} && printf '%s' \"{1}\" > '{0}/TEST-{2}.xml'"
    command = " ; ".join(
        [
            write.format("a/target/surefire-reports", xml("one"), "a"),
            write.format("target/failsafe-reports", xml("two", FAILED, "shop.IT"), "b c"),
            write.format("build/test-results/test", xml("three", "<skipped/>", "g.T"), "c"),
            "(exit 7)",
        ]
    )
    code, report = run(tmp_path, command)
    assert code == 7
    assert parse_surefire(report) == {
        "shop.PriceTest::one": "pass",
        "shop.IT::two": "fail",
        "g.T::three": "skip",
    }


def test_older_reports_do_not_count(tmp_path: Path) -> None:
    """A report that was there before the run counts for nothing, whatever time it claims."""
    place = tmp_path / "target/surefire-reports"
    place.mkdir(parents=True)
    stale = place / "TEST-stale.xml"
    stale.write_text(xml("stale"))
    future = time.time() + 10_000
    subprocess.run(["touch", "-d", f"@{future}", stale], check=True)
    code, report = run(tmp_path, "true")
    assert code == 0
    assert parse_surefire(report) == {}
    assert not list(tmp_path.glob("*.start"))


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link among the reports is left out: its target is not a report of the run."""
    (tmp_path / "secret").write_text(xml("secret"))
    place = "target/surefire-reports"
    code, report = run(tmp_path, f"mkdir -p {place} && ln -s ../../secret {place}/TEST-x.xml")
    assert code == 0
    assert parse_surefire(report) == {}


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def member(content: bytes, **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo("TEST-a.xml")
    info.size = len(content)
    for name, value in fields.items():
        setattr(info, name, value)
    return info, content


WHOLE = tar(member(xml("a").encode()), member(xml("b").encode()))
SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**50)}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no tar",
        xml("a").encode(),
        WHOLE[:512],
        WHOLE[:700],
        WHOLE[:1024],
        WHOLE[:2100],
        WHOLE.rstrip(b"\0"),
        tar(member(b"<testsuite>")),
        tar(member(b"<!DOCTYPE a><testsuite/>")),
        tar(member(b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")),
        tar(member(b"0\n" + bytes(510), pax_headers=SPARSE)),
        bytes(20_000_000)[:-1] + b"x",
    ],
)
def test_broken_tar_is_none(data: bytes) -> None:
    """What is not whole, or no plain file, is refused; nothing is unpacked."""
    with pytest.raises(ReportInvalid):
        parse_surefire(data)


@pytest.mark.parametrize(
    ("test", "targets", "expected"),
    [
        ("mvn -B -o test", (), "{ mvn -B -o test -fae ; }"),
        (
            "sh ./mvnw -o test",
            ("a.BTest::one", "a.BTest::two(int)[1]", "src/test/java/a/CTest.java"),
            "{ sh ./mvnw -o test -fae '-Dtest=a.BTest#one+two,a.CTest' "
            "-DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false ; }",
        ),
        (
            "sh ./gradlew --offline test",
            ("a.BTest::one", "m/src/test/kotlin/a/C.kt"),
            "{ sh ./gradlew --offline cleanTest test --tests a.BTest.one --tests a.C "
            "--continue ; }",
        ),
        ("make test", (), "{ make test ; }"),
    ],
)
def test_lines(test: str, targets: tuple[str, ...], expected: str) -> None:
    """All modules run, nothing is taken as up to date, and targets are classes and methods."""
    assert f" ; {expected} ; code=$? ; find . " in surefire_line(test, targets, "/r")
