"""How Go, Rust, Java, Ruby, PHP, make and CMake projects are set up and tested."""

import time
from collections.abc import Mapping

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.detect.table import DETECTORS
from tests.fakes import MemorySource


async def detect(
    language: str, files: Mapping[str, str], directory: str = ""
) -> EnvironmentPlan | None:
    source = MemorySource(files)
    return await DETECTORS[language](source, await source.files(), directory)


BUNDLE = ('bundle config set --global path "$HOME/.gems"', "bundle install --jobs 2")
RUBY = {"Gemfile": "", "Gemfile.lock": ""}
COMPILE_GO = "go test -exec true ./... >/dev/null || echo 'Some packages do not build.'"
CARGO = "Cargo.toml"


@pytest.mark.parametrize(
    ("language", "files", "setup", "test"),
    [
        (
            "go",
            {"go.mod": "module x", "a/a_test.go": ""},
            ("go mod download", COMPILE_GO),
            "go test ./...",
        ),
        (
            "go",
            {"go.mod": "module x", "vendor/modules.txt": "", "a_test.go": ""},
            (COMPILE_GO,),
            "go test ./...",
        ),
        (
            "go",
            {
                "go.work": "go 1.21 // x\nuse ./a\nuse (\n\t./b c // no\n\t./gone\n\t.\n)\n",
                "go.mod": "module x",
                "a/go.mod": "module a",
                "a/a_test.go": "",
            },
            (
                "go mod download",
                "go test -exec true ./a/... ./... >/dev/null || echo 'Some packages do not build.'",
            ),
            "go test ./a/... ./...",
        ),
        (
            "rust",
            {CARGO: "[package]\nname='a'\n", "Cargo.lock": ""},
            (
                "cargo fetch --locked || cargo fetch",
                "cargo test --no-run || echo 'Some targets do not build.'",
            ),
            "cargo test --offline",
        ),
        (
            "rust",
            {CARGO: "[workspace]\nmembers=['a']\n"},
            (
                "cargo fetch",
                "cargo test --workspace --no-run || echo 'Some targets do not build.'",
            ),
            "cargo test --workspace --offline",
        ),
        (
            "java",
            {
                "pom.xml": "<project/>",
                "a/src/test/java/x/ATest.java": "",
                "b/src/test/java/x/BTests.java": "",
                "b/src/test/java/x/Helper.java": "",
            },
            (
                "mvn -B -q test -Dtest=ATest,BTests -DfailIfNoTests=false "
                "-Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore=true",
            ),
            "mvn -B -o test",
        ),
        (
            "java",
            {
                "pom.xml": "",
                "mvnw": "",
                ".mvn/wrapper/maven-wrapper.properties": "",
                "src/main/java/A.java": "",
            },
            ("sh ./mvnw -B -q test-compile",),
            "",
        ),
        (
            "java",
            {
                "settings.gradle.kts": "",
                "gradlew": "",
                "gradle/wrapper/gradle-wrapper.jar": "",
                "app/src/test/kotlin/ATest.kt": "",
            },
            (
                "sh ./gradlew --no-daemon testClasses",
                "sh ./gradlew --no-daemon test --continue || echo 'Some tests fail.'",
            ),
            "sh ./gradlew --no-daemon --offline test",
        ),
        (
            "ruby",
            {**RUBY, "spec/a_spec.rb": ""},
            BUNDLE,
            "bundle exec rspec",
        ),
        (
            "ruby",
            {**RUBY, "test/a_test.rb": "", "Rakefile": "Rake::TestTask.new"},
            BUNDLE,
            "bundle exec rake test",
        ),
        (
            "php",
            {"composer.json": '{"require-dev": {"phpunit/phpunit": "^10"}}'},
            ("composer install --no-interaction --no-progress --prefer-dist",),
            "vendor/bin/phpunit",
        ),
        (
            "php",
            {"composer.json": '{"scripts": {"test": ["@phpcs", "phpunit"]}}'},
            ("composer install --no-interaction --no-progress --prefer-dist",),
            "composer run-script test",
        ),
        (
            "make",
            {"Makefile": "CC := gcc\nall build: a\nnot-test: x\ncheck : all\n\t./a\n"},
            ("make || echo 'The default target does not build.'",),
            "make check",
        ),
        (
            "make",
            {"CMakeLists.txt": "project(a)\nENABLE_TESTING()\n"},
            (
                'cmake -S . -B "$HOME/build"',
                'cmake --build "$HOME/build"',
            ),
            'cmake --build "$HOME/build" && ctest --test-dir "$HOME/build" --output-on-failure',
        ),
    ],
)
async def test_plans(
    language: str, files: Mapping[str, str], setup: tuple[str, ...], test: str
) -> None:
    """Each manifest leads to its lines, and a plan in a folder is the same plan there."""
    plan = await detect(language, files)
    assert plan is not None
    assert (plan.setup, plan.test) == (setup, test)
    below = await detect(language, {f"a b/{path}": text for path, text in files.items()}, "a b")
    assert below is not None
    assert (below.setup, below.test, below.directory) == (setup, test, "a b")


@pytest.mark.parametrize(
    ("language", "files"),
    [
        ("go", {"a/go.mod": "", "main.go": ""}),
        ("go", {"go.work": "use ./gone"}),
        ("rust", {CARGO: "[profile.dev]\n"}),
        ("rust", {CARGO: "[package"}),
        ("java", {"a/pom.xml": ""}),
        ("ruby", {"a.gemspec": ""}),
        ("php", {"composer.json": "{"}),
        ("make", {"Makefile": "test := x\nall: y\n\ttest: no\n"}),
    ],
)
async def test_nothing_to_go_by(language: str, files: Mapping[str, str]) -> None:
    """What is no manifest of the folder asked about is no plan."""
    assert await detect(language, files) is None


@pytest.mark.parametrize(
    ("language", "name"),
    [("go", "go.work"), ("rust", CARGO), ("php", "composer.json"), ("make", "Makefile")],
)
@pytest.mark.parametrize("text", [" ", "use (", "a ", "use\t", "[a.", "include ("])
async def test_time_is_linear(language: str, name: str, text: str) -> None:
    """A manifest made to be slow to read costs no more than its size."""
    start = time.monotonic()
    await detect(language, {name: text * (390_000 // len(text)), "Rakefile": text})
    assert time.monotonic() - start < 5
