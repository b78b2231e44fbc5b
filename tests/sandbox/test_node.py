"""A Node project from detection to verdict on a real engine."""

import pytest

from sandbox.docker import DockerSandbox
from sandbox.environment.plan import make_plan

pytestmark = pytest.mark.engine

FILES = {
    "package.json": '{"name": "sum", "version": "1.0.0", "scripts": {"test": "node --test"}}',
    "sum.js": "module.exports = (a, b) => a - b;\n",
    "test/sum.test.js": (
        "const { describe, test } = require('node:test');\n"
        "const assert = require('node:assert');\nconst sum = require('../sum.js');\n"
        "describe('sum', () => {\n"
        "  test('adds', () => assert.equal(sum(1, 2), 3));\n"
        "  test('keeps zero', () => assert.equal(sum(1, 0), 1));\n});\n"
    ),
}


async def test_node_project(docker: DockerSandbox, make_source) -> None:
    """npm installs, node's own runner is read test by test, a fix shows."""
    source = make_source(FILES)
    plan = await make_plan(source)
    environment = await docker.prepare(source, plan, "run-node")
    try:
        assert environment.baseline is not None
        assert environment.baseline.structured, environment.baseline.output
        assert dict(environment.baseline.results) == {
            "sum > adds": "fail",
            "sum > keeps zero": "pass",
        }
        async with docker.workspace(environment, "candidate", "run-node") as workspace:
            await workspace.write("sum.js", "module.exports = (a, b) => a + b;\n")
            run = await workspace.test(("test/sum.test.js",))
            assert set(run.results.values()) == {"pass"}
            assert (await workspace.diff()).count("diff --git") == 1
    finally:
        await docker.remove_environments(source.repository)
