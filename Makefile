# Kafka Bench. `make` alone lists what there is.

GO       ?= go
BIN      := bin/kafka-bench
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
LDFLAGS  := -X main.version=$(VERSION)
LINT     := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
export CGO_ENABLED ?= 0

# The driver librdkafka is in C, and so in a binary of its own, which is built and
# tested where the compiler is that cgo would use.
BIN_C    := bin/kafka-bench-librdkafka
WITH_C   := CGO_ENABLED=1
TAGS_C   := -tags librdkafka
PKGS_C   := ./internal/kafka/driver/librdkafka ./cmd/kafka-bench
COMPILER := $(shell command -v "$$($(GO) env CC)")

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The full experiment is `bin/kafka-bench run backpressure-study`, half an hour long.
bench: tool ## the headline experiment: one overload, without and with backpressure
	$(BIN) run backpressure-short

tool:
	@mkdir -p bin
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/kafka-bench

build: tool ## build bin/kafka-bench, and bin/kafka-bench-librdkafka where a C compiler is
ifneq ($(COMPILER),)
	$(WITH_C) $(GO) build $(TAGS_C) -trimpath -ldflags '$(LDFLAGS)' -o $(BIN_C) ./cmd/kafka-bench
	@echo "built $(BIN), and $(BIN_C), which has the driver librdkafka, too"
else
	@rm -f $(BIN_C)
	@echo "built $(BIN); left out $(BIN_C), which has the driver librdkafka, too: there is no C compiler ($$($(GO) env CC))"
endif

test: build vet cross ## everything that CI runs: vet, cross-compile, all tests on a real Kafka
	$(GO) test -timeout 30m $$($(GO) list ./... | grep -v -e '/internal/truth$$' -e '/kmq/internal/')
	@# The packages with locks and sessions that run out come one after the other, and then the
	@# proofs of times, and those of queues: nothing runs beside them.
	$(GO) test -timeout 30m -p 1 -parallel 4 ./kmq/internal/...
	$(GO) test -timeout 30m -parallel 1 -skip '^TestKafka$$/^queue' ./internal/project/truth
	$(GO) test -timeout 30m -parallel 1 -run '^TestKafka$$/^queue' ./internal/project/truth
ifneq ($(COMPILER),)
	$(WITH_C) $(GO) test $(TAGS_C) -timeout 10m ./internal/kafka/driver/librdkafka ./internal/kafka/driver/drivertest
endif
	@# The one test that a busy machine may skip, by itself and aloud: go test tells of
	@# no skip otherwise, and alone it has both processors.
	$(GO) test -count=1 -v -run '^TestSearchFindsTheCapacity$$' ./internal/run/campaign

vet: ## go vet and gofmt
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	$(GO) vet ./...
ifneq ($(COMPILER),)
	$(WITH_C) $(GO) vet $(TAGS_C) $(PKGS_C)
endif

cross: ## compile for every platform
	@for p in $(PLATFORMS); do echo "compile for $$p"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./cmd/kafka-bench || exit 1; done

lint: ## golangci-lint with the list in .golangci.yaml
	$(GO) run $(LINT) run ./...
ifneq ($(COMPILER),)
	$(GO) run -exec 'env $(WITH_C)' $(LINT) run --build-tags librdkafka $(PKGS_C)
endif

race: ## the tests of everything that has goroutines, under the race detector
	$(WITH_C) $(GO) test -race $(TAGS_C) -timeout 30m ./backpressure/... ./internal/... ./kmq/...

# What takes hours: every fault, brokers and processes that are stopped where they stand, and
# campaigns of kills. One after the other, because each is about times that run out.
CRASH := $(GO) test -count=1 -v -timeout 6h ./kmq/internal/crash
KILLS := $(or $(SOAK_KILLS),90)
soak: ## the queue under every fault, and killed again and again, on a real Kafka too, for hours (SOAK_KILLS=90)
	$(GO) test -count=1 -timeout 1h ./kmq/internal/conformance
	$(CRASH) -skip '^(TestInvariant1AtLeastOnce.*|TestRealBrokers)$$' -fault=all
	$(CRASH) -run '^TestRealBrokers$$' -brokers
	$(CRASH) -run '^TestInvariant1AtLeastOnce$$' -kills=$(KILLS)
	$(CRASH) -run '^TestInvariant1AtLeastOnceOnKafka$$' -kills=$(KILLS)

fuzz: ## each fuzz target for a while (FUZZTIME=20s)
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(FUZZTIME),20s) $$pkg || exit 1; \
	  done; done

perf: tool ## the benchmarks: hot paths, and the tool against bare clients on a real Kafka (DATA=/dev/shm/kafka)
	$(GO) test -run '^$$' -bench . -benchmem ./backpressure/... ./internal/plan/arrival ./internal/plan/payload ./internal/measure/latency ./internal/measure/ledger ./kmq/...
	$(GO) run ./internal/project/perf $(if $(DATA),-data $(DATA))

results: ## write docs/RESULTS.md from the runs in results/
	$(GO) run ./internal/project/resultspage

results-runs: build ## make the runs in results/ anew on a real Kafka, in about half an hour (ONLY=quick,overload)
	$(GO) run ./internal/project/resultspage -run $(BIN) $(if $(ONLY),-only $(ONLY)) $(if $(FLAGS),-flags "--cluster kafka $(FLAGS)")

golden: ## write the golden files anew, to be reviewed like code
	$(GO) test ./internal/plan/scenario ./internal/show/report ./internal/result -update

rename-module: ## give the module another import path (MODULE=example.com/kafka-bench)
	@$(GO) run ./internal/project/rename '$(MODULE)'

clean: ## remove what was built
	rm -rf bin

.PHONY: help bench tool build test vet cross lint race soak fuzz perf results results-runs golden rename-module clean
