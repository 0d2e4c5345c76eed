"""The archive of Spark's classes. Java maps it, which halves the processor time of a session's start.

`make setup` writes it into the environment. If it is missing, the first test on Spark writes it.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

from spec.java import ClassArchive, class_archive, find_java

MOST_SECONDS = 300
_FIRST_SESSION = """
import pathlib, sys
from impl.spark.session import spark_session

with spark_session("local[1]", pathlib.Path(sys.argv[1]), "classes") as spark:
    spark.range(9).count()
    spark.sparkContext.range(9).map(str).collect()
"""


def spark_archive() -> ClassArchive:
    """The archive of this environment. It is written if it is missing.

    Raises CalledProcessError if the session that writes it fails, and TimeoutExpired after MOST_SECONDS.
    """
    (jar,) = Path(pyspark.__file__).parent.glob("jars/spark-core_*.jar")
    archive = class_archive(find_java(), jar)
    if not archive.path.is_file():
        with TemporaryDirectory() as name:
            folder = Path(name)
            environment = {**os.environ, "SPARK_SUBMIT_OPTS": " ".join(archive.flags(folder))}
            command = [sys.executable, "-c", _FIRST_SESSION, str(folder / "spark.log")]
            # the output is captured, as it ends only when Java has written the archive
            subprocess.run(command, capture_output=True, check=True, env=environment, timeout=MOST_SECONDS)
            archive.keep(folder)
    return archive


if __name__ == "__main__":
    spark_archive()
