# The gate's image without a daemon: buildah runs deploy/Dockerfile in a chroot. In place of Docker's python:3.11-slim-bookworm it begins
# with Debian 12 and Debian's own Python 3.11. umoci unpacks what was built into build/image/bundle, as runtimes of containers take it,
# and the test starts the entry point in this root file system. Needs root on Debian, 4 GB, and some four minutes of a core.
IMAGE := build/image
BUILD := buildah --root $(abspath $(IMAGE)/storage) --runroot $(abspath $(IMAGE)/run) build-using-dockerfile --layers --isolation chroot
BASE := docker.io/library/python:3.11-slim-bookworm
# What pip may need on this machine to reach its index
PIP_SETTINGS := $(foreach file,$(wildcard /etc/pip.conf /etc/ssl/certs/ca-certificates.crt),--volume $(file):$(file):ro)

.PHONY: image image-check
image: $(IMAGE)/base.tar
	printf 'FROM scratch\nADD base.tar /\nRUN ln -s /usr/bin/python3 /usr/local/bin/python\n' | $(BUILD) --tag $(BASE) --file - $(IMAGE)
	$(BUILD) --pull-never $(PIP_SETTINGS) --file deploy/Dockerfile --ignorefile deploy/Dockerfile.dockerignore --tag oci:$(abspath $(IMAGE)/layout):evenflow .
	rm -rf $(IMAGE)/bundle
	umoci unpack --image $(IMAGE)/layout:evenflow $(IMAGE)/bundle

$(IMAGE)/base.tar:
	@command -v buildah && command -v mmdebstrap && command -v umoci || { apt-get update -q && apt-get install -q -y --no-install-recommends buildah mmdebstrap umoci; }
	mkdir -p $(IMAGE)
	mmdebstrap --variant=minbase --include=python3,python3-venv,ca-certificates,netbase,tzdata bookworm $@

image-check: install image
	$(BIN)/python -m pytest -q tests/services/test_image.py
