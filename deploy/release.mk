# What a release consists of, into build/release/VERSION (deploy/release.py). Nothing is published here:
# .github/workflows/release.yml does that for a tag.
TOOLS := build/tools

.PHONY: release changelog
$(TOOLS)/.installed: deploy/locks/release.txt
	test -x $(TOOLS)/bin/python || $(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --no-deps --require-hashes --requirement $<
	touch $@

release: install $(TOOLS)/.installed
	$(TOOLS)/bin/python deploy/release.py $(abspath $(BIN)/python)

# Moves the fragments of docs/changes into the changelog: make changelog VERSION=0.2.0
changelog:
	$(PYTHON) deploy/release.py changelog $(VERSION) $$(date --utc +%F)
