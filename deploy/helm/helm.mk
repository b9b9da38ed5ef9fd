# What checks the chart: helm and kubeconform, built by Go in some three minutes of a core. `make helm` brings both;
# `make chart-schemas` writes again what is made from Kubernetes' own OpenAPI and from the configuration.
HELM_VERSION := v3.21.4
KUBECONFORM_VERSION := v0.7.0
KUBERNETES_VERSION := v1.34.1
HELM := $(SERVICES)/helm

.PHONY: helm chart-schemas control-plane
helm: $(HELM)/.$(HELM_VERSION)-$(KUBECONFORM_VERSION)
$(HELM)/.$(HELM_VERSION)-$(KUBECONFORM_VERSION):
	@command -v go >/dev/null || { echo "helm is built with Go 1.26 or newer; none is on the PATH" >&2; exit 1; }
	mkdir -p $(HELM)
	GOBIN=$(abspath $(HELM)) go install helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)
	GOBIN=$(abspath $(HELM)) go install github.com/yannh/kubeconform/cmd/kubeconform@$(KUBECONFORM_VERSION)
	touch $@

chart-schemas: install $(SERVICES)/kubernetes/crds/flinkdeployments.yaml $(SERVICES)/kubernetes/crds/servicemonitors.yaml
	mkdir -p build
	$(BIN)/python deploy/helm/schema.py > build/values.schema.json
	mv build/values.schema.json deploy/helm/evenflow/values.schema.json
	rm -rf build/kubernetes && mkdir -p build/kubernetes
	cd build/kubernetes && go mod init kubernetes && go mod download -json k8s.io/kubernetes@$(KUBERNETES_VERSION) > module.json
	$(BIN)/python deploy/helm/kinds.py $$($(BIN)/python -c 'import json; print(json.load(open("build/kubernetes/module.json"))["Dir"])') $(CRDS)

# kube-apiserver and etcd, on which a test applies the chart, and the definitions of the custom kinds: those of Prometheus' operator
# from its Go module, of Flink's from its jar. The versions of Kubernetes' own parts
# stand beside each other in its repository, so each is named here.
PROMETHEUS_OPERATOR_VERSION := v0.85.0
FLINK_OPERATOR_VERSION := 1.10.0
ETCD_VERSION := v3.6.4
CONTROL := $(SERVICES)/kubernetes
CRDS := $(CONTROL)/crds
control-plane: $(CONTROL)/kube-apiserver $(CRDS)/flinkdeployments.yaml $(CRDS)/servicemonitors.yaml

$(CONTROL)/kube-apiserver:
	@command -v go >/dev/null || { echo "kube-apiserver is built with Go 1.26 or newer; none is on the PATH" >&2; exit 1; }
	rm -rf $(CONTROL)/source && mkdir -p $(CONTROL)/source
	cd $(CONTROL)/source && go mod init control && go mod edit -go=1.24.0 -require=k8s.io/kubernetes@$(KUBERNETES_VERSION) -require=go.etcd.io/etcd/server/v3@$(ETCD_VERSION)
	cd $(CONTROL)/source && from=$$(go mod download -json k8s.io/kubernetes@$(KUBERNETES_VERSION) | sed -n 's/.*"GoMod": "\(.*\)",/\1/p') && for part in $$(sed -n 's|^\t\(k8s.io/[a-z-]*\) v0.0.0$$|\1|p' $$from); do go mod edit -replace=$$part=$$part@$(KUBERNETES_VERSION:v1.%=v0.%); done
	cd $(CONTROL)/source && go get k8s.io/kubernetes/cmd/kube-apiserver@$(KUBERNETES_VERSION) go.etcd.io/etcd/server/v3@$(ETCD_VERSION)
	cd $(CONTROL)/source && go build -ldflags='-s -w' -o ../etcd go.etcd.io/etcd/server/v3
	cd $(CONTROL)/source && go build -ldflags='-s -w -X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION)' -o ../kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
	rm -rf $(CONTROL)/source

$(CRDS)/servicemonitors.yaml:
	mkdir -p $(CRDS) $(CONTROL)/operator
	cd $(CONTROL)/operator && { test -e go.mod || go mod init operator; } && from=$$(go mod download -json github.com/prometheus-operator/prometheus-operator@$(PROMETHEUS_OPERATOR_VERSION) | sed -n 's/.*"Dir": "\(.*\)",/\1/p') && for kind in prometheusrules servicemonitors; do cp $$from/example/prometheus-operator-crd/monitoring.coreos.com_$$kind.yaml ../crds/$$kind.yaml; done
	chmod u+w $(CRDS)/*.yaml && rm -rf $(CONTROL)/operator

$(CRDS)/flinkdeployments.yaml:
	@command -v mvn jar >/dev/null || { echo "the definition of Flink's kinds needs a JDK and Maven on the PATH" >&2; exit 1; }
	mkdir -p $(CRDS)
	$(MAVEN) org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact=org.apache.flink:flink-kubernetes-operator-api:$(FLINK_OPERATOR_VERSION) -DoutputDirectory=$(abspath $(CONTROL)/operator-api)
	cd $(CONTROL)/operator-api && jar --extract --file flink-kubernetes-operator-api-*.jar META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml
	mv $(CONTROL)/operator-api/META-INF/fabric8/flinkdeployments.flink.apache.org-v1.yml $@
	rm -rf $(CONTROL)/operator-api
