# `make run` sets everything up and opens the workbench; `make help` lists the rest.

PYTHON ?= python3
VENV   ?= .venv
DB     ?= starter.db
ARGS   ?=

BIN    := $(VENV)/bin
STAMPS := $(VENV)/stamps
say     = @printf '%s\n' "── $(1)"

.DEFAULT_GOAL := help
.PHONY: help run models engine test check bench clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: models  ## set up everything and open the workbench on the demo (headless on a pipe)
	$(call say,opening $(DB) with the demo collection)
	@$(BIN)/workbench --db $(DB) demo

engine: $(STAMPS)/engine  ## build the engine, unless one is there

models: $(STAMPS)/engine  ## fetch the starter models, unless they are there
	$(call say,starter models: SmolLM2-135M; multilingual-e5-small; tiktoken ranks (228 MB to download once))
	@$(BIN)/workbench starter

test: models $(STAMPS)/dev  ## run the tests
	$(call say,tests (a few minutes))
	@$(BIN)/python -m pytest -q -n auto --dist worksteal $(ARGS)

check: $(STAMPS)/dev  ## format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: models $(STAMPS)/bench  ## measure; see bench/
	@for script in $(wildcard bench/[a-z]*.py); do \
	  echo "── $$script"; $(BIN)/python -m bench.$$(basename $$script .py) || exit 1; done

clean:  ## remove the venv and what was built here; models and the engine's cache stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 …" >&2; exit 1; }
	$(call say,virtual environment in $(VENV) (seconds))
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/package: pyproject.toml $(STAMPS)/venv
	$(call say,the workbench and its dependencies (a minute))
	@$(BIN)/python -m pip install -qq --editable .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/package
	$(call say,development tools (a minute))
	@$(BIN)/python -m pip install -qq --group dev
	@touch $@

$(STAMPS)/bench: $(STAMPS)/dev
	$(call say,what benches compare with (a minute))
	@$(BIN)/python -m pip install -qq --group bench
	@touch $@

$(STAMPS)/engine: $(STAMPS)/package
	$(call say,engine (2–5 minutes the first time on a machine; then seconds))
	@$(BIN)/python -m workbench.starter.engine
	@touch $@
