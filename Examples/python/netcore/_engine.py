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
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type

from . import _c
from ._values import Expectation, NetError, Response, Trust, check

Chunk = Callable[[bytes], Any]
Progress = Callable[[int, Optional[int]], Any]

# C gets a number, never an object. The number is looked up here, and removed after on_done. Each step is atomic in the
# interpreter, so no lock is held while the garbage collector closes an engine.
_waiting: Dict[int, "_Pending"] = {}
_numbers = itertools.count(1)


class _Pending:
    """A transfer or download that C may still speak of."""

    def __init__(self, engine: "Engine", on_chunk: Optional[Chunk] = None, on_progress: Optional[Progress] = None) -> None:
        # Not the engine itself, which ends with its last reference while transfers are in flight.
        self.engine = weakref.ref(engine)
        self.on_chunk = on_chunk
        self.on_progress = on_progress
        self.began = threading.Event()
        self.failure: Optional[BaseException] = None
        self.future: "concurrent.futures.Future[Any]" = concurrent.futures.Future()
        self.future.set_running_or_notify_cancel()  # the library ends it, nobody else
        self.number = next(_numbers)
        _waiting[self.number] = self

    def forget(self) -> None:
        _waiting.pop(self.number, None)

    def refuse(self, failure: BaseException) -> None:
        """Keeps what a callback has thrown. A StopIteration would end whichever generator waits, and asyncio takes none."""
        if isinstance(failure, StopIteration):
            cause, failure = failure, RuntimeError("a callback raised StopIteration")
            failure.__cause__ = cause
        self.failure = failure

    def abandon(self) -> None:
        """In a forked child, whose copies of the old locks may be held for good: nothing is told there any more."""
        self.forget()
        self.began, self.future = threading.Event(), concurrent.futures.Future()
        self.future.set_exception(ValueError("it is the parent process's"))
        self.began.set()

    def end(self, value: Any, error: _c.Error) -> None:
        self.forget()
        if self.failure is not None:
            self.future.set_exception(self.failure)
        elif error.status != _c.OK:
            self.future.set_exception(NetError(error))
        else:
            self.future.set_result(value)
        self.began.set()


@_c.HEAD_FN
def _on_head(ctx: int, identifier: int, response: int, is_last: bool) -> int:
    _waiting[ctx].began.set()
    return _c.CONTINUE


@_c.BODY_FN
def _on_body(ctx: int, identifier: int, piece: _c.Slice) -> int:
    pending = _waiting[ctx]
    try:
        if pending.on_chunk is not None:
            pending.on_chunk(piece.bytes())
        return _c.CONTINUE
    except BaseException as failure:  # nothing may be thrown through C
        pending.refuse(failure)
        return _c.STOP


@_c.DONE_FN
def _on_done(ctx: int, identifier: int, response: int, error: Any) -> None:
    # The response is borrowed, so a reference is taken.
    _waiting[ctx].end(Response(_c.lib.nc_response_retain(response)), error.contents)


@_c.DOWNLOAD_PROGRESS_FN
def _on_download_progress(ctx: int, identifier: int, progress: Any) -> None:
    pending = _waiting[ctx]
    if pending.on_progress is not None and pending.failure is None:
        total = progress.contents.total_bytes
        try:
            pending.on_progress(progress.contents.received_bytes, None if total == 2**64 - 1 else total)
        except BaseException as failure:
            pending.refuse(failure)
            engine = pending.engine()
            if engine is not None:  # otherwise it is ending, and so is this
                engine._cancel(_c.lib.nc_download_cancel, identifier)


@_c.DOWNLOAD_DONE_FN
def _on_download_done(ctx: int, identifier: int, response: Optional[int], result: Any, error: Any) -> None:
    _waiting[ctx].end(os.fsdecode(result.contents.path.bytes()), error.contents)


class Transfer:
    """One that is under way. Cancelling is harmless from any thread, at any time."""

    def __init__(self, engine: "Engine", identifier: int, pending: _Pending, cancel: Callable[[Any, int], None]) -> None:
        self._engine, self._identifier, self._pending, self._cancel = engine, identifier, pending, cancel

    def cancel(self) -> None:
        self._engine._cancel(self._cancel, self._identifier)

    def wait_for_head(self) -> None:
        """Waits until a head has come, or the end without one. Not in a callback."""
        self._engine._refuse_loop()
        self._pending.began.wait()

    def result(self) -> Any:
        """Waits for the end: the response, or a download's path. Control-C cancels. Not in a callback."""
        self._engine._refuse_loop()
        try:
            return self._pending.future.result()
        except KeyboardInterrupt:
            self.cancel()
            raise

    async def wait(self) -> Any:
        """As result(), for asyncio: cancelling the task cancels the transfer."""
        try:
            return await asyncio.wrap_future(self._pending.future)
        except asyncio.CancelledError:
            self.cancel()
            raise


class Engine:
    """One loop thread with its connections. Thread-safe."""

    _raw: Optional[int] = None

    def __init__(self) -> None:
        # Held during calls that do not wait, so that the engine is not freed meanwhile.
        self._guard = threading.Lock()
        raw, error = c_void_p(), _c.Error()
        check(_c.lib.nc_engine_new(byref(raw), None, byref(error)), error)
        self._raw = raw.value
        _engines.add(self)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if self._raw is not None:
            self.close()

    def close(self) -> None:
        """Cancels what is under way and waits until its end was told. In a callback it does not wait."""
        with self._guard:
            raw, self._raw = self._raw, None
        if raw is not None and _c.lib.nc_engine_close(raw, _c.UNLIMITED) == _c.USAGE:
            _c.lib.nc_engine_release(raw)

    def _cancel(self, cancel: Callable[[Any, int], None], identifier: int) -> None:
        with self._guard:
            if self._raw is not None:
                cancel(self._raw, identifier)

    def _refuse_loop(self) -> None:
        """The loop thread would wait for itself."""
        with self._guard:
            if self._raw is not None and _c.lib.nc_engine_is_on_loop(self._raw):
                raise RuntimeError("a callback may not wait for a transfer")

    def _submit(self, pending: _Pending, call: Callable[[int, Any, Any], int]) -> int:
        """Starts what `call` hands to C; what was not accepted is told nothing."""
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

    def start(self, url: str, *, method: str = "GET", headers: Optional[Mapping[str, str]] = None,
              body: Optional[bytes] = None, trust: Optional[Trust] = None,
              expectation: Optional[Expectation] = None, on_chunk: Optional[Chunk] = None,
              total_ms: int = 0) -> Transfer:
        """Asks. With `on_chunk` the body goes there, piece by piece, instead of into the response."""
        request, kept = _described(url, method, headers, body, trust, expectation, total_ms)
        pending = _Pending(self, on_chunk=on_chunk)
        sink = _c.Sink(ctx=pending.number, on_head=_on_head, on_done=_on_done)
        if on_chunk is not None:
            sink.on_body = _on_body
        identifier = self._submit(
            pending, lambda raw, out, error: _c.lib.nc_engine_submit(raw, byref(request), byref(sink), out, error))
        del kept  # copied by now
        return Transfer(self, identifier, pending, _c.lib.nc_engine_cancel)

    def fetch(self, url: str, **options: Any) -> Response:
        """Asks and waits; the options are those of start()."""
        response: Response = self.start(url, **options).result()
        return response

    async def fetch_async(self, url: str, **options: Any) -> Response:
        """As fetch(), for asyncio."""
        response: Response = await self.start(url, **options).wait()
        return response

    def start_download(self, url: str, path: str, *, trust: Optional[Trust] = None,
                       on_progress: Optional[Progress] = None) -> Transfer:
        """Fetches into a file, resuming what is there of it; its result is the path."""
        request, kept = _described(url, "GET", None, None, trust, None, 0)
        where = os.fsencode(path)
        pending = _Pending(self, on_progress=on_progress)
        options = _c.DownloadOptions(request=ctypes.pointer(request), path=_c.view(where))
        sink = _c.DownloadSink(ctx=pending.number, on_progress=_on_download_progress, on_done=_on_download_done)
        identifier = self._submit(
            pending, lambda raw, out, error: _c.lib.nc_download_start(raw, byref(options), byref(sink), out, error))
        del kept
        return Transfer(self, identifier, pending, _c.lib.nc_download_cancel)

    def download(self, url: str, path: str, **options: Any) -> str:
        """As start_download(), and waits."""
        return str(self.start_download(url, path, **options).result())


def _described(url: str, method: str, headers: Optional[Mapping[str, str]], body: Optional[bytes],
               trust: Optional[Trust], expectation: Optional[Expectation], total_ms: int) -> Tuple[_c.Request, List[Any]]:
    """A request and what it views, to be kept until it was submitted."""
    if not isinstance(body, (bytes, bytearray, memoryview, type(None))):
        raise TypeError(f"body is bytes, not {type(body).__name__}")
    for value, kind in ((trust, Trust), (expectation, Expectation)):
        if not isinstance(value, (kind, type(None))):
            raise TypeError(f"{type(value).__name__} given for a {kind.__name__}")
    owned = [None if owner is None else owner.raw for owner in (trust, expectation)]
    kept: List[Any] = [_c.text(url, "url"), _c.text(method, "method"), bytes(body or b""), owned]
    request = _c.Request(url=_c.view(kept[0]), method=_c.view(kept[1]), body=_c.view(kept[2]),
                         has_body=body is not None, trust=owned[0] and owned[0].address,
                         expectation=owned[1] and owned[1].address)
    request.limits.total_ms = _c.number(total_ms, 32, "total_ms")
    texts = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()]
    fields = (_c.Header * len(texts))(*[_c.Header(_c.view(name), _c.view(value)) for name, value in texts])
    request.headers = fields
    request.header_count = len(texts)
    return request, kept + [texts, fields]


# A callback needs the interpreter, so open engines are closed before it ends.
_engines: "weakref.WeakSet[Engine]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for engine in list(_engines):
        engine.close()


def _forget_all() -> None:
    """A forked child has no loop thread, and would wait for one that never answers: engines stay the parent's."""
    for engine in list(_engines):
        engine._guard, engine._raw = threading.Lock(), None
    for pending in list(_waiting.values()):
        pending.abandon()


os.register_at_fork(after_in_child=_forget_all)
