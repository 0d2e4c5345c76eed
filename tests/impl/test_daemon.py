"""The module search path of Spark's Python workers."""

from impl.spark.worker.daemon import without_archives


def test_archives_inside_an_installed_pyspark_are_left_out_and_all_others_stay(tmp_path):
    installed = tmp_path / "installed"
    (installed / "pyspark").mkdir(parents=True)
    (installed / "pyspark" / "daemon.py").touch()
    others = [f"{tmp_path}/spark/python/lib/pyspark.zip", f"{tmp_path}/job.zip", str(tmp_path)]
    archives = [f"{installed}/pyspark/python/lib/pyspark.zip", f"{installed}/pyspark/jars/spark-core.jar"]
    assert without_archives([*archives, *others, str(installed)]) == [*others, str(installed)]
    assert without_archives([*archives, *others]) == [*archives, *others]  # pyspark is not installed
