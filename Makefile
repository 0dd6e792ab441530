# Everything that the two commands need is set up inside the checkout: uv in .uv, the project in .venv.
PYTHON ?= python3
UV := .uv/bin/uv
RUN := .venv/bin
export UV_PYTHON ?= $(PYTHON)

.PHONY: demo test test-all test-lowest test-pythons test-bare random-events mutants lint oracles browser clean

demo: .venv/ready  ## the gallery, printed, with a picture of each in out/; maps of contacts, a branch of gaits, a film; a landing of a robot; a measured strike; the four papers in out/papers/
	$(RUN)/python -m jourdain.cli.demo out
	$(RUN)/jourdain run rough_rod --sweep theta=5:85:161 --sweep friction=0:1:101 --show contact_state.floor --plot out/rough_rod_map.png
	$(RUN)/jourdain run walker --set rear_foot=one-sided --sweep theta=30:110:161 --sweep rho=0:0.5:101 --show contact_state.stance --plot out/walker_map.png
	$(RUN)/jourdain run compass_gait --sweep slope=0.5:5.5:11 --show theta_st --plot out/compass_branch.png
	$(RUN)/jourdain run kneed_walker --set until=3 --plot out/kneed_walker.gif
	$(RUN)/jourdain run touchdown --plot out/touchdown_study.png
	$(RUN)/jourdain testbed pantograph --set d=0.2 --set gamma=30 --set push=0.5 --out out/strike.csv
	$(RUN)/jourdain log out/strike.csv --model pantograph --set d=0.2 --plot out/strike.png --report out/strike.html
	$(RUN)/jourdain run walker --set rear_foot=one-sided --report out/walker.html
	$(RUN)/jourdain reproduce --out out/papers

test: lint  ## lint, types, tests, docstring examples, README
	$(RUN)/pytest -n 2 -m "not exhaustive"

# Random cases are new every time; the seed is printed, and SEED=N repeats them.
SEED ?= $(shell $(PYTHON) -c "import secrets; print(secrets.randbelow(2**32))")
test-all: lint  ## also what is slow, with coverage and new random cases; lowest versions, other Pythons, the bare wheel
	FUZZ=$(SEED) $(RUN)/pytest -n 2 --cov=jourdain --cov-report=term:skip-covered --hypothesis-profile=new --hypothesis-seed=$(SEED)
	$(MAKE) test-lowest test-pythons test-bare

# What would notice a version that does not fit.
QUICK := tests/test_public_api.py tests/test_extras.py tests/data tests/cli tests/compute/test_evaluate.py tests/events/test_transition.py \
  tests/scenarios/test_scenario.py tests/motion/test_motion.py tests/plots/test_plots.py tests/robots/test_mjcf.py \
  -m "not exhaustive" -k "not every_problem"
PIP = $(UV) pip install --quiet --no-config --only-binary :all:

test-lowest: | $(UV)  ## the lowest versions that pyproject.toml allows
	$(UV) venv --quiet --clear --no-config .venv-lowest
	$(PIP) --python .venv-lowest --resolution lowest-direct -r pyproject.toml --all-extras
	$(PIP) --python .venv-lowest pytest pytest-xdist hypothesis
	$(UV) pip install --quiet --no-config --python .venv-lowest --no-deps -e .
	.venv-lowest/bin/pytest -n 2 -W default $(QUICK)

test-pythons: | $(UV)  ## every other Python that is on the path, or that pyenv has
	@for version in 3.11 3.12 3.13; do \
	  if $(RUN)/python --version | grep -q "Python $$version\."; then continue; fi; \
	  python=; \
	  for one in "python$$version" "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.*/bin/python; do \
	    if "$$one" --version >/dev/null 2>&1; then python=$$one; fi; \
	  done; \
	  if [ -z "$$python" ]; then echo "Python $$version is not here"; continue; fi; \
	  echo "Python $$version: $$python"; \
	  UV_PYTHON=$$python UV_PROJECT_ENVIRONMENT=.venv-$$version $(UV) sync --quiet && \
	  .venv-$$version/bin/pytest -n 2 $(QUICK) || exit 1; \
	done

test-bare: | $(UV)  ## the wheel without extras, in an empty environment
	rm -rf dist && $(UV) build --quiet --wheel --out-dir dist
	$(UV) venv --quiet --clear --no-config .venv-bare
	$(PIP) --python .venv-bare dist/*.whl
	cd dist && ../.venv-bare/bin/python ../tests/bare.py

# Long checks, not part of the tests. SEED=N repeats them; SHOW=batch:event prints one event.
EVENTS ?= 1000000
random-events: .venv/ready  ## random events of all kinds against oracles of different origin: EVENTS=N, SHOW=batch:event
	PYTHONPATH=tests $(RUN)/python -m checks.random_events --seed $(SEED) --events $(EVENTS) $(if $(SHOW),--show $(SHOW))

N ?= 40
mutants: .venv/ready  ## what the tests notice of N changes in the core
	PYTHONPATH=tests $(RUN)/python -m checks.mutants --seed $(SEED) --n $(N)

lint: .venv/ready
	$(RUN)/ruff check src tests
	$(RUN)/ruff format --check src tests
	$(RUN)/mypy

# What Debian has of other engines and of browsers, for the tests: without them these tests are skipped.
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)
APT := $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get
oracles:  ## Siconos, in the system's own Python, and what Pinocchio needs
	$(APT) update -qq && $(APT) install -y -qq --no-install-recommends python3-siconos libgomp1

browser:  ## Chromium
	$(APT) update -qq && $(APT) install -y -qq --no-install-recommends chromium

# A venv of its own, so that a Python that refuses `pip install` is no obstacle; without ensurepip, pip from outside.
$(UV):
	$(PYTHON) -m venv .uv || ($(PYTHON) -m venv --clear --without-pip .uv && $(PYTHON) -m pip --python .uv/bin/python --version)
	if [ -x .uv/bin/pip ]; then .uv/bin/pip install --quiet uv; else $(PYTHON) -m pip --python .uv/bin/python install --quiet uv; fi

# Bytecode is made at once: where Python may not write it later, importing SymPy would take two seconds every time.
.venv/ready: pyproject.toml | $(UV)
	$(UV) sync --quiet --compile-bytecode
	$(RUN)/python -m compileall -q src
	touch $@

clean:
	rm -rf .uv .venv .venv-lowest .venv-bare .venv-3.* dist out
