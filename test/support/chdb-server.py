# ClickHouse inside a Python process, by the package chdb, behind the part of its HTTP interface that
# tests use. Prints its port; ends with its standard input.
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

from chdb import session

server_session = session.Session()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        sql = self.body().decode()
        query = parse_qs(urlparse(self.path).query, keep_blank_values=True)
        params = {
            name[len("param_"):]: values[0]
            for name, values in query.items()
            if name.startswith("param_")
        }
        try:
            result = server_session.query(sql, "TabSeparated", params=params)
            self.reply(200, result.bytes() or b"")
        except Exception as error:
            self.reply(500, str(error).encode())

    def body(self):
        length = self.headers["Content-Length"]
        if length is not None:
            return self.rfile.read(int(length))
        chunks = b""
        while size := int(self.rfile.readline(), 16):
            chunks += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return chunks

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
