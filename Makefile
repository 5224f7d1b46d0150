# Everything a newcomer needs: `make demo` and `make test` work from a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
CORE := .venv/.core
GRAPHS := .venv/.graphs
DEV := .venv/.dev
FUZZ := .venv/.fuzz
MINUTES ?= 10
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# One numerical thread per process: workers share the cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: demo test test-slow fuzz dist audit lint format bench bench-data reproduction-page clean clean-kernels

demo: $(GRAPHS)
	$(BIN)/flipproof demo

test: $(DEV)
	$(BIN)/python -m pytest -n 2

test-slow: $(DEV)
	$(BIN)/python -m pytest -n 2 -m slow

# Every loader against damaged and hostile files, MINUTES each.
fuzz: $(FUZZ)
	$(BIN)/python -m fuzz.run --minutes $(MINUTES)

# The wheel and the sdist, tried in new environments on every Python from 3.11 to 3.13 that is installed.
dist: $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'build>=1.2,<2'
	$(BIN)/python packaging/try_dist.py

# Known vulnerabilities of the pinned dependencies; asks pypi.org.
audit: $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.7,<3'
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

lint: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV)
	$(BIN)/python benchmarks/certificates.py
	$(BIN)/python benchmarks/any_changes.py
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/sampling.py
	$(BIN)/python benchmarks/layers.py
	$(BIN)/python benchmarks/voting.py
	$(BIN)/python benchmarks/self_check.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/monte_carlo.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/verify.py
	$(BIN)/python benchmarks/million.py

# Figures and page of the paper's experiments, from the rows in results/.
reproduction-page: $(DEV)
	$(BIN)/flipproof reproduce --scale standard --out results --page docs/reproduction.md

# The claims about real data take an hour and need the datasets.
bench-data: $(DEV)
	$(BIN)/python benchmarks/spam_words.py
	$(BIN)/python benchmarks/spam_sequences.py
	$(BIN)/python benchmarks/spam_texts.py
	$(BIN)/python benchmarks/molecules.py
	$(BIN)/python benchmarks/images.py
	$(BIN)/python benchmarks/cora_ml.py
	$(BIN)/python benchmarks/page_rank.py
	$(BIN)/python benchmarks/gcn_attributes.py
	$(BIN)/python benchmarks/gcn_structure.py
	$(BIN)/python benchmarks/smooth_adversarial.py

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "flipproof needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

$(GRAPHS): $(CORE)
	$(PIP) -e '.[graphs,report]'
	touch $@

$(DEV): $(GRAPHS)
	$(PIP) -e '.[dev]'
	touch $@

$(FUZZ): $(GRAPHS)
	$(PIP) -e '.[fuzz]'
	touch $@

clean-kernels:
	find src -name '*.nb?' -delete
	rm -rf .numba

clean: clean-kernels
	rm -rf .venv .fuzz .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
