"""Makes the files of test/reference/peer-files, and what they hold in expected.json.

pip install pyarrow polars pandas duckdb fastparquet openpyxl xlsxwriter; the programs xz, zstd and lz4.

The values are those of the tables below, turned into the values of Rowan by the rules of the reference
page of the import procedures, which this script applies itself: nothing here was computed by Rowan.
"""

import csv
import datetime as dt
import decimal
import json
import math
import os
import subprocess
import uuid
from fractions import Fraction

import duckdb
import numpy as np
import openpyxl
import pandas
import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import xlsxwriter

out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer-files")
os.makedirs(out, exist_ok=True)
D = decimal.Decimal
utc = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1, tzinfo=utc)
expected = []

# ---------------------------------------------------------------- values


class Seconds(Fraction):
    """A time since the epoch."""


class Blob(bytes):
    """Bytes that are no text."""


class Span:
    """An interval: months, days, seconds."""

    def __init__(self, months=0, days=0, seconds=0):
        self.parts = (months, days, Fraction(seconds))


def seconds_of(value):
    """The exact seconds of a date, a time with or without zone, or a number of nanoseconds."""
    if isinstance(value, np.datetime64):
        return Fraction(int(value.astype("datetime64[ns]").astype(np.int64)), 10**9)
    if isinstance(value, dt.datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=utc)
        delta = aware - EPOCH
        return Fraction(delta.days * 86400 + delta.seconds) + Fraction(delta.microseconds, 10**6)
    return Fraction((value - dt.date(1970, 1, 1)).days * 86400)


def time_text(seconds):
    """ISO 8601 with the fewest digits that give the nearest double."""
    number = float(seconds)
    whole = math.floor(number)
    base = (EPOCH + dt.timedelta(seconds=whole)).strftime("%Y-%m-%dT%H:%M:%S")
    base = base if len(base) == 19 else "0" * (19 - len(base)) + base
    if whole == number:
        return base + "Z"
    for digits in range(1, 18):
        fraction = f"{D(number - whole):.{digits}f}"
        if not fraction.startswith("1") and whole + float(fraction) == number:
            return base + fraction[1:] + "Z"
    raise ValueError(seconds)


def span_text(months, days, seconds):
    sign = "-" if min(months, days, seconds) < 0 else ""
    months, days, seconds = abs(months), abs(days), abs(seconds)
    words = []
    if months >= 12:
        words.append(f"{months // 12}Y")
    if months % 12:
        words.append(f"{months % 12} MONTH")
    if days:
        words.append(f"{days}D")
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        words.append(f"{hours}H")
    if hours or minutes:
        words.append(f"{minutes}M")
    if seconds or not words:
        words.append(seconds_text(rest) + "S")
    return sign + " ".join(words)


def seconds_text(seconds):
    """Six significant digits without an exponent."""
    text = f"{D(f'{float(seconds):.6g}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimal_value(value):
    """An integer without scale, a number that has the same digits, else the text."""
    exponent = value.as_tuple().exponent
    if exponent >= 0:
        whole = int(value)
        return whole if -(2**63) <= whole < 2**64 else str(whole)
    number = float(value)
    return number if D(repr(number)) == value else f"{value:f}"


def atom(value):
    """A value of Python as JSON of Rowan."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, Seconds):
        return {"ts": time_text(value)}
    if isinstance(value, Span):
        return {"interval": span_text(*value.parts)}
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if math.isnan(number):
            return {"num": "NaN"}
        if math.isinf(number):
            return {"num": "Inf" if number > 0 else "-Inf"}
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if isinstance(value, D):
        return decimal_value(value)
    if isinstance(value, bytes):
        return {"blob": list(value)}
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dt.timedelta):
        return {"interval": span_text(0, 0, Fraction(value // dt.timedelta(microseconds=1), 10**6))}
    if isinstance(value, dt.time):
        seconds = Fraction(value.hour * 3600 + value.minute * 60 + value.second)
        return {"interval": span_text(0, 0, seconds + Fraction(value.microsecond, 10**6))}
    if isinstance(value, (dt.date, np.datetime64)):
        return {"ts": time_text(seconds_of(value))}
    return value


def element(text):
    """An element of a path as it is printed."""
    plain = text != "" and all(c not in '."' and ord(c) >= 0x20 and ord(c) != 0x7F for c in text)
    return text if plain else '"' + text.replace('"', '""') + '"'


def cells(path, value):
    """The columns that a value makes below a path."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from cells(path + [key if isinstance(key, str) else key_text(key)], member)
    elif isinstance(value, (list, np.ndarray)):
        for index, member in enumerate(value):
            yield from cells(path + [str(index)], member)
    elif value is not None:
        yield ".".join(element(part) for part in path), atom(value)


def key_text(key):
    value = atom(key)
    if isinstance(value, dict):
        [value] = value.values()
    return str(value)


def rows_of(columns):
    """Rows as objects of what is not null, of lists of values by name."""
    names = list(columns)
    count = len(columns[names[0]]) if names else 0
    return [dict(cell for name in names for cell in cells([name], columns[name][row])) for row in range(count)]


def holds(file, rows, type=None, **params):
    """Notes what a file holds: rows as objects of what is not null, by the names of columns."""
    expected.append({"file": file, "type": type or TYPES[file.split(".")[1]], "params": params, "rows": rows})


TYPES = {
    "parquet": "import.parquet",
    "arrow": "import.arrow",
    "arrows": "import.arrow",
    "feather": "import.arrow",
    "csv": "import.text",
    "tsv": "import.text",
    "txt": "import.text",
    "ndjson": "import.json",
    "json": "import.json",
    "xlsx": "import.xlsx",
}


def path_of(file):
    return os.path.join(out, file)


# ---------------------------------------------------------------- tables

stamps = [dt.datetime(2020, 2, 29, 23, 59, 59, 999999), dt.datetime(1969, 12, 31, 23, 59, 59, 500000), None, dt.datetime(1, 1, 1), dt.datetime(2262, 4, 11)]
whole_stamps = [stamp and stamp.replace(microsecond=0) for stamp in stamps]
ms_stamps = [stamp and stamp.replace(microsecond=stamp.microsecond // 1000 * 1000) for stamp in stamps]
ns_stamps = [np.datetime64("2020-02-29T23:59:59.123456789"), np.datetime64("1969-12-31T23:59:59.750000000"), None, np.datetime64("1700-01-01T00:00:00.000000001"), np.datetime64("2261-01-01", "ns")]
paris = dt.timezone(dt.timedelta(hours=1))
days = [dt.date(2020, 2, 29), dt.date(1969, 12, 31), None, dt.date(1, 1, 1), dt.date(9999, 12, 31)]
times = [dt.time(23, 59, 59, 999999), dt.time(0), None, dt.time(12, 34, 56), dt.time(0, 0, 0, 1)]
spans = [dt.timedelta(days=2, hours=3, microseconds=5), dt.timedelta(0), None, -dt.timedelta(seconds=90.5), dt.timedelta(microseconds=1)]


def ints(low, high):
    return [low, high, None, 0, 1]


def both(values, type):
    """A column for the file and its values."""
    return pa.array(values, type), values


def aware(values, zone=utc):
    return [value and value.replace(tzinfo=zone) for value in values]


floats = [0.1, -0.0, None, math.nan, math.inf]
single = [float(np.float32(0.1)), -math.inf, None, math.nan, float(np.float32(3.4028235e38))]
half = [np.float16(0.1), np.float16(65504), None, np.float16(math.nan), np.float16(-6e-8)]
texts = ["naïve 日本語 😀", "", None, 'quote " and, comma', "line\nend\ttab"]
blobs = [b"\x00\xff\x80", b"", None, b"plain", bytes(range(40))]

common = {
    "bool": both([True, False, None, True, False], pa.bool_()),
    "i8": both(ints(-128, 127), pa.int8()),
    "i16": both(ints(-(2**15), 2**15 - 1), pa.int16()),
    "i32": both(ints(-(2**31), 2**31 - 1), pa.int32()),
    "i64": both(ints(-(2**63), 2**63 - 1), pa.int64()),
    "u8": both(ints(0, 255), pa.uint8()),
    "u16": both(ints(0, 2**16 - 1), pa.uint16()),
    "u32": both(ints(0, 2**32 - 1), pa.uint32()),
    "u64": both(ints(2**63, 2**64 - 1), pa.uint64()),
    "f16": both(half, pa.float16()),
    "f32": both(single, pa.float32()),
    "f64": both(floats, pa.float64()),
    "text": both(texts, pa.string()),
    "large text": both(texts, pa.large_string()),
    "blob": both(blobs, pa.binary()),
    "fixed": both([b"abcd", b"\x00\x01\x02\x03", None, b"\xff" * 4, b"wxyz"], pa.binary(4)),
    "dec9": both([D("1.25"), D("-0.01"), None, D("9999999.99"), D("0.00")], pa.decimal128(9, 2)),
    "dec18": both([D("1234567890.12345678"), D("-1E-8"), None, D("0.1").quantize(D("1E-8")), D("1.00000000")], pa.decimal128(18, 8)),
    "dec38": both([D("12345678901234567890123456789012345678"), D("-1"), None, D("18446744073709551615"), D("-9223372036854775808")], pa.decimal128(38, 0)),
    "dec76": both([D("1" * 60 + ".5"), D("-0.5"), None, D("0.0"), D("2.5")], pa.decimal256(76, 1)),
    "day": both(days, pa.date32()),
    "t ms": both([value and value.replace(microsecond=value.microsecond // 1000 * 1000) for value in times], pa.time32("ms")),
    "t us": both(times, pa.time64("us")),
    "t ns": both(times, pa.time64("ns")),
    "ts ms": both(ms_stamps, pa.timestamp("ms")),
    "ts us": both(stamps, pa.timestamp("us")),
    "ts us utc": both(aware(stamps), pa.timestamp("us", "UTC")),
    "ts us zone": both(aware([stamps[0], stamps[1], None, dt.datetime(1900, 1, 1), stamps[4]], paris), pa.timestamp("us", "Europe/Paris")),
    "ts ns": both(ns_stamps, pa.timestamp("ns")),
    "coded": (pa.array(["x", "y", None, "x", "x"]).dictionary_encode(), ["x", "y", None, "x", "x"]),
    "uuid": (
        pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2**128 - 1).bytes, None, uuid.UUID(int=0).bytes, uuid.UUID(int=10**30).bytes], pa.uuid()),
        [uuid.UUID(int=1), uuid.UUID(int=2**128 - 1), None, uuid.UUID(int=0), uuid.UUID(int=10**30)],
    ),
    "json": (pa.array(['{"a": [1, null]}', "[]", None, '"x"', "1"], pa.json_()), ['{"a": [1, null]}', "[]", None, '"x"', "1"]),
}
# What only Arrow files have.
arrow_only = {
    "t s": both([value and value.replace(microsecond=0) for value in times], pa.time32("s")),
    "ts s": both(whole_stamps, pa.timestamp("s")),
    "span s": both([value and dt.timedelta(seconds=value // dt.timedelta(seconds=1)) for value in spans], pa.duration("s")),
    "span ms": both([value and dt.timedelta(milliseconds=value // dt.timedelta(milliseconds=1)) for value in spans], pa.duration("ms")),
    "span us": both(spans, pa.duration("us")),
    "span ns": both(spans, pa.duration("ns")),
    "date64": both(days, pa.date64()),
    "months": (
        pa.array([(14, 3, 10**9), (0, 0, 0), None, (-1, -2, -5 * 10**8), (0, 1, 0)], pa.month_day_nano_interval()),
        [Span(14, 3, 1), Span(), None, Span(-1, -2, Fraction(-1, 2)), Span(0, 1)],
    ),
    "null": (pa.nulls(5), [None] * 5),
}


def files_of(columns):
    return pa.table({name: array for name, (array, _) in columns.items()})


def values_of(columns):
    return {name: values for name, (_, values) in columns.items()}


nested = {
    "list": both([[1, 2], [], None, [None], [3, None, 4]], pa.list_(pa.int64())),
    "large list": both([["a"], [], None, [None], ["b", ""]], pa.large_list(pa.string())),
    "fixed list": both([[1.5, 2.5], [0.5, None], None, [3.5, 4.5], [None, None]], pa.list_(pa.float64(), 2)),
    "deep": both([[[[1], []], None], [], None, [[]], [[None, [2, 3]]]], pa.list_(pa.list_(pa.list_(pa.int8())))),
    "struct": both([{"a": 1, "b": {"c": "x", "d": [True]}}, {"a": None, "b": None}, None, {"a": 2, "b": {"c": None, "d": []}}, {"a": 3, "b": {"c": "", "d": [None, False]}}], pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string()), ("d", pa.list_(pa.bool_()))]))])),
    "map": (pa.array([[("k", 1), ("", 2)], [], None, [("a.b", None)], [("é", 5)]], pa.map_(pa.string(), pa.int16())), [{"k": 1, "": 2}, {}, None, {"a.b": None}, {"é": 5}]),
    "by number": (pa.array([[(1, ["p"]), (-2, [])], [], None, [(3, None)], [(4, ["q", None])]], pa.map_(pa.int32(), pa.list_(pa.string()))), [{1: ["p"], -2: []}, {}, None, {3: None}, {4: ["q", None]}]),
    "maps": (pa.array([[[("x", 1)], [("y", 2), ("z", 3)]], [], None, [None, []], [[("w", None)]]], pa.list_(pa.map_(pa.string(), pa.int64()))), [[{"x": 1}, {"y": 2, "z": 3}], [], None, [None, {}], [{"w": None}]]),
    "rows": both([[{"at": stamps[0], "tags": ["m"]}, {"at": None, "tags": None}], [], None, [None], [{"at": stamps[4], "tags": [None, "n"]}]], pa.list_(pa.struct([("at", pa.timestamp("us")), ("tags", pa.list_(pa.string()))]))),
    "structs of maps": (pa.array([{"m": [("a", {"v": D("1.5")})]}, {"m": None}, None, {"m": []}, {"m": [("b", None), ("c", {"v": None})]}], pa.struct([("m", pa.map_(pa.string(), pa.struct([("v", pa.decimal128(5, 1))])))])), [{"m": {"a": {"v": D("1.5")}}}, {"m": None}, None, {"m": {}}, {"m": {"b": None, "c": {"v": None}}}]),
}
odd_names = {
    "": both([1, 2], pa.int64()),
    "a.b": both(["x", None], pa.string()),
    'say "hi"': both([0.5, 1.5], pa.float64()),
    "日本": both([None, 3], pa.int64()),
    " blank ": both([True, False], pa.bool_()),
    "0": both(["zero", "null"], pa.string()),
    "__proto__": both([7, 8], pa.int64()),
}
# Long enough for several pages, with runs, nulls and few or many distinct values.
long_columns = {
    "n": [i * 1_000_003 % 65_537 - 30_000 for i in range(260)],
    "run": [i // 40 for i in range(260)],
    "word": [f"word {i % 11}" for i in range(260)],
    "text": [f"{i * 7919 % 260:x}-{'é' * (i % 3)}" for i in range(260)],
    "x": [None if i % 5 == 0 else i / 8 for i in range(260)],
    "gone": [None if i < 200 else i for i in range(260)],
    "list": [None if i % 7 == 3 else [i + j for j in range(i % 4)] for i in range(260)],
}
long_table = pa.table(long_columns)
long_rows = rows_of(long_columns)

# ---------------------------------------------------------------- Parquet

parquet_types = files_of(common)
for version, page in [("1.0", "1.0"), ("2.6", "2.0")]:
    file = f"types-v{version[0]}.parquet"
    # The first version of the format has neither nanoseconds nor unsigned numbers of 32 bits.
    table = parquet_types.drop(["ts ns"]) if version == "1.0" else parquet_types
    pq.write_table(table, path_of(file), version=version, data_page_version=page, store_schema=False)
    holds(file, rows_of({name: values_of(common)[name] for name in table.column_names}))
pq.write_table(parquet_types, path_of("types-stored-schema.parquet"), use_dictionary=False, write_statistics=False)
holds("types-stored-schema.parquet", rows_of(values_of(common)))
decimals = pa.table({name: pa.array(values_of(common)[name], type) for name, type in [("dec9", pa.decimal128(9, 2)), ("dec18", pa.decimal128(18, 8)), ("dec38", pa.decimal128(38, 0))]})
pq.write_table(decimals, path_of("decimals-as-integers.parquet"), store_decimal_as_integer=True)
holds("decimals-as-integers.parquet", rows_of({name: values_of(common)[name] for name in decimals.column_names}))
for page in ["1.0", "2.0"]:
    file = f"nested-v{page[0]}.parquet"
    pq.write_table(files_of(nested), path_of(file), data_page_version=page, row_group_size=2)
    holds(file, rows_of(values_of(nested)))
pq.write_table(files_of(nested), path_of("nested-old-lists.parquet"), use_compliant_nested_type=False, store_schema=False)
holds("nested-old-lists.parquet", rows_of(values_of(nested)))
pq.write_table(files_of(odd_names), path_of("names.parquet"))
holds("names.parquet", rows_of(values_of(odd_names)))
for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
    for page in ["1.0", "2.0"]:
        file = f"long-{codec}-v{page[0]}.parquet"
        pq.write_table(long_table, path_of(file), compression=codec, data_page_version=page, data_page_size=300, write_batch_size=32, row_group_size=120)
        holds(file, long_rows)
for name, encodings in [
    ("delta", {"n": "DELTA_BINARY_PACKED", "run": "DELTA_BINARY_PACKED", "word": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY", "x": "BYTE_STREAM_SPLIT", "gone": "DELTA_BINARY_PACKED", "list.list.element": "DELTA_BINARY_PACKED"}),
    ("split", {"n": "BYTE_STREAM_SPLIT", "run": "BYTE_STREAM_SPLIT", "word": "PLAIN", "text": "DELTA_BYTE_ARRAY", "x": "PLAIN", "gone": "BYTE_STREAM_SPLIT", "list.list.element": "PLAIN"}),
]:
    file = f"long-{name}.parquet"
    pq.write_table(long_table, path_of(file), compression="zstd", use_dictionary=False, column_encoding=encodings, data_page_size=300, write_batch_size=32)
    holds(file, long_rows)
empty = files_of(common).slice(0, 0)
pq.write_table(empty, path_of("no-rows.parquet"))
holds("no-rows.parquet", [])
with pq.ParquetWriter(path_of("no-groups.parquet"), empty.schema):
    pass
holds("no-groups.parquet", [])
pq.write_table(pa.table({"k": pa.nulls(3), "v": pa.array([None] * 3, pa.string())}), path_of("nulls.parquet"))
holds("nulls.parquet", [{}, {}, {}])
required = pa.schema([pa.field("a", pa.int64(), False), pa.field("b", pa.list_(pa.field("element", pa.string(), False)), False), pa.field("c", pa.struct([pa.field("d", pa.float64(), False)]), False)])
required_values = {"a": [1, 2, 3], "b": [["x"], [], ["y", "z"]], "c": [{"d": 0.5}, {"d": 1.0}, {"d": -1.5}]}
pq.write_table(pa.table(required_values, required), path_of("required.parquet"), compression="none")
holds("required.parquet", rows_of(required_values))

db = duckdb.connect()
db.sql("SET TimeZone = 'UTC'")
duck = """SELECT * FROM (VALUES
  (1, true, 'a'::VARCHAR, 'x'::ENUM('x','y'), DATE '2020-02-29', TIME '12:34:56.789', TIMESTAMP '2020-02-29 23:59:59.999999', TIMESTAMPTZ '2020-02-29 23:59:59+01', TIMESTAMP_NS '2020-01-01 00:00:00.123456789', INTERVAL '14 months 3 days 1.5 seconds', '00000000-0000-0000-0000-000000000001'::UUID, 1.25::DECIMAL(9,2), 123456789012345678901234567890.12::DECIMAL(38,2), 18446744073709551615::UBIGINT, '\\x00\\xFF'::BLOB, [1, NULL, 3], {'a': 1, 'b': ['p', 'q']}, MAP {'k': 1, 'l': NULL}, [[1], []], TIMESTAMP_S '2020-01-01 00:00:01', TIMESTAMP_MS '2020-01-01 00:00:00.001', 0.1::FLOAT, (-128)::TINYINT, 65535::USMALLINT, '{"j": 1}'::JSON),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) t(n, b, s, e, day, t, ts, tz, ns, i, u, d9, d38, u64, blob, l, st, m, ll, tss, tsms, f, i8, u16, j)"""
duck_rows = rows_of(
    {
        "n": [1, 2],
        "b": [True, None],
        "s": ["a", None],
        "e": ["x", None],
        "day": [dt.date(2020, 2, 29), None],
        "t": [dt.time(12, 34, 56, 789000), None],
        "ts": [dt.datetime(2020, 2, 29, 23, 59, 59, 999999), None],
        "tz": [dt.datetime(2020, 2, 29, 22, 59, 59), None],
        "ns": [np.datetime64("2020-01-01T00:00:00.123456789"), None],
        "i": [Span(14, 3, Fraction(3, 2)), None],
        "u": [uuid.UUID(int=1), None],
        "d9": [D("1.25"), None],
        "d38": [D("123456789012345678901234567890.12"), None],
        "u64": [2**64 - 1, None],
        "blob": [b"\x00\xff", None],
        "l": [[1, None, 3], None],
        "st": [{"a": 1, "b": ["p", "q"]}, None],
        "m": [{"k": 1, "l": None}, None],
        "ll": [[[1], []], None],
        "tss": [dt.datetime(2020, 1, 1, 0, 0, 1), None],
        "tsms": [dt.datetime(2020, 1, 1, 0, 0, 0, 1000), None],
        "f": [float(np.float32(0.1)), None],
        "i8": [-128, None],
        "u16": [65535, None],
        "j": ['{"j": 1}', None],
    }
)
for codec in ["snappy", "gzip", "zstd", "lz4_raw", "brotli", "uncompressed"]:
    for version in ["V1", "V2"]:
        file = f"duckdb-{codec.replace('_', '-')}-{version.lower()}.parquet"
        db.sql(f"COPY ({duck}) TO '{path_of(file)}' (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version})")
        holds(file, duck_rows)
db.register("long_table", long_table)
db.sql(f"COPY long_table TO '{path_of('duckdb-long.parquet')}' (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION V2, ROW_GROUP_SIZE 100)")
holds("duckdb-long.parquet", long_rows)

polars_values = {
    "n": [1, None, 3],
    "text": ["é", None, ""],
    "category": ["x", None, "y"],
    "day": [dt.date(2020, 1, 2), None, dt.date(1960, 1, 1)],
    "at": [dt.datetime(2020, 1, 2, 3, 4, 5, 678901), None, dt.datetime(1960, 1, 1)],
    "t": [dt.time(1, 2, 3), None, dt.time(0)],
    "dec": [D("1.50"), None, D("-0.25")],
    "list": [[1, 2], None, []],
    "struct": [{"a": 1, "b": "x"}, {"a": None, "b": None}, {"a": 2, "b": None}],
    "blob": [b"\x00", None, b""],
    "u8": [255, None, 0],
    "array": [[1.5, 2.5], None, [3.5, 4.5]],
}
polars_frame = polars.DataFrame(
    {
        **{name: polars.Series(values) for name, values in polars_values.items()},
        "category": polars.Series(polars_values["category"], dtype=polars.Categorical),
        "u8": polars.Series(polars_values["u8"], dtype=polars.UInt8),
        "dec": polars.Series(polars_values["dec"], dtype=polars.Decimal(10, 2)),
        "array": polars.Series(polars_values["array"], dtype=polars.Array(polars.Float64, 2)),
    }
)
for codec in ["zstd", "snappy", "lz4", "brotli", "gzip", "uncompressed"]:
    file = f"polars-{codec}.parquet"
    polars_frame.write_parquet(path_of(file), compression=codec)
    holds(file, rows_of(polars_values))
pandas_frame = pandas.DataFrame(
    {
        "n": pandas.array([1, None, 3], "Int64"),
        "x": [0.5, math.nan, 2.0],
        "word": pandas.Categorical(["b", None, "a"]),
        "at": pandas.to_datetime(["2020-01-02T03:04:05.678", None, "1960-01-01T00:00:00.000"]).tz_localize("America/New_York"),
        "flag": pandas.array([True, None, False], "boolean"),
        "text": ["é", None, ""],
    },
    index=pandas.Index([10, 20, 30], name="key"),
)
pandas_rows = rows_of(
    {
        "n": [1, None, 3],
        "x": [0.5, None, 2.0],
        "word": ["b", None, "a"],
        "at": [dt.datetime(2020, 1, 2, 8, 4, 5, 678000), None, dt.datetime(1960, 1, 1, 5)],
        "flag": [True, None, False],
        "text": ["é", None, ""],
        "key": [10, 20, 30],
    }
)
pandas_frame.to_parquet(path_of("pandas.parquet"))
holds("pandas.parquet", pandas_rows)
fast = pandas.DataFrame({"n": [1, 2, 3], "x": [0.5, 1.5, 2.5], "text": ["a", "é", None], "at": pandas.to_datetime(["2020-01-02T00:00:00", "1960-01-01T00:00:01", None]).astype("datetime64[us]")})
for codec in ["SNAPPY", "GZIP", "ZSTD", "UNCOMPRESSED", "LZ4_RAW"]:
    file = f"fastparquet-{codec.lower().replace('_', '-')}.parquet"
    # It writes 96 bits right for nanoseconds alone.
    for times, unit in [("int64", "us")] if codec != "SNAPPY" else [("int64", "us"), ("int96", "ns")]:
        name = file if times == "int64" else "fastparquet-int96.parquet"
        made = fast.astype({"at": f"datetime64[{unit}]"})
        made.to_parquet(path_of(name), engine="fastparquet", compression=codec, times=times, index=False)
        holds(name, rows_of({"n": [1, 2, 3], "x": [0.5, 1.5, 2.5], "text": ["a", "é", None], "at": [dt.datetime(2020, 1, 2), dt.datetime(1960, 1, 1, 0, 0, 1), None]}))

# ---------------------------------------------------------------- Arrow


def write_arrow(file, table, rows, compression=None, batch=None, stream=False, **more):
    options = pa.ipc.IpcWriteOptions(compression=compression, **more)
    maker = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(path_of(file), "wb") as sink, maker(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch)
    if rows is not None:
        holds(file, rows)


arrow_types = files_of({**common, **arrow_only})
arrow_values = values_of({**common, **arrow_only})
for compression in [None, "lz4", "zstd"]:
    name = compression or "none"
    write_arrow(f"types-{name}.arrow", arrow_types, rows_of(arrow_values), compression)
    write_arrow(f"types-{name}.arrows", arrow_types, rows_of(arrow_values), compression, batch=2, stream=True)
    write_arrow(f"nested-{name}.arrow", files_of(nested), rows_of(values_of(nested)), compression, batch=2)
    write_arrow(f"long-{name}.arrow", long_table, long_rows, compression, batch=100)
write_arrow("nested.arrows", files_of(nested), rows_of(values_of(nested)), stream=True)
write_arrow("names.arrow", files_of(odd_names), rows_of(values_of(odd_names)))
write_arrow("no-rows.arrow", arrow_types.slice(0, 0), [])
write_arrow("no-rows.arrows", arrow_types.slice(0, 0), [], stream=True)
batches = [pa.record_batch({"w": pa.array(words).dictionary_encode()}) for words in [["a", "b"], ["a", "b", "c", None], ["c"]]]
for file, maker in [("dictionary-deltas.arrows", pa.ipc.new_stream), ("dictionary-deltas.arrow", pa.ipc.new_file)]:
    with pa.OSFile(path_of(file), "wb") as sink, maker(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
        for words in [["a", "b"], ["a", "b", "c"]]:
            codes = pa.array([0, len(words) - 1, None], pa.int32())
            writer.write_batch(pa.record_batch({"w": pa.DictionaryArray.from_arrays(codes, pa.array(words))}))
    holds(file, rows_of({"w": ["a", "b", None, "a", "c", None]}))
with pa.OSFile(path_of("dictionary-replaced.arrows"), "wb") as sink, pa.ipc.new_stream(sink, batches[0].schema) as writer:
    for words in [["a", "b"], ["c", "d"]]:
        writer.write_batch(pa.record_batch({"w": pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int32()), pa.array(words))}))
holds("dictionary-replaced.arrows", rows_of({"w": ["a", "b", None, "c", "d", None]}))
write_arrow("views.arrow", pa.table({"s": pa.array(["short", "a text that is longer than twelve bytes", None], pa.string_view()), "b": pa.array([b"\x01", None, bytes(20)], pa.binary_view())}), rows_of({"s": ["short", "a text that is longer than twelve bytes", None], "b": [b"\x01", None, bytes(20)]}))
# Types that are refused.
write_arrow("list-views.arrow", pa.table({"l": pa.array([[1, 2], None, []], pa.list_view(pa.int64()))}), None)
write_arrow("runs.arrow", pa.table({"r": pa.RunEndEncodedArray.from_arrays([2, 3], ["a", None]), "n": [1, 2, 3]}), None)
write_arrow("unions.arrow", pa.table({"u": pa.UnionArray.from_dense(pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([5, None]), pa.array(["t"])]), "n": [1, 2, 3]}), None)
write_arrow("small-decimals.arrow", pa.table({"a": pa.array([D("1.5"), None], pa.decimal32(5, 1)), "b": pa.array([None, D("-0.25")], pa.decimal64(12, 2))}), rows_of({"a": [D("1.5"), None], "b": [None, D("-0.25")]}))
write_arrow("coded-numbers.arrow", pa.table({"n": pa.array([10, 2**60, None]).dictionary_encode(), "l": pa.array([["x", "y"], None, ["x"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))}), rows_of({"n": [10, 2**60, None], "l": [["x", "y"], None, ["x"]]}))
for compression in ["uncompressed", "lz4", "zstd"]:
    file = f"pandas-{compression}.feather"
    pandas_frame.reset_index().to_feather(path_of(file), compression=compression)
    holds(file, pandas_rows)
    polars_frame.write_ipc(path_of(f"polars-{compression}.arrow"), compression=compression)
    holds(f"polars-{compression}.arrow", rows_of(polars_values))
polars_frame.write_ipc_stream(path_of("polars.arrows"))
holds("polars.arrows", rows_of(polars_values))

# ---------------------------------------------------------------- delimited text


def field(text):
    """A field of text: a number when it looks like one, else the text."""
    if text == "":
        return None
    if not text.isascii():
        return text
    body = text.lstrip(" ")
    digits = body[1:] if body[:1] in ("+", "-") else body
    if digits.isdigit():
        whole = int(body)
        return whole if -(2**63) <= whole < 2**64 else float(whole)
    allowed = set("0123456789.eE+-")
    if digits.lower() in ("inf", "infinity", "nan") or (set(digits) <= allowed and any(c.isdigit() for c in digits) and digits[0] not in "+-"):
        try:
            return float(body)
        except ValueError:
            return text
    return text


def text_rows(header, lines):
    """Names of columns in such files are single elements."""
    return [{element(name): atom(field(value)) for name, value in zip(header, line) if field(value) is not None} for line in lines]


header = ["id", "price", "name", "note"]
lines = [
    ["1", "1.50", "Müller", 'says "hi"'],
    ["-2", "1e3", "O'Neil; Sons", "a,b;c|d\te"],
    ["007", "", "", "-"],
    ["18446744073709551615", ".5", "12abc", "5 x"],
    ["99999999999999999999", "-Inf", "2020-01-02", "true"],
    ["+5", "1.0", "0x1F", "1_000"],
]
multi = [*lines, ["8", "9", "two\nlines", "x"]]


def write_csv(file, delimiter=",", encoding="utf-8", quoting=csv.QUOTE_MINIMAL, end="\n", bom=False, rows=lines, quote='"'):
    import io

    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, quoting=quoting, lineterminator=end, quotechar=quote)
    writer.writerow(header)
    writer.writerows(rows)
    with open(path_of(file), "wb") as f:
        f.write((b"\xef\xbb\xbf" if bom else b"") + sink.getvalue().encode(encoding))


write_csv("plain.csv")
holds("plain.csv", text_rows(header, lines))
write_csv("quoted.csv", quoting=csv.QUOTE_ALL, end="\r\n", bom=True)
holds("quoted.csv", text_rows(header, lines))
write_csv("semicolon.csv", delimiter=";", encoding="latin-1")
holds("semicolon.csv", text_rows(header, lines), delimiter=";", encoding="latin1")
write_csv("tab.tsv", delimiter="\t", end="\r\n")
holds("tab.tsv", text_rows(header, lines), delimiter="\t")
write_csv("pipe.txt", delimiter="|", quote="'")
holds("pipe.txt", text_rows(header, lines), delimiter="|", quoteChar="'")
write_csv("lines.csv", rows=multi)
holds("lines.csv", text_rows(header, [[value.replace("\n", " ") for value in line] for line in multi]), allowMultiLines=True)
with open(path_of("bare.csv"), "w", encoding="utf-8", newline="") as f:
    f.write("1,x,\n2,,z")
holds("bare.csv", text_rows(["a", "b", "c"], [["1", "x", ""], ["2", "", "z"]]), headers=["a", "b", "c"])
frame_csv = pandas.DataFrame({"n": [1, 2], "x": [0.1, math.nan], "text": ["é, ü", None], "flag": [True, False]})
frame_csv.to_csv(path_of("pandas.csv"), index=False)
holds("pandas.csv", text_rows(["n", "x", "text", "flag"], [["1", "0.1", "é, ü", "True"], ["2", "", "", "False"]]))
polars.from_pandas(frame_csv).write_csv(path_of("polars.csv"))
holds("polars.csv", text_rows(["n", "x", "text", "flag"], [["1", "0.1", "é, ü", "true"], ["2", "", "", "false"]]))
db.register("frame_csv", frame_csv)
db.sql(f"COPY frame_csv TO '{path_of('duckdb.csv')}' (HEADER, DELIMITER ',')")
holds("duckdb.csv", text_rows(["n", "x", "text", "flag"], [["1", "0.1", "é, ü", "true"], ["2", "", "", "false"]]))
packers = {"gz": ["gzip", "-n"], "bz2": ["bzip2"], "xz": ["xz"], "lzma": ["xz", "--format=xz"], "zst": ["zstd", "-q"], "lz4": ["lz4", "-q"]}
plain_bytes = open(path_of("plain.csv"), "rb").read()
for suffix, command in packers.items():
    packed = subprocess.run([*command, "-c"], input=plain_bytes, capture_output=True, check=True).stdout
    with open(path_of(f"plain.csv.{suffix}"), "wb") as f:
        # Two frames are read as one text.
        half = len(plain_bytes) // 2
        if suffix == "lzma":
            f.write(packed)
        else:
            for part in [plain_bytes[:half], plain_bytes[half:]]:
                f.write(subprocess.run([*command, "-c"], input=part, capture_output=True, check=True).stdout)
    holds(f"plain.csv.{suffix}", text_rows(header, lines))

# ---------------------------------------------------------------- JSON

json_values = {
    "n": [1, 2**63, None, -5],
    "x": [0.1, 1e300, 1.0, -0.0],
    "text": ["é 😀 \u2028", "", None, 'q"\\/\n'],
    "flag": [True, False, None, True],
    "nested": [{"a": {"b": [1, {"c": "x"}]}, "e": []}, {}, None, {"a.b": {"": 1}}],
    "list": [[1, "two", None, [3]], [], None, [True]],
}
json_lines = [{name: values[row] for name, values in json_values.items()} for row in range(4)]
for file, ascii_only, separators, end in [("plain.ndjson", False, (",", ":"), "\n"), ("escaped.ndjson", True, (", ", " : "), "\r\n")]:
    with open(path_of(file), "w", encoding="utf-8", newline="") as f:
        f.write("".join(json.dumps(line, ensure_ascii=ascii_only, separators=separators) + end for line in json_lines))
    holds(file, rows_of(json_values))
frame_json = pandas.DataFrame({"n": [1, 2], "x": [0.5, math.nan], "text": ["é", None], "at": pandas.to_datetime(["2020-01-02", None])})
frame_json.to_json(path_of("pandas.ndjson"), orient="records", lines=True, date_format="iso", force_ascii=False)
with open(path_of("pandas.ndjson"), encoding="utf-8") as f:
    holds("pandas.ndjson", [{name: atom(value) for name, value in json.loads(line).items() if value is not None} for line in f])
polars_frame.drop(["blob", "t", "dec"]).write_ndjson(path_of("polars.ndjson"))
with open(path_of("polars.ndjson"), encoding="utf-8") as f:
    kept = [json.loads(line) for line in f]
    holds("polars.ndjson", rows_of({name: [row[name] for row in kept] for name in kept[0]}))
db.sql(f"COPY long_table TO '{path_of('duckdb.ndjson')}' (FORMAT json)")
holds("duckdb.ndjson", long_rows)
for suffix in ["gz", "zst"]:
    packed = subprocess.run([*packers[suffix], "-c"], input=open(path_of("plain.ndjson"), "rb").read(), capture_output=True, check=True).stdout
    with open(path_of(f"plain.ndjson.{suffix}"), "wb") as f:
        f.write(packed)
    holds(f"plain.ndjson.{suffix}", rows_of(json_values))

# ---------------------------------------------------------------- workbooks


def letters(index):
    text = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, 26)
        text = chr(65 + digit) + text
    return text


def book_rows(sheets):
    """Cells by row name; the width of numbers is that of the last row."""
    rows = []
    for name, cells_of in sheets.items():
        width = len(str(max(row for row, _ in cells_of)))
        by_row = {}
        for (row, column), value in cells_of.items():
            if value is not None:
                by_row.setdefault(row, {})[letters(column)] = atom(value)
        rows += [{"_rowName": element(f"{name}:{row:0{width}d}"), **by_row[row]} for row in sorted(by_row)]
    return rows


def book_values():
    first = {
        (1, 0): "naïve 😀 & <b>",
        (1, 1): 1,
        (1, 2): 2.5,
        (1, 3): True,
        (1, 4): dt.datetime(2020, 2, 29, 23, 59, 58),
        (1, 5): dt.time(1, 30),
        (2, 0): " blanks kept ",
        (2, 1): -1e-3,
        (2, 4): dt.date(1999, 12, 31),
        (12, 27): "far away",
    }
    return {"First": first, "Zweites Blatt": {(3, 1): 7, (103, 0): "x"}}


def openpyxl_book(file, iso=False, epoch1904=False):
    book = openpyxl.Workbook(iso_dates=iso)
    book.iso_dates = iso
    if epoch1904:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for index, (name, cells_of) in enumerate(book_values().items()):
        sheet = book.active if index == 0 else book.create_sheet()
        sheet.title = name
        for (row, column), value in cells_of.items():
            sheet.cell(row, column + 1, value)
    book.save(path_of(file))


openpyxl_book("openpyxl.xlsx")
holds("openpyxl.xlsx", book_rows(book_values()))
openpyxl_book("openpyxl-1904.xlsx", epoch1904=True)
holds("openpyxl-1904.xlsx", book_rows(book_values()))
for file, options in [("xlsxwriter.xlsx", {}), ("xlsxwriter-inline.xlsx", {"constant_memory": True}), ("xlsxwriter-1904.xlsx", {"date_1904": True})]:
    book = xlsxwriter.Workbook(path_of(file), options)
    formats = {dt.datetime: "yyyy-mm-dd hh:mm:ss", dt.date: "d mmm yyyy", dt.time: "hh:mm"}
    made = {kind: book.add_format({"num_format": code}) for kind, code in formats.items()}
    values = book_values()
    values["First"][(12, 28)] = 84.5
    for name, cells_of in values.items():
        sheet = book.add_worksheet(name)
        for (row, column), value in sorted(cells_of.items()):
            if type(value) in made:
                sheet.write_datetime(row - 1, column, value, made[type(value)])
            elif (row, column) == (12, 28):
                sheet.write_formula(row - 1, column, "=1+83.5", None, 84.5)
            else:
                sheet.write(row - 1, column, value)
    book.close()
    holds(file, book_rows(values))
pandas.DataFrame({"n": [1, 2], "at": pandas.to_datetime(["2020-01-02T03:04:05", None]), "text": ["é", None]}).to_excel(path_of("pandas.xlsx"), index=False)
holds("pandas.xlsx", book_rows({"Sheet1": {(1, 0): "n", (1, 1): "at", (1, 2): "text", (2, 0): 1, (2, 1): dt.datetime(2020, 1, 2, 3, 4, 5), (2, 2): "é", (3, 0): 2}}))

contents = []
for entry in expected:
    assert all(value is not None for row in entry["rows"] for value in row.values())
    text = json.dumps(entry["rows"], ensure_ascii=False, separators=(",", ":"))
    if text not in contents:
        contents.append(text)
    entry["rows"] = contents.index(text)
files = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in expected)
with open(path_of("expected.json"), "w", encoding="utf-8") as f:
    f.write('{"contents":[\n' + ",\n".join(contents) + '\n],\n"files":[\n' + files + "\n]}\n")
print(len(expected), "files")
