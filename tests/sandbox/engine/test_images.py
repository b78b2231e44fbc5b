"""Which image an environment is built on."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sandbox.base import Language
from sandbox.engine import images
from sandbox.engine.client import Engine
from sandbox.engine.images import base_image, image_name, parse_images, recipe_hash
from sandbox.errors import EngineUnavailable

BUILD = images.RECIPE / "build.sh"
NAMES = ("base", "go", "rust", "java", "ruby", "php")


@pytest.mark.parametrize("name", NAMES)
def test_script_and_sandbox_agree_on_names(name: str) -> None:
    """What the script builds is what the sandbox looks for."""
    said = subprocess.run([BUILD, "--name", name], check=True, stdout=-1, text=True).stdout
    assert said.strip() == f"prism-{name}:{recipe_hash(name)}"


def test_every_recipe_is_a_new_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed package list renames its image alone, a changed base renames all."""
    shutil.copytree(images.RECIPE, tmp_path / "recipe")
    monkeypatch.setattr(images, "RECIPE", tmp_path / "recipe")
    before = {name: recipe_hash(name) for name in NAMES}
    assert len(set(before.values())) == len(NAMES)
    with (tmp_path / "recipe/packages/go.txt").open("a") as file:
        file.write("less\n")
    assert {name for name in NAMES if recipe_hash(name) != before[name]} == {"go"}
    with (tmp_path / "recipe/packages/base.txt").open("a") as file:
        file.write("less\n")
    assert all(recipe_hash(name) != before[name] for name in NAMES)
    (tmp_path / "recipe/packages/go.txt").unlink()
    (tmp_path / "recipe/packages/go.wheels").unlink()
    assert recipe_hash("go") == ""


@pytest.mark.parametrize(
    ("language", "name"),
    [("python", "base"), ("node", "base"), ("unknown", "base"), ("go", "go"), ("php", "php")],
)
def test_language_has_an_image(language: Language, name: str) -> None:
    """Python and Node share the base; compilers have images of their own."""
    assert image_name(language) == name


def test_setting_names_images() -> None:
    """The setting is a list of names and references; spaces and empty parts do no harm."""
    text = "go=a.example:5000/go@sha256:12, rust = b:1,,"
    assert parse_images(text) == {"go": "a.example:5000/go@sha256:12", "rust": "b:1"}
    assert parse_images("") == {}


@pytest.mark.parametrize("text", ["go", "go=", "=x", "perl=x", "go=a,b"])
def test_setting_that_cannot_be_read_is_refused(text: str) -> None:
    """A part that names no image would silently do nothing."""
    with pytest.raises(ValueError, match="is not NAME=IMAGE with one of the names base, go"):
        parse_images(text)


@pytest.mark.engine
async def test_missing_image_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a language's image the error says how to build it, or name another."""
    shutil.copytree(images.RECIPE, tmp_path / "recipe")
    (tmp_path / "recipe/packages/go.txt").write_text("nothing\n")
    monkeypatch.setattr(images, "RECIPE", tmp_path / "recipe")
    engine = Engine()
    try:
        base = await engine.call(base_image)
        with pytest.raises(EngineUnavailable, match=r"run deploy/sandbox/build\.sh go .*=IMAGE"):
            await engine.call(lambda c: base_image(c, "", "go"))
        assert await engine.call(lambda c: base_image(c, base, "go")) == base
        named = {"go": base}
        assert await engine.call(lambda c: base_image(c, "localhost:1/none", "go", named)) == base
        wrong = {"go": "localhost:1/none"}
        with pytest.raises(EngineUnavailable, match="PRISM_SANDBOX_IMAGES"):
            await engine.call(lambda c: base_image(c, "", "go", wrong))
    finally:
        await engine.close()
