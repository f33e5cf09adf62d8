# Two commands do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := $(VENV)/peers
REMOTE := $(VENV)/remote
SPLITTERS := $(VENV)/splitters
PAGE := $(VENV)/page
# The browser that the tests of the report's page drive.
export CHROMIUM ?= /usr/bin/chromium
DEMO := .demo
CORPUS ?= sample_corpus
# Tests over all cores, the long ones of a file too.
SPREAD := -n auto --dist worksteal

# The constraints hold for build environments too, which is why this is the variable and not an option.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
PIP := $(BIN)/python -m pip --quiet
SOURCES := pyproject.toml constraints.txt

.PHONY: help demo test test-remote test-splitters test-page browser check format lint types contracts suite package bench peers clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 \t/p' $(MAKEFILE_LIST) | expand -t 20

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name it with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python $(SOURCES)
	$(PIP) install --editable .
	@touch $@

$(VENV)/.page: $(BIN)/python $(SOURCES)
	$(PIP) install --editable '.[page]'
	@touch $@ $(VENV)/.core

$(VENV)/.test: $(BIN)/python $(SOURCES)
	$(PIP) install --editable '.[test]'
	@touch $@ $(VENV)/.core

$(VENV)/.check: $(BIN)/python $(SOURCES)
	$(PIP) install --editable '.[check]'
	@touch $@ $(VENV)/.test $(VENV)/.core

# An environment of its own, because nothing of the project may come to need a peer.
$(PEERS)/.installed: $(BIN)/python $(SOURCES) benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip --quiet install --editable . --requirement benchmarks/peers.txt
	@touch $@

# An environment of its own, because nothing of the core may come to need an object store.
$(REMOTE)/.installed: $(BIN)/python $(SOURCES)
	$(PYTHON) -m venv $(REMOTE)
	$(REMOTE)/bin/python -m pip --quiet install --editable '.[remote-test]'
	@touch $@

# An environment of its own, because nothing of the project may come to need another splitter.
$(SPLITTERS)/.installed: $(BIN)/python $(SOURCES)
	$(PYTHON) -m venv $(SPLITTERS)
	$(SPLITTERS)/bin/python -m pip --quiet install --editable '.[splitter-test]'
	@touch $@

# An environment of its own, because nothing of the core may come to need the packages that make a page.
$(PAGE)/.installed: $(BIN)/python $(SOURCES)
	$(PYTHON) -m venv $(PAGE)
	$(PAGE)/bin/python -m pip --quiet install --editable '.[page-test]'
	@touch $@

demo: $(VENV)/.page  ## ingest sample_corpus, twice, report on it, with a page, try other settings, pack a slot, read the log
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@echo '--- ingest: three of the documents are bad on purpose, so the exit code is 3'
	@$(BIN)/chunkledger ingest sample_corpus --out $(DEMO)/ledger --slot-tokens 4000 || test $$? -eq 3
	@echo; echo '--- the next night: one document has changed'
	@cp -r sample_corpus $(DEMO)/handbook && $(BIN)/chunkledger ingest $(DEMO)/handbook --out $(DEMO)/nights --quiet \
		2> /dev/null || test $$? -eq 3
	@echo 'One more line.' >> $(DEMO)/handbook/faq.md
	@$(BIN)/chunkledger ingest $(DEMO)/handbook --out $(DEMO)/nights --quiet 2>&1 | tail -n 1
	@$(BIN)/chunkledger feed $(DEMO)/nights --since 1 > /dev/null
	@$(BIN)/chunkledger runs $(DEMO)/nights
	@echo; echo '--- report: which chunks do not suit the slot, and what is to blame'
	@$(BIN)/chunkledger report $(DEMO)/ledger --top 5 --html $(DEMO)/report.html
	@echo; echo '--- the same of chunks that another splitter has cut: who is to blame, and where'
	@$(BIN)/chunkledger ingest tests/outliers/other_splitter.jsonl --chunks --documents sample_corpus --out $(DEMO)/theirs \
		--slot-tokens 4000 --quiet
	@$(BIN)/chunkledger report $(DEMO)/theirs --where "kind <> 'prose'" --top 3 --group-by kind | tail -n 27
	@echo; echo '--- whatif: what other limits would make of it; the ledger stays as it is'
	@$(BIN)/chunkledger whatif --against $(DEMO)/ledger --sweep max_tokens=256..512:128 --quiet 2> /dev/null || test $$? -eq 3
	@echo; echo '--- simulate: how slots of several sizes would fill'
	@$(BIN)/chunkledger simulate $(DEMO)/ledger --slot-tokens 450,1000,4000
	@echo; echo '--- slot: what is left of the window for retrieved text'
	@$(BIN)/chunkledger slot --window 16000 --system 900 --tools 1200 --history 5900 --question 60 \
		--reserved-output 3500 --framing 40 --margin 0.025
	@echo; echo '--- pack: chunks that name the per diem, into that slot; the log comes last'
	@$(BIN)/chunkledger export $(DEMO)/ledger | grep -i 'per diem' | cut -d'"' -f4 > $(DEMO)/ranked.txt
	@$(BIN)/chunkledger pack $(DEMO)/ledger --ids $(DEMO)/ranked.txt --slot-tokens 4000 --order edges --render
	@echo; echo '--- diagnose: what a log of such requests says, here of three slots'
	@for slot in 300 900 4000; do $(BIN)/chunkledger pack $(DEMO)/ledger --ids $(DEMO)/ranked.txt --slot-tokens $$slot; \
		done > $(DEMO)/requests.jsonl
	@$(BIN)/chunkledger diagnose $(DEMO)/requests.jsonl --ledger $(DEMO)/ledger

test: $(VENV)/.test  ## run the core test suite
	$(BIN)/python -m pytest -q $(SPREAD)

test-remote: $(REMOTE)/.installed  ## run the tests of object stores, against a server on this machine
	$(REMOTE)/bin/python -m pytest -q $(SPREAD) tests/remote

test-splitters: $(SPLITTERS)/.installed  ## run the examples of other splitters, and report on their chunks
	$(SPLITTERS)/bin/python -m pytest -q tests/splitters

test-page: $(PAGE)/.installed browser  ## run the tests of the report's page, in a browser
	$(PAGE)/bin/python -m pytest -q $(SPREAD) tests/page pipeline/chunkledger/outliers/page

browser:
	@test -x "$(CHROMIUM)" || { \
		test "$$(id -u)" = 0 && test -e /etc/debian_version && command -v apt-get > /dev/null && \
			apt-get -qq update && apt-get -qq --yes --no-install-recommends install chromium > /dev/null; } || true
	@test -x "$(CHROMIUM)" || { \
		echo "The tests of the page drive Chromium, and $(CHROMIUM) is not there: install it (Debian, as root: apt-get"; \
		echo "install chromium), or name another one with: make test-page CHROMIUM=/path/to/chromium"; exit 1; }

check: $(VENV)/.check  ## everything that must hold: format, lint, types, contracts, tests, docs, package
	@$(MAKE) --no-print-directory format lint types contracts suite test-remote test-splitters test-page package

format: $(VENV)/.check
	$(BIN)/ruff format --check --quiet .

lint: $(VENV)/.check
	$(BIN)/ruff check --quiet .
	$(BIN)/python tests/readme_blocks.py dockerfile | $(BIN)/hadolint -

types: $(VENV)/.check
	$(BIN)/mypy --no-error-summary

contracts: $(VENV)/.check
	$(BIN)/lint-imports --no-logo

suite: $(VENV)/.check
	$(BIN)/python -m pytest -q $(SPREAD)

package: $(VENV)/.check  ## build the wheel; the packer must work without a dependency, the command with them
	rm -rf dist $(VENV)/alone
	$(BIN)/python -m build --wheel --outdir dist . > /dev/null
	$(PIP) install --no-deps --target $(VENV)/alone dist/*.whl
	$(BIN)/python -I -S tests/packer/alone.py $(VENV)/alone
	$(BIN)/python -m pip check
	rm -rf $(VENV)/container && mkdir -p $(VENV)/container
	$(BIN)/python tests/container.py $(VENV)/container

bench: $(VENV)/.core  ## CPU of each station as a ratio to one bare tiktoken pass, packing, growth, nights, memory; CORPUS=folder
	$(BIN)/python benchmarks/ingest.py $(CORPUS)
	$(BIN)/python benchmarks/packing.py $(CORPUS)
	$(BIN)/python benchmarks/growth.py $(CORPUS)
	$(BIN)/python benchmarks/nightly.py $(CORPUS)
	$(BIN)/python benchmarks/memory.py $(CORPUS)

peers: $(PEERS)/.installed  ## other splitters beside this one: CPU, and a judge's figures; CORPUS=folder
	$(PEERS)/bin/python benchmarks/peers.py $(CORPUS)

clean:  ## remove everything that make made
	rm -rf $(VENV) $(DEMO) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
