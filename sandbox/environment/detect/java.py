"""Detect how a Java project is set up and tested: Maven's pom.xml, Gradle's build files."""

from collections import defaultdict
from shlex import quote

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.tree import Tree

_GRADLE = ("settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
# What runs tests is fetched only when one runs: a few classes of each module do, whatever they
# say; a plain build would leave the offline runs without it.
_TRY = (
    "{} -B -q test {} -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false "
    "-Dmaven.test.failure.ignore=true"
)
_TRIED_OF_MODULE = 2
_TRIED = 40


async def detect_java(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of the pom.xml or Gradle build in `directory`, modules included.

    A wrapper in the tree is used, so that the build tool's version is the project's own.
    """
    tree = Tree(source, files, directory)
    if tree.has("pom.xml"):
        return _maven(tree)
    manifest = next((name for name in _GRADLE if tree.has(name)), "")
    return _gradle(tree, manifest) if manifest else None


def _maven(tree: Tree) -> EnvironmentPlan:
    wrapper = tree.has("mvnw") and tree.has(".mvn/wrapper/maven-wrapper.properties")
    tool = "sh ./mvnw" if wrapper else "mvn"
    tried = _some_classes(tree)
    fetch = _TRY.format(tool, quote(f"-Dtest={tried}")) if tried else f"{tool} -B -q test-compile"
    return EnvironmentPlan(
        language="java",
        setup=(fetch,),
        test=f"{tool} -B -o test" if _has_tests(tree) else "",
        runner="surefire",
        origin=tree.name("pom.xml") + (" with mvnw" if wrapper else ""),
        directory=tree.directory,
    )


def _some_classes(tree: Tree) -> str:
    """A few test classes of every module, as Maven takes them."""
    modules: dict[str, list[str]] = defaultdict(list)
    for path in tree.paths(r"(^|/)src/test/[^/]+/(.*/)?(Test\w*|\w*(Test|Tests|TestCase))\.java$"):
        module, _, inner = path.partition("src/test/")
        modules[module].append(inner.rpartition("/")[2].removesuffix(".java"))
    chosen = [name for names in modules.values() for name in names[:_TRIED_OF_MODULE]]
    return ",".join(dict.fromkeys(chosen[:_TRIED]))


def _gradle(tree: Tree, manifest: str) -> EnvironmentPlan:
    wrapper = tree.has("gradlew") and tree.has("gradle/wrapper/gradle-wrapper.jar")
    tool = "sh ./gradlew --no-daemon" if wrapper else "gradle --no-daemon"
    return EnvironmentPlan(
        language="java",
        setup=(f"{tool} testClasses", f"{tool} test --continue || echo 'Some tests fail.'"),
        test=f"{tool} --offline test" if _has_tests(tree) else "",
        runner="surefire",
        origin=tree.name(manifest) + (" with gradlew" if wrapper else ""),
        directory=tree.directory,
        packages=() if wrapper else ("gradle",),
    )


def _has_tests(tree: Tree) -> bool:
    return tree.any(r"(^|/)src/(test|[\w-]*[tT]est)/.*\.(java|kt|groovy|scala)$")
