"""One SparkSession for all tests of a folder: starting one costs more than most of them."""

import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from impl.jobs.flights import first_flights
from impl.spark.session import spark_session
from spec.java import class_archive, find_java

FIRST_SESSION = """
import pathlib, sys
from impl.spark.session import spark_session

with spark_session("local[1]", pathlib.Path(sys.argv[1]), "classes") as spark:
    spark.range(9).count()
    spark.sparkContext.range(9).map(str).collect()
"""


@pytest.fixture(scope="session")
def spark_classes(tmp_path_factory):
    """Java maps the classes of Spark from an archive: a session starts in half the processor time.

    The first test of an environment makes it, as the first run of TLC makes that of its classes.
    """
    (jar,) = Path(pyspark.__file__).parent.glob("jars/spark-core_*.jar")
    archive = class_archive(find_java(), jar)
    folder = tmp_path_factory.mktemp("classes")
    with pytest.MonkeyPatch.context() as patch:
        if not archive.path.is_file():
            patch.setenv("SPARK_SUBMIT_OPTS", " ".join(archive.flags(folder)))
            command = [sys.executable, "-c", FIRST_SESSION, str(folder / "spark.log")]
            subprocess.run(command, capture_output=True, check=True)  # until Java has closed its output, too
            archive.keep(folder)
        patch.setenv("SPARK_SUBMIT_OPTS", " ".join(archive.flags(folder)))
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory, spark_classes):
    output = tmp_path_factory.mktemp("spark") / "spark.log"
    with spark_session("local[8]", output, "tests") as session:
        yield session


@pytest.fixture(scope="session")
def flights_20000(tmp_path_factory):
    return first_flights(20_000, tmp_path_factory.mktemp("flights") / "flights.csv")
