# What checks the chart: helm and kubeconform, built by Go in some three minutes of a core. `make helm` brings both;
# `make chart-schemas` writes again what is made from Kubernetes' own OpenAPI and from the configuration.
HELM_VERSION := v3.21.4
KUBECONFORM_VERSION := v0.7.0
KUBERNETES_VERSION := v1.34.1
HELM := $(SERVICES)/helm

.PHONY: helm chart-schemas
helm: $(HELM)/.$(HELM_VERSION)-$(KUBECONFORM_VERSION)
$(HELM)/.$(HELM_VERSION)-$(KUBECONFORM_VERSION):
	@command -v go >/dev/null || { echo "helm is built with Go 1.26 or newer; none is on the PATH" >&2; exit 1; }
	mkdir -p $(HELM)
	GOBIN=$(abspath $(HELM)) go install helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)
	GOBIN=$(abspath $(HELM)) go install github.com/yannh/kubeconform/cmd/kubeconform@$(KUBECONFORM_VERSION)
	touch $@

chart-schemas: install
	$(BIN)/python deploy/helm/schema.py > deploy/helm/evenflow/values.schema.json
	rm -rf build/kubernetes && mkdir -p build/kubernetes
	cd build/kubernetes && go mod init kubernetes && go mod download -json k8s.io/kubernetes@$(KUBERNETES_VERSION) > module.json
	$(BIN)/python deploy/helm/kinds.py $$($(BIN)/python -c 'import json; print(json.load(open("build/kubernetes/module.json"))["Dir"])')
