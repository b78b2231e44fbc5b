# Every target does its own set-up; see CONTRIBUTING.md.
PY := .venv/bin/python

.PHONY: install demo test check format
install: .venv/.installed

.venv/.installed: pyproject.toml
	deploy/setup/packages.sh
	test -x $(PY) || python3 -m venv .venv
	$(PY) -m pip install --quiet --upgrade 'pip>=25.1'
	$(PY) -m pip install --quiet --editable '.[demo]' --group dev
	touch $@

demo: install
	deploy/setup/engine.sh --if-running
	$(PY) -m app.cli demo $(ARGS)

test: install
	deploy/setup/engine.sh
	$(PY) -m pytest -m 'not nightly' -n 2 --dist loadfile --durations 10 --hypothesis-profile ci

check: install
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

format: install
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .
