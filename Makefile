# make run · test · lab · notebooks · bench.   VENV=, CONFIG=, SET="key=value …", PYTHON= change what they use.
PYTHON ?= python3
VENV ?= .venv
CONFIG ?= tiny
SET ?=
RUNS ?= $(CURDIR)/runs
CHAPTERS := $(sort $(wildcard notebooks/[0-9]*.ipynb))
BIN := $(VENV)/bin

# One thread: on a busy machine two can be many times slower, and the tests are small.
export OMP_NUM_THREADS ?= 1
export NMT_RUNS := $(RUNS)
ifdef NMT_DATA
export NMT_DATA := $(abspath $(NMT_DATA))
endif
export PYDEVD_DISABLE_FILE_VALIDATION := 1

.PHONY: help setup run test lint unit chapters lab notebooks bench clean

help:
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

# The environment is made again whenever what it should hold has changed.
STAMP := $(VENV)/.made-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
$(STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed: make PYTHON=python3.12 …")'
	@echo "setting up $(VENV) (once; a few minutes)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt "$$(grep -E '^torch==' constraints.txt)"
	$(BIN)/python -m pip install -q -c constraints.txt setuptools wheel
	$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e '.[notebooks,dev]'
	@rm -f $(VENV)/.made-* && touch $@

setup: $(STAMP)

run: $(STAMP) ## execute the chapters with CONFIG, show translations and where the pictures are
	$(BIN)/python notebooks/run.py --config $(CONFIG) --set "$(SET)" --out build/$(CONFIG)

test: $(STAMP) lint unit chapters ## lint, types, unit tests, and every chapter against its stored outputs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check nmt_lib tests benchmarks
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest tests

chapters: $(STAMP)
	$(BIN)/python -m pytest --nbval --nbval-kernel-startup-timeout=300 --nbval-cell-timeout=900 -p no:cacheprovider $(CHAPTERS)

lab: $(STAMP) ## open the chapters in JupyterLab
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[lab]'
	$(BIN)/jupyter lab notebooks

notebooks: $(STAMP) ## execute the chapters anew and store their outputs
	$(BIN)/python notebooks/run.py --config tiny --in-place

bench: $(STAMP) ## measure speed; writes benchmarks/results
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/tiny.py
	$(BIN)/python benchmarks/lean.py

clean:
	rm -rf build runs
