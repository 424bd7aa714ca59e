# Everything a developer does, each target with its own set-up in .venv; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help install demo test check bench gen docs clean debian kafka

PYTHON ?= python3
BIN := .venv/bin
# protoc finds its plug-in on PATH; pip builds with the pinned backend.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_BUILD_CONSTRAINT := constraints.txt
PIP_INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt
PYTEST_ARGS ?=

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: .venv/.dev ## everything for development, in .venv

demo: .venv/.detect ## 512 simulated GPUs with five faults and this machine; SEED=7 or SEED=random
	$(BIN)/forewarn demo $(if $(SEED),--seed $(SEED))

test: .venv/.dev debian kafka ## all tests; PYTEST_ARGS="-k wire" for some
	$(BIN)/pytest -n 2 $(PYTEST_ARGS)

check: .venv/.dev ## format, lint, types, floors, spelling, runbook, drift of generated files
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	git ls-files -z | xargs -0 $(BIN)/codespell
	$(BIN)/forewarn runbook lint
	$(BIN)/python docs/generate.py --check
	$(BIN)/python -m dashboards --check
	rm -rf .cache/gen && mkdir -p .cache/gen
	$(call protoc,.cache/gen)
	for name in wire_pb2.py wire_pb2.pyi; do \
	  diff -u forewarn/$$name .cache/gen/forewarn/$$name || { echo "run: make gen"; exit 1; }; done

bench: .venv/.dev ## every script of bench/ in turn
	@for script in $$(grep -l __main__ bench/*.py); do printf '\n=== %s\n' "$$script"; \
	  $(BIN)/python -m bench.$$(basename "$$script" .py); done

gen: .venv/.dev ## forewarn/wire_pb2.py and .pyi from wire.proto; dashboards/generated
	$(call protoc,.)
	$(BIN)/python -m dashboards

docs: .venv/.dev ## the generated parts of docs/
	$(BIN)/python docs/generate.py

clean: ## removes .venv, caches and what was built
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache dist build .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

protoc = $(BIN)/python -m grpc_tools.protoc -I. --python_out=$(1) --mypy_out=$(1) forewarn/wire.proto

# A stamp is made when an install went through; a second run costs nothing.
.venv/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Forewarn needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1 | head -1)." \
	    "Name another one: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || { \
	  echo "$(PYTHON) cannot make a virtual environment; on Debian: apt install python3-venv" >&2; \
	  exit 1; }
	@touch $@

.venv/.detect: pyproject.toml constraints.txt | .venv/.python
	$(PIP_INSTALL) --editable '.[detect]'
	@touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/.python
	$(PIP_INSTALL) --editable '.[dev]'
	@touch .venv/.detect $@

debian: # servers and tools that tests start; where they cannot be installed, those tests say so
	@.ci/debian tests/apt.txt

kafka: .venv/.dev # the broker's jars, once; where they cannot be had, those tests say so
	@$(BIN)/python -c 'from tests.kafka import broker; print(broker.lacking() or broker.fetch())'
