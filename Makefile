# Two commands do all on a fresh machine with Python 3.11+: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

include deploy/services.mk
include deploy/llm.mk
include deploy/models.mk
include deploy/locks.mk
include deploy/release.mk
include deploy/helm/helm.mk
include deploy/image.mk

# Else each of some thousand processes would compile what it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := install
.PHONY: .installs install demo docs picture size bench test served check fast kernels skipped lint style types coverage trial storm fuzz clean .minutes
install: $(STAMP)

$(STAMP): setup.py pyproject.toml deploy/locks/test.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Evenflow needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-deps --require-hashes --requirement deploy/locks/test.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

# Speeches are repaired: few sentences are exchanged, and each document gets a weight. Then with a reference: a filter that
# drops sentences on women went through one of 22 sources.
demo: .installs install
	rm -rf build/demo
	$(BIN)/evenflow run --input tests/data/speeches.jsonl.gz --output build/demo --attribute gender --pane-docs 20 --set pane.rolling=6 --warn 0.16 --block 0.19 --repair-mode substitute,weight
	$(BIN)/python tests/helpers/faulty_filter.py build/demo/corpus
	$(BIN)/evenflow init build/demo/corpus/before.jsonl --by source --attribute gender --reference build/demo/corpus/reference.json
	$(BIN)/evenflow run --input build/demo/corpus/now.jsonl --output build/demo/sources --attribute gender --pane-docs 50 --set reference.file=build/demo/corpus/reference.json

.installs:
	@test -e $(STAMP) || echo "Installing into $(VENV): Evenflow and what its tests and docs need, 1.3 GB; some 3 minutes on two cores."
	@echo "The demo then repairs and judges 223 speeches, some 40 seconds of one core, and compares 22 sources with what they were, some 10."

lint: install style types
style: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
# Packages that `make install` does not bring get empty types; build/untyped names the files that use them.
types: install
	$(BIN)/python tests/helpers/typed_sources.py
	$(BIN)/pyright
	$(BIN)/pyright --project tests/pyrightconfig.json

# While one works: the linters, and the tests that need no service.
check: lint fast
fast: install
	rm -f build/skipped
	$(FAST)

# Where CI is set, the services that tests start must be there; elsewhere their tests skip and say what brings them.
# They run apart: a cancelled pipeline's threads live on for seconds and would speak in other tests. They mostly wait, so four
# files run at a time, also on two cores, and beside them the type checker, on one; they take some 8 GiB of memory then.
test: .minutes install $(if $(CI),services) style fast
	$(MAKE) --no-print-directory --jobs 2 served types
served: install
	$(SERVED)
.minutes:
	@echo "On two cores: installing takes some 3 minutes, linters and fast tests 6; \`make check\` is those alone."
	@echo "Tests that take long or ask services take 20 more; for services, \`make services\` comes first, which takes 8. A skip says what brings its part."

# Tests that build the package, install plug-ins or bring much text take as long as a quarter of the others: they run beside those that wait.
LONG := tests/plugins tests/deploy/test_package.py tests/docs/test_commands.py tests/docs/test_tutorial.py tests/pipelines/api/test_long_texts.py \
	tests/pipelines/engine/files/test_memory.py tests/pipelines/triggers/test_stream_training.py
# At their end they name the tests that took longest.
SLOWEST := --durations 20 --durations-min 5
FAST := EVENFLOW_SKIPPED=$(CURDIR)/build/skipped $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal $(SLOWEST) $(addprefix --ignore=,tests/services $(LONG))
SERVED := EVENFLOW_SKIPPED=$(CURDIR)/build/skipped $(BIN)/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder $(SLOWEST) tests/services $(LONG)

# Exactly what the last `make test` or `make check` left out, once its parts are there: types and tests.
skipped:
	@test -s build/skipped || { echo "nothing was skipped: run \`make test\` first" >&2; exit 1; }
	files=$$(cat build/untyped); $(BIN)/python tests/helpers/typed_sources.py; test -z "$$files" || $(BIN)/pyright $$files
	EVENFLOW_PARTS=all $(BIN)/python -m pytest --numprocesses 2 --dist loadfile @build/skipped

# One run and the numerical tests as processors of other kinds compute them, and with one thread: they decide the same.
NUMERICAL := tests/golden tests/transforms/repair/test_calibration.py tests/transforms/repair/test_weigh.py \
	tests/transforms/repair/test_plan.py tests/transforms/measures/representation tests/gates/test_verdict.py
kernels: install
	$(BIN)/python tests/golden/kernels.py $(NUMERICAL)

# Lines and branches that tests reach; these rooms must have 90 % of them. It takes twice the time of `make test`.
COVERED := gates schemas transforms/repair transforms/io transforms/kafka
coverage: install $(if $(CI),services)
	rm -f build/coverage*
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal --cov --cov-report= --ignore tests/services
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --cov --cov-append --cov-report= tests/services
	$(BIN)/coverage report --sort cover
	for room in $(COVERED); do echo $$room; $(BIN)/coverage report --include="$$room/*" --fail-under 90 | tail -1 || exit 1; done

# Kills a publishing gate and its broker at random moments of a seed, and looks whether all is there once; `make kafka` first.
KILLS ?= 50
SEED ?= 0
trial: install
	$(BIN)/python tests/trial/kills.py $(KILLS) $(SEED)

# A stream on Flink and an S3 server to which something happens every 20 to 60 s, into build/storm; `make kafka flink versitygw prometheus` first.
STORM ?= --minutes 60 --mb-per-second 5
storm: install
	$(BIN)/python tests/trial/storm.py build/storm $(STORM)

# Tries what rooms that read foreign bytes promise, with mutations of tests/data/fuzz; what fails is kept there.
MINUTES ?= 20
fuzz: install
	$(BIN)/python tests/fuzz/fuzz.py $(MINUTES)

# Speed beside peers, by floors: a fall is an error; pip install -e '.[bench]' first.
bench: install
	$(BIN)/python tests/benchmarks/bench.py

# What the default install takes: its largest packages, and all of them.
size: install
	$(BIN)/python deploy/size.py

# Into build/docs; a broken link is an error.
docs: install
	test -e build/demo/report.html || $(MAKE) demo
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --config-file docs/mkdocs.yml
	@echo build/docs/index.html

# README's picture, from the demo's report, by Chromium (`make browser`).
picture: install
	test -e build/demo/report.html || $(MAKE) demo
	chromium --headless --no-sandbox --hide-scrollbars --window-size=1400,1130 --screenshot=docs/report.png file://$(CURDIR)/build/demo/report.html

clean:
	rm -rf build $(VENV)
