"""A web server on this machine that does as a test says, once per request, and remembers what it was asked."""

import contextlib
import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Home:
    """Answers the requests to each path one after the other; the last answer is given again and again."""

    def __init__(self, port, scheme):
        self.port, self.scheme = port, scheme
        self.answers = {}
        self.asked = []

    def url(self, path, host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}/{path}"

    def put(self, path, *answers):
        self.answers[f"/{path}"] = list(answers)
        return self.url(path)


def ranged(content):
    """A server that can resume."""

    def answer(handler, start):
        if start >= len(content) and start:
            handler.send_response(416)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        handler.send_header("Content-Length", str(len(content) - start))
        handler.end_headers()
        handler.wfile.write(content[start:])

    return answer


def whole(content, length=True):
    """A server that knows nothing of ranges, nor perhaps of lengths."""

    def answer(handler, start):
        handler.send_response(200)
        if length:
            handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        with contextlib.suppress(ConnectionError):  # the reader may have had enough
            handler.wfile.write(content)

    return answer


def cut(content, after):
    """A connection that breaks after so many bytes."""

    def answer(handler, start):
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        handler.send_header("Content-Length", str(len(content) - start))
        handler.end_headers()
        handler.wfile.write(content[start : start + after])

    return answer


def status(code, **headers):
    """An error, or a redirection."""

    def answer(handler, start):
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


UNTRUSTED = Path(__file__).parent / "untrusted.pem"
"""A certificate for 127.0.0.1 that nobody has signed but its owner, and its key, which protects nothing."""


@contextlib.contextmanager
def serving(certificate=None):
    """A home whose server runs in a thread; with a certificate, over TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            given = self.headers.get("Range")
            home.asked.append((self.path, given))
            answers = home.answers[self.path]
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            answer(self, int(given.removeprefix("bytes=").removesuffix("-")) if given else 0)

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        home = Home(server.server_port, "http" if certificate is None else "https")
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield home
        finally:
            server.shutdown()
            thread.join()
