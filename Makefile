# Two commands: `make demo` and `make test`. Each makes .venv, installs and runs; both need python3, make and pip only.
PYTHON ?= python3
BIN := .venv/bin
PARTS ?= auto

.PHONY: demo test test-all benchmark picture clean

demo: .venv/run
	$(BIN)/unmask demo

test: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ty check --python .venv src
	$(BIN)/python -m pytest -n $(PARTS) --doctest-modules src tests

# Every extra as well; there is none yet that has tests of its own.
test-all: test

benchmark: .venv/run
	$(BIN)/python benchmarks/decode.py --json results/decode_speed.jsonl
	$(BIN)/python benchmarks/puzzles.py --json results/puzzle_speed.jsonl

picture: .venv/run
	$(BIN)/python docs/picture.py

.venv/run: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/test: .venv/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	touch $@

clean:
	rm -rf .venv
	find src -name 'kernels-*' -prune -exec rm -rf {} +
