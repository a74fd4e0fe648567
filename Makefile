# make run · test · lab · notebooks · links · browser · bench.   VENV=, CONFIG=, SET="key=value …", PYTHON= change what they use.
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

.PHONY: help setup run test lint unit chapters planted alone lab notebooks links browser bench clean

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

test: $(STAMP) lint unit chapters planted ## lint, types, unit tests, every chapter against its stored outputs, and that this guards

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check nmt_lib tests benchmarks notebooks/*.py
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest tests

chapters: $(STAMP)
	$(BIN)/python -m pytest --nbval --nbval-kernel-startup-timeout=300 --nbval-cell-timeout=900 -p no:cacheprovider $(CHAPTERS)

planted: $(STAMP) ## plant mistakes in a copy of the library: the chapters must catch every one
	$(BIN)/python -m pytest -p no:cacheprovider tests/planted.py

alone: $(STAMP) ## each chapter where nothing was trained, from another folder, with the printed answers of its exercises
	$(BIN)/python tests/alone.py

lab: $(STAMP) ## open the chapters in JupyterLab
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[lab]'
	$(BIN)/jupyter lab notebooks

notebooks: $(STAMP) ## execute the chapters anew and store their outputs
	$(BIN)/python notebooks/run.py --config tiny --in-place

links: $(STAMP) ## stamp the repository's address into badges and set-up cells: make links REPO=owner/name
	$(BIN)/python notebooks/links.py $(REPO)

browser: $(STAMP) ## run every chapter in JupyterLab in a Chromium without a window
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[browser]'
	$(BIN)/python tests/browser.py

bench: $(STAMP) ## measure speed; writes benchmarks/results
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/tiny.py
	$(BIN)/python benchmarks/lean.py

clean:
	rm -rf build runs
