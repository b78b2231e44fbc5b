"""Detect how a Java project is set up and tested: Maven's pom.xml, Gradle's build files."""

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.tree import Tree

_GRADLE = ("settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts")
# Each goal needs plugins and dependencies of its own, and only a run of it fetches them all:
# `-DskipTests` starts the test plugin but not the provider it forks, a test name no class has does.
_MAVEN_FETCH = (
    "mvn -B -q test-compile",
    "mvn -B -q test -Dtest=NoSuchTest -DfailIfNoTests=false "
    "-Dsurefire.failIfNoSpecifiedTests=false",
)


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
    return EnvironmentPlan(
        language="java",
        setup=tuple(line.replace("mvn", tool, 1) for line in _MAVEN_FETCH),
        test=f"{tool} -B -o test" if _has_tests(tree) else "",
        runner="surefire",
        origin=tree.name("pom.xml") + (" with mvnw" if wrapper else ""),
        directory=tree.directory,
    )


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
