# VENV=, CONFIG=, SET="key=value …", T="tests …" and PYTHON= change what the targets use.
PYTHON ?= python3
VENV ?= .venv
TORCHTEXT_VENV ?= .venv-torchtext
COLAB_VENV ?= .venv-colab
LOWEST_VENV ?= .venv-lowest
LENS_VENV ?= .venv-lens
CONFIG ?= tiny
SET ?=
T ?= tests
RUNS ?= $(CURDIR)/runs
MAIN := $(sort $(wildcard notebooks/[0-9]*.ipynb))
CHAPTERS := $(MAIN) $(sort $(wildcard notebooks/deeper/*.ipynb))
ASSIGNMENTS := $(sort $(wildcard notebooks/assignments/source/*.ipynb))
FORMATTED := nmt_lib nmt_book tests benchmarks site tools
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -q -c constraints.txt
# Two files at a time, in the order of their names: the long ones come early.
TWO := -n 2 --dist loadfile --no-loadscope-reorder
NBVAL := -m pytest -q -p tests.notebooks.chapters $(TWO) --nbval-kernel-startup-timeout=300 --nbval-cell-timeout=900 -p no:cacheprovider

# One thread: the tensors are small, and on a busy machine more threads wait for each other.
export OMP_NUM_THREADS ?= 1
export NMT_RUNS := $(RUNS)
ifdef NMT_DATA
export NMT_DATA := $(abspath $(NMT_DATA))
endif
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# What mypy knows about torch is kept with the environment: it saves half a minute.
export MYPY_CACHE_DIR := $(abspath $(VENV))/.mypy_cache

.PHONY: help setup run test quick tiny lint unit chapters seeds planted any-model alone lab notebooks site links browser bench constraints clean class grade kill-table test-class test-colab test-lens test-lowest test-torchtext

help:
	@awk -F ':.*## ' '/^##/ {print "\n" substr($$0, 4)} /^[a-z-]+:.*##/ {printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Two stamps: READER for what runs and opens the chapters, STAMP for what also checks them.
# Each is made again whenever what it should hold has changed.
HASH := $(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
READER := $(VENV)/.reader-$(HASH)
STAMP := $(VENV)/.developer-$(HASH)
$(READER):
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 15) and "Python 3.10 to 3.14 is needed, for which constraints.txt has versions: make PYTHON=python3.13 …")'
	@echo "setting up $(VENV) (once; a few minutes)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) "$$(grep -E '^torch==' constraints.txt)"
	$(PIP) setuptools wheel
	$(PIP) --no-build-isolation -e '.[notebooks,lab]'
	@rm -f $(VENV)/.reader-* && touch $@
$(STAMP): $(READER)
	$(PIP) --no-build-isolation -e '.[dev]'
	@rm -f $(VENV)/.developer-* && touch $@

## Read
run: $(READER) ## execute the chapters with CONFIG, show translations and where the pictures are
	$(BIN)/python -m tools.run --config $(CONFIG) --set "$(SET)" --out build/$(CONFIG)

lab: $(READER) ## open the chapters in JupyterLab
	$(BIN)/jupyter lab notebooks

## Change and check
setup: $(STAMP) ## install what the targets below need, in .venv (they do so themselves, too)

# What is not committed yet: its tests are those that have changed, and tests/lib/test_x.py of x.py.
CHANGED = $(shell git diff --name-only HEAD; git ls-files --others --exclude-standard)
TESTS_OF_CHANGED = $(sort $(wildcard $(filter tests/%,$(foreach file,$(CHANGED),$(if $(filter test_%.py,$(notdir $(file))),$(file)))) \
	$(patsubst %,tests/lib/test_%,$(notdir $(filter nmt_lib/%.py,$(CHANGED))))))
quick: $(STAMP) ## ruff, mypy, and the tests of the files that are not committed yet
	$(BIN)/ruff check .
	$(BIN)/ruff format --check $(FORMATTED)
	$(BIN)/mypy
	$(if $(TESTS_OF_CHANGED),$(BIN)/python -m pytest -q $(TESTS_OF_CHANGED),@echo 'no test file belongs to what has changed: make unit T=tests/…')

test: $(STAMP) ## what CI checks, apart from the site: code, unit tests, each notebook against its stored outputs, planted mistakes
	$(MAKE) -j 3 lint tiny unit # tests that need the tiny model wait for it
	$(MAKE) chapters planted

tiny: $(STAMP) ## train the tiny model, unless it is trained
	@TQDM_MININTERVAL=3600 $(BIN)/python -m nmt_lib train tiny

lint: $(STAMP) ## ruff, mypy, and whether each package that is imported is declared
	$(BIN)/ruff check .
	$(BIN)/ruff format --check $(FORMATTED)
	$(BIN)/mypy
	$(BIN)/deptry nmt_lib
	$(BIN)/deptry --ignore DEP002,DEP004 nmt_book tools benchmarks figures site tests

unit: $(STAMP) ## the unit tests, or some of them: make unit T=tests/lib/test_masks.py
	$(BIN)/python -m pytest -q $(if $(filter tests,$(T)),$(TWO)) $(T)

chapters: $(STAMP) ## each notebook against its stored outputs, and what its text says of models trained in it
	$(BIN)/python $(NBVAL) --nbval $(CHAPTERS) $(ASSIGNMENTS)

SEEDS ?= 1 2 3 4
seeds: $(STAMP) ## the chapters with other random numbers: what their text says of every training must hold (SEEDS="1 2 3 4")
	@failed=; for seed in $(SEEDS); do \
	  export NMT_SEED=$$seed NMT_RUNS="$(RUNS)/seed-$$seed" TQDM_MININTERVAL=3600; \
	  $(BIN)/python -m nmt_lib train tiny --set train.seed=$$seed && \
	  $(BIN)/python $(NBVAL) --nbval-lax $(CHAPTERS) || failed="$$failed $$seed"; \
	done; test -z "$$failed" || { echo "with these seeds, a chapter says what is not so:$$failed" >&2; exit 1; }

planted: $(STAMP) ## plant mistakes in a copy of the library: the chapters must catch each one
	$(BIN)/python -m pytest -q -n 2 -rP -p no:cacheprovider tests/notebooks/planted.py

any-model: $(STAMP) ## each chapter with a bad model of the config multi30k, and from English to German
	$(BIN)/python -m tests.notebooks.any_model

alone: $(STAMP) ## each chapter with nothing trained, in another folder, with the printed answers of its exercises
	$(BIN)/python -m tests.notebooks.alone

## Teach
class: $(STAMP) ## the assignments as an nbgrader course, in build/class: make class SEED=2027 COURSE=owner/name
	$(BIN)/python -m nmt_book.course.course --seed "$(SEED)" --repo "$(COURSE)"

grade: $(STAMP) ## collect, mark, feedback and export, by nbgrader: make grade DIR=… (TRUSTED=1: without bubblewrap)
	@test -n "$(DIR)" || { echo 'error: name the folder of the submissions: make grade DIR=…' >&2; exit 2; }
	$(BIN)/python -m nmt_book.course.grade "$(DIR)" $(if $(TRUSTED),--trusted)

kill-table: $(STAMP) ## wrong and right answers to the assignments, and where the wrong ones fail
	$(BIN)/python -m tests.course.kill_table

test-class: $(STAMP) kill-table ## what `make test` leaves out of the assignments: a hundred seeds, hostile submissions that wait, sixty mixed ones
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/course/class_proof.py

## With other versions
# The last torchtext loads only with torch 2.3, so it gets a small environment of its own.
TORCHTEXT_STAMP := $(TORCHTEXT_VENV)/.made-$(shell cksum < requirements-torchtext.txt | cut -d' ' -f1)
$(TORCHTEXT_STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "Python 3.11 is needed: make test-torchtext PYTHON=python3.11")'
	$(PYTHON) -m venv $(TORCHTEXT_VENV)
	$(TORCHTEXT_VENV)/bin/python -m pip install -q -r requirements-torchtext.txt
	@rm -f $(TORCHTEXT_VENV)/.made-* && touch $@

test-torchtext: $(TORCHTEXT_STAMP) ## the real torchtext gives the ids that `make test` compares with nmt_lib.data.tokens (Python 3.11)
	$(TORCHTEXT_VENV)/bin/python -m tests.lib.torchtext_ids

# The lowest version that pyproject.toml allows of each package that it names; old ones warn.
LOWEST_STAMP := $(LOWEST_VENV)/.made-$(shell cksum < pyproject.toml | cut -d' ' -f1)
LOWEST := $(LOWEST_VENV)/lowest.txt
$(LOWEST_STAMP):
	$(PYTHON) -m venv $(LOWEST_VENV)
	$(LOWEST_VENV)/bin/python -m pip install -q uv 'setuptools>=77' wheel
	$(LOWEST_VENV)/bin/uv pip compile -q --python $(LOWEST_VENV)/bin/python --resolution lowest-direct --extra notebooks --extra dev pyproject.toml -o $(LOWEST)
	$(LOWEST_VENV)/bin/python -m pip install -q "$$(grep -E '^torch==' $(LOWEST))"
	$(LOWEST_VENV)/bin/python -m pip install -q -c $(LOWEST) --no-build-isolation -e '.[notebooks,dev]'
	@rm -f $(LOWEST_VENV)/.made-* && touch $@

test-lowest: $(LOWEST_STAMP) ## the tests of the library with the lowest versions that pyproject.toml allows
	$(LOWEST_VENV)/bin/python -m nmt_lib train tiny
	$(LOWEST_VENV)/bin/python -m pytest -q -W default tests/lib

# TransformerLens brings two dozen packages, which nothing else needs.
LENS_STAMP := $(LENS_VENV)/.made-$(HASH)
LENS_PIP := $(LENS_VENV)/bin/python -m pip install -q -c constraints.txt
$(LENS_STAMP):
	$(PYTHON) -m venv $(LENS_VENV)
	$(LENS_PIP) "$$(grep -E '^torch==' constraints.txt)"
	$(LENS_PIP) setuptools wheel
	$(LENS_PIP) --no-build-isolation -e '.[notebooks,dev,lens]'
	@rm -f $(LENS_VENV)/.made-* && touch $@

test-lens: $(LENS_STAMP) ## a German and a tiny model in TransformerLens, and the page about it
	$(LENS_VENV)/bin/python -m nmt_lib train tiny
	$(LENS_VENV)/bin/python -m pytest -q -W default tests/lib/test_lens.py
	$(LENS_VENV)/bin/python $(NBVAL) --nbval -n 0 -W default notebooks/deeper/09_inside_with_transformer_lens.ipynb

COLAB_STAMP := $(COLAB_VENV)/.made-$(shell cat pyproject.toml constraints-colab.txt | cksum | cut -d' ' -f1)
COLAB_PIP := $(COLAB_VENV)/bin/python -m pip install -q -c constraints-colab.txt
$(COLAB_STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13) and "Python 3.13 is needed: make test-colab PYTHON=python3.13")'
	$(PYTHON) -m venv $(COLAB_VENV)
	$(COLAB_PIP) "$$(grep -E '^torch==' constraints-colab.txt)"
	$(COLAB_PIP) . ipykernel ipython ipywidgets nbval pytest pytest-xdist
	@rm -f $(COLAB_VENV)/.made-* && touch $@

test-colab: $(COLAB_STAMP) ## the chapters with Colab's versions and the library as a wheel (Python 3.13)
	$(COLAB_PIP) --no-deps --force-reinstall .
	$(COLAB_VENV)/bin/python $(NBVAL) --nbval -n 0 -W default $(MAIN) # old packages warn; other processes would not find tests/

## Make
notebooks: $(STAMP) ## execute chapters and assignments again and store their outputs
	$(BIN)/python -m tools.run --config tiny --in-place

site: $(STAMP) ## the book on the web, in build/site, from the stored outputs
	$(PIP) --no-build-isolation -e '.[site]'
	$(BIN)/python -m tools.book

links: $(STAMP) ## write the repository's address into badges, set-up cells and links to the site: make links REPO=owner/name
	$(BIN)/python -m tools.links $(REPO)

browser: site ## in a Chromium, and in Firefox: each page of the site, the attention viewer (in JupyterLab, too), the live page, the training page, things to touch, hostile submissions in formgrader
	$(BIN)/python -m tests.site.browser_site
	$(BIN)/python -m tests.site.browser_viewer
	$(BIN)/python -m tests.site.browser_live
	$(BIN)/python -m tests.site.browser_train
	$(BIN)/python -m tests.site.browser_play
	$(BIN)/python -m tests.site.browser_firefox
	$(BIN)/python -m tests.course.browser

bench: $(STAMP) ## measure speed; writes benchmarks/results
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.decoding
	$(BIN)/python -m benchmarks.tiny
	$(BIN)/python -m benchmarks.scaling --precisions fp32 bf16

constraints: $(STAMP) ## pin what pyproject.toml asks for, for all Pythons and systems (UPGRADE=1: the newest releases)
	$(BIN)/python -m pip install -q uv
	UV_CUSTOM_COMPILE_COMMAND="make constraints" $(BIN)/uv pip compile -q --universal --python-version 3.10 --all-extras --no-annotate $(if $(UPGRADE),--upgrade) pyproject.toml -o constraints.txt

clean: ## delete what was built; what was trained stays, in runs/
	rm -rf build
