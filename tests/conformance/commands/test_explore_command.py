"""`barrierspec explore` prints counts and rates, writes a report, and names models without a kernel."""

import orjson

from conformance import cli
from conformance.commands.specification.explore import NAMES
from conformance.explore.models import MODELS
from conformance.verdict import Exit


def test_both_engines_count_the_same(tmp_path, capsys):
    reports = []
    for engine in ("python", "compiled"):
        file = tmp_path / f"{engine}.json"
        arguments = ["explore", "gate", "--ids", "2", "--channels", "1", "--engine", engine]
        assert cli.run([*arguments, "--json", str(file)]) == Exit.CONFORMS
        reports.append(orjson.loads(file.read_bytes()))
    python, compiled = reports

    for counted in ("states", "transitions", "depth", "rules", "properties"):
        assert python[counted] == compiled[counted]
    assert compiled["violation"] is None
    assert compiled["interpreted"] == []
    output = capsys.readouterr().out
    assert output.count(f"{python['states']} states, {python['transitions']} transitions") == 2


def test_too_many_states_are_undetermined(capsys):
    code = cli.run(["explore", "gate", "--ids", "2", "--engine", "python", "--limit", "3"])

    assert code == Exit.UNDETERMINED
    assert "more than 3 states" in capsys.readouterr().out


def test_both_engines_count_the_same_in_a_composed_dataflow(tmp_path, capsys):
    reports = []
    for engine in ("python", "compiled"):
        file = tmp_path / f"{engine}.json"
        assert (
            cli.run(["explore", "dataflow-zombies", "--engine", engine, "--json", str(file)]) == Exit.CONFORMS
        )
        reports.append(orjson.loads(file.read_bytes()))
    python, compiled = reports

    for counted in ("states", "transitions", "depth", "rules", "properties"):
        assert python[counted] == compiled[counted]
    assert 0 < compiled["answers"] < compiled["transitions"]
    assert f"the model gave {compiled['answers']:,} answers" in capsys.readouterr().out


def test_options_that_need_a_kernel_are_refused_for_a_model_without_bounds(capsys):
    assert cli.run(["explore", "dataflow-twice", "--engine", "spark"]) == Exit.USAGE
    assert "--engine compiled or python" in capsys.readouterr().err
    assert cli.run(["explore", "dataflow-twice", "--labelled"]) == Exit.USAGE
    assert "leave --labelled out" in capsys.readouterr().err


def test_proved_reductions_have_fewer_states_and_an_unproved_one_is_refused(tmp_path, capsys):
    counts = []
    for chosen in ((), ("--symmetric",), ("--symmetric", "--every-id")):
        file = tmp_path / "found.json"
        arguments = ["explore", "gate", "--channels", "2", "--ids", "7", *chosen, "--json", str(file)]
        assert cli.run(arguments) == Exit.CONFORMS
        counts.append(orjson.loads(file.read_bytes())["states"])
    whole, symmetric, every = counts

    assert every < symmetric < whole
    assert cli.run(["explore", "gate", "--ids", "3", "--every-id"]) == Exit.USAGE
    assert "not proved" in capsys.readouterr().err


def test_reductions_are_refused_without_a_kernel_and_for_ids_that_count_up(capsys):
    assert cli.run(["explore", "gate", "--engine", "python", "--symmetric"]) == Exit.USAGE
    assert "need a kernel" in capsys.readouterr().err
    assert cli.run(["explore", "coordinator", "--ids", "2", "--every-id"]) == Exit.USAGE
    assert "leave --every-id out" in capsys.readouterr().err


def test_the_names_of_the_command_are_those_of_the_models():
    assert set(NAMES) == set(MODELS)
