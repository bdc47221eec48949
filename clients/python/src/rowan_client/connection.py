"""A connection to a server: queries, datasets, procedures and functions."""

import json
import math
import os
import sys
import time
import uuid
from urllib.parse import quote

import requests

# Rows that are recorded with one request.
ROWS_AT_ONCE = 5000
# Seconds between two looks at a run.
POLL_SECONDS = 0.1


class RowanError(Exception):
    """What the server refused, with its code, HTTP status and details."""

    def __init__(self, message, code=None, status=None, details=None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.details = details


def connect(url=None, api_key=None, timeout=None):
    """Connects to a server.

    url: its address; default ROWAN_URL, else http://127.0.0.1:8080
    api_key: default ROWAN_API_KEY, if set
    timeout: seconds to wait for an answer; default: no limit
    """
    return Connection(url, api_key, timeout)


class Connection:
    """A way to one server; see `connect`."""

    def __init__(self, url=None, api_key=None, timeout=None):
        self.url = (url or os.environ.get("ROWAN_URL") or "http://127.0.0.1:8080").rstrip("/")
        self.timeout = timeout
        self.functions = Functions(self)
        self._session = requests.Session()
        key = api_key or os.environ.get("ROWAN_API_KEY")
        if key:
            self._session.headers["Authorization"] = f"Bearer {key}"

    def __repr__(self):
        return f"Connection({self.url!r})"

    def __deepcopy__(self, memo):
        # Copies of estimators ask the same server.
        return self

    def request(self, verb, path, body=None, headers=None, params=None):
        """Sends a request below /v1 and gives the parsed answer. Raises RowanError."""
        reply = self._send(verb, path, body, headers, params)
        return reply.json() if reply.content else None

    def _send(self, verb, path, body=None, headers=None, params=None):
        reply = self._session.request(
            verb,
            f"{self.url}/v1/{path}",
            data=None if body is None else json.dumps(body, allow_nan=False).encode(),
            headers={**({} if body is None else {"Content-Type": "application/json"}), **(headers or {})},
            params=params,
            timeout=self.timeout,
        )
        if reply.status_code >= 400:
            raise _error_of(reply)
        return reply

    # Queries

    def query_rows(self, sql):
        """The rows as a list of dicts."""
        parameters = {"q": sql, "format": "aos", "rowNames": "false", "timestamps": "iso"}
        return self.request("GET", "query", params=parameters)

    def query_arrow(self, sql):
        """The rows as a pyarrow.Table."""
        import pyarrow

        parameters = {"q": sql, "format": "arrow", "rowNames": "false"}
        reply = self._send("GET", "query", params=parameters)
        with pyarrow.ipc.open_stream(reply.content) as reader:
            return reader.read_all()

    def query(self, sql):
        """The rows as a pandas.DataFrame, by way of Arrow where pyarrow is installed."""
        import pandas

        try:
            import pyarrow  # noqa: F401
        except ImportError:
            return pandas.DataFrame(self.query_rows(sql))
        return self.query_arrow(sql).to_pandas()

    # Datasets

    def datasets(self):
        """The names of all datasets."""
        return self.request("GET", "datasets")

    def record(self, name, rows, type="tabular", params=None):
        """Makes a dataset of rows: a DataFrame, or dicts. A dataset of the name is replaced.

        A DataFrame's index names the rows. None is left out, and in a DataFrame NaN and NaT are too,
        which is how it has missing values.
        """
        path = f"datasets/{quote(name, safe='')}"
        default = {"unknownColumns": "add"} if type == "tabular" else {}
        self.request("PUT", path, {"type": type, "params": {**default, **(params or {})}})
        batch = []
        for row_name, cells in _named_rows(rows):
            columns = [[[str(column)], _cell(value), 0] for column, value in cells if value is not None]
            batch.append([[str(row_name)], columns])
            if len(batch) == ROWS_AT_ONCE:
                self.request("POST", f"{path}/multirows", batch)
                batch = []
        if batch:
            self.request("POST", f"{path}/multirows", batch)
        self.request("POST", f"{path}/commit", {})

    def delete_dataset(self, name):
        """Removes a dataset if there is one."""
        self.request("DELETE", f"datasets/{quote(name, safe='')}")

    # Procedures

    def procedures(self):
        """The names of all procedures."""
        return self.request("GET", "procedures")

    def run(self, type, params=None, progress=None, **more):
        """Runs a procedure of a type and gives the status of its run. Raises RowanError.

        progress: whether to show a bar; default: on terminals and in notebooks
        more: further parameters of the type
        """
        name = f"python_{uuid.uuid4().hex}"
        path = f"procedures/{name}"
        body = {"type": type, "params": {**(params or {}), **more, "runOnCreation": False}}
        self.request("PUT", path, body)
        try:
            return self._run(f"{path}/runs/r", type, _Bar(type, progress))
        finally:
            self.request("DELETE", path)

    def _run(self, path, type, bar):
        self.request("PUT", path, {}, headers={"async": "true"})
        try:
            while True:
                run = self.request("GET", path)
                if run["state"] in ("finished", "error", "cancelled"):
                    break
                bar.show(run.get("progress"))
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            self.request("PUT", f"{path}/state", {"state": "cancelled"})
            raise
        finally:
            bar.end()
        if run["state"] == "finished":
            return run.get("status")
        fault = _fault_of(run)
        raise RowanError(
            fault.get("error") or f"the run of {type} was {run['state']}",
            fault.get("code"),
            fault.get("httpCode"),
            fault.get("details"),
        )

    # Functions

    def apply(self, function, input=None, **more):
        """The output of a function for one input, a dict."""
        parameters = {"input": json.dumps({**(input or {}), **more})}
        path = f"functions/{quote(function, safe='')}/application"
        return self.request("GET", path, params=parameters)["output"]

    def apply_batch(self, function, inputs):
        """The outputs of a function for many inputs, as a list."""
        path = f"functions/{quote(function, safe='')}/batch"
        return self.request("POST", path, {"input": list(inputs)})


class Functions:
    """The functions of a server as functions: `connection.functions.speed(km=1, minutes=2)`."""

    def __init__(self, connection):
        self._connection = connection

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda input=None, **more: self._connection.apply(name, input, **more)

    def __getitem__(self, name):
        return lambda input=None, **more: self._connection.apply(name, input, **more)

    def __dir__(self):
        return self._connection.request("GET", "functions")


class _Bar:
    """The progress of a run, as one line that is written over."""

    def __init__(self, title, is_shown):
        self._title = title
        in_notebook = "ipykernel" in sys.modules
        self._is_shown = (sys.stderr.isatty() or in_notebook) if is_shown is None else is_shown
        self._has_shown = False

    def show(self, progress):
        steps = (progress or {}).get("steps") or []
        running = [step for step in steps if step.get("value") and not step.get("ended")]
        if not self._is_shown or not running:
            return
        step = running[-1]
        value = step["value"]
        if step.get("type") == "percentile":
            done = int(20 * value)
            text = f"[{'#' * done}{' ' * (20 - done)}] {100 * value:3.0f} %"
        else:
            text = f"{value:,}"
        self._has_shown = True
        sys.stderr.write(f"\r{self._title}: {step.get('name', '')} {text}  ")
        sys.stderr.flush()

    def end(self):
        if self._has_shown:
            sys.stderr.write("\n")


def _error_of(reply):
    try:
        body = reply.json()
        fault = _fault_of(body)
        if not fault:
            fault = body
        return RowanError(fault.get("error", reply.text), fault.get("code"), reply.status_code, fault.get("details"))
    except ValueError:
        return RowanError(f"{reply.status_code} {reply.reason}", status=reply.status_code)


def _fault_of(body):
    """Why a run ended, which stands at one of several places."""
    progress = body.get("progress")
    if isinstance(progress, dict) and isinstance(progress.get("exception"), dict):
        return progress["exception"]
    details = body.get("details")
    if isinstance(details, dict) and isinstance(details.get("runError"), dict):
        return details["runError"]
    return body if "error" in body else {}


def _named_rows(rows):
    if hasattr(rows, "itertuples"):
        columns = list(rows.columns)
        tuples = rows.itertuples(index=False, name=None)
        for name, cells, missing in zip(rows.index, tuples, rows.isna().to_numpy()):
            yield name, [cell for cell, is_missing in zip(zip(columns, cells), missing) if not is_missing]
    else:
        for index, row in enumerate(rows):
            yield index, list(row.items())


def _cell(value):
    """A value as the recording routes take it."""
    if hasattr(value, "isoformat"):
        return {"ts": value.isoformat()}
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"num": "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"}
    if isinstance(value, (bytes, bytearray)):
        return {"blob": list(value)}
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
