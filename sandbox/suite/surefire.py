"""Maven and Gradle: JUnit XML, one file per test class, gathered as one tar."""

import io
import posixpath
import re
import shlex
import tarfile
from collections import defaultdict

from sandbox.suite.report import ReportInvalid, Results, parse_junit

_GRADLE = re.compile(r"(^|[ /])(gradle|gradlew)( |$)")
_MAVEN = re.compile(r"(^|[ /])(mvn|mvnw)( |$)")
_PLACES = r".*/\(target/\(surefire\|failsafe\)-reports\|build/test-results\)/.*TEST-[^/]*\.xml"
_NO_TESTS_ARE_FINE = "-DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"


def surefire_line(test: str, targets: tuple[str, ...], report: str) -> str:
    """The line, and after it the XML files it wrote as a tar in `report`.

    Files count by the time their content last changed, which nothing but writing them sets: a
    report that the repository or an earlier run left is older than the run. Targets are ids
    `package.Class::method`, classes, or source files. All modules run, also after one that failed.
    """
    mark = shlex.quote(report + ".start")
    gather = (
        f"find . -xdev -type f -regex '{_PLACES}' -cnewer {mark} -print0 | "
        f"tar --null --no-recursion --files-from - --format=gnu -cf {shlex.quote(report)} ; "
        f"rm -f {mark}"
    )
    # File times tick only some hundred times a second.
    begin = f": > {mark} ; sleep 0.05"
    return f"{begin} ; {{ {_run(test, targets)} ; }} ; code=$? ; {gather} ; exit $code"


def _run(test: str, targets: tuple[str, ...]) -> str:
    if _GRADLE.search(test):
        chosen = " ".join(f"--tests {shlex.quote(_gradle_name(target))}" for target in targets)
        # What is up to date is not run again, and leaves no new report.
        line = re.sub(r"(?<= )test(?= |$)", f"cleanTest test {chosen}".strip(), test, count=1)
        return _with(line, "--continue")
    if not _MAVEN.search(test):
        return test
    line = _with(test, "-fae")
    if targets:
        line += f" {shlex.quote('-Dtest=' + _maven_names(targets))} {_NO_TESTS_ARE_FINE}"
    return line


def _with(line: str, option: str) -> str:
    return line if option in line.split() else f"{line} {option}"


def _maven_names(targets: tuple[str, ...]) -> str:
    """Classes with their methods: `a.B#one+two,a.C`."""
    chosen: dict[str, list[str]] = defaultdict(list)
    for name, method in map(_split, targets):
        chosen[name] += [method] if method else []
    return ",".join(
        name + ("#" + "+".join(dict.fromkeys(methods)) if methods else "")
        for name, methods in chosen.items()
    )


def _gradle_name(target: str) -> str:
    name, method = _split(target)
    return f"{name}.{method}" if method else name


def _split(target: str) -> tuple[str, str]:
    """Class and method; what a parametrised test adds to its method's name is left out."""
    if re.search(r"\.(java|kt|groovy|scala)$", target):
        inner = re.sub(r"^(.*/)?src/[^/]+/(java|kotlin|groovy|scala)/", "", target)
        return posixpath.splitext(inner)[0].replace("/", "."), ""
    name, _, method = target.partition("::")
    return name, re.split(r"[\[({ ]", method)[0]


def parse_surefire(data: bytes) -> Results:
    """A tar of JUnit XML files; ids are `package.Class::method`.

    Only plain files are read, in memory. Raises ReportInvalid when the tar or any of its files
    is not whole.
    """
    results = Results()
    if not data.endswith(bytes(1024)):
        raise ReportInvalid("the tar has no end")
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                    raise ReportInvalid("not a plain file")
                file = tar.extractfile(member)
                content = file.read() if file is not None and member.size <= len(data) else b""
                if len(content) != member.size:
                    raise ReportInvalid("a file is cut")
                for test, status in parse_junit(content).items():
                    results.put(test, status)
    except (tarfile.TarError, OSError, ValueError, OverflowError) as error:
        raise ReportInvalid(f"no tar of reports: {error}") from None
    return results
