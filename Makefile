# Nothing is expected of the system but Python 3.11+, a C++17 compiler and make: all else goes into .venv.
#   make PYTHON=python3.13 demo          another interpreter (for a new .venv)
#   make test PYTEST_ARGS="-k parity -x" arguments for pytest; -n 0 runs all tests in one process
#   CMAKE_ARGS=-DPEGASOS_...=ON make test   options for CMake

PYTHON ?= python3
PYTEST_ARGS ?=
CLANG ?= clang++
CHROMIUM ?= chromium
FUZZ_SECONDS ?= 60

VENV := .venv
BIN := $(VENV)/bin
CPP := $(shell find cpp -name '*.cpp' -o -name '*.hpp' 2>/dev/null)

# An editable install: Python files are used where they are. Compiling goes on from where it stopped, because
# the build tree stays in build/ and, without build isolation, so do the tools it was configured with
# (setuptools and wheel are what a peer of the benchmarks is built with).
INSTALL := $(BIN)/python -m pip install --quiet --no-build-isolation --editable

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo picture docs test check format bench sanitize fuzz clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.stamp-demo ## build, run the study of the digits, write its report
	$(BIN)/python examples/demo.py

picture: demo ## docs/images/report.png, how the report of the demo looks (needs chromium)
	$(CHROMIUM) --headless=new --no-sandbox --hide-scrollbars --virtual-time-budget=20000 \
	    --window-size=1100,1480 --screenshot=docs/images/report.png build/demo/report.html

docs: $(VENV)/.stamp-docs ## the site with guide, gallery and reference, in build/docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -c docs -d build/doctrees . build/docs
	@echo 'build/docs/index.html'

# A process for each core. The threads of BLAS would spin on the cores of the others.
test: $(VENV)/.stamp-test ## all tests
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

check: $(VENV)/.stamp-dev ## lint, formatting, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)

format: $(VENV)/.stamp-dev ## apply the formatting that check asks for
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

bench: $(VENV)/.stamp-bench ## time against other packages, side by side
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/kernel.py
	$(BIN)/python benchmarks/textbook.py
	$(BIN)/python benchmarks/grid.py
	$(BIN)/python benchmarks/loading.py
	$(BIN)/python benchmarks/end_to_end.py
	$(BIN)/python benchmarks/defaults.py
	$(BIN)/python benchmarks/scale.py

sanitize: $(VENV)/.stamp-tools ## run the C++ tests under the address and undefined-behaviour sanitizers
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM='$(CURDIR)/$(BIN)/ninja' \
	    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPEGASOS_CORE_TEST=ON -DPEGASOS_SANITIZE=ON
	$(BIN)/cmake --build build/sanitize --target core_test
	build/sanitize/core_test
	@# A matrix unit does what other CPUs do in other ways: those are tested too.
	@if [ "$$(build/sanitize/core_test --level)" = amx ]; then PEGASOS_CPU_LEVEL=v4 build/sanitize/core_test; fi

fuzz: ## feed the readers of text what a fuzzer thinks up, each for FUZZ_SECONDS (needs clang)
	@command -v $(CLANG) > /dev/null || { echo 'skipped: make fuzz needs clang++ (CLANG=... names another)'; exit 0; }; \
	for reader in svmlight number_table; do \
	    mkdir -p build/fuzz/corpus-$$reader && \
	    $(CLANG) -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Icpp/include \
	        cpp/fuzz/$${reader}_fuzz.cpp cpp/src/$$reader.cpp cpp/src/decimal.cpp -pthread -o build/fuzz/$$reader && \
	    build/fuzz/$$reader -max_total_time=$(FUZZ_SECONDS) -dict=cpp/fuzz/$$reader.dict -print_final_stats=1 \
	        build/fuzz/corpus-$$reader || exit 1; \
	done

clean: ## remove everything make has made, .venv included
	rm -rf $(VENV) build dist docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -prune -exec rm -rf {} +

# The stamps say what is installed in .venv: the build tools, the package with what the demo needs, the package with one extra.

$(VENV)/.stamp-tools: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo 'error: $(PYTHON) is not there or older than Python 3.11' >&2; \
	    echo 'hint: name another interpreter, as in make PYTHON=python3.12 demo' >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], \
	    sep="\n")' > $(VENV)/build-requires.txt
	$(BIN)/python -m pip install --quiet -r $(VENV)/build-requires.txt 'cmake>=3.26' 'ninja>=1.11' setuptools wheel
	@touch $@

$(VENV)/.stamp-demo: $(VENV)/.stamp-tools CMakeLists.txt $(CPP)
	$(INSTALL) '.[io,report]'
	@touch $@

# The extras test and bench hold what the demo needs, so that it need not install anything after them.
$(VENV)/.stamp-%: $(VENV)/.stamp-tools CMakeLists.txt $(CPP)
	$(INSTALL) '.[$*]'
	@touch $@ $(if $(filter test bench,$*),$(VENV)/.stamp-demo)
