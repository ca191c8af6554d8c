# Everything runs in .venv, which the first target that needs it makes. `make` alone lists the targets.

PYTHON ?= python3
ARGS ?=

VENV_PYTHON := .venv/bin/python
PIP_INSTALL := $(VENV_PYTHON) -m pip install -qq --disable-pip-version-check -c constraints.txt
RUN_STAMP := .venv/.installed-run
DEV_STAMP := .venv/.installed-dev
# A worker for each core takes a file of tests at a time.
PYTEST := $(VENV_PYTHON) -m pytest -n auto --maxprocesses=8 --dist=loadfile

.DEFAULT_GOAL := help
.PHONY: help setup train test test-full check clean

help:
	@echo "make train      train a backgammon bot for about five minutes and measure it"
	@echo "make test       run the tests (a few minutes)"
	@echo "make test-full  run the same tests at full counts"
	@echo "make check      run everything that CI runs"
	@echo "make setup      only make .venv with what training and the tests need"
	@echo "make clean      remove build products and caches; .venv and runs/ stay"
	@echo
	@echo "More arguments:  make train ARGS=\"train.seed=7\"    make test ARGS=\"-k movegen\""
	@echo "Another Python:  make train PYTHON=python3.12  (when .venv is made)"

train: $(RUN_STAMP)
	$(VENV_PYTHON) scripts/train.py experiment=quick $(ARGS)

test: $(DEV_STAMP)
	$(PYTEST) $(ARGS)

test-full: $(DEV_STAMP)
	$(PYTEST) --full $(ARGS)

check:
	scripts/check

setup: $(DEV_STAMP)
	@:

# pip is asked for through the interpreter, so that a half-made .venv is finished and a folder may have any name.
# torch comes first and alone: its pin then decides which build is taken, before anything asks for a range of it.
$(RUN_STAMP): pyproject.toml constraints.txt
	@command -v gcc >/dev/null || { \
		echo "make: gcc was not found; install a C compiler (Debian: apt-get install gcc g++)" >&2; exit 1; }
	@$(VENV_PYTHON) -m pip --version >/dev/null 2>&1 || { \
		$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
			echo "make: Python 3.10 or newer is wanted; $(PYTHON) gives: $$($(PYTHON) --version 2>&1 | head -n 1)." \
				"Name another: make PYTHON=python3.11 ..." >&2; exit 1; }; \
		echo "Making .venv with $$($(PYTHON) --version)"; \
		$(PYTHON) -m venv .venv; }
	@echo "Installing torch (a large download where it is not cached)"
	@$(PIP_INSTALL) torch
	@echo "Installing nardy and what it needs"
	@$(PIP_INSTALL) -e .
	@touch $@

# Without gnubg-nn the test that compares legal plays with GNU Backgammon's would be skipped.
$(DEV_STAMP): $(RUN_STAMP)
	@echo "Installing what the tests need"
	@$(PIP_INSTALL) -e '.[dev]' gnubg-nn
	@touch $@

clean:
	rm -rf build dist nardy.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find env models train eval configs scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +
