# Kafka Bench. `make` without a target lists the targets.

GO       ?= go
BIN      := bin/kafka-bench

# The file VERSION has the version. A build is the release only with RELEASE=1 in a clean work tree. No
# build reads git tags. Recorded runs and pages are not built, so only a release needs them committed.
COMMIT   := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
UNBUILT  := $(if $(filter 1,$(RELEASE)),,':!results' ':!docs' ':!README.md')
CHANGED  := $(if $(COMMIT),$(shell git status --porcelain -- . $(UNBUILT)),none)
VERSION  := $(shell cat VERSION)$(if $(filter 1,$(RELEASE)),,-dev$(COMMIT:%=.%)$(if $(COMMIT),$(if $(CHANGED),.dirty)))
ifeq ($(RELEASE),1)
ifneq ($(CHANGED),)
$(error RELEASE=1 needs a git work tree without changes: commit them first)
endif
endif
LDFLAGS  := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
LINT     := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
export CGO_ENABLED ?= 0

# The driver librdkafka is in C, so it has its own binary, which is built and tested only if cgo's
# compiler is installed.
BIN_C    := bin/kafka-bench-librdkafka
WITH_C   := CGO_ENABLED=1
TAGS_C   := -tags librdkafka
PKGS_C   := ./internal/kafka/driver/librdkafka ./cmd/kafka-bench
COMPILER := $(shell command -v "$$($(GO) env CC)")
# With netgo and osusergo the driver is the only C, so all other packages are compiled once.
ifneq ($(COMPILER),)
TESTS_C   = -- $(WITH_C) $(FAST) -tags $(TAGS_FULL),librdkafka,netgo,osusergo -timeout 10m $(PKGS_C:./cmd/kafka-bench=./internal/kafka/driver/drivertest)
endif

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The full experiment is `bin/kafka-bench run backpressure-study`, which takes half an hour.
# The first time, Maven fetches Kafka while the compiler runs.
FETCHED := $(CURDIR)/bin/fetched
FETCH := MAVEN_OPTS="$$MAVEN_OPTS -XX:TieredStopAtLevel=1" mvn -q -B -f internal/kafka/cluster/dist/pom.xml -Ddist='$(FETCHED)' \
	dependency:copy-dependencies@lib dependency:copy-dependencies@agent
bench: ## the headline experiment: one overload, without and with backpressure
	@rm -rf '$(FETCHED)'
	@if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then \
	  echo "Java or Maven is missing (on Debian: openjdk-17-jdk-headless maven)."; \
	  echo "Without Apache Kafka, the runs use the embedded broker: their figures describe the tool, not Kafka."; \
	elif [ ! -e $(BIN) ]; then \
	  echo "Maven fetches Apache Kafka while the compiler runs"; \
	  ($(FETCH) || rm -rf '$(FETCHED)') >/dev/null 2>&1 & fi; \
	$(MAKE) --no-print-directory tool; built=$$?; wait; exit $$built
	KAFKA_BENCH_FETCHED='$(FETCHED)' $(BIN) run backpressure-short --quick --page

# No process collects garbage below 600 MiB: 14 % less CPU time of the compiler with an empty cache.
SPARE_GC := GOGC=off GOMEMLIMIT=600MiB

tool: ## build only bin/kafka-bench
	@mkdir -p bin
	$(SPARE_GC) $(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/kafka-bench

build: tool ## build bin/kafka-bench, and bin/kafka-bench-librdkafka where a C compiler is
ifneq ($(COMPILER),)
	$(WITH_C) $(GO) build $(TAGS_C) -ldflags '$(LDFLAGS)' -o $(BIN_C) ./cmd/kafka-bench
	@echo "built $(BIN), and $(BIN_C), which has the driver librdkafka, too"
else
	@rm -f $(BIN_C)
	@echo "built $(BIN); left out $(BIN_C), which has the driver librdkafka, too: there is no C compiler ($$($(GO) env CC))"
endif

# A file's build tag is its tier: none, full or proof (CONTRIBUTING.md). franz-go's tag synctests
# replaces its mutexes by channels, so that its clients can run in virtual time.
TAGS_QUICK := synctests
TAGS_FULL  := synctests,full
TAGS_PROOF := synctests,full,proof
TIER := bin/tools/tier

# The project's tools are built and then run, so that a signal reaches them.
bin/tools/%: FORCE
	@$(GO) build -o $@ ./internal/project/$*
bin/tools/tier: FORCE # with the tags of the tests, so that they compile the same packages
	@$(GO) build -tags $(TAGS_FULL) -o $@ ./internal/project/tier
FORCE:

# vet runs before; without debug information test binaries link a third faster.
FAST := -count=1 -vet=off -ldflags='-s -w'

quick: bin/tools/tier vet ## everything that needs no JVM and no real clock: a minute on two idle cores, once built
	$(SPARE_GC) $(TIER) $(FAST) -tags $(TAGS_QUICK) -short ./...

test: ## what CI runs: quick's tests and those on one real Kafka, librdkafka; it leaves out what the machine lacks
	@internal/project/tier/measured.sh $(MAKE) --no-print-directory tests
	@cat bin/left-out

tests: bin/tools/tier
	@$(TIER) -check
	@$(MAKE) --no-print-directory format
	$(SPARE_GC) $(TIER) -kafka $(FAST) -short -tags $(TAGS_FULL) -timeout 10m ./... $(TESTS_C)

image: bin/tools/image ## the container image for linux/amd64 and linux/arm64: build/kafka-bench.tar, an OCI layout
	@bin/tools/image -version '$(VERSION)' -commit '$(COMMIT)'

# Every time in a release is that of the commit.
release: bin/tools/image bin/tools/release ## archives, packages, image, SBOMs and checksums in build/release: always the same bytes of one commit (RELEASE=1)
	@rm -rf build/release
	@export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) && \
	bin/tools/image -o 'build/release/kafka-bench_$(VERSION)_image.tar' -version '$(VERSION)' -commit '$(COMMIT)' >/dev/null && \
	bin/tools/release -version '$(VERSION)' -commit '$(COMMIT)'

version:
	@echo '$(VERSION)'

ui: tool ## the pages in a real browser: needs Node 20 and Chromium (SCREENSHOTS=1: pictures of them, in build/ui/screenshots)
	@cd ui && node check.js && npm ci --silent && node setup.js && SCREENSHOTS=$(SCREENSHOTS) node --test --test-reporter=spec --test-concurrency=2 tests/

format:
	@unformatted=$$($(shell $(GO) env GOROOT)/bin/gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi

vet: format ## go vet and gofmt, of all tiers
	$(GO) vet -tags $(TAGS_PROOF),manual ./...
ifneq ($(COMPILER),)
	$(WITH_C) $(GO) vet -tags $(TAGS_PROOF),librdkafka $(PKGS_C)
endif

cross: ## compile for every platform
	@for p in $(PLATFORMS); do echo "compile for $$p"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./cmd/kafka-bench || exit 1; done

lint: ## golangci-lint with the list in .golangci.yaml, the workflows, the files for Kubernetes against its schemas, the example modules
	$(GO) run $(ACTIONLINT) -shellcheck= -pyflakes=
	cd deploy/kubernetes/check && $(GO) test ./...
	cd examples/tracing && $(GO) test ./...
	$(GO) run $(LINT) run --build-tags $(TAGS_PROOF) ./...
	$(GO) run $(LINT) run --build-tags $(TAGS_PROOF),manual ./cmd/kafka-bench
ifneq ($(COMPILER),)
	$(GO) run -exec 'env $(WITH_C)' $(LINT) run --build-tags $(TAGS_PROOF),librdkafka $(PKGS_C)
endif

# With -short internal skips statistics over many seeds, which use no goroutines.
RACE := $(TIER) -kafka -race -count=1 -tags $(TAGS_FULL),librdkafka -timeout 2h
race: bin/tools/tier ## the tests of make test of everything that has goroutines, under the race detector
	$(WITH_C) $(RACE) -short ./internal/...
	$(WITH_C) $(RACE) ./backpressure/... ./kmq/...

# These run in sequence, because each depends on timeouts.
CRASH := $(TIER) -kafka -count=1 -v -tags $(TAGS_PROOF) -timeout 6h ./kmq/internal/crash
KILLS := $(or $(SOAK_KILLS),90)
soak: bin/tools/tier ## the queue under every fault, and killed again and again on a real Kafka, for hours (SOAK_KILLS=90)
	$(CRASH) -skip '^(TestInvariant1AtLeastOnce.*|TestRealBrokers)$$' -fault=all
	$(CRASH) -run '^TestRealBrokers$$' -brokers
	$(CRASH) -run '^TestInvariant1AtLeastOnceOnKafka$$' -kills=$(KILLS)

# A count of inputs limits fuzzing: before Go 1.27 a time limit can make a target fail
# (go.dev/issue/75804). A scenario or a report takes a hundred times as long as any other input.
fuzz: ## each fuzz target with so many inputs (FUZZ=20000)
	@for pkg in $$($(GO) list ./...); do \
	  case $$pkg in */plan/scenario|*/show/report) inputs=500;; *) inputs=20000;; esac; \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(FUZZ),$${inputs})x $$pkg || exit 1; \
	  done; done

perf: tool ## the benchmarks: hot paths, and the tool against bare clients on a real Kafka (DATA=/dev/shm/kafka)
	$(GO) test -run '^$$' -bench . -benchmem ./internal/lagcontrol ./internal/load/receive ./internal/run/fleet ./internal/plan/arrival ./internal/plan/payload ./internal/measure/... ./kmq/...
	$(GO) run ./internal/project/perf $(if $(DATA),-data $(DATA))

proof: bin/tools/proof ## everything that takes hours, in groups that need not run twice (SINCE=REF, ONLY=truth,plant, FRESH=1, LIST=1)
ifeq ($(LIST)$(ONLY),1breaks)
	@$(GO) run ./internal/project/breaks -list
else
	@bin/tools/proof $(if $(LIST),-list) $(if $(SINCE),-since '$(SINCE)') $(if $(ONLY),-only '$(ONLY)') $(if $(FRESH),-fresh)
endif

proof-agents: ## agents that die, and in network and time namespaces, on a real Kafka; as root on Linux
	$(GO) test -count=1 -v -tags $(TAGS_PROOF) -run '^TestAgents(InNamespaces|OnKafka)$$' ./cmd/kafka-bench

proof-kubernetes: image tool bin/tools/broker ## agents as pods of a real Kubernetes on two nodes, with a real Kafka, as root on Linux
	cd deploy/kubernetes/proof && $(GO) test -count=1 -v -tags proof -timeout 1h . -args -image '$(VERSION)'

perf-against: bin/tools/perf ## the hot paths of this work tree and of a commit, in turns: after ÷ before (BASE=REF)
	@bin/tools/perf against '$(BASE)'

flakes: bin/tools/flakes ## quick and test again and again while every processor is busy (QUICK=20, TEST=5, BUSY=1: loops a processor)
	@bin/tools/flakes -quick $(or $(QUICK),20) -test $(or $(TEST),5) -busy $(or $(BUSY),1)

results: ## write docs/RESULTS.md and its charts from the runs in results/
	$(GO) run ./internal/project/resultspage

results-runs: build ## record in results/, on a real Kafka, the runs that five valid ones of each lack (ONLY=quick,overload)
	$(GO) run ./internal/project/resultspage -run $$(ls $(BIN_C) 2>/dev/null || echo $(BIN)) $(if $(ONLY),-only $(ONLY)) $(if $(FLAGS),-flags "--cluster kafka $(FLAGS)")

survey: ## print what the code looks like: sizes of packages, types, functions and lines; long sentences
	$(GO) run ./internal/project/survey

breaks: ## break the code once for each invariant and see its test fail (ONLY=name RANDOM=5, LIST=1: print the invariants)
	@$(GO) run ./internal/project/breaks $(if $(LIST),-list) $(if $(ONLY),-only $(ONLY)) $(if $(RANDOM),-random $(RANDOM))

golden: ## write the golden files anew, to be reviewed like code
	$(GO) test ./internal/plan/scenario ./internal/show/report ./internal/show/compared ./internal/show/campaigns ./internal/show/draw ./internal/result -update

rename-module: bin/tools/rename ## give the module another import path (MODULE=example.com/kafka-bench)
	@bin/tools/rename '$(MODULE)'

clean: ## remove what was built
	rm -rf bin build ui/node_modules

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(MAKEFILE_LIST))
