# One task runner. Every target sets up what it needs in .venv; nothing is installed globally.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Container images set it: each of some hundred processes of the tests would then compile the project anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup lint format check test clusters wheel docs-run site verify thorough dataflows dataflows-thorough any-number bench bench-flink torture torture-campaign mutants automatic-mutants mutants-sample planted hidden-states million fuzz flink flink-matrix flink-logs engines switches generations pictures doctor clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

$(READY): pyproject.toml .ci/constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint .ci/constraints.txt --editable '.[dev]'
	@echo "The tests on Spark start faster with an archive of its classes; half a minute"
	@$(BIN)/python -m tests.runtime.spark_classes >/dev/null 2>&1 || true
	@$(BIN)/pytest --collect-only >/dev/null || true  # compiles the tests, which each of three processes would do
	@touch $(READY)

setup: $(READY)  ## Create .venv and install the pinned dependencies

lint: $(READY)  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: $(READY) lint  ## The fast loop: the lints and the tests that say most in a minute
	$(BIN)/pytest -n 2 tests/test_project.py tests/spec/test_rule_index.py tests/spec/test_manifest.py \
	  tests/docs/test_vocabulary.py tests/model/test_transcripts.py tests/model/test_explorer.py tests/impl/gate \
	  tests/impl/coordinator tests/impl/store tests/impl/subtask tests/conformance/adapters/test_frames.py

test: $(READY)  ## The tests, on three processes, as some of them wait; what is skipped is listed with its reason
	$(BIN)/pytest -n 3 -rs -m "not cluster and not wheel and not docs"

clusters: $(READY)  ## One job on every kind of Spark: local-cluster, standalone, Connect; takes minutes
	$(BIN)/pytest -n 0 -m cluster

wheel: $(READY)  ## Build the wheel and use it in an empty environment, beside a reader's own model/; takes minutes
	$(BIN)/pytest -n 0 -m wheel

verify: $(READY)  ## The main job: spec, triangle, proofs, lock-step, pipeline, trace; one report
	$(BIN)/barrierspec verify

thorough: $(READY)  ## Models, triangles and proofs that take minutes, within MINUTES=300; goes on where it ended
	$(BIN)/python -m conformance.parts.thorough --minutes $(or $(MINUTES),300) --resume

dataflows: $(READY)  ## Snapshots on all 29 dataflows of up to 4 tasks: 2 checkpoints, a crash, 1 record a source; half a minute
	$(BIN)/python -m conformance.explore.dataflows

dataflows-thorough: $(READY)  ## The same with every option of the model, within MINUTES=120; goes on where it ended
	$(BIN)/python -m conformance.parts.thorough --dataflows --minutes $(or $(MINUTES),120) --resume

any-number: $(READY)  ## Rules of components of any size, and mutants that they refute; some minutes
	$(BIN)/barrierspec prove any-number --variants

bench: $(READY)  ## Measure the suite's rates and the runtime on Spark; half an hour
	$(BIN)/barrierspec bench

bench-flink: $(READY)  ## The comparison with Flink, small: it shows that each part works; installs PyFlink in the cache
	$(BIN)/barrierspec bench --only flink --quick

torture: $(READY)  ## 300 faults at every point, drivers frozen and thawed among them; nothing may be lost, doubled or left behind
	PAUSED_DRIVERS=40 $(BIN)/pytest -n 2 tests/runtime/drivers/test_paused_drivers.py
	$(BIN)/barrierspec torture

mutants: $(READY)  ## Break every rule once; each mutant must be killed by the rule it names; LAYER=spec: only those
	$(BIN)/barrierspec mutants $(addprefix --layer ,$(LAYER))

TORTURE_local := --kind round
TORTURE_s3 := --kind round --storage s3
TORTURE_kafka := --kind round --source kafka
TORTURE_postgres := --kind server
TORTURE_frozen := --kind frozen
TORTURE_standalone := --kind standalone --storage s3
torture-campaign: $(READY)  ## 500 faults on one of local, s3, kafka, postgres, frozen, standalone: ON=local; at most three hours, SECONDS=10800
	@test -n "$(TORTURE_$(or $(ON),local))" || { echo "ON takes local, s3, kafka, postgres, frozen or standalone" >&2; exit 2; }
	$(BIN)/barrierspec torture $(TORTURE_$(or $(ON),local)) --faults 500 --seconds $(or $(SECONDS),10800) --seed $(or $(SEED),0) --build build/torture-$(or $(ON),local)

planted: $(READY)  ## Each mutant of model and implementation as an adapter: what refuses it; resumes; takes an hour
	$(BIN)/python -m conformance.mutants.planted --adapters tests/conformance/mutants/broken_adapters.toml

automatic-mutants: $(READY)  ## Every protocol module edited in every way, once: each judge by itself; hours, goes on where it ended
	$(BIN)/barrierspec mutants --automatic --resume

mutants-sample: $(READY)  ## SAMPLE=150 of the automatic mutants, drawn by SEED=0, each until the first judge complains; SECONDS=1500
	$(BIN)/barrierspec mutants --automatic --first --sample $(or $(SAMPLE),150) --seed $(or $(SEED),0) --threshold $(or $(THRESHOLD),100) --seconds $(or $(SECONDS),1500)

hidden-states: $(READY)  ## 2,000 wrong machines of each alphabet, none may pass its complete suite; RESUME=1 goes on
	$(BIN)/python -m conformance.suites.detection_rate --machines 1000 $(if $(RESUME),--resume)
	$(BIN)/python -m conformance.suites.detection_rate --machines 500 --extra 2 --largest 64000 --resume

million: $(READY)  ## No false alarm: a million random steps in each component; SEED=7 for others; takes an hour
	$(BIN)/barrierspec conform --adapter impl --steps 9000000 --seed $(or $(SEED),0)
	$(BIN)/barrierspec conform --adapter model --steps 9000000 --seed $(or $(SEED),0)
	$(BIN)/barrierspec flink conform 2.2.1 --sequences 45000 --seed $(or $(SEED),0) \
	  $(foreach part,gate coordinator store sink failures channel subtask source,--component $(part))

flink: $(READY)  ## Fetch three released Flinks and drive their real classes beside the model
	$(BIN)/barrierspec flink fetch 2.3.0 1.17.2 1.13.6
	$(BIN)/barrierspec flink conform 2.3.0 1.17.2 1.13.6 --quick \
	  $(foreach part,gate coordinator store sink failures channel subtask source,--component $(part))

flink-matrix: $(READY)  ## Every released Flink: all modes, levels and components; hours; PART=2/7; RESUME=1 goes on
	$(BIN)/barrierspec flink matrix --part $(or $(PART),1/1) $(if $(RESUME),--resume)

switches: $(READY)  ## Drive every released Flink through one run for each switch; minutes; RESUME=1 keeps what was driven
	$(BIN)/barrierspec flink switches $(if $(RESUME),--resume)

generations: $(READY)  ## Make docs/reference/generations.md: one sequence in every generation
	$(BIN)/barrierspec flink side-by-side

pictures: $(READY)  ## Make docs/pictures/: the small state graphs of every part and of the whole
	$(BIN)/barrierspec pictures

flink-logs: $(READY)  ## Logs of real Flink jobs: each accepted, each of its corruptions rejected
	$(BIN)/barrierspec trace flink tests/observe/logs/*.log.gz --corruptions

engines: $(READY)  ## Whole engines under the same faults, and their table; FAULTS=60 a row; RESUME=1 goes on after five hours
	$(BIN)/barrierspec engines --faults $(or $(FAULTS),60) --seconds $(or $(SECONDS),17000) --page docs/run/engines.md $(if $(RESUME),--resume)
	$(BIN)/barrierspec flink run 2.0.2 1.20.5 1.17.2 1.13.6 --faults 12 --seconds 3600

doctor: $(READY)  ## Check Python, Java, TLC, Spark, slots and memory
	$(BIN)/barrierspec doctor

fuzz: $(READY)  ## Hostile command lines, answers and files; SEED=7 for others, CASES=1000 for more
	$(BIN)/python -m tests.fuzz --seed $(or $(SEED),0) --cases $(or $(CASES),300)

docs-run: $(READY)  ## Play the blocks of the documentation that take long; some run jobs on Spark
	$(BIN)/pytest -n 0 -m docs

site: $(READY)  ## Build the documentation site into build/site; a broken link or anchor fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "build/site/index.html"

clean:  ## Remove what the targets made
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
