# Real parts for topics, clusters, object stores and alerts, and for their tests, fetched into build/services/: Kafka, Flink
# with Beam's job server, an S3 server, and Prometheus; and a browser. The gate on files of one machine needs none of them.
# `make services` needs a JDK 17 and Maven (Kafka, Flink) and Go 1.26 or newer (S3).
# Versions are pinned in pom.xml in deploy/kafka, deploy/flink and here; jars are checked against SHA256SUMS beside
# each pom.xml, Go's modules by Go's own checksum database. Parts that exist are not fetched or built again.
SERVICES := build/services
.PRECIOUS: $(SERVICES)/%/.checked $(SERVICES)/%/loopback
MAVEN := mvn --quiet --batch-mode --strict-checksums
VERSITYGW_VERSION := v1.8.0
VERSITYGW := $(SERVICES)/versitygw/$(VERSITYGW_VERSION)

.PHONY: services kafka broker produce flink versitygw browser
services: kafka flink versitygw browser
kafka: $(SERVICES)/kafka/.checked
# A broker for a trial, which ends with this command; its records end with it.
PORT ?= 9092
broker: kafka
	@$(PYTHON) -c 'import socket; [socket.create_server(("127.0.0.1", $(PORT) + n)).close() for n in (0, 1)]' 2>/dev/null || \
		{ echo "port $(PORT) is taken, or the next one; name another: make broker PORT=19092" >&2; exit 1; }
	@folder=$$(mktemp -d); trap 'kill $$pid 2>/dev/null; rm -rf $$folder' EXIT; trap 'exit 0' INT TERM; \
	sed "s#CONTROLLER_PORT#$$(($(PORT) + 1))#; s#PORT#$(PORT)#; s#LOG_DIR#$$folder/data#" deploy/kafka/server.properties | \
		sed 's#:PORT#:$(PORT)#; s#topics.enable=false#topics.enable=true#' > $$folder/server.properties; \
	java -cp '$(SERVICES)/kafka/lib/*' kafka.tools.StorageTool format --standalone --cluster-id 4L6g3nShT-eMCtK--X86sw \
		--config $$folder/server.properties >/dev/null 2>&1 || exit 1; \
	java -Xmx512m -cp '$(SERVICES)/kafka/lib/*' kafka.Kafka $$folder/server.properties >$$folder/log 2>&1 & pid=$$!; \
	until $(PYTHON) -c 'import socket; socket.create_connection(("127.0.0.1", $(PORT)))' 2>/dev/null; do \
		kill -0 $$pid 2>/dev/null || { tail $$folder/log >&2; exit 1; }; sleep 1; done; \
	echo "Kafka at localhost:$(PORT); Ctrl-C ends it. In another terminal, a record a line of a file, and the gate:"; \
	echo "  make produce FILE=corpus/a.jsonl TOPIC=docs$$( [ $(PORT) = 9092 ] || echo ' PORT=$(PORT)')"; \
	echo "  evenflow stream --kafka localhost:$(PORT) --topic docs -o from-topic --until-end"; wait $$pid
TOPIC ?= docs
produce:
	@test -e '$(FILE)' || { echo "name a file with a JSON object a line: make produce FILE=corpus/a.jsonl" >&2; exit 1; }
	@$(or $(wildcard $(BIN)/python),python) -c 'from kafka import KafkaProducer; one = KafkaProducer(bootstrap_servers="localhost:$(PORT)"); \
	print(sum(bool(one.send("$(TOPIC)", each.strip())) for each in open("$(FILE)", "rb") if each.strip()), "records sent"); one.flush()'
flink: $(SERVICES)/flink/gradle/wrapper
versitygw: $(VERSITYGW)/versitygw
	ln -sfn $(notdir $(VERSITYGW))/versitygw $(SERVICES)/versitygw/versitygw

$(SERVICES)/%/.checked: deploy/%/pom.xml deploy/%/SHA256SUMS
	@command -v java mvn >/dev/null || { echo "Kafka and Flink need Java 17 and Maven on the PATH" >&2; exit 1; }
	rm -rf $(@D)/lib
	$(MAVEN) --file $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(abspath $(@D)/lib)
	cd $(@D)/lib && sha256sum --check --strict --quiet $(abspath deploy/$*/SHA256SUMS)
	test $$(ls $(@D)/lib | wc -l) -eq $$(wc -l < deploy/$*/SHA256SUMS)
	touch $@

# The servers of Beam's Java classes take jobs, which are code, on every interface, also where they are told a host. So one line
# is changed. Whoever starts them puts this folder before the jars.
JOB_SERVER_LISTENS := org/apache/beam/sdk/fn/server/ServerFactory
$(SERVICES)/%/loopback: $(SERVICES)/%/.checked
	@command -v javac >/dev/null || { echo "a job server needs a JDK: javac is not on the PATH" >&2; exit 1; }
	rm -rf $@ $(@D)/source
	mkdir $(@D)/source
	cd $(@D)/source && jar --extract --file $(abspath $(@D))/lib/beam-sdks-java-core-*-sources.jar $(JOB_SERVER_LISTENS).java
	sed -i.released 's/NettyServerBuilder.forPort(socket.getPort())/NettyServerBuilder.forAddress(socket)/' $(@D)/source/$(JOB_SERVER_LISTENS).java
	! cmp --silent $(@D)/source/$(JOB_SERVER_LISTENS).java $(@D)/source/$(JOB_SERVER_LISTENS).java.released
	javac -nowarn -proc:none -cp '$(@D)/lib/*' -d $(@D)/source/classes $(@D)/source/$(JOB_SERVER_LISTENS).java
	mv $(@D)/source/classes $@
	rm -rf $(@D)/source

# Beam's job server sends all its jars to the cluster with each job, 165 MB, except those whose path has these two words. A cluster
# that has them already is started, like its job server, from links below such a path.
$(SERVICES)/flink/gradle/wrapper: $(SERVICES)/flink/loopback
	rm -rf $@
	mkdir -p $@
	cp --recursive --link $(SERVICES)/flink/lib $< $@/

# An S3 server that keeps objects as plain files, with conditional writes.
$(VERSITYGW)/versitygw:
	@command -v go >/dev/null || { echo "versitygw is built with Go 1.26 or newer; none is on the PATH" >&2; exit 1; }
	mkdir -p $(@D)
	GOBIN=$(abspath $(@D)) go install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)

# Prometheus and Alertmanager with their tools, from Debian's packages (amd64), unpacked and not installed: no service is started.
# Debian's Alertmanager reads its templates at a fixed path. It becomes another of the same length, the working directory.
AM_PATH := /usr/share/prometheus/alertmanager
AM_HERE := ./././././././././././././././././
DEBS := $(SERVICES)/prometheus
PROMETHEUS_DEBS := prometheus=2.42.0+ds-5+deb12u1 prometheus-alertmanager=0.25.0-1+b4
.PHONY: prometheus
services: prometheus
prometheus: $(DEBS)/.checked

$(DEBS)/.checked: deploy/prometheus/SHA256SUMS
	@command -v apt-get dpkg >/dev/null || { echo "Prometheus comes from packages of Debian 12; there is no apt-get here" >&2; exit 1; }
	rm -rf $(@D)
	mkdir -p $(@D)/debs
	cd $(@D)/debs && apt-get download $(PROMETHEUS_DEBS) && sha256sum --check --strict --quiet $(abspath deploy/prometheus/SHA256SUMS)
	for each in $(@D)/debs/*.deb; do dpkg -x $$each $(@D)/unpacked; done
	cp $(@D)/unpacked/usr/bin/* $(@D)/unpacked$(AM_PATH)/*.tmpl $(@D)/
	grep --quiet --text '$(AM_PATH)' $(@D)/prometheus-alertmanager
	sed -i 's|$(AM_PATH)|$(AM_HERE)|g' $(@D)/prometheus-alertmanager
	rm -rf $(@D)/debs $(@D)/unpacked
	touch $@

# Debian's Chromium, for tests of pages in a real browser. Playwright, which drives it, is a Python package; its own browsers come
# from a site that is no package registry.
browser:
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -q -y --no-install-recommends chromium fonts-dejavu-core; }
