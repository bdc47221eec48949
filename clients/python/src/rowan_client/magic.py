"""`%load_ext rowan_client.magic` adds `%%rowan [URL]`: a cell of SQL, shown as a data frame."""

from .connection import connect

_connections = {}


def load_ipython_extension(shell):
    """Called by IPython."""
    shell.register_magic_function(run_cell, "line_cell", "rowan")


def run_cell(line, cell=None):
    """Runs SQL: `%rowan SELECT 1`, or a cell behind `%%rowan [URL]`, whose server is kept."""
    if cell is None:
        return _connection("").query(line)
    return _connection(line.strip()).query(cell)


def _connection(url):
    if url or "" not in _connections:
        _connections[""] = connect(url or None)
    return _connections[""]
