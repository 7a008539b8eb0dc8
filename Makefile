# Two commands: make study, make test. Each sets up .venv once; see README.md for the
# same as plain commands.

PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
LISTS := envs/requirements.txt envs/requirements-dev.txt
# The lists have every package that Linux with Python 3.11 and torch for processors needs, so
# that some pips can work side by side: each takes one core, and only files of the listed
# digests, but for torch, whose build the machine chooses. Where another system needs more, as
# CUDA's libraries, the last pip adds it. Bytecode comes afterwards and on all cores. Half
# of the code is left out, tests of packages and what neither study nor tests import.
PIP := --quiet --disable-pip-version-check --no-compile
UNUSED := /(_inductor|_vendor|babel|black|codegen|fsspec|fx_passes|git|mypyc?|physics|pip|snowballstemmer|sphinx|testing|tests?|torchgen)/

.PHONY: study test test-cluster lint format docs setup clean

study: $(READY)
	@echo "[2/2] running the embedded study on $(CORES) cores"
	@$(BIN)/snakemake --cores $(CORES) --workflow-profile workflow/profiles/local

test: $(READY)
	@echo "[2/2] running the tests"
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 --dist loadfile \
		--no-loadscope-reorder

# As root, on Debian or Ubuntu: a SLURM cluster of one node, and a small study on it.
test-cluster: $(READY)
	@tests/cluster/slurm.sh install || true
	@$(BIN)/python -m pytest -m cluster -rs tests/cluster

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/lint-imports
	$(BIN)/python docs/check_words.py

format: $(READY)
	$(BIN)/python docs/public_names.py
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

docs: $(READY)
	$(BIN)/python -m sphinx -W --keep-going --quiet -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

setup: $(READY)

$(READY): $(LISTS) pyproject.toml
	@echo "[1/2] installing into $(VENV), once: a minute, 2 GB, or 6 where torch comes with CUDA"
	@$(PYTHON) -m venv $(VENV)
	@sed -n 's/^\(torch==[^ ]*\).*/\1/p' $(LISTS) > $(VENV)/pins.0
	@grep -hv '^#\|^torch==' $(LISTS) | split -l 34 - $(VENV)/pins.
	@ls $(VENV)/pins.* | xargs -n 1 -P $(CORES) $(BIN)/python -m pip install $(PIP) --no-deps -r
	@$(BIN)/python -m pip install $(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m pip check > /dev/null || { $(BIN)/cdspp constraints > $(VENV)/constraints && \
		$(BIN)/python -m pip install $(PIP) -c $(VENV)/constraints --editable '.[dev,docs]'; }
	@$(BIN)/python -m compileall -q -j 0 -x '$(UNUSED)' $(VENV)/lib src > /dev/null 2>&1 || true
	@touch $(READY)

clean:
	rm -rf results logs .snakemake docs/_build docs/generated
