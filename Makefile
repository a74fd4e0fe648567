# make run · test · lab · notebooks · site · links · browser · bench · class · grade.   VENV=, CONFIG=, SET="key=value …", PYTHON= change what they use.
PYTHON ?= python3
VENV ?= .venv
TORCHTEXT_VENV ?= .venv-torchtext
CONFIG ?= tiny
SET ?=
RUNS ?= $(CURDIR)/runs
CHAPTERS := $(sort $(wildcard notebooks/[0-9]*.ipynb)) $(sort $(wildcard notebooks/deeper/*.ipynb))
ASSIGNMENTS := $(sort $(wildcard notebooks/assignments/source/*.ipynb))
BIN := $(VENV)/bin
# Two files at a time, in the order of their names: the long ones come early, so that neither process waits at the end.
# Each computes with one thread, so this suits the smallest machines.
TWO := -n 2 --dist loadfile --no-loadscope-reorder
NBVAL := -m pytest -p tests.notebooks.chapters $(TWO) --nbval --nbval-kernel-startup-timeout=300 --nbval-cell-timeout=900 -p no:cacheprovider

# One thread: on a busy machine two can be many times slower, and the tests are small.
export OMP_NUM_THREADS ?= 1
export NMT_RUNS := $(RUNS)
ifdef NMT_DATA
export NMT_DATA := $(abspath $(NMT_DATA))
endif
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# What mypy knows about torch is kept with the environment: half a minute.
export MYPY_CACHE_DIR := $(abspath $(VENV))/.mypy_cache

.PHONY: help setup run test tiny lint unit chapters planted alone lab notebooks site links browser bench clean class grade kill-table test-class test-torchtext

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

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
	$(BIN)/python -m tools.run --config $(CONFIG) --set "$(SET)" --out build/$(CONFIG)

test: $(STAMP) ## lint, types, unit tests, every chapter and assignment against its stored outputs, and that this guards
	$(MAKE) -j 3 lint tiny unit # tests that need the tiny model wait for it
	$(MAKE) chapters planted

tiny: $(STAMP)
	@TQDM_MININTERVAL=3600 $(BIN)/python -m nmt_lib train tiny

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check nmt_lib nmt_course tests benchmarks site tools
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest $(TWO) tests

chapters: $(STAMP)
	$(BIN)/python -m tools.check
	$(BIN)/python $(NBVAL) $(CHAPTERS) $(ASSIGNMENTS)

planted: $(STAMP) ## plant mistakes in a copy of the library: the chapters must catch every one
	$(BIN)/python -m pytest -n 2 -rP -p no:cacheprovider tests/notebooks/planted.py

alone: $(STAMP) ## each chapter where nothing was trained, from another folder, with the printed answers of its exercises
	$(BIN)/python tests/notebooks/alone.py

class: $(STAMP) ## the assignments as an nbgrader course, in build/class: make class SEED=2027 COURSE=owner/name
	$(BIN)/python -m nmt_course.course --seed "$(SEED)" --repo "$(COURSE)"

grade: $(STAMP) ## collect, mark, feedback and export, by nbgrader: make grade DIR=… (TRUSTED=1: without bubblewrap)
	@test -n "$(DIR)" || { echo 'error: name the folder of the submissions: make grade DIR=…' >&2; exit 2; }
	$(BIN)/python -m nmt_course.grade "$(DIR)" $(if $(TRUSTED),--trusted)

kill-table: $(STAMP) ## wrong and right answers to the assignments, and where the wrong ones fail
	$(BIN)/python -m tests.course.kill_table

test-class: $(STAMP) kill-table ## what `make test` leaves out of the assignments: a hundred seeds, hostile submissions that wait, sixty mixed ones
	$(BIN)/python -m pytest -p no:cacheprovider tests/course/class_proof.py

# The last torchtext loads with torch 2.3 only, so it gets an environment of its own, made again as the other one is.
TORCHTEXT_STAMP := $(TORCHTEXT_VENV)/.made-$(shell cat pyproject.toml constraints-torchtext.txt | cksum | cut -d' ' -f1)
$(TORCHTEXT_STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "Python 3.11 is needed: make test-torchtext PYTHON=python3.11")'
	@echo "setting up $(TORCHTEXT_VENV) (once; some minutes, about 6 GB)"
	$(PYTHON) -m venv $(TORCHTEXT_VENV)
	$(TORCHTEXT_VENV)/bin/python -m pip install -q -c constraints-torchtext.txt setuptools wheel
	$(TORCHTEXT_VENV)/bin/python -m pip install -q -c constraints-torchtext.txt --no-build-isolation torchtext -e '.[notebooks,dev]'
	@rm -f $(TORCHTEXT_VENV)/.made-* && touch $@

test-torchtext: $(TORCHTEXT_STAMP) ## the vocabulary equals the real torchtext; unit tests and chapters with torch 2.3.1 (Python 3.11, 6 GB)
	$(TORCHTEXT_VENV)/bin/python -m pytest -p no:cacheprovider tests/lib/vocab_equals_torchtext.py
	$(TORCHTEXT_VENV)/bin/python -m pytest $(TWO) tests
	$(TORCHTEXT_VENV)/bin/python $(NBVAL) $(filter-out notebooks/12%,$(CHAPTERS)) # 12 shows what newer ones can do

lab: $(STAMP) ## open the chapters in JupyterLab
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[lab]'
	$(BIN)/jupyter lab notebooks

notebooks: $(STAMP) ## execute chapters and assignments anew and store their outputs
	$(BIN)/python -m tools.run --config tiny --in-place

site: $(STAMP) ## the book on the web, in build/site, from the stored outputs
	$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e '.[site]'
	$(BIN)/python site/book.py

links: $(STAMP) ## stamp the repository's address into badges, set-up cells and the links to the site: make links REPO=owner/name
	$(BIN)/python -m tools.links $(REPO)

browser: $(STAMP) ## a Chromium without a window: every page of the site, then every chapter in JupyterLab
	$(BIN)/python -m pip install -q -c constraints.txt --no-build-isolation -e '.[browser,site]'
	$(BIN)/python site/book.py
	$(BIN)/python tests/site/browser_site.py
	$(BIN)/python tests/notebooks/browser.py
	$(BIN)/python tests/site/browser_viewer.py

bench: $(STAMP) ## measure speed; writes benchmarks/results
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/tiny.py
	$(BIN)/python benchmarks/lean.py
	$(BIN)/python benchmarks/scaling.py --precisions fp32 bf16

clean:
	rm -rf build runs
