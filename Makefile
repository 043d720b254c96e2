# Entry point of every build, test and report. Each target only calls the script that does the work.
.DEFAULT_GOAL := help
.PHONY: help setup build run wheel packages test full bench arm64 coverage fuzz fuzz-bytes fmt clean
python := .venv/bin/python
cmake := .venv/bin/cmake

help:
	@echo "make setup | build | run | wheel | packages | test | full | bench | arm64 | coverage | fuzz | fuzz-bytes | fmt | clean   (README.md says what each does)"

setup:
	@tools/setup.sh

build: setup
	@$(cmake) --preset release >/dev/null
	@$(cmake) --build --preset products

run: build
	@$(python) -m tools.run_all

wheel: build
	@$(python) -m tools.wheel

packages: wheel
	@$(python) -m tools.tarball
	@.venv/bin/cpack --config build/CPackConfig.cmake -G DEB -B build/dist | sed -n 's/.*package: \(.*\) generated\./\1/p'

test:
	@started=$$(date +%s); tools/setup.sh --tests && $(python) tests/run_all.py --started $$started

full: setup
	@$(python) -m tools.full

bench: build
	@tools/setup.sh openvino
	@$(python) -m tools.bench $(if $(SET),--set '$(SET)')

arm64: build
	@$(python) -m tools.arm64

coverage: setup
	@$(python) -m tools.coverage

fuzz: build
	@$(python) -m tools.fuzz_all

fuzz-bytes: build
	@$(python) -m tools.fuzz_bytes

fmt: setup
	@git ls-files -z -- '*.h' '*.cc' ':!codegen/golden' | xargs -0 -r clang-format -i
	@$(python) -m ruff format -q . && $(python) -m ruff check --fix .

clean:
	rm -rf build build-asan build-bundle build-coverage build-debug build-fuzz build-odr build-tsan
	find generated -mindepth 1 ! -name README.md -delete
