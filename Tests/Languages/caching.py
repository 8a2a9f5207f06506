"""The Python package: the cache and retries of an engine, their reports, and their end."""

import asyncio
import gc
import http.server
import logging
import math
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

import netcore

counts: "Counter[str]" = Counter()
replies: Dict[str, List[int]] = {}
released = threading.Event()


class Origin(http.server.BaseHTTPRequestHandler):
    """Responds with the number of the request to the path. The query is the Cache-Control field."""

    protocol_version = "HTTP/1.1"

    def respond(self) -> None:
        path, _, control = self.path.partition("?")
        counts[path] += 1
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if path == "/silent":
            released.wait()
            self.close_connection = True
            return
        statuses = replies.get(path, [])
        body = f"{path} {counts[path]}".encode()
        self.send_response(statuses.pop(0) if statuses else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Sent-Cache-Control", ", ".join(self.headers.get_all("Cache-Control", [])))
        if control:
            self.send_header("Cache-Control", control.replace("%20", " "))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_HEAD = respond

    def log_message(self, *arguments: Any) -> None:
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
server.daemon_threads = True
URL = f"http://127.0.0.1:{server.server_address[1]}"
QUICK = netcore.RetryPolicy(2, base_delay=0)


def raises(kind: Type[BaseException], step: Callable[[], Any], text: str = "") -> bool:
    try:
        step()
    except kind as failure:
        return text in str(failure)
    return False


def source(response: netcore.Response) -> "tuple[str, str]":
    return response.cache.outcome, response.cache.reason or ""


def modes() -> bool:
    """Each mode uses cache and network as described."""
    with netcore.Engine(cache=netcore.Cache()) as engine:
        url = URL + "/modes?max-age=60"
        first, second = engine.fetch_blocking(url), engine.fetch_blocking(url)
        seen = [source(first), source(second), source(engine.fetch_blocking(url, cache="reload")),
                source(engine.fetch_blocking(url, cache="cache-only")),
                source(engine.fetch_blocking(url, cache="only-if-cached")),
                source(engine.fetch_blocking(url, cache="no-store")),
                source(engine.fetch_blocking(url, cache="network-first"))]
        try:
            engine.fetch_blocking(URL + "/modes/none", cache="cache-only")
            return False
        except netcore.NotCachedError as failure:
            missing = failure.cache
        return (seen == [("network", "absent"), ("hit", "fresh"), ("network", "ignored"), ("hit", "fresh"),
                         ("hit", "fresh"), ("network", "uncacheable"), ("network", "network-first")]
                and first.cache.is_stored and not first.is_from_cache and second.is_from_cache
                and second.content == b"/modes 1" and 0 <= (second.cache.age or 0) < 60 and second.cache.lifetime == 60
                and counts["/modes"] == 4 and counts["/modes/none"] == 0 and not second.attempts
                and missing is not None and (missing.outcome, missing.reason) == ("none", "absent"))


def stale() -> bool:
    """A stale response is used only for the time that the request, the policy or the server allows."""
    Policy = netcore.CachePolicy
    with netcore.Engine(cache=netcore.Cache()) as engine:
        url = URL + "/stale?max-age=0"
        engine.fetch_blocking(url)
        sent = engine.fetch_blocking(URL + "/stale/other", cache=Policy(max_stale=0.5),
                                     headers={"Cache-Control": "no-transform"})
        used = engine.fetch_blocking(url, cache=Policy(max_stale=60))
        any_age = engine.fetch_blocking(url, cache=Policy(max_stale=math.inf))
        refreshed = engine.fetch_blocking(url, cache=Policy(stale_while_revalidate=60))
        other = URL + "/stale/errors?max-age=0"
        engine.fetch_blocking(other)
        replies["/stale/errors"] = [503, 503]
        failed = engine.fetch_blocking(other, cache=Policy(stale_if_error=60))
        plain = engine.fetch_blocking(other)
        return (source(used) == source(any_age) == ("stale-hit", "stale-allowed") and used.is_from_cache
                and source(refreshed) == ("stale-hit", "stale-while-revalidate")
                and source(failed) == ("stale-hit", "stale-if-error") and failed.status == 200
                and plain.status == 503 and source(plain)[0] == "network"
                and source(sent) == ("network", "absent")
                and sent.headers["X-Sent-Cache-Control"] == "no-transform, max-stale=0")


def users() -> bool:
    """An unsafe request invalidates; users are separate; a scope names the user."""
    with netcore.Engine(cache=netcore.Cache()) as engine:
        url = URL + "/users?max-age=60"
        shared, own = netcore.CachePolicy(scope=""), netcore.CachePolicy(scope="anna")
        engine.fetch_blocking(url, headers={"Authorization": "Basic YQ=="})
        other = engine.fetch_blocking(url, headers={"Authorization": "Basic Yg=="})
        engine.fetch_blocking(url, cache=own)
        engine.fetch_blocking(url, cache=shared)
        hits = [engine.fetch_blocking(url, cache=use, headers={"Authorization": "Basic Yw=="}) for use in (own, shared)]
        engine.fetch_blocking(url, data=b"x", cache=shared)
        after = engine.fetch_blocking(url, cache=shared)
        return (not other.is_from_cache and all(hit.is_from_cache for hit in hits)
                and hits[0].content == b"/users 3" and source(after) == ("network", "absent"))


def retried() -> bool:
    """A temporary failure is sent again; the attempts say why."""
    with netcore.Engine(retries=QUICK) as engine:
        replies["/retried"] = [503, 500]
        response = engine.fetch_blocking(URL + "/retried")
        replies["/once"] = [503]
        once = engine.fetch_blocking(URL + "/once", retries=0)
        replies["/post"] = [503]
        post = engine.fetch_blocking(URL + "/post", data=b"x")
        replies["/any"] = [503]
        repeated = engine.fetch_blocking(URL + "/any", data=b"x", retries=netcore.RetryPolicy(1, base_delay=0, any_method=True))
        try:
            engine.fetch_blocking("http://127.0.0.1:1/")
            return False
        except netcore.ConnectError as failure:
            refused = failure.attempts
    with netcore.Engine() as plain:
        replies["/plain"] = [503]
        unsent = plain.fetch_blocking(URL + "/plain")
        replies["/plain"] = [503]
        again = plain.fetch_blocking(URL + "/plain", retries=QUICK)
    replies["/alone"] = [503]
    alone = netcore.fetch(URL + "/alone", retries=QUICK)
    return ([(one.status, one.error, one.reason) for one in response.attempts]
            == [(503, None, "backoff"), (500, None, "backoff"), (200, None, "not-needed")]
            and all(one.ended >= one.started >= 0 and one.delay == 0 for one in response.attempts)
            and response.cache == netcore.CacheReport() and not response.is_from_cache
            and (once.status, [one.reason for one in once.attempts]) == (503, ["no-attempts-left"])
            and (post.status, post.attempts[0].reason) == (503, "not-idempotent") and repeated.status == 200
            and [(one.error, one.status, one.reason) for one in refused]
            == [("NC_ERR_REFUSED", None, "backoff")] * 2 + [("NC_ERR_REFUSED", None, "no-attempts-left")]
            and unsent.status == 503 and unsent.attempts == () and again.status == 200 and len(again.attempts) == 2
            and alone.status == 200)


def limits() -> bool:
    """The timeout covers all attempts, and Retry-After above the limit ends them."""
    with netcore.Engine(retries=netcore.RetryPolicy(9, base_delay=3600, max_delay=3600, jitter=False)) as engine:
        replies["/slow"] = [503]
        waiting = engine.fetch_blocking(URL + "/slow", timeout=5)
        return (waiting.status, waiting.attempts[0].reason) == (503, "no-time-left")


def directories() -> bool:
    """A directory keeps the responses for the next process; "~" is the home directory."""
    url = URL + "/kept?max-age=60"
    home = tempfile.mkdtemp()
    program = ("import netcore, sys\nwith netcore.Engine(cache='~/.cache/app') as engine:\n"
               "    response = engine.fetch_blocking(sys.argv[1])\n    print(response.cache.outcome, response.text)")
    lines = [subprocess.run([sys.executable, "-c", program, url], env={**os.environ, "HOME": home}, check=True,
                            stdout=subprocess.PIPE).stdout.decode().strip() for _ in range(2)]
    with netcore.Cache(os.path.join(home, ".cache", "app")) as cache:
        with netcore.Engine(cache=cache) as engine:
            kept = engine.fetch_blocking(url)
            hits = cache.stats().store_hits
            cache.clear()
            cleared = engine.fetch_blocking(url)
    return (lines == ["network /kept 1", "hit /kept 1"] and kept.is_from_cache and hits >= 1
            and not cleared.is_from_cache and sorted(os.listdir(home)) == [".cache"])


class Stored:
    """A store in a dict, which fails and damages values on demand."""

    def __init__(self) -> None:
        self.values: Dict[bytes, Tuple[bytes, str]] = {}
        self.fault = ""

    def work(self, step: str) -> None:
        if self.fault in (step, "all"):
            raise OSError("the store is broken")

    def get(self, key: bytes) -> Optional[bytes]:
        self.work("get")
        value = self.values.get(key, (None, ""))[0]
        if value is None or self.fault not in ("cut", "changed", "short", "typed"):
            return value
        typed: Any = bytearray(value)
        damaged: Dict[str, bytes] = {"cut": value[:-1], "changed": value[:40] + b"?" + value[41:], "short": b"ab",
                                     "typed": typed}
        return damaged[self.fault]

    def put(self, key: bytes, value: bytes, host: str) -> None:
        self.work("put")
        self.values[key] = (value, host)

    def remove(self, key: bytes) -> None:
        self.work("remove")
        self.values.pop(key, None)

    def remove_all(self, host: Optional[str]) -> None:
        self.work("remove_all")
        self.values = {} if host is None else {key: one for key, one in self.values.items() if one[1] != host}


def stores() -> bool:
    """A store in Python keeps the responses. Its errors and wrong values are misses."""
    store, url = Stored(), URL + "/stores?max-age=60"
    seen: List[Tuple[str, str]] = []
    logging.getLogger("netcore").setLevel(logging.CRITICAL)
    for fault in ("", "", "cut", "changed", "short", "typed", "get", "all", "put"):
        store.fault = fault
        with netcore.Engine(cache=store) as engine:  # with nothing in memory
            response = engine.fetch_blocking(url)
            seen.append((response.cache.outcome, fault))
            store.fault = ""
            engine.fetch_blocking(url)
            if not response.text.startswith("/stores "):
                return False
    with netcore.Cache(store=store) as cache, netcore.Engine(cache=cache) as engine:
        kept = engine.fetch_blocking(url).is_from_cache
        hosts = {host for _, host in store.values.values()}
        cache.remove_host("127.0.0.1")
        left = len(store.values)
        removed = engine.fetch_blocking(url).cache.outcome
        store.fault = "remove_all"
        failed = raises(netcore.NetError, cache.clear, "cannot remove")
        store.fault = ""
        cache.clear()
    return (seen == [("network", ""), ("hit", ""), ("network", "cut"), ("network", "changed"), ("network", "short"),
                     ("network", "typed"), ("network", "get"), ("network", "all"), ("hit", "put")]
            and kept and hosts == {"", "127.0.0.1"} and left == 1 and removed == "network" and failed
            and len(store.values) == 1)


def refused() -> bool:
    """Values that make no sense have clear errors."""
    any_value: Any = object()
    with netcore.Engine() as plain, netcore.Engine(cache=netcore.Cache()) as engine, netcore.Cache() as closed:
        closed.close()
        steps = [
            raises(ValueError, lambda: plain.fetch_blocking(URL, cache="reload"), "no cache"),
            plain.fetch_blocking(URL + "/x", cache="no-store").status == 200,
            raises(ValueError, lambda: engine.fetch_blocking(URL, cache="offline"), "cache-only"),
            raises(TypeError, lambda: engine.fetch_blocking(URL, cache=any_value), "CachePolicy"),
            raises(TypeError, lambda: engine.fetch_blocking(URL, retries=any_value), "retries"),
            raises(TypeError, lambda: engine.fetch_blocking(URL, retries=True), "retries"),
            raises(ValueError, lambda: engine.fetch_blocking(URL, retries=-1), "retries is -1"),
            raises(ValueError, lambda: engine.fetch_blocking(URL, cache="reload", on_chunk=print), "on_chunk"),
            raises(ValueError, lambda: netcore.Engine(cache=closed), "closed"),
            raises(ValueError, closed.clear, "closed"), raises(ValueError, closed.stats, "closed"),
            raises(ValueError, lambda: netcore.Engine(cache="")), raises(ValueError, lambda: netcore.Engine(cache="a\0b")),
            raises(TypeError, lambda: netcore.Engine(cache=any_value)),
            raises(netcore.NetError, lambda: netcore.Engine(cache="/dev/null/a")),
            raises(ValueError, lambda: netcore.Engine(cache_policy=netcore.CachePolicy()), "without a cache"),
            raises(ValueError, lambda: netcore.Cache(max_memory_bytes=0)),
            raises(ValueError, lambda: netcore.Cache(max_disk_bytes=1), "directory"),
            raises(ValueError, lambda: netcore.Cache("/tmp", store=Stored()), "not both"),
            raises(TypeError, lambda: netcore.Cache(store=any_value), "remove_all"),
            raises(ValueError, lambda: netcore.CachePolicy(max_stale=-1), "max_stale"),
            raises(ValueError, lambda: netcore.CachePolicy(stale_if_error=math.nan), "stale_if_error"),
            raises(ValueError, lambda: netcore.CachePolicy(heuristic_fraction=1.5), "heuristic_fraction"),
            raises(TypeError, lambda: netcore.CachePolicy(stale_while_revalidate=any_value)),
            raises(ValueError, lambda: netcore.RetryPolicy(statuses=[99]), "100 to 599"),
            raises(ValueError, lambda: netcore.RetryPolicy(statuses=range(500, 517)), "at most 16"),
            raises(ValueError, lambda: netcore.RetryPolicy(base_delay=-1), "base_delay"),
        ]
        return all(steps)


def coroutines() -> bool:
    """Equal requests share one transfer; cancelling a task cancels its call only."""
    async def main() -> bool:
        async with netcore.Engine(cache=netcore.Cache(), retries=2) as engine:
            many = await asyncio.gather(*(engine.fetch(URL + "/many?max-age=60") for _ in range(50)))
            task = asyncio.ensure_future(engine.fetch(URL + "/silent"))
            await asyncio.sleep(0)
            task.cancel()
            ended = (await asyncio.gather(task, return_exceptions=True))[0]
            chunks: List[bytes] = []
            streamed = await engine.fetch(URL + "/many?max-age=60", on_chunk=chunks.append)
            return (len({one.content for one in many}) == 1 and isinstance(ended, asyncio.CancelledError)
                    and counts["/many"] == 2 and streamed.cache.outcome == "unused" and b"".join(chunks) == b"/many 2")

    return asyncio.run(main())


def ends() -> bool:
    """Engines with a cache end in a callback, in a reference cycle, in a forked child, and with calls in flight."""
    cache = netcore.Cache()
    inside = netcore.Engine(cache=cache, retries=1)
    inside.fetch_blocking(URL + "/ends?max-age=60")
    try:
        inside.fetch_blocking(URL + "/ends", on_chunk=lambda piece: inside.close())
    except netcore.CancelledError:
        pass
    for _ in range(20):
        engine: Any = netcore.Engine(cache=netcore.Cache())
        engine.fetch_blocking(URL + "/cycle?max-age=60")
        engine.myself = [engine, netcore.Cache()]
        del engine
        gc.collect()
    busy = netcore.Engine(cache=cache)
    transfer = busy.start(URL + "/silent")
    child = os.fork()
    if child == 0:
        transfer.cancel()
        os._exit(0 if raises(ValueError, lambda: busy.fetch_blocking(URL)) else 1)
    _, code = os.waitpid(child, 0)
    cache.close()
    busy.close()
    return code == 0 and raises(netcore.CancelledError, transfer.result) and raises(ValueError, lambda: busy.fetch_blocking(URL))


def main() -> int:
    failures = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for step in (modes, stale, users, retried, limits, directories, stores, refused, coroutines, ends):
        is_right = step()
        failures += not is_right
        print(("ok " if is_right else "failed ") + step.__name__, flush=True)
    released.set()
    server.shutdown()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
