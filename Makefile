# A fresh machine needs make and Python 3.11 or later; everything else goes into .venv.
#   make demo   find, show and replay a bug in a built-in system
#   make test   run the tests (make test ARGS=tests/model)
#   make nightly  run the tests that take minutes, suite by suite, and note when
#   make lint   format, style, types, layers
#   make docs   build the site of guide and reference into build/docs
#   make venv   only prepare .venv, with the development tools
#   make clean  remove whatever these targets made

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALLED := .venv/.installed
INSTALLED_DEV := .venv/.installed-dev
INSTALLED_DOCS := .venv/.installed-docs
NATIVE := src/worldline/engine/native
# What an installation is made from; an editable one has the rest from src/.
BUILT_FROM := pyproject.toml hatch_build.py $(NATIVE)/kernel.cpp $(wildcard $(NATIVE)/kernel/*.hpp)

.PHONY: demo test nightly lint docs venv clean
.DELETE_ON_ERROR:
# Two installations into one environment must not run at once.
.NOTPARALLEL:

demo: $(INSTALLED)
	@scripts/demo $(BIN)/worldline

test: $(INSTALLED_DEV)
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

nightly: $(INSTALLED_DEV)
	@$(BIN)/python scripts/nightly $(ARGS)

lint: $(INSTALLED_DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: $(INSTALLED_DOCS)
	@$(BIN)/python -m sphinx --builder html --fail-on-warning --quiet docs build/docs
	@echo build/docs/index.html

venv: $(INSTALLED_DEV)

clean:
	rm -rf .venv worldline-out build dist src/*.egg-info
	rm -f $(addprefix $(NATIVE)/kernel*,.so .dylib .dll .new)
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "worldline needs Python 3.11 or later: make PYTHON=/path/to/python" >&2; \
	  exit 1; }
	$(PYTHON) -m venv .venv

$(INSTALLED): $(BUILT_FROM) | $(BIN)/python
	$(PIP) install -e .
	@touch $@

$(INSTALLED_DOCS): $(BUILT_FROM) | $(BIN)/python
	$(PIP) install -e '.[docs]'
	@touch $(INSTALLED) $@

$(INSTALLED_DEV): $(BUILT_FROM) | $(BIN)/python
	$(PIP) install -e '.[dev]'
	@touch $(INSTALLED) $(INSTALLED_DOCS) $@
