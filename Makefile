# VENV=, CONFIG=, SET="key=value …", T="tests …" and PYTHON= change what the targets use.
PYTHON ?= python3
VENV ?= .venv
CONFIG ?= tiny
SET ?=
T ?= tests
RUNS ?= $(CURDIR)/runs
# The last ones first: they are the longest, and none runs alone at the end.
CHAPTERS := $(shell ls -r notebooks/[0-9]*.ipynb notebooks/deeper/*.ipynb)
ASSIGNMENTS := $(sort $(wildcard notebooks/assignments/source/*.ipynb))
FORMATTED := nmt_lib nmt_book tests benchmarks site tools noxfile.py
BIN := $(VENV)/bin
ESLINT := $(VENV)/node_modules/.bin/eslint
PIP := $(BIN)/python -m pip install -q -c constraints.txt
# Two files at a time, in the order in which they are named.
TWO := -n 2 --dist loadfile --no-loadscope-reorder
NBVAL := -m pytest -q -p tests.notebooks.chapters -p tests.notebooks.kernels $(TWO) --nbval-kernel-startup-timeout=300 --nbval-cell-timeout=900 -p no:cacheprovider

# One thread: the tensors are small, and on a busy machine more threads wait for each other.
export OMP_NUM_THREADS ?= 1
export NMT_RUNS := $(RUNS)
ifdef NMT_DATA
export NMT_DATA := $(abspath $(NMT_DATA))
endif
export PYDEVD_DISABLE_FILE_VALIDATION := 1
# What mypy knows about torch is kept with the environment: it saves half a minute.
export MYPY_CACHE_DIR := $(abspath $(VENV))/.mypy_cache

.PHONY: help run lab setup quick test tiny lint unit chapters planted seeds weekly other class grade due extend test-class notebooks site browser links bench constraints clean

help:
	@awk -F ':.*## ' '/^##/ {print "\n" substr($$0, 4)} /^[a-z-]+:.*##/ {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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
	@! command -v npm >/dev/null || npm install --silent --no-fund --no-audit --prefix $(VENV) eslint@9.39.1 @eslint/js@9.39.1 globals@16.5.0
	@rm -f $(VENV)/.developer-* && touch $@

## Read
run: $(READER) ## execute the chapters with CONFIG, show translations and where the pictures are
	$(BIN)/python -m tools.run --config $(CONFIG) --set "$(SET)" --out build/$(CONFIG)

lab: $(READER) ## open the chapters in JupyterLab, as copies in work/ that no update overwrites
	$(BIN)/python -m tools.work

## Change and check
setup: $(STAMP) ## install what the targets below need, in .venv (they do so themselves, too)

quick: $(STAMP) ## ruff, mypy, and the tests of what is not committed yet, pages and notebooks among it
	$(BIN)/ruff check .
	$(BIN)/ruff format --check $(FORMATTED)
	$(BIN)/mypy
	$(BIN)/python -m tools.quick

test: $(STAMP) ## what CI checks, apart from the site: code, unit tests, each notebook against its stored outputs, planted mistakes
	$(MAKE) -j 3 lint tiny unit # tests that need the tiny model wait for it
	$(MAKE) -j 2 chapters planted

tiny: $(STAMP) ## train the tiny model, unless it is trained
	@TQDM_MININTERVAL=3600 $(BIN)/python -m nmt_lib train tiny

lint: $(STAMP) ## ruff, mypy, who may import whom, and whether each package that is imported is declared
	$(BIN)/ruff check .
	$(BIN)/ruff format --check $(FORMATTED)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@if test -x $(ESLINT); then $(ESLINT) -c tools/eslint.config.mjs nmt_book site tests tools; else echo 'JavaScript is not checked: there was no npm when $(VENV) was set up'; fi
	$(BIN)/deptry --ignore DEP002 nmt_lib
	$(BIN)/deptry --ignore DEP004 nmt_lib nmt_book tools benchmarks figures site tests

unit: $(STAMP) ## the unit tests, or some of them: make unit T=tests/lib/test_masks.py
	$(BIN)/python -m pytest -q $(if $(filter tests,$(T)),$(TWO) -m 'not weekly') $(T)

chapters: $(STAMP) ## each notebook against its stored outputs, and what its text says of models trained in it
	$(BIN)/python $(NBVAL) --nbval $(CHAPTERS) $(ASSIGNMENTS)

planted: $(STAMP) ## plant mistakes in a copy of the library: the chapters must catch each one (PLANT=all: fifty)
	$(BIN)/python -m pytest -q -n 2 -rP -p no:cacheprovider tests/notebooks/planted.py

SEEDS ?= 1 2 3 4
seeds: $(STAMP) ## the chapters with other random numbers: what their text says of every training must hold (SEEDS="1 2 3 4")
	@failed=; for seed in $(SEEDS); do \
	  export NMT_SEED=$$seed NMT_RUNS="$(RUNS)/seed-$$seed" TQDM_MININTERVAL=3600; \
	  $(BIN)/python -m nmt_lib train tiny --set train.seed=$$seed && \
	  $(BIN)/python $(NBVAL) --nbval-lax $(CHAPTERS) || failed="$$failed $$seed"; \
	done; test -z "$$failed" || { echo "with these seeds, a chapter says what is not so:$$failed" >&2; exit 1; }

weekly: $(STAMP) ## each chapter with nothing trained, in another folder, with its printed answers; and with a bad model; all planted mistakes; mutants of the right answers; slow tests
	$(BIN)/python -m tests.notebooks.alone
	$(BIN)/python -m tests.notebooks.any_model
	$(BIN)/python -m pytest -q -m weekly tests
	$(BIN)/python -W ignore -m tests.book.mutants
	$(MAKE) planted PLANT=all

other: $(STAMP) ## with other versions: the lowest, Colab's, torchtext, TransformerLens (S=lowest: one of them; Python 3.10, 3.11, 3.13)
	$(BIN)/nox $(if $(S),-s $(S))

## Teach
class: $(STAMP) ## the assignments as an nbgrader course, in build/class: make class SEED=2027 COURSE=owner/name
	$(BIN)/python -m nmt_book.course.course --seed "$(SEED)" --repo "$(COURSE)"

grade: $(STAMP) ## collect, mark, write pages and marks: make grade DIR=… (TRUSTED=1: without bubblewrap; AGAIN="A1 ada"; FORMAT=canvas or moodle)
	$(BIN)/python -m nmt_book.course.grade $(if $(DIR),"$(DIR)") $(if $(AGAIN),--again $(AGAIN)) --format "$(FORMAT)" $(if $(TRUSTED),--trusted)

due: $(STAMP) ## when assignments are due: make due A1="2027-02-01 18:00 UTC"
	$(BIN)/python -m nmt_book.course.dates due $(foreach a,A1 A2 A3 A4 A5 A6,$(if $($(a)),"$(a)=$($(a))"))

extend: $(STAMP) ## more time for a student: make extend STUDENT=ada DAYS=3 (FOR=A1: for this assignment only)
	$(BIN)/python -m nmt_book.course.dates extend "$(STUDENT)" "$(DAYS)" "$(FOR)"

test-class: $(STAMP) ## what `make test` leaves out of the assignments: where wrong answers fail, a hundred seeds, hostile submissions
	$(BIN)/python -m tests.course.kill_table
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/course/class_proof.py

## Make
notebooks: $(STAMP) ## execute chapters and assignments again and store their outputs
	$(BIN)/python -m tools.run --config tiny --in-place

site: $(STAMP) ## the book on the web, in build/site, from the stored outputs
	$(PIP) --no-build-isolation -e '.[site]'
	$(BIN)/python -m tools.book

browser: site ## the pages of the site, the viewer, things to touch and feedback on hostile submissions, in a Chromium and in Firefox
	NMT_BROWSER=required $(BIN)/python -m pytest -q -p no:cacheprovider $(wildcard tests/site/browser_*.py)
	$(BIN)/python -m tests.course.browser

links: $(STAMP) ## write the repository's address into badges, set-up cells and links to the site: make links REPO=owner/name
	$(BIN)/python -m tools.links $(REPO)

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
