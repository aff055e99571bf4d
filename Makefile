# `make run` and `make test` need Python 3.11 or newer and make, nothing else; each target sets itself up in .venv.
PYTHON ?= python3
bin = .venv/bin

.PHONY: help run test test-long bench soak screenshots check lock setup clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'

run: .base ## the whole system with demo data, on this machine; Ctrl-C stops it
	@exec $(bin)/python manage.py demo_run --parent $$PPID

test: .dev ## all tests, on SQLite and on a real PostgreSQL and Redis
	@exec $(bin)/python -m tests quick

test-long: .dev ## the tests that take long
	@exec $(bin)/python -m tests long

bench: .dev ## side-by-side measurements: a table of ratios, and var/bench.json
	@exec $(bin)/python -m bench

soak: .dev ## ten undisturbed minutes at half of the maximum load while everything changes, and var/soak.json
	@exec $(bin)/python -m bench.soak

screenshots: .dev ## pictures of the main pages, into var/screenshots: wide and narrow, light and dark
	@exec $(bin)/python -m tests.browser.screenshots

check: .dev ## format, lint, types, contracts, migrations, deployment
	@echo "Checking format ..." && $(bin)/ruff format --check --quiet .
	@echo "Linting ..." && $(bin)/ruff check --quiet .
	@echo "Checking types ..." && $(bin)/mypy --no-error-summary
	@echo "Checking who imports whom ..." && $(bin)/lint-imports --no-logo >var/imports.log || { cat var/imports.log; exit 1; }
	@echo "Checking migrations ..." && $(bin)/python manage.py makemigrations --check --dry-run --verbosity 0
	@echo "Checking deployment settings ..." && SECURE_SSL=on $(bin)/python manage.py check --deploy --fail-level WARNING
	@echo "Checking docker-compose.yml ..." && $(bin)/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml
	@echo "All checks passed."

lock: .dev ## pins the dependencies anew after a change of requirements/*.in
	@for name in base dev; do \
		echo "Locking requirements/$$name.in ..."; \
		(cd requirements && ../$(bin)/uv pip compile --quiet --universal --generate-hashes --no-header \
			--python-version 3.11 $$name.in --output-file $$name.lock) || exit 1; \
	done

setup: .dev ## .venv with everything, for editors

clean: ## removes what was made here: .venv, var, caches
	rm -rf .venv var .coverage .coverage.* htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: .base .dev
.base .dev:
	@PYTHON="$(PYTHON)" requirements/install.sh $(@:.%=%)
