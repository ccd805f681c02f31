# Versions are pinned in two files and nowhere else: go.mod (Go and the libraries) and tools/go.mod (the
# tools below). Everything a target needs comes as Go modules; `race` needs a C compiler as well, and
# `python-wasm` installs its own compilers.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

# Sandbar is pure Go. Only the race detector needs cgo.
export CGO_ENABLED := 0

GO          ?= go
PKGS        ?= ./...
FUZZTIME    ?= 30s
BENCHTIME   ?= 1s
BENCH       ?= .
TESTFLAGS   ?=
# Minutes of programs, scripts, servers and a browser: what the detector could see there, the suites in ./native, ./wasm, ./server and
# hybrid show it as well.
RACE_SKIP   := /internal/integration/\(native\|differential\|routing\|remote\|console\)$$
PLATFORMS   := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

# The first use of a tool builds it into Go's build cache: golangci-lint takes about two minutes on two cores,
# the others a few seconds. Later uses start at once.
TOOL        := $(GO) tool -modfile=tools/go.mod
BUF         := $(GO) tool -modfile=../tools/go.mod buf

CHECKS      := tidy-check fmt-check generate-check vet lint test bench race

# One line per file that git tracks or would add, with its hash.
TREE        := { git ls-files -z --cached --others --exclude-standard | sort -zu | xargs -0 sha256sum 2>/dev/null || true; }

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build the commands into bin/
	$(GO) build -trimpath -o bin/ ./cmd/...

.PHONY: test
test: ## Run all tests (PKGS=./engine/ for one package)
	$(GO) test -timeout 15m $(TESTFLAGS) $(PKGS)

.PHONY: race
race: ## Run the tests with the race detector, without the slowest (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short -timeout 15m $(TESTFLAGS) $$($(GO) list $(PKGS) | grep -v -e '$(RACE_SKIP)')

.PHONY: integration
integration: ## Run the tests that go across packages, uncached
	$(GO) test -count=1 -v -timeout 15m $(TESTFLAGS) ./internal/integration/...

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's/^(.*)\/[^\/]*:[0-9]+:func (Fuzz.*)$$/\1 \2/' | sort | \
	while read -r dir name; do \
		echo "== $$dir $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$dir"; \
	done

.PHONY: bench
bench: ## Run the benchmarks, each for BENCHTIME (BENCH=regexp picks)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -timeout 30m $(PKGS)

.PHONY: lint
lint: ## Run the linters of .golangci.yml, and those of the protocol
	$(TOOL) golangci-lint run --allow-serial-runners ./...
	cd proto && $(BUF) lint && $(BUF) breaking --against released.binpb

.PHONY: vet
vet: ## Compile and vet for every platform
	@for platform in $(PLATFORMS); do \
		echo "vet $$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) vet ./...; \
	done

.PHONY: fmt
fmt: ## Format the Go code
	$(TOOL) gofumpt -l -w .

.PHONY: generate
generate: ## Write the generated files again
	$(GO) generate ./...

.PHONY: check
check: ## All that CI checks; takes some minutes and leaves the tree as it was
	@mkdir -p .tmp; $(TREE) >.tmp/tree.before
	@for step in $(CHECKS); do \
		begin=$$SECONDS; echo "== $$step"; \
		$(MAKE) BENCHTIME=1x $$step; \
		echo "== $$step: $$((SECONDS - begin)) s"; \
	done
	@$(TREE) >.tmp/tree.after; diff .tmp/tree.before .tmp/tree.after || { echo "check: the steps above changed these files"; exit 1; }
	@if [ "$${CI:-}" = true ] && [ -n "$$(git status --porcelain)" ]; then git status --short; echo "check: the tree is not clean"; exit 1; fi
	@echo "check: all passed, and the tree is as it was before"

# The steps of check that are of no use alone.
.PHONY: tidy-check fmt-check generate-check
tidy-check:
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff
	$(GO) mod verify

fmt-check:
	@files=$$($(TOOL) gofumpt -l .); if [ -n "$$files" ]; then echo "not formatted (make fmt):"; echo "$$files"; exit 1; fi

generate-check:
	@mkdir -p .tmp; $(TREE) >.tmp/generate.before
	$(GO) generate ./...
	@$(TREE) >.tmp/generate.after; diff .tmp/generate.before .tmp/generate.after || { echo "generated files are not up to date (make generate)"; exit 1; }

.PHONY: proto-release
proto-release: ## Make the protocol as it is what later ones are compared with (at a release)
	cd proto && $(BUF) build -o released.binpb

.PHONY: python-wasm
python-wasm: ## Build the embedded interpreter from source (some ten minutes, 1 GB) and compare
	@mkdir -p .tmp/python-wasm
	wasm/python/build/build.sh .tmp/python-wasm/work .tmp/python-wasm/out
	@for file in python.wasm.zst stdlib.zip LICENSES.txt manifest.json; do \
		cmp ".tmp/python-wasm/out/$$file" "wasm/python/$$file" || { echo "python-wasm: not the committed bytes; the new ones are in .tmp/python-wasm/out"; exit 1; }; \
	done
	@echo "python-wasm: the same bytes as the committed ones"

.PHONY: clean
clean: ## Remove what these targets wrote
	rm -rf bin .tmp
