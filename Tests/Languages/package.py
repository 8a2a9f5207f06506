"""The installed Python package: requests, responses, exceptions, typing information, and a missing library."""

import asyncio
import builtins
import http.server
import json
import math
import os
import pathlib
import subprocess
import sys
import threading
from typing import Any, Callable, Type

import netcore


class Echo(http.server.BaseHTTPRequestHandler):
    """Responds with the request as JSON. /status/N responds with status N, /latin with ISO 8859-1, /silent never."""

    protocol_version = "HTTP/1.1"

    def respond(self) -> None:
        if self.path == "/silent":
            released.wait()
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        status = int(self.path.rpartition("/")[2]) if self.path.startswith("/status/") else 200
        said = json.dumps({"method": self.command, "path": self.path, "type": self.headers.get("Content-Type"),
                           "body": body, "custom": self.headers.get("X-Custom")}).encode()
        kind = "application/json"
        if self.path == "/latin":
            said, kind = "Malmö".encode("latin-1"), 'text/plain; charset="ISO-8859-1"'
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_PUT = do_DELETE = respond

    def log_message(self, *arguments: Any) -> None:
        pass


released = threading.Event()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
URL = f"http://127.0.0.1:{server.server_address[1]}"


def raises(kind: Type[BaseException], step: Callable[[], Any], code: str = "") -> bool:
    try:
        step()
    except kind as failure:
        return not code or (getattr(failure, "code") == code and bool(getattr(failure, "message")))
    return False


def requests() -> bool:
    """Bodies, queries, methods and fields arrive as given."""
    sent = netcore.fetch(URL + "/a?x=1#part", params={"q": "ü &", "on": True, "n": 2, "tags": ["a", "b"], "none": None},
                         headers={"X-Custom": "y"}).json()
    posted = netcore.fetch(URL, json={"name": "Malmö", "list": [1, None]}).json()
    form = netcore.fetch(URL, method="PUT", data={"a": "1 2", "b": ["x", "y"]}).json()
    pairs = netcore.fetch(URL, data=[("a", 1), ("a", 2)], headers=[("content-type", "text/x-own")]).json()
    plain, raw = netcore.fetch(URL, data="héllo").json(), netcore.fetch(URL, data=b"").json()
    return (sent["path"] == "/a?x=1&q=%C3%BC%20%26&on=true&n=2&tags=a&tags=b" and sent["custom"] == "y"
            and sent["method"] == "GET" and posted["method"] == "POST" and posted["type"] == "application/json"
            and json.loads(posted["body"]) == {"name": "Malmö", "list": [1, None]}
            and (form["method"], form["body"]) == ("PUT", "a=1%202&b=x&b=y")
            and form["type"] == "application/x-www-form-urlencoded"
            and (pairs["body"], pairs["type"]) == ("a=1&a=2", "text/x-own")
            and (plain["body"], plain["type"]) == ("héllo", "text/plain; charset=utf-8")
            and (raw["method"], raw["body"], raw["type"]) == ("POST", "", None))


def refused_arguments() -> bool:
    other: Any = object()
    return (raises(TypeError, lambda: netcore.fetch(URL, json={}, data=b""))
            and raises(TypeError, lambda: netcore.fetch(URL, params={"a": other}))
            and raises(ValueError, lambda: netcore.fetch(URL, json=math.nan))
            and all(raises(ValueError, lambda: netcore.fetch(URL, timeout=bad)) for bad in (0, -1, math.nan, 5e6))
            and raises(ValueError, lambda: netcore.fetch("not a url"), "NC_ERR_BAD_URL")
            and netcore.fetch(URL, timeout=math.inf).status == 200)


def responses() -> bool:
    response = netcore.fetch(URL + "/latin")
    headers = response.headers
    return (response.text == "Malmö" and response.content == b"Malm\xf6" and headers["CONTENT-TYPE"].startswith("text/plain")
            and headers.get_list("set-cookie") == ["a=1", "b=2"] and headers["Set-Cookie"] == "a=1, b=2"
            and "set-cookie" in headers and "x" not in headers and headers.get("x") is None
            and len(headers) == len(list(headers)) == len(dict(headers)) and response.url == URL + "/latin"
            and response.raise_for_status() is response and raises(json.JSONDecodeError, response.json))


def exceptions() -> bool:
    for status in (404, 500):
        try:
            netcore.fetch(f"{URL}/status/{status}").raise_for_status()
            return False
        except netcore.HTTPStatusError as failure:
            if failure.response.status != status or failure.is_retryable != (status == 500):
                return False
    return (raises(netcore.ConnectError, lambda: netcore.fetch("http://127.0.0.1:1/"), "NC_ERR_REFUSED")
            and raises(netcore.NetError, lambda: netcore.fetch("http://127.0.0.1:1/"))
            and raises(builtins.TimeoutError, lambda: netcore.fetch(URL + "/silent", timeout=0.05), "NC_ERR_TOTAL_TIMED_OUT")
            and raises(netcore.TimeoutError, lambda: netcore.fetch(URL + "/silent", timeout=0.05)))


def coroutines() -> bool:
    async def main() -> bool:
        async with netcore.Engine() as engine:
            both = await asyncio.gather(*(engine.fetch(URL, params={"n": number}, timeout=30) for number in range(20)))
            task = asyncio.ensure_future(engine.fetch(URL + "/silent"))
            await asyncio.sleep(0)
            task.cancel()
            cancelled = (await asyncio.gather(task, return_exceptions=True))[0]
        try:
            await engine.fetch(URL)
        except ValueError:
            return ([one.json()["path"] for one in both] == [f"/?n={number}" for number in range(20)]
                    and isinstance(cancelled, asyncio.CancelledError))
        return False

    return asyncio.run(main())


def missing_library() -> bool:
    """Without the library the import fails, and its message says how to install it."""
    for extra in ({"NETCORE_LIBRARY": "/nowhere/libnetcore.so"}, {}):
        lost = {**os.environ, "PKG_CONFIG_PATH": "", "PKG_CONFIG_LIBDIR": "/nowhere", "LD_LIBRARY_PATH": "/nowhere", **extra}
        lost.pop("LD_PRELOAD", None)
        if "NETCORE_LIBRARY" not in extra:
            lost.pop("NETCORE_LIBRARY", None)
        run = subprocess.run([sys.executable, "-c", "import netcore"], env=lost, stderr=subprocess.PIPE, check=False)
        if run.returncode != 0 and (b"cmake --install" not in run.stderr or b"apt install" not in run.stderr):
            return False
        if run.returncode == 0 and extra:  # without a variable, a library of the system may be found
            return False
    return True


def typed() -> bool:
    """The installed package has the marker of type annotations, and is not the one in the sources."""
    package = pathlib.Path(netcore.__file__).parent
    return (package / "py.typed").exists() and not (package.parent / "pyproject.toml").exists()


def main() -> int:
    failures = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for step in (requests, refused_arguments, responses, exceptions, coroutines, missing_library, typed):
        is_right = step()
        failures += not is_right
        print(("ok " if is_right else "failed ") + step.__name__, flush=True)
    released.set()
    server.shutdown()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
