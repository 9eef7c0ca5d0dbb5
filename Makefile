# `make run` and `make test` do everything on a machine with Python ≥ 3.11, make and a package registry; `make client` also
# wants Node ≥ 20 and a registry of its packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
STAMPS := $(VENV)/stamps
SOURCES := $(shell find src -name '*.py' -o -name '*.json')

.PHONY: run test test-all test-laboratory mutants lint lock bench docs size dist draw-archive reproduce client client-browsers client-demo client-collect clean
.DEFAULT_GOAL := run

# constraints.txt pins what was tested, with the hash of every file that the registry has of it; groups of tools are named
# in pyproject.toml. Nothing is fetched unchecked: pip itself comes by its hash, and packages are built with the build tools
# of the environment instead of fetching some.
INSTALL := $(PIP) install --no-build-isolation --constraint constraints.txt

$(STAMPS)/venv: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed; name it: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)
	sed -n '/^pip==/,/[^\\]$$/p' constraints.txt > $(STAMPS)/pip.txt
	$(PIP) install --require-hashes --requirement $(STAMPS)/pip.txt
	touch $@

# Our own folder has no hash: what it needs is installed first, and the package without its dependencies.
$(STAMPS)/package: $(STAMPS)/venv pyproject.toml
	$(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	extras = project["optional-dependencies"]; \
	print(*project["dependencies"], *extras["fast"], *extras["plots"], *extras["tables"], sep="\n")' > $(STAMPS)/package.txt
	$(INSTALL) --require-hashes --group build --requirement $(STAMPS)/package.txt
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

# torch comes apart and has no hash: its builds for CPUs and for GPUs share a version, and which one is at hand depends on
# the machine. What it depends on is checked.
$(STAMPS)/torch: $(STAMPS)/package
	$(INSTALL) --no-require-hashes torch
	touch $@

# The laboratory is a project of its own: reproduction/pyproject.toml says what it needs, bipartite's extras for learning among it.
$(STAMPS)/laboratory: $(STAMPS)/torch reproduction/pyproject.toml
	$(BIN)/python -c 'import tomllib; project = lambda file: tomllib.load(open(file, "rb"))["project"]; \
	extras = project("pyproject.toml")["optional-dependencies"]; \
	needs = [*extras["boosting"], *extras["learn"], *project("reproduction/pyproject.toml")["dependencies"]]; \
	print(*(each for each in needs if not each.startswith(("bipartite", "torch"))), sep="\n")' > $(STAMPS)/laboratory.txt
	$(INSTALL) --require-hashes --requirement $(STAMPS)/laboratory.txt
	$(PIP) install --no-build-isolation --no-deps --editable ./reproduction
	touch $@

$(STAMPS)/test $(STAMPS)/docs: $(STAMPS)/laboratory
$(STAMPS)/%: $(STAMPS)/package
	$(INSTALL) --require-hashes --group $*
	touch $@

# After a pin in constraints.txt was changed: the hashes of all pinned versions, looked up again.
lock: $(STAMPS)/lock
	grep -o '^[^ #]*==[^ ]*' constraints.txt | grep -v '^torch==' \
		| $(BIN)/uv pip compile --quiet --no-deps --generate-hashes --no-header --no-annotate - > $(STAMPS)/hashed.txt
	(sed '/^[^#]/,$$d' constraints.txt; grep '^torch==' constraints.txt; cat $(STAMPS)/hashed.txt) > $(STAMPS)/new.txt
	mv $(STAMPS)/new.txt constraints.txt

run: $(STAMPS)/package
	$(BIN)/bipartite demo

# Two workers on two cores: threads of linear algebra beside them would only get in each other's way. Rewritten asserts are kept
# between runs, whatever the environment says: to rewrite all takes 10 s a worker.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest

test: $(STAMPS)/test
	$(PYTEST)

# Everything: large grids, clusters, notebooks and the laboratory, too; and, without the data sets, whatever asks for them.
test-all: $(STAMPS)/test
	$(PYTEST) --all
	env -u BIPARTITE_DATA $(PYTEST) --all -m data -n 0 -q

# The tests of the laboratory alone.
test-laboratory: $(STAMPS)/test
	$(PYTEST) --all reproduction

lint: $(STAMPS)/lint $(STAMPS)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python tests/test_consumer.py
	$(BIN)/lint-imports

bench: $(STAMPS)/bench $(STAMPS)/test
	$(BIN)/python bench/line.py
	$(BIN)/python bench/sets.py
	$(BIN)/python bench/anchors.py
	$(BIN)/python bench/categories.py
	$(BIN)/python bench/timing.py
	$(BIN)/python bench/advisor.py
	$(BIN)/python bench/tables.py
	$(BIN)/python bench/em.py
	$(BIN)/python bench/answers/coverage_of_intervals.py run $(STAMPS)/coverage.json
	$(BIN)/python bench/collect.py
	$(BIN)/python bench/windows.py
	$(BIN)/python bench/start.py

docs: $(STAMPS)/docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs docs/_build/html

# Lines, names and flags, room by room, on docs/architecture.md.
size: $(STAMPS)/test
	$(BIN)/python tools/size.py --write

# The wheel is installed in an empty environment and README's code is run from it.
dist: $(STAMPS)/dist
	rm -rf dist && $(BIN)/python -m build --no-isolation --outdir dist .
	rm -rf .venv-dist && $(PYTHON) -m venv --without-pip .venv-dist
	$(PIP) --python .venv-dist install --no-require-hashes --constraint constraints.txt "$$(echo dist/*.whl)[tables]"
	.venv-dist/bin/python -m doctest README.md
	.venv-dist/bin/bipartite demo --n 1000
	rm -rf .venv-dist
	$(BIN)/python tools/draw_archive.py dist

# docs/draw.md with all vectors, for whoever writes a client: dist/bipartite-draw-1.zip.
draw-archive: $(STAMPS)/package
	$(BIN)/python tools/draw_archive.py dist

# Every figure of the paper and a verdict on every claim, into results/. The folder that BIPARTITE_DATA names holds the
# data, ../shared/data where it is there and nothing is named; what is missing is reported. `make reproduce HOW=--full`
# takes hours, and days for SGD without a GPU.
HOW ?= --quick
reproduce: export BIPARTITE_DATA := $(or $(BIPARTITE_DATA),$(abspath $(wildcard ../shared/data)))
reproduce: $(STAMPS)/laboratory
	$(BIN)/python -m reproduction run $(HOW)

# The package for browsers: types, build, size, and vitest on the vectors that Python reads too. Tools are pinned with their
# hashes in client/package-lock.json, and none of them runs a script when it is installed.
NPM := npm --prefix client --no-audit --no-fund --no-update-notifier --loglevel=error
CLIENT := client/node_modules/.package-lock.json

$(CLIENT): client/package.json client/package-lock.json
	$(NPM) ci --ignore-scripts

client: $(CLIENT)
	$(NPM) run --silent check
	$(NPM) run --silent build
	$(NPM) run --silent test

# Small faults here and in the client, one at a time: some test of `make test` must notice each.
mutants: $(STAMPS)/test $(CLIENT)
	$(BIN)/python tools/mutants.py

# One page that loads nothing, docs/_static/try.html.
client-demo: $(CLIENT)
	$(NPM) run --silent demo

# What the collector's pages inline, src/bipartite/collect/static.
client-collect: $(CLIENT)
	$(NPM) run --silent collect

# The same vectors and more in Chromium and Firefox, which must be installed; Python writes the participant's page. Writes
# client/browsers.log.
client-browsers: client client-demo client-collect $(STAMPS)/test
	$(NPM) run --silent browsers

clean:
	rm -rf $(VENV) .venv-dist dist docs/_build client/dist client/node_modules
