# Thin targets: each is one or two commands that can be run by hand.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
NPM      ?= npm
PKG      ?= ./...
FUZZTIME ?= 20s
COUNT    ?= 6
BARS     ?= verdict stability knee metastability audit steps live counts
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT   ?= $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
PLATFORMS ?= linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64
TOOL     := $(GO) tool -modfile=tools/go.mod
# Load generators for the tests of interoperability, and where they are kept.
GENERATORS ?= vegeta hey wrk locust jmeter gatling artillery oha fortio
GENERATOR_DIR ?= $(or $(PLIMSOLL_GENERATORS),$(HOME)/.cache/plimsoll-generators)
# The comparison with a collector is a module of its own, kept beside this one.
BENCH_DIR ?= ../shared/bench

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build bin/plimsoll: one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/plimsoll ./cmd/plimsoll

.PHONY: test
test: deps ## Set up and run every test
	$(GO) test -timeout 10m $$($(GO) list ./... | grep -v -e '/demo$$' -e '/e2e$$')
	$(GO) test -count=1 -timeout 10m ./internal/e2e # of a program that it builds: never from the cache
	$(GO) test -timeout 10m ./demo || $(GO) test -timeout 10m ./demo # in real time: alone, and once more on a machine that stood still
	@if [ -f plugin/package.json ]; then cd plugin && $(NPM) ci --no-audit --no-fund && $(NPM) test; fi

.PHONY: deps
deps: ## Download the modules that the build needs
	@$(GO) mod download || { sleep 5; $(GO) mod download; }

.PHONY: short
short: ## Run the quick tests only
	$(GO) test -short -timeout 5m $(PKG)

.PHONY: race
race: ## Run the tests of packages with goroutines under the race detector
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m $$(.ci/concurrent)

.PHONY: lint
lint: ## Vet and golangci-lint, formatting included
	$(GO) vet ./...
	$(TOOL) golangci-lint run --allow-parallel-runners ./...

.PHONY: fmt
fmt: ## Format all Go code
	$(TOOL) golangci-lint fmt

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME each
	.ci/fuzz $(FUZZTIME)

.PHONY: bench
bench: ## Run the micro-benchmarks, COUNT times each, for benchstat
	$(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) $(PKG)

.PHONY: bench-rows
bench-rows: ## Measure rows: encode, sync and fold
	$(GO) run ./internal/bench/rows

.PHONY: bench-ingest
bench-ingest: build ## Compare ingest with a collector (BENCH_DIR holds the comparison)
	.ci/bench-ingest '$(BENCH_DIR)'

.PHONY: sim
sim: build ## Simulate a load test through the real server and compare verdict and truth: SEED=n, SCENARIO=name, SEEDS=how many
	@if [ -z '$(SEED)$(SCENARIO)$(SEEDS)' ]; then $(MAKE) --no-print-directory sim-list; \
	else $(GO) run ./internal/simrun -program bin/plimsoll -scenario '$(SCENARIO)' -seed $(or $(SEED),0) -seeds $(or $(SEEDS),1); fi

.PHONY: sim-list
sim-list: ## List the scenarios of sim: plan, server, client, arrivals, what is known of the schedule
	@$(GO) run ./internal/simrun -list

.PHONY: demo
demo: deps ## Watch a load test of a small service from end to end
	$(GO) run ./cmd/plimsoll demo

.PHONY: interop
interop: ## Run real load generators (GENERATORS, k6 and wrk2 if there) and check what is said of them
	-.ci/generators '$(GENERATOR_DIR)' $(GENERATORS) # those that are missing are skipped
	$(GO) test -count=1 -timeout 30m -parallel 4 -v ./internal/interop -interop -generators '$(GENERATOR_DIR)'

.PHONY: golden
golden: ## Rewrite the golden files; review the difference before committing
	$(GO) test $$(grep -rlE 'flag\.Bool\("update"' --include='*_test.go' . | xargs -r -n1 dirname | sort -u) -update

.PHONY: bars-analysis
bars-analysis: ## Measure the judgements against their bars, or those in BARS (20 min)
	.ci/bars $(BARS)

.PHONY: plugin
plugin: deps ## Build the Grafana data source into plugin/dist, for all platforms
	cd plugin && $(NPM) ci --no-audit --no-fund && $(NPM) run build
	@for at in $(PLATFORMS); do os=$${at%_*} arch=$${at#*_} end=; [ $$os = windows ] && end=.exe; echo "gpx_plimsoll_$$at"; \
	  GOOS=$$os GOARCH=$$arch CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o plugin/dist/gpx_plimsoll_$$at$$end ./plugin/pkg; \
	done

.PHONY: plugin-package
plugin-package: plugin ## Pack the data source as a catalogue takes it, into dist/
	$(GO) run ./plugin/pack plugin dist

.PHONY: grafana-demo
grafana-demo: build plugin ## Run the Grafana in GRAFANA_HOME with the data source, the dashboards and a run
	plugin/demo.sh '$(GRAFANA_HOME)'

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist

.PHONY: ci
ci: ## Exactly what the gate runs
	.ci/run
