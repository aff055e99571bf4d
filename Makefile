# `make run` and `make test` need Python 3.11 or newer and make, nothing else; each target sets itself up in .venv.
PYTHON ?= python3
bin = .venv/bin
on_sqlite = tests/stories $(shell grep -rlE --include='test_*.py' 'mark\.(both|sqlite)' tests)
# Half as many again as there are processors, since tests wait for servers, too.
at_once = $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
lock = cd requirements && ../$(bin)/uv pip compile --quiet --universal --no-strip-extras --generate-hashes --no-header --python-version 3.11
engine = tests/framework tests/plugins
texts = idcsched/locale/zh_Hans/LC_MESSAGES/django.po
# What fails is run once more, alone.
pytest = $(bin)/python -m tests.run --quiet --numprocesses $(at_once) --dist worksteal $(ARGS)

.PHONY: help run test test-promise test-long coverage coverage-all bench soak screenshots site check messages pages client lock setup clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

run: .base ## the whole system with demo data, on this machine; Ctrl-C stops it
	@exec $(bin)/python manage.py demo_run --parent $$PPID

test: .dev ## all tests, on a real PostgreSQL and Redis, and on SQLite where it may differ; ARGS="-k taint"
	@rm -f var/unsteady.txt
	@$(if $(CI),$(pytest) $(engine) -m "not long" --cov --cov-report= --cov-fail-under=0)
	@$(pytest) -m "not long" $(if $(CI),$(engine:%=--ignore=%))
	@TEST_ON=sqlite $(pytest) $(on_sqlite) -m "(both or sqlite) and not long"

test-promise: .dev ## the few long tests that guard the promise: nothing oversold, nothing lost in kills, a fresh clone
	@$(pytest) -m promise --timeout 900 -o faulthandler_timeout=890

test-long: .dev ## the tests that kill, race, fuzz or soak
	@HYPOTHESIS_PROFILE=long $(pytest) -m "long or hypothesis" --timeout 900 -o faulthandler_timeout=890
	@TEST_ON=sqlite $(pytest) $(on_sqlite) -m "(both or sqlite) and long" --timeout 900 -o faulthandler_timeout=890

bench: .dev ## side-by-side measurements: a table of ratios, and var/bench.json
	@exec $(bin)/python -m bench

soak: .dev ## fifteen minutes of mixed traffic while parts fail, and var/soak.json; ARGS="--minutes 3"
	@exec $(bin)/python -m bench.soak $(ARGS)

screenshots: .dev ## pictures of the main pages, into var/screenshots: wide and narrow, light and dark
	@exec $(bin)/python -m tests.browser.screenshots

coverage: .dev ## how much of the engine its tests have covered in the last `CI=true make test`: 95 %
	@$(bin)/coverage report --include="idcsched/framework/*" --fail-under=95 >var/coverage.log || { cat var/coverage.log; exit 1; }

coverage-all: .dev ## how much all tests cover: 90 %; tracing doubles their time
	@$(pytest) -m "not long" --cov --cov-report=
	@$(bin)/coverage report --format=total

site: .dev ## the docs as a site with a search, into var/site; any web server can serve it
	@NO_MKDOCS_2_WARNING=1 $(bin)/python -m mkdocs build --strict >var/site.log 2>&1 || { cat var/site.log; exit 1; }

check: .dev ## format, lint, types, contracts, migrations, deployment, links of the docs
	@echo "Checking format ..." && $(bin)/ruff format --check --quiet .
	@echo "Linting ..." && $(bin)/ruff check --quiet .
	@echo "Checking types ..." && $(bin)/mypy --no-error-summary
	@echo "Checking who imports whom ..." && $(bin)/lint-imports --no-logo >var/imports.log || { cat var/imports.log; exit 1; }
	@echo "Checking migrations ..." && $(bin)/python manage.py makemigrations --check --dry-run --verbosity 0
	@echo "Checking deployment settings ..." && SECURE_SSL=on $(bin)/python manage.py check --deploy --fail-level WARNING
	@echo "Checking docker-compose.yml ..." && $(bin)/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml docker-compose.tls.yml
	@echo "Building the docs ..." && $(MAKE) --no-print-directory site
	@echo "All checks passed."

messages: .dev ## collects the texts to be translated, and compiles what they are in other languages; needs GNU gettext
	@$(bin)/python manage.py makemessages --all --no-obsolete --no-wrap --add-location file --ignore tests --ignore bench --ignore var
	@msgcat --sort-by-file --no-wrap --output-file $(texts) $(texts)
	@$(bin)/python manage.py compilemessages --ignore .venv --ignore var

pages: .dev ## makes the pages of codes, built-in plugins and settings in docs/ anew, from the source
	@$(bin)/python -m deploy.docs.pages

client: .dev ## generates the Python client in clients/python anew, after a change of the API
	@$(bin)/python -m clients.generate

lock: .dev ## pins the dependencies anew after a change of requirements/*.in
	@$(lock) base.in --output-file base.lock
	@$(lock) base.in traces.in --constraint base.lock --output-file traces.lock
	@$(lock) dev.in --output-file dev.lock

setup: .dev ## .venv with everything, for editors

clean: ## removes what was made here: .venv, var, caches
	rm -rf .venv var .coverage .coverage.* htmlcov .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: .base .dev
.base .dev:
	@PYTHON="$(PYTHON)" requirements/install.sh $(@:.%=%)
