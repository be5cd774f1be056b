# Every target sets up what it needs: a virtual environment in .venv, with this project installed in it.
# Needs GNU make and Python 3.11, 3.12, 3.13 or 3.14; another interpreter is named by `make PYTHON=/path/to/python ...`.

.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
DOCS_STAMP := $(VENV)/installed-docs

# 3.14 comes after the others: hmmlearn, which whole-word models need, has no wheel for it.
PYTHONS := $(if $(PYTHON),$(PYTHON),python3.13 python3.12 python3.11 python3.14 python3 python)
FITS := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
QUICKSTART_DIR ?= runs/quickstart
PYTEST_JOBS ?= 2
PYTEST_FLAGS ?=
DOCS_FLAGS ?=
FUZZ_FLAGS ?= --seconds 60 --seed 0 --save runs/fuzz

.PHONY: help quickstart test compiled test-slow test-all lint style types format docs fuzz benchmarks wheel clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

quickstart: $(STAMP)  ## Make a small corpus, train on it, recognise, score: runs/quickstart/report.html
	$(BIN)/python -m recipes.quickstart --work-dir $(QUICKSTART_DIR)

# Workers get whole files in their order, so fixtures are made once and slow files do not wait for each other.
RUN_TESTS = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 \
	$(BIN)/python -m pytest -n $(PYTEST_JOBS) --dist loadfile --no-loadscope-reorder --durations=10 $(PYTEST_FLAGS)

test: style  ## Check style and types, then run the fast tests (at most six minutes)
	$(MAKE) --jobs 2 --no-print-directory types compiled
	$(RUN_TESTS) -m "not slow"

# Two workers would compile the same functions at the same time, so one process compiles most of them beside the types.
compiled: $(STAMP)
	@OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -q -m "not slow" --no-header --no-summary \
	  tests/api/test_filler_results.py tests/acoustic/test_sequence_training.py tests/commands/test_lexicon.py

test-slow: $(STAMP)  ## Run the slow tests: every configuration, whole trainings, signals, damage, fuzzing
	$(RUN_TESTS) -m slow

test-all: test test-slow  ## Run every test

lint: style types  ## Check style and types only

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

format: $(STAMP)  ## Lay the code out as `make lint` wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DOCS_STAMP)  ## Build the documentation into build/docs; DOCS_FLAGS='-D plot_gallery=0' leaves the figures out
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/sphinx-build -q -W --keep-going -d build/doctrees $(DOCS_FLAGS) docs build/docs
	@echo build/docs/index.html

fuzz: $(STAMP)  ## Hand spoilt files to every reader; FUZZ_FLAGS='--seconds 600 --seed 7 --reader arpa' changes how
	$(BIN)/python -m tests.fuzz $(FUZZ_FLAGS)

benchmarks: $(STAMP)  ## Compare speeds with named peers, in the same run; DATA_DIR=... names the benchmark sets
	$(BIN)/python -m benchmarks.acoustic_scoring
	$(BIN)/python -m benchmarks.pairwise_scoring
	$(if $(DATA_DIR),$(BIN)/python -m benchmarks.nystroem --data-dir $(DATA_DIR))
	$(BIN)/python -m benchmarks.fixed_size $(if $(DATA_DIR),--data-dir $(DATA_DIR),--only sinc clusters)
	$(BIN)/python -m benchmarks.learners $(if $(DATA_DIR),--data-dir $(DATA_DIR))

wheel: $(STAMP)  ## Build the wheel and the source archive into dist/
	rm -rf dist
	$(BIN)/python -m build

clean:  ## Remove the environment, builds, caches and runs/quickstart
	rm -rf $(VENV) build dist docs/gallery docs/reference/settings.md \
	    docs/reference/commands.md docs/reference/api/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis runs/quickstart*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is touched last, so an interrupted installation is begun again.
$(STAMP): pyproject.toml
	@if ! $(BIN)/python -c '$(FITS)' 2>/dev/null; then \
	    for python in $(PYTHONS) ''; do \
	        if [ -n "$$python" ] && "$$python" -c '$(FITS)' 2>/dev/null; then break; fi; \
	    done; \
	    if [ -z "$$python" ]; then \
	        echo "make: no Python 3.11, 3.12, 3.13 or 3.14 with its venv module among: $(PYTHONS)." >&2; \
	        echo "make: install one (on Debian also python3-venv) or name it: make PYTHON=/path/to/python" >&2; \
	        exit 1; \
	    fi; \
	    echo "Creating $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv --clear $(VENV); \
	fi
	@echo "Installing into $(VENV); this is done once and takes a minute or two"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[synth,dev]'
	@touch $@

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@
