import datetime

import pandas
import pytest

from rowan_client import RowanError
from rowan_client.magic import run_cell


def test_queries_give_rows_frames_and_tables(rowan):
    sql = "SELECT 1 AS a, 'x' AS b"
    assert rowan.query_rows(sql) == [{"a": 1, "b": "x"}]
    assert rowan.query(sql).to_dict("list") == {"a": [1], "b": ["x"]}
    assert rowan.query_arrow(sql).to_pylist() == [{"a": 1, "b": "x"}]


def test_errors_have_code_and_status(rowan):
    with pytest.raises(RowanError, match="SELEC") as raised:
        rowan.query_rows("SELEC 1")
    assert (raised.value.code, raised.value.status) == ("SQL_SYNTAX", 400)


def test_frames_become_datasets(rowan):
    frame = pandas.DataFrame(
        {"n": [1, 2, 3], "x": [0.5, None, float("inf")], "s": ["a", None, "ü"],
         "t": pandas.to_datetime(["2020-01-01T00:00:00", None, "2021-02-03T04:05:06"])},
        index=["r1", "r2", "r3"],
    )
    rowan.record("frame", frame)
    assert "frame" in rowan.datasets()
    rows = rowan.query_rows("SELECT rowName() AS name, n, s, t FROM frame ORDER BY n")
    assert rows[0] == {"name": "r1", "n": 1, "s": "a", "t": "2020-01-01T00:00:00Z"}
    assert rows[1]["s"] is None and rows[1]["t"] is None
    assert rowan.query_rows("SELECT count(*) AS n FROM frame WHERE x > 1000")[0]["n"] == 1
    rowan.delete_dataset("frame")
    assert "frame" not in rowan.datasets()


def test_many_rows_are_recorded_in_parts(rowan):
    rowan.record("many", ({"i": index} for index in range(12_000)))
    assert rowan.query_rows("SELECT count(*) AS n, sum(i) AS s FROM many") == [{"n": 12_000, "s": 71_994_000}]


def test_procedures_run_and_tell_what_is_wrong(rowan, capsys):
    rowan.record("numbers", [{"a": index} for index in range(10)])
    status = rowan.run("transform", inputData="SELECT a * 2 AS b FROM numbers", outputDataset="doubled")
    assert status["rowCount"] == 10
    rowan.run("mock", {"durationMs": 400, "refreshRateMs": 20}, progress=True)
    assert "mock" in capsys.readouterr().err
    with pytest.raises(RowanError, match="gone"):
        rowan.run("transform", inputData="SELECT * FROM gone", outputDataset="never")
    assert not [name for name in rowan.procedures() if name.startswith("python_")]


def test_functions_are_called(rowan):
    rowan.request("PUT", "functions/twice", {"type": "sql.expression", "params": {"expression": "x * 2 AS y"}})
    assert rowan.functions.twice(x=4) == {"y": 8}
    assert rowan.functions["twice"]({"x": 1}) == {"y": 2}
    assert rowan.apply_batch("twice", [{"x": 1}, {"x": 2}]) == [{"y": 2}, {"y": 4}]
    assert "twice" in dir(rowan.functions)


def test_a_cell_of_a_notebook(rowan):
    assert run_cell(rowan.url, "SELECT 1 AS one").to_dict("list") == {"one": [1]}
    assert run_cell("SELECT 2 AS two").to_dict("list") == {"two": [2]}


def test_times_become_timestamps(rowan):
    rowan.record("times", [{"t": datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc)}])
    assert rowan.query("SELECT t FROM times")["t"][0] == pandas.Timestamp("2020-01-02", tz="UTC")
