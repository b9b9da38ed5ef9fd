# Real parts for streaming and its tests: Kafka, Prism and Flink's job server, fetched into build/services/.
# The gate on files needs none of them. `make services` needs Java 17 and Maven (Kafka, Flink) and Go 1.26 or newer (Prism).
# Versions are pinned in deploy/kafka/pom.xml, deploy/flink/pom.xml and here; jars are checked against SHA256SUMS beside each
# pom.xml, Prism's modules by Go's own checksum database. What is there already is neither fetched nor built again.
SERVICES := build/services
PRISM_VERSION := v2.77.0# that of apache-beam in the environment
MAVEN := mvn --quiet --batch-mode --strict-checksums

.PHONY: services kafka flink prism
services: kafka flink prism
kafka: $(SERVICES)/kafka/.checked
flink: $(SERVICES)/flink/.checked
prism: $(SERVICES)/prism/$(PRISM_VERSION)/prism
	ln -sfn $(PRISM_VERSION)/prism $(SERVICES)/prism/prism

$(SERVICES)/%/.checked: deploy/%/pom.xml deploy/%/SHA256SUMS
	@command -v java mvn >/dev/null || { echo "Kafka and Flink need Java 17 and Maven on the PATH" >&2; exit 1; }
	rm -rf $(@D)/lib
	$(MAVEN) --file $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $(@D)/lib)
	cd $(@D)/lib && sha256sum --check --strict --quiet $(abspath deploy/$*/SHA256SUMS)
	test $$(ls $(@D)/lib | wc -l) -eq $$(wc -l < deploy/$*/SHA256SUMS)
	touch $@

$(SERVICES)/prism/$(PRISM_VERSION)/prism:
	@command -v go >/dev/null || { echo "Prism is built with Go 1.26 or newer; none is on the PATH" >&2; exit 1; }
	GOBIN=$(abspath $(@D)) go install github.com/apache/beam/sdks/v2/go/cmd/prism@$(PRISM_VERSION)
