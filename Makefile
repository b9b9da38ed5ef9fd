# Two commands do all on a fresh machine with Python 3.11+: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

include deploy/services.mk
include deploy/llm.mk
include deploy/models.mk

.DEFAULT_GOAL := install
.PHONY: install demo docs test lint coverage clean
install: $(STAMP)

$(STAMP): setup.py pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Evenflow needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[test]'
	touch $@

# Thresholds stricter than the defaults, so that there is something in quarantine to look at: status 3 is expected.
demo: install
	rm -rf build/demo
	$(BIN)/evenflow run --input tests/data/speeches.jsonl.gz --output build/demo --pane-docs 20 --rolling 6 --warn 0.2 --block 0.24 --mode substitute || test $$? -eq 3

# The type checker does not follow the editable install's mapping of folders: it gets links instead.
lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	mkdir -p build/src/evenflow
	for room in pipelines transforms gates schemas wordlists prompts; do ln -sfn ../../../$$room build/src/evenflow/$$room; done
	for file in pipelines/api/*.py; do ln -sfn ../../../$$file build/src/evenflow/; done
	$(BIN)/pyright

# Where CI is set, the services that tests start must be there; elsewhere their tests skip and say what brings them.
# They run apart: a cancelled pipeline's threads live on for seconds and would speak in other tests. They mostly wait: two files
# at a time take little more than half as long.
test: install lint $(if $(CI),services)
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal --ignore tests/services
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile tests/services

# Lines and branches that tests reach; these rooms must have 90 % of them. It takes twice the time of `make test`.
COVERED := gates schemas transforms/repair transforms/io transforms/kafka
coverage: install $(if $(CI),services)
	rm -f build/coverage*
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal --cov --cov-report= --ignore tests/services
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --cov --cov-append --cov-report= tests/services
	$(BIN)/coverage report --sort cover
	for room in $(COVERED); do echo $$room; $(BIN)/coverage report --include="$$room/*" --fail-under 90 | tail -1 || exit 1; done

# Into build/docs; a broken link is an error.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --config-file docs/mkdocs.yml
	@echo build/docs/index.html

clean:
	rm -rf build $(VENV)
