"""One SparkSession for all tests of a folder, because its start takes longer than most tests."""

import pytest

from impl.jobs.flights import first_flights
from impl.spark.session import spark_session
from tests.runtime.spark_classes import spark_archive


@pytest.fixture(scope="session")
def spark_classes(tmp_path_factory):
    """Java maps the classes of Spark from an archive. This halves the processor time of the start."""
    with pytest.MonkeyPatch.context() as patch:
        flags = spark_archive().flags(tmp_path_factory.mktemp("classes"))
        patch.setenv("SPARK_SUBMIT_OPTS", " ".join(flags))
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory, spark_classes):
    output = tmp_path_factory.mktemp("spark") / "spark.log"
    with spark_session("local[8]", output, "tests") as session:
        yield session


@pytest.fixture(scope="session")
def flights_20000(tmp_path_factory):
    return first_flights(20_000, tmp_path_factory.mktemp("flights") / "flights.csv")
