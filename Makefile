# `make run` and `make test` do everything on a machine with Python ≥ 3.11, make and a package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
STAMPS := $(VENV)/stamps
SOURCES := $(shell find src -name '*.py' -o -name '*.json')

.PHONY: run test lint bench docs dist reproduce clean
.DEFAULT_GOAL := run

# What was tested is pinned in constraints.txt; groups of tools are named in pyproject.toml.
$(STAMPS)/venv:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/package: $(STAMPS)/venv pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --editable '.[fast]'
	touch $@

$(STAMPS)/%: $(STAMPS)/package pyproject.toml constraints.txt
	$(PIP) install --constraint constraints.txt --group $*
	touch $@

run: $(STAMPS)/package
	$(BIN)/bipartite demo

# Two workers on two cores: threads of linear algebra beside them would only get in each other's way.
test: $(STAMPS)/test
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest

lint: $(STAMPS)/lint $(STAMPS)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMPS)/bench
	$(BIN)/python bench/line.py
	$(BIN)/python bench/sets.py
	$(BIN)/python bench/anchors.py
	$(BIN)/python bench/categories.py
	$(BIN)/python bench/timing.py
	$(BIN)/python bench/advisor.py
	$(BIN)/python bench/tables.py
	$(BIN)/python bench/em.py
	$(BIN)/python bench/error_bars.py
	$(BIN)/python bench/windows.py

docs: $(STAMPS)/docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs docs/_build/html

# The wheel is installed in an empty environment and README's code is run from it.
dist: $(STAMPS)/dist
	rm -rf dist && $(BIN)/python -m build --outdir dist .
	rm -rf .venv-dist && $(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip --quiet --disable-pip-version-check install --constraint constraints.txt dist/*.whl
	.venv-dist/bin/python -m doctest README.md
	.venv-dist/bin/bipartite demo --people 1000
	rm -rf .venv-dist

# Every figure of the paper and a verdict on every claim, into results/. The folder that BIPARTITE_DATA names holds the
# data, ../shared/data where it is there and nothing is named; what is missing is reported. `make reproduce HOW=--full`
# takes hours, and days for SGD without a GPU.
HOW ?= --quick
reproduce: export BIPARTITE_DATA := $(or $(BIPARTITE_DATA),$(abspath $(wildcard ../shared/data)))
reproduce: $(STAMPS)/test
	$(BIN)/bipartite reproduce $(HOW)

clean:
	rm -rf $(VENV) .venv-dist dist docs/_build
