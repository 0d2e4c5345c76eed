"""One SparkSession for all tests of the folder: starting one costs more than most of them."""

import pytest

from impl.jobs.flights import first_flights
from impl.spark.session import spark_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    output = tmp_path_factory.mktemp("spark") / "spark.log"
    with spark_session("local[8]", output, "tests") as session:
        yield session


@pytest.fixture(scope="session")
def flights_20000(tmp_path_factory):
    return first_flights(20_000, tmp_path_factory.mktemp("flights") / "flights.csv")
