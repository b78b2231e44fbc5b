"""Print the dependencies of ./pyproject.toml, and those of the extras named as arguments."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = [line for name in sys.argv[1:] for line in project["optional-dependencies"][name]]
sys.stdout.write("\n".join([*project["dependencies"], *extras]) + "\n")
