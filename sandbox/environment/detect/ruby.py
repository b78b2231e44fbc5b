"""Detect how a Ruby project is set up and tested, from its Gemfile."""

import re

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.tree import Tree


async def detect_ruby(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of the Gemfile in `directory`: RSpec when there are specs, else a Rakefile's test.

    Gems are installed below the user's home, so the tree stays as it is. Minitest without a
    Rakefile is run file by file.
    """
    tree = Tree(source, files, directory)
    if not tree.has("Gemfile"):
        return None
    locked = tree.has("Gemfile.lock")
    return EnvironmentPlan(
        language="ruby",
        setup=('bundle config set --global path "$HOME/.gems"', "bundle install --jobs 2"),
        test=await _test(tree),
        runner="exit_code",
        origin=tree.name("Gemfile") + (" and Gemfile.lock" if locked else ""),
        directory=tree.directory,
    )


async def _test(tree: Tree) -> str:
    if tree.any(r"^spec/.*_spec\.rb$"):
        return "bundle exec rspec"
    tests = tree.any(r"^test/.*(_test|/?test_[^/]*)\.rb$")
    if tests and tree.has("Rakefile"):
        rakefile = await tree.text("Rakefile")
        if re.search(r"TestTask|task[ (]+:?['\"]?test\b", rakefile):
            return "bundle exec rake test"
    if tests:
        return (
            "bundle exec ruby -Itest -Ilib -e "
            "'Dir[\"test/**/{test_*,*_test}.rb\"].each { |f| require File.expand_path(f) }'"
        )
    return ""
