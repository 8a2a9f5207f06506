"""The engine: blocking calls, calls for asyncio, and the callbacks between the two worlds."""

import asyncio
import atexit
import concurrent.futures
import ctypes
import itertools
import os
import threading
import weakref
from ctypes import byref, c_uint64, c_void_p
from typing import Any, Callable, Dict, Generic, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _c
from ._cache_store import CacheStore
from ._caching import (Attempt, Cache, CachePolicy, CacheReport, CacheUse, Retries, RetryPolicy, SharedCache, attempts_of,
                       cache_of, cache_policy, report_of, retry_policy)
from ._errors import check, error_of
from ._request import Data, HeaderFields, Params, native_request
from ._values import Expectation, Response, Trust
from ._values import _Handle as _Call
from ._websocket import _END, _MESSAGE, _OPEN, _PONG, _ROOM, WebSocketConnector, _Channel, native_options

_Result = TypeVar("_Result")

Chunk = Callable[[bytes], Any]
Progress = Callable[[int, Optional[int]], Any]

# C never holds a Python object. It gets a number, which callbacks look up in this table, and which is removed after
# on_done. These steps are atomic in the interpreter. A lock could deadlock if the garbage collector closes an engine.
_waiting: Dict[int, "_Pending"] = {}
_numbers = itertools.count(1)


class _Pending:
    """A transfer or download for which C may still call a callback."""

    def __init__(self, engine: "Engine", on_chunk: Optional[Chunk] = None, on_progress: Optional[Progress] = None) -> None:
        # A weak reference, so that transfers in flight do not keep an engine alive that is no longer used.
        self.engine = weakref.ref(engine)
        self.on_chunk = on_chunk
        self.on_progress = on_progress
        self.began = threading.Event()
        self.failure: Optional[BaseException] = None
        self.future: "concurrent.futures.Future[Any]" = concurrent.futures.Future()
        self.future.set_running_or_notify_cancel()  # only the library ends it: callers cannot cancel the future
        self.number = next(_numbers)
        _waiting[self.number] = self

    def forget(self) -> None:
        _waiting.pop(self.number, None)

    def refuse(self, failure: BaseException) -> None:
        """Stores a callback's exception. Wraps StopIteration, which would end a waiting generator and which asyncio rejects."""
        if isinstance(failure, StopIteration):
            cause, failure = failure, RuntimeError("a callback raised StopIteration")
            failure.__cause__ = cause
        self.failure = failure

    def abandon(self) -> None:
        """Ends the transfer in a forked child. Replaces the locks, because the child's copies may be locked forever."""
        self.forget()
        self.began, self.future = threading.Event(), concurrent.futures.Future()
        self.future.set_exception(ValueError("it is the parent process's"))
        self.began.set()

    def end(self, value: Any, error: _c.Error, cache: Optional[CacheReport] = None,
            attempts: Tuple[Attempt, ...] = ()) -> None:
        self.forget()
        if self.failure is not None:
            self.future.set_exception(self.failure)
        elif error.status != _c.OK:
            failure = error_of(error)
            failure.cache, failure.attempts = cache, attempts
            self.future.set_exception(failure)
        else:
            self.future.set_result(value)
        self.began.set()


def _on_head(ctx: int, identifier: int, response: int, is_last: bool) -> int:
    _waiting[ctx].began.set()
    return _c.CONTINUE


def _on_body(ctx: int, identifier: int, piece: _c.Slice) -> int:
    pending = _waiting[ctx]
    try:
        if pending.on_chunk is not None:
            pending.on_chunk(piece.bytes())
        return _c.CONTINUE
    except BaseException as failure:  # nothing may be thrown through C
        pending.refuse(failure)
        return _c.STOP


def _on_done(ctx: int, identifier: int, response: int, error: Any) -> None:
    # The response is borrowed, so a reference is taken.
    _waiting[ctx].end(Response(_c.lib.nc_response_retain(response)), error.contents)


def _on_call_done(ctx: int, call: int, response: Optional[int], error: Any) -> None:
    cache, attempts = report_of(call), attempts_of(call)
    owned = None if response is None else Response(_c.lib.nc_response_retain(response), cache, attempts)
    _waiting[ctx].end(owned, error.contents, cache, attempts)


def _on_download_progress(ctx: int, identifier: int, progress: Any) -> None:
    pending = _waiting[ctx]
    if pending.on_progress is not None and pending.failure is None:
        total = progress.contents.total_bytes
        try:
            pending.on_progress(progress.contents.received_bytes, None if total == 2**64 - 1 else total)
        except BaseException as failure:
            pending.refuse(failure)
            engine = pending.engine()
            if engine is not None:  # if the engine is ending, it cancels this transfer itself
                engine._cancel(_c.lib.nc_download_cancel, identifier)


def _on_download_done(ctx: int, identifier: int, response: Optional[int], result: Any, error: Any) -> None:
    _waiting[ctx].end(os.fsdecode(result.contents.path.bytes()), error.contents)


# C may call these as long as the process runs, so they are never freed.
_HEAD, _BODY, _DONE = _c.HEAD_FN(_on_head), _c.BODY_FN(_on_body), _c.DONE_FN(_on_done)
_CALL_DONE = _c.CALL_DONE_FN(_on_call_done)
_DOWNLOAD_PROGRESS = _c.DOWNLOAD_PROGRESS_FN(_on_download_progress)
_DOWNLOAD_DONE = _c.DOWNLOAD_DONE_FN(_on_download_done)


class Transfer(Generic[_Result]):
    """A transfer or download in flight. It can be cancelled from any thread, at any time."""

    def __init__(self, engine: "Engine", pending: _Pending, cancel: Callable[[], None]) -> None:
        self._engine, self._pending, self._cancel = engine, pending, cancel

    def cancel(self) -> None:
        self._cancel()

    def wait_for_head(self) -> None:
        """Waits for the response head, or for the end if there is no head. Not allowed in a callback.

        A request that uses the cache or retries has no head before its end.
        """
        self._engine._refuse_loop()
        self._pending.began.wait()

    def result(self) -> _Result:
        """Waits for the end and returns the response, or a download's path. Control-C cancels. Not allowed in a callback."""
        self._engine._refuse_loop()
        try:
            result: _Result = self._pending.future.result()
            return result
        except KeyboardInterrupt:
            self.cancel()
            raise

    async def wait(self) -> _Result:
        """Like result(), for asyncio. Cancelling the task cancels the transfer."""
        try:
            result: _Result = await asyncio.wrap_future(self._pending.future)
            return result
        except asyncio.CancelledError:
            self.cancel()
            raise


class Engine:
    """An event loop thread with its connections. Thread-safe.

    With asyncio: `async with Engine() as engine: await engine.fetch(url)`.
    Blocking: `with Engine() as engine: engine.fetch_blocking(url)`.

    - cache: stores responses: a Cache, or a directory or a CacheStore for one. Each request then uses it by `cache_policy`, unless its
      own `cache` argument has another mode or policy.
    - retries: sends each request again after a temporary failure, this many times or by this policy, unless its own
      `retries` argument differs. Without it, each request is sent once.
    """

    _raw: Optional[int] = None
    _client: Optional[int] = None  # has retries and the cache; created by the first request that needs it
    _shared: Optional[SharedCache] = None

    def __init__(self, *, cache: Union[Cache, CacheStore, str, "os.PathLike[str]", None] = None,
                 cache_policy: Optional[CachePolicy] = None, retries: Optional[Retries] = None) -> None:
        # Held during calls that do not wait, so that the engine is not freed meanwhile.
        self._guard = threading.Lock()
        self._retries = None if retries is None else retry_policy(retries)
        if cache_policy is not None and not isinstance(cache_policy, CachePolicy):
            raise TypeError(f"cache_policy is a CachePolicy, not {type(cache_policy).__name__}")
        if cache_policy is not None and cache is None:
            raise ValueError("cache_policy is given for an engine without a cache")
        self._policy = cache_policy or CachePolicy()
        raw, error = c_void_p(), _c.Error()
        shared = None
        if cache is not None:
            opened = cache_of(cache)
            shared = opened.share()
        status = _c.lib.nc_engine_new(byref(raw), None, byref(error))
        if status != _c.OK and shared is not None:
            shared.release()
        check(status, error)
        self._raw, self._shared = raw.value, shared
        _engines.add(self)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        self.close()

    async def __aenter__(self) -> "Engine":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if self._raw is not None:
            self.close()

    def close(self) -> None:
        """Cancels all transfers and waits until their callbacks have returned. In a callback it does not wait."""
        with self._guard:
            raw, self._raw = self._raw, None
            client, self._client = self._client, None
            shared, self._shared = self._shared, None
        if raw is not None:
            _close_all_of(raw, client, shared)

    async def aclose(self) -> None:
        """Like close(), without blocking the loop of asyncio."""
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def _cancel(self, cancel: Callable[[Any, int], None], identifier: int) -> None:
        with self._guard:
            if self._raw is not None:
                cancel(self._raw, identifier)

    def _cancel_call(self, call: "_Call") -> None:
        with self._guard:
            if self._raw is not None:  # a closed engine has cancelled it, and a forked child has no client
                _c.lib.nc_call_cancel(call.address)

    def _refuse_loop(self) -> None:
        """Raises on the event loop thread, which would wait for itself."""
        with self._guard:
            if self._raw is not None and _c.lib.nc_engine_is_on_loop(self._raw):
                raise RuntimeError("a callback may not wait for a transfer")

    def _submit(self, pending: Union[_Pending, _Channel], call: Callable[[int, Any, Any], int]) -> int:
        """Starts a transfer by `call` and returns its id. If C rejects it, no callback follows."""
        identifier, error, status = c_uint64(), _c.Error(), -1
        try:
            with self._guard:
                if self._raw is None:
                    raise ValueError("it is closed")
                status = call(self._raw, byref(identifier), byref(error))
            check(status, error)
        finally:
            if status != _c.OK:
                pending.forget()
        return identifier.value

    def start(self, url: str, *, method: Optional[str] = None, headers: Optional[HeaderFields] = None,
              params: Optional[Params] = None, json: Any = None, data: Optional[Data] = None,
              timeout: Optional[float] = None, follow_redirects: bool = True, trust: Optional[Trust] = None,
              expectation: Optional[Expectation] = None, on_chunk: Optional[Chunk] = None,
              cache: Optional[CacheUse] = None, retries: Optional[Retries] = None) -> Transfer[Response]:
        """Sends a request and returns immediately. See fetch() for the arguments."""
        use, retry = self._cache_use(cache), None if retries is None else retry_policy(retries)
        is_plain = use is None and retry is None and self._retries is None
        if on_chunk is not None:
            if cache is not None or retries is not None:
                raise ValueError("on_chunk cannot be used with cache or retries: it receives the body of one transfer")
            use, is_plain = None, True
        request, references = native_request(
            url, method=method, headers=headers, params=params, json=json, data=data, timeout=timeout,
            follow_redirects=follow_redirects, trust=trust, expectation=expectation, cache_control=None if use is None else use.max_stale_field)
        if not is_plain:
            return self._send(request, use, retry)
        pending = _Pending(self, on_chunk=on_chunk)
        sink = _c.Sink(ctx=pending.number, on_head=_HEAD, on_done=_DONE)
        if on_chunk is not None:
            sink.on_body = _BODY
        identifier = self._submit(
            pending, lambda raw, out, error: _c.lib.nc_engine_submit(raw, byref(request), byref(sink), out, error))
        del references  # the library has copied it
        return Transfer(self, pending, lambda: self._cancel(_c.lib.nc_engine_cancel, identifier))

    def _cache_use(self, cache: Optional[CacheUse]) -> Optional[CachePolicy]:
        """Returns how a request uses the cache; None for an engine without one."""
        use = self._policy if cache is None else cache_policy(cache)
        if self._shared is not None or self._raw is None:  # a closed engine is refused later
            return use
        if cache is not None and use.mode != "no-store":
            raise ValueError(f"the cache mode is {use.mode!r}, but the engine has no cache: Engine(cache=…)")
        return None

    def _send(self, request: _c.Request, use: Optional[CachePolicy], retry: Optional[RetryPolicy]) -> Transfer[Response]:
        """Sends a request by the client, which has the cache and retries."""
        options = _c.CallOptions()
        if retry is not None:  # only a request with the engine's policy can share the transfer of an equal one
            options.retry = ctypes.pointer(retry.native)
        if use is not None:
            options.cache = ctypes.pointer(use.native)
            options.has_cache_scope = use.scope is not None
            options.cache_scope = _c.view(use.scope or b"")
        pending = _Pending(self)
        sink, out = _c.CallSink(ctx=pending.number, on_done=_CALL_DONE), c_void_p()

        def send(raw: int, identifier: Any, error: Any) -> int:
            if self._client is None:
                client = c_void_p()
                settings = _c.ClientOptions(cache=self._shared.address.value if self._shared is not None else None)
                if self._retries is not None:
                    settings.retry = ctypes.pointer(self._retries.native)
                status: int = _c.lib.nc_client_new(byref(client), raw, byref(settings), error)
                if status != _c.OK:
                    return status
                self._client = client.value
            status = _c.lib.nc_client_send(self._client, byref(request), byref(options), byref(sink), byref(out), error)
            return status

        self._submit(pending, send)
        call = _Call(out.value or 0, _c.lib.nc_call_release)
        return Transfer(self, pending, lambda: self._cancel_call(call))

    async def fetch(self, url: str, *, method: Optional[str] = None, headers: Optional[HeaderFields] = None,
                    params: Optional[Params] = None, json: Any = None, data: Optional[Data] = None,
                    timeout: Optional[float] = None, follow_redirects: bool = True, trust: Optional[Trust] = None,
                    expectation: Optional[Expectation] = None, on_chunk: Optional[Chunk] = None,
                    cache: Optional[CacheUse] = None, retries: Optional[Retries] = None) -> Response:
        """Sends a request and returns the response. Cancelling the task cancels the transfer.

        - method: GET, or POST if there is a body.
        - params: added to the query of the URL.
        - json, data: the body. Pairs are sent as a form. Sets Content-Type unless `headers` has it.
        - timeout: seconds for all attempts and delays together; None is the library's default, 300.
        - follow_redirects: False returns the response of a redirect.
        - on_chunk: receives the body in pieces, on the engine's thread. The response then has no body. The request uses
          neither the cache nor retries.
        - cache: a mode such as "reload" or "cache-only", or a CachePolicy; None is the engine's.
        - retries: the number of retries, or a RetryPolicy; None is the engine's. 0 sends the request once.
        """
        return await self.start(
            url, method=method, headers=headers, params=params, json=json, data=data, timeout=timeout,
            follow_redirects=follow_redirects, trust=trust, expectation=expectation, on_chunk=on_chunk, cache=cache, retries=retries).wait()

    def fetch_blocking(self, url: str, *, method: Optional[str] = None, headers: Optional[HeaderFields] = None,
                       params: Optional[Params] = None, json: Any = None, data: Optional[Data] = None,
                       timeout: Optional[float] = None, follow_redirects: bool = True, trust: Optional[Trust] = None,
                       expectation: Optional[Expectation] = None, on_chunk: Optional[Chunk] = None,
                       cache: Optional[CacheUse] = None, retries: Optional[Retries] = None) -> Response:
        """Like fetch(), and blocks until the response has arrived."""
        return self.start(
            url, method=method, headers=headers, params=params, json=json, data=data, timeout=timeout,
            follow_redirects=follow_redirects, trust=trust, expectation=expectation, on_chunk=on_chunk, cache=cache, retries=retries).result()

    def websocket(self, url: str, *, headers: Optional[HeaderFields] = None, params: Optional[Params] = None,
                  protocols: Sequence[str] = (), timeout: Optional[float] = None, trust: Optional[Trust] = None,
                  compression: bool = False, max_message_bytes: int = 64 << 20, ping_interval: float = 30,
                  peer_timeout: float = 90, close_timeout: float = 5) -> WebSocketConnector:
        """Returns a WebSocket to open: `with engine.websocket(url) as socket`, or `async with`.

        - protocols: subprotocols to offer, the preferred one first.
        - timeout: seconds for the handshake; None is the library's default, 300.
        - compression: offers permessage-deflate.
        - max_message_bytes: the largest message to receive.
        - ping_interval, peer_timeout: after so many seconds without a received byte, a ping is sent, and the socket
          fails; math.inf is never.
        - close_timeout: seconds for the server to close the connection.
        """
        request, references = native_request(url, headers=headers, params=params, timeout=timeout, trust=trust)
        options, names = native_options(protocols, compression, max_message_bytes, ping_interval, peer_timeout,
                                        close_timeout)
        references += names

        def start(channel: _Channel) -> int:
            socket = c_void_p()
            sink = _c.SocketSink(ctx=channel.number, on_open=_OPEN, on_message=_MESSAGE, on_pong=_PONG, on_room=_ROOM,
                                 on_end=_END)
            self._submit(channel, lambda raw, out, error: _c.lib.nc_socket_open(
                byref(socket), raw, byref(request), byref(options), byref(sink), error))
            return socket.value or 0

        return WebSocketConnector(self, start, references)

    def start_download(self, url: str, path: str, *, trust: Optional[Trust] = None,
                       on_progress: Optional[Progress] = None) -> Transfer[str]:
        """Downloads into a file, and resumes a partial file. The result is the path."""
        request, references = native_request(url, trust=trust)
        request.accepts_codings = False  # a resumed file consists of the bytes as they were sent
        encoded = os.fsencode(path)
        pending = _Pending(self, on_progress=on_progress)
        options = _c.DownloadOptions(request=ctypes.pointer(request), path=_c.view(encoded))
        sink = _c.DownloadSink(ctx=pending.number, on_progress=_DOWNLOAD_PROGRESS, on_done=_DOWNLOAD_DONE)
        identifier = self._submit(
            pending, lambda raw, out, error: _c.lib.nc_download_start(raw, byref(options), byref(sink), out, error))
        del references
        return Transfer(self, pending, lambda: self._cancel(_c.lib.nc_download_cancel, identifier))

    async def download(self, url: str, path: str, *, trust: Optional[Trust] = None,
                       on_progress: Optional[Progress] = None) -> str:
        """Downloads into a file and returns its path. Resumes a partial file. Cancelling the task cancels the download."""
        return await self.start_download(url, path, trust=trust, on_progress=on_progress).wait()

    def download_blocking(self, url: str, path: str, *, trust: Optional[Trust] = None,
                          on_progress: Optional[Progress] = None) -> str:
        """Like download(), and blocks until the file is complete."""
        return self.start_download(url, path, trust=trust, on_progress=on_progress).result()


def fetch(url: str, *, method: Optional[str] = None, headers: Optional[HeaderFields] = None,
          params: Optional[Params] = None, json: Any = None, data: Optional[Data] = None,
          timeout: Optional[float] = None, follow_redirects: bool = True, trust: Optional[Trust] = None,
          expectation: Optional[Expectation] = None, retries: Optional[Retries] = None) -> Response:
    """Sends one request and blocks until the response has arrived. See Engine.fetch() for the arguments.

    Each call has its own engine and connection. For many requests use one Engine and its fetch_blocking().
    """
    with Engine() as engine:
        return engine.fetch_blocking(
            url, method=method, headers=headers, params=params, json=json, data=data, timeout=timeout,
            follow_redirects=follow_redirects, trust=trust, expectation=expectation, retries=retries)


def _close_all_of(raw: int, client: Optional[int], shared: Optional[SharedCache]) -> None:
    """Closes a client, its cache and its engine, in this order."""
    if client is not None and _c.lib.nc_client_close(client) == _c.USAGE:
        # A thread of the library cannot wait for itself: another thread waits.
        threading.Thread(target=_close_all_of, args=(raw, client, shared)).start()
        return
    if shared is not None:
        shared.release()
    if _c.lib.nc_engine_close(raw, _c.UNLIMITED) == _c.USAGE:
        _c.lib.nc_engine_release(raw)


# A callback needs the interpreter, so open engines are closed before it ends.
_engines: "weakref.WeakSet[Engine]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for engine in list(_engines):
        engine.close()


def _forget_all() -> None:
    """Detaches all engines in a forked child: it has no event loop threads, so each call would wait forever."""
    for engine in list(_engines):
        engine._guard, engine._raw, engine._client, engine._shared = threading.Lock(), None, None, None
    for pending in list(_waiting.values()):
        pending.abandon()


os.register_at_fork(after_in_child=_forget_all)
