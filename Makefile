# Everything runs from the project's own environment, made from the lock file on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(READY) ## remember the project's corpus and answer ten questions about it
	@$(BIN)/varve demo --store ./memory

test: $(READY) ## run all tests, a process for each core
	$(BIN)/python -m pytest -q -n auto --maxprocesses 8 --dist worksteal

unit: $(READY) ## run the fast tests only
	$(BIN)/python -m pytest -q tests/unit tests/contract tests/functions

faults: $(READY) ## a thousand seeded runs under faults; SEEDS=7 plays one again, SEEDS=0-9 a few
	VARVE_FAULT_SEEDS=$(or $(SEEDS),0-999) $(BIN)/python -m pytest -q -s tests/e2e/test_faults.py

contract-rgw: $(READY) ## the stores' contract suites on a Ceph RADOS gateway, where Debian's packages are installed
	$(BIN)/python -m tests.support.rados_gateway

fuzz: $(READY) ## every parser under a coverage-guided fuzzer; MINUTES=5, PARSER="write message" for one
	@$(BIN)/python -c "import atheris" 2>/dev/null || $(BIN)/python -m pip install -q "atheris>=3.0,<3.1"
	PYTHONPATH=shared:. $(BIN)/python -m tests.support.fuzzing $(or $(MINUTES),5) "$(PARSER)"

lint: $(READY) ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test ## what CI runs: lint and test

format: $(READY) ## format and fix what can be fixed
	$(BIN)/ruff check --fix-only -q .
	$(BIN)/ruff format .

validate: $(READY) ## sam validate --lint, offline, in an environment of its own
	@test -x .build/sam/bin/sam || { $(PYTHON) -m venv .build/sam && .build/sam/bin/pip install -q aws-sam-cli; }
	SAM_CLI_TELEMETRY=0 .build/sam/bin/sam validate --lint --template template.yaml --region us-east-1

audit: ## look up known vulnerabilities of the locked packages; says so where the database is out of reach
	@test -x .build/audit/bin/pip-audit || { $(PYTHON) -m venv .build/audit && .build/audit/bin/pip install -q pip-audit; }
	$(PYTHON) .ci/audit.py .build/audit/bin/pip-audit requirements.lock

image-test: $(READY) ## build and start the Lambda image where buildah and podman are
	$(BIN)/python tests/image/image_test.py

LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q

lock: $(READY) ## write the lock files anew from pyproject.toml
	$(BIN)/python -m pip install -q uv
	$(BIN)/$(LOCK) --extra lambda --group dev -o requirements-dev.lock
	$(BIN)/$(LOCK) --extra lambda -c requirements-dev.lock -o requirements.lock

clean: ## remove the environment and everything built
	rm -rf $(VENV) .build .pytest_cache .mypy_cache .ruff_cache

$(READY): requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation --editable .
	@touch $(READY)

.PHONY: help demo test unit faults contract-rgw fuzz lint check format validate audit image-test lock clean
