"""WebSockets: blocking and for asyncio. Both have the same operations, and differ only in how they wait."""

import asyncio
import itertools
import math
import os
import threading
import time
from collections import deque
from ctypes import byref, c_void_p
from typing import (TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Deque, Dict, Generator, Iterator, List,
                    Optional, Sequence, Tuple, Type, TypeVar, Union)

from . import _c
from ._errors import HandshakeError, NetError, TimeoutError, WebSocketClosedError, check, error_of
from ._values import Headers, Response

if TYPE_CHECKING:
    from ._engine import Engine

_Result = TypeVar("_Result")

Message = Union[str, bytes]

# Messages that were received and not read. Above these limits, reading from the connection is paused.
_MAX_UNREAD_BYTES = 1 << 20
_MAX_UNREAD_MESSAGES = 1024
_ORDERLY_CODES = (1000, 1001, _c.SOCKET_NO_CLOSE_CODE)

# C gets a number instead of a Python object, as in _engine.py. on_end removes it.
_open: Dict[int, "_Channel"] = {}
_numbers = itertools.count(1)


class _Channel:
    """What the callbacks of one socket have received. They run on the engine's thread. Every wait is for a change."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.Lock())
        self.waiting_tasks: "List[Tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]]" = []
        self.response: Optional[Response] = None
        self.unread: Deque[Message] = deque()
        self.unread_bytes = 0
        self.is_paused = False
        self.drops_messages = False
        self.room = 0  # how often on_room was called
        self.expected_pongs: Dict[int, bytes] = {}  # by the number of the ping
        self.failure: Optional[NetError] = None  # the end
        self.close_code: Optional[int] = None
        self.close_reason = ""
        self.number = next(_numbers)
        _open[self.number] = self

    def forget(self) -> None:
        _open.pop(self.number, None)

    def notify(self) -> None:
        """Wakes all waits. The caller holds the lock."""
        self.changed.notify_all()
        waiting, self.waiting_tasks = self.waiting_tasks, []
        for loop, future in waiting:
            try:
                loop.call_soon_threadsafe(_finish, future)
            except RuntimeError:  # the loop was closed, and with it the task
                pass

    def add(self, message: Message) -> int:
        with self.changed:
            if self.drops_messages:
                return _c.CONTINUE
            self.unread.append(message)
            self.unread_bytes += len(message)
            self.is_paused = self.unread_bytes > _MAX_UNREAD_BYTES or len(self.unread) > _MAX_UNREAD_MESSAGES
            self.notify()
            return _c.PAUSE if self.is_paused else _c.CONTINUE

    def take_unread(self) -> Tuple[Message, bool]:
        """Returns the first unread message, and whether reading continues. The caller holds the lock."""
        message = self.unread.popleft()
        self.unread_bytes -= len(message)
        resumes = (self.is_paused and self.unread_bytes <= _MAX_UNREAD_BYTES // 2
                   and len(self.unread) <= _MAX_UNREAD_MESSAGES // 2)
        self.is_paused = self.is_paused and not resumes
        return message, resumes

    def end(self, failure: NetError, code: int, reason: str) -> None:
        self.forget()
        with self.changed:
            self.failure, self.close_code, self.close_reason = failure, code, reason
            self.notify()

    def abandon(self) -> None:
        """Ends the socket in a forked child. Replaces the lock, because the child's copy may be locked forever."""
        self.forget()
        self.changed, self.waiting_tasks = threading.Condition(threading.Lock()), []
        self.failure = NetError("NC_ERR_CLOSED", "it is the parent process's", number=_c.CLOSED)


def _finish(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _on_open(ctx: int, socket: int, response: int) -> None:
    channel = _open[ctx]
    with channel.changed:
        channel.response = Response(_c.lib.nc_response_retain(response))
        channel.notify()


def _on_message(ctx: int, socket: int, kind: int, content: _c.Slice, is_last: bool) -> int:
    copy = content.bytes()
    return _open[ctx].add(copy.decode() if kind == _c.SOCKET_TEXT else copy)


def _on_pong(ctx: int, socket: int, payload: _c.Slice) -> None:
    channel = _open[ctx]
    with channel.changed:
        arrived = payload.bytes()
        for number in [number for number, expected in channel.expected_pongs.items() if expected == arrived]:
            del channel.expected_pongs[number]
        channel.notify()


def _on_room(ctx: int, socket: int) -> None:
    channel = _open[ctx]
    with channel.changed:
        channel.room += 1
        channel.notify()


def _on_end(ctx: int, socket: int, end: Any) -> None:
    ended = end.contents
    code, reason = int(ended.close_code), ended.close_reason.bytes().decode("utf-8", "replace")
    failure = error_of(ended.error.contents)
    if failure.number == _c.OK:
        failure = WebSocketClosedError(code, reason)
    elif isinstance(failure, HandshakeError):
        failure.response = Response(_c.lib.nc_response_retain(ended.response))
        failure.body = ended.refusal.bytes()
    _open[ctx].end(failure, code, reason)


# C may call these as long as the process runs, so they are never freed.
_OPEN, _MESSAGE = _c.SOCKET_OPEN_FN(_on_open), _c.SOCKET_MESSAGE_FN(_on_message)
_PONG, _ROOM, _END = _c.SOCKET_PONG_FN(_on_pong), _c.SOCKET_ROOM_FN(_on_room), _c.SOCKET_END_FN(_on_end)


class _Handle:
    """A reference to the C socket. The socket ends with the last Python reference, without a close frame."""

    def __init__(self, raw: int) -> None:
        self._as_parameter_ = c_void_p(raw)
        self._process = os.getpid()

    def __del__(self) -> None:
        if os.getpid() == self._process:
            _c.lib.nc_socket_cancel(self._as_parameter_)
            _c.lib.nc_socket_release(self._as_parameter_)


def _limit_ms(value: float, name: str) -> int:
    """Returns a time for C; math.inf is no limit."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number of seconds, not {type(value).__name__}")
    if not value > 0:
        raise ValueError(f"{name} is {value} s, not greater than 0; math.inf means no limit")
    return min(max(1, math.ceil(value * 1000)), _c.UNLIMITED - 1) if value != math.inf else _c.UNLIMITED


def _limit_bytes(value: int, name: str) -> int:
    if _c.number(value, 64, name) == 0:
        raise ValueError(f"{name} is 0")
    return value


def native_options(protocols: Sequence[str], compression: bool, max_message_bytes: int, ping_interval: float,
                   peer_timeout: float, close_timeout: float) -> Tuple[_c.SocketOptions, List[Any]]:
    """Returns the options and the objects that they view."""
    if isinstance(protocols, (str, bytes)):
        raise TypeError("protocols are a list of texts")
    names = [_c.text(protocol, "a subprotocol") for protocol in protocols]
    views = (_c.Slice * len(names))(*[_c.view(name) for name in names])
    most = _limit_bytes(max_message_bytes, "max_message_bytes")
    return _c.SocketOptions(
        protocols=views, protocol_count=len(names), offers_compression=bool(compression), max_frame_bytes=most,
        max_message_bytes=most, ping_interval_ms=_limit_ms(ping_interval, "ping_interval"),
        peer_timeout_ms=_limit_ms(peer_timeout, "peer_timeout"),
        close_timeout_ms=_limit_ms(close_timeout, "close_timeout")), [names, views]


class _Connection:
    """The operations of both kinds of sockets. They are coroutines, which wait only in `_until()`."""

    def __init__(self, engine: "Engine", channel: _Channel, handle: _Handle) -> None:
        self._engine, self._channel, self._handle = engine, channel, handle

    async def _until(self, condition: Callable[[], bool], timeout: Optional[float]) -> bool:
        """Waits for a condition, which is checked with the lock. Returns False after the timeout."""
        raise NotImplementedError

    @property
    def response(self) -> Response:
        """The response to the handshake, with status 101."""
        response = self._channel.response
        if response is None:
            raise ValueError("the handshake has not ended")
        return response

    @property
    def headers(self) -> Headers:
        """The header fields of the response to the handshake."""
        return self.response.headers

    @property
    def protocol(self) -> Optional[str]:
        """The subprotocol that the server chose, or None."""
        return self.headers.get("Sec-WebSocket-Protocol")

    @property
    def close_code(self) -> Optional[int]:
        """The code of the server's close frame: 1005 if it has none, 1006 if none arrived. None before the end."""
        return self._channel.close_code

    @property
    def close_reason(self) -> str:
        """The reason of the server's close frame."""
        return self._channel.close_reason

    def cancel(self) -> None:
        """Ends the socket without a close frame. Allowed from any thread, and after the end."""
        if self._channel.failure is None:
            _c.lib.nc_socket_cancel(self._handle)

    def _failure(self) -> NetError:
        """Returns the reason why the socket is closed."""
        failure = self._channel.failure
        if failure is None:
            return WebSocketClosedError(_c.SOCKET_NO_CLOSE_CODE, "", "the socket is closing")
        return failure

    async def _opened(self) -> None:
        channel = self._channel
        try:
            await self._until(lambda: channel.response is not None or channel.failure is not None, None)
        except BaseException:
            self.cancel()
            raise
        if channel.response is None:
            raise self._failure()

    async def _send(self, message: Union[Message, bytearray, memoryview]) -> None:
        channel = self._channel
        kind = _c.SOCKET_TEXT if isinstance(message, str) else _c.SOCKET_BINARY
        if not isinstance(message, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a message is a str or bytes, not {type(message).__name__}")
        content = message.encode() if isinstance(message, str) else bytes(message)
        while channel.failure is None:
            room, error = channel.room, _c.Error()
            status = _c.lib.nc_socket_send(self._handle, kind, _c.view(content), True, byref(error))
            if status == _c.CLOSED:
                break
            if status != _c.QUEUE_FULL:
                check(status, error)
                return
            await self._until(lambda: channel.room != room or channel.failure is not None, None)
        raise self._failure()

    async def _receive(self, timeout: Optional[float]) -> Message:
        channel, taken = self._channel, []  # type: _Channel, List[Tuple[Message, bool]]

        def is_over() -> bool:
            if channel.unread:
                taken.append(channel.take_unread())
            return bool(taken) or channel.failure is not None

        if not await self._until(is_over, timeout):
            raise TimeoutError("NC_ERR_WAIT_TIMED_OUT", f"no message arrived within {timeout} s",
                               number=_c.WAIT_TIMED_OUT, is_retryable=True)
        if not taken:
            raise self._failure()
        message, resumes = taken[0]
        if resumes and channel.failure is None:
            _c.lib.nc_socket_resume(self._handle)
        return message

    async def _ping(self, payload: Optional[bytes], timeout: float) -> float:
        content = os.urandom(8) if payload is None else bytes(payload)
        channel, error, began = self._channel, _c.Error(), time.monotonic()
        if channel.failure is not None:
            raise self._failure()
        number = next(_numbers)
        with channel.changed:
            channel.expected_pongs[number] = content
        try:
            status = _c.lib.nc_socket_ping(self._handle, _c.view(content), byref(error))
            if status == _c.CLOSED:
                raise self._failure()
            check(status, error)
            if not await self._until(lambda: number not in channel.expected_pongs or channel.failure is not None,
                                     timeout):
                raise TimeoutError("NC_ERR_WAIT_TIMED_OUT", f"no pong arrived within {timeout} s",
                                   number=_c.WAIT_TIMED_OUT, is_retryable=True)
            if number in channel.expected_pongs:
                raise self._failure()
            return time.monotonic() - began
        finally:
            with channel.changed:
                channel.expected_pongs.pop(number, None)

    async def _close(self, code: int, reason: str) -> None:
        channel, error, text = self._channel, _c.Error(), _c.text(reason, "reason")
        _c.number(code, 16, "code")
        if channel.failure is not None:
            return
        status = _c.lib.nc_socket_close(self._handle, code, _c.view(text), byref(error))
        if status != _c.CLOSED:
            check(status, error)
        with channel.changed:
            channel.drops_messages = True
        _c.lib.nc_socket_resume(self._handle)
        await self._until(lambda: channel.failure is not None, None)


def _run(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Runs an operation of a blocking socket, which never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: _Result = stop.value
        return result
    raise RuntimeError("a blocking operation has suspended")


class WebSocket(_Connection):
    """An open WebSocket whose calls block; see Engine.websocket(). Thread-safe. Iterating receives messages."""

    async def _until(self, condition: Callable[[], bool], timeout: Optional[float]) -> bool:
        self._engine._refuse_loop()
        with self._channel.changed:
            return self._channel.changed.wait_for(condition, timeout)

    def send(self, message: Union[Message, bytearray, memoryview]) -> None:
        """Queues a message: a str as text, bytes as binary. Waits while 16 MiB wait to be sent.

        Raises WebSocketClosedError if the socket is closing or has ended in order, or else the failure.
        """
        _run(self._send(message))

    def receive(self, timeout: Optional[float] = None) -> Message:
        """Returns the next message: a str for text, bytes for binary.

        Raises WebSocketClosedError after the last message, TimeoutError after `timeout` seconds, or the failure. Without
        a timeout, a server that is silent and answers no pings is a failure after `peer_timeout`.
        """
        return _run(self._receive(timeout))

    def ping(self, payload: Optional[bytes] = None, timeout: float = 10) -> float:
        """Sends a ping, waits for its pong, and returns the time between them in seconds.

        `payload` has at most 125 bytes; None chooses one. While more than 1 MiB of messages is unread, no pong arrives.
        """
        return _run(self._ping(payload, timeout))

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Sends a close frame after what was sent, and waits until the server has closed, at most `close_timeout`.

        Messages that arrive meanwhile are dropped. Does nothing after the end. `close_code` has the server's code.
        """
        _run(self._close(code, reason))

    def __iter__(self) -> Iterator[Message]:
        """Receives messages until the socket ends. Raises unless the server closed it with 1000, 1001 or no code."""
        while True:
            try:
                message = self.receive()
            except WebSocketClosedError as end:
                if end.close_code in _ORDERLY_CODES:
                    return
                raise
            yield message


class AsyncWebSocket(_Connection):
    """An open WebSocket for asyncio, with the methods of WebSocket as coroutines. Cancelling a task ends its wait."""

    async def _until(self, condition: Callable[[], bool], timeout: Optional[float]) -> bool:
        channel, loop = self._channel, asyncio.get_running_loop()
        ends_at = None if timeout is None else loop.time() + timeout
        while True:
            with channel.changed:
                if condition():
                    return True
                future = loop.create_future()
                channel.waiting_tasks.append((loop, future))
            try:
                await asyncio.wait_for(future, None if ends_at is None else max(0, ends_at - loop.time()))
            except asyncio.TimeoutError:
                with channel.changed:
                    return condition()
            finally:
                with channel.changed:
                    channel.waiting_tasks = [one for one in channel.waiting_tasks if one[1] is not future]

    async def send(self, message: Union[Message, bytearray, memoryview]) -> None:
        """See WebSocket.send()."""
        await self._send(message)

    async def receive(self, timeout: Optional[float] = None) -> Message:
        """See WebSocket.receive()."""
        return await self._receive(timeout)

    async def ping(self, payload: Optional[bytes] = None, timeout: float = 10) -> float:
        """See WebSocket.ping()."""
        return await self._ping(payload, timeout)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See WebSocket.close()."""
        await self._close(code, reason)

    async def __aiter__(self) -> AsyncIterator[Message]:
        """See WebSocket.__iter__()."""
        while True:
            try:
                message = await self.receive()
            except WebSocketClosedError as end:
                if end.close_code in _ORDERLY_CODES:
                    return
                raise
            yield message


class WebSocketConnector:
    """A WebSocket to open: with `with` or connect(), or for asyncio with `async with` or `await`.

    At the end of the block the socket is closed, with code 1000, or 1011 after an exception.
    """

    def __init__(self, engine: "Engine", start: Callable[[_Channel], int], references: List[Any]) -> None:
        self._engine, self._start, self._references = engine, start, references
        self._blocking: Optional[WebSocket] = None
        self._async: Optional[AsyncWebSocket] = None

    def connect(self) -> WebSocket:
        """Opens a socket and waits for the handshake.

        Raises HandshakeError, with the response, if the server refuses it. A socket whose last reference is gone ends
        without a close frame.
        """
        channel = _Channel()
        socket = WebSocket(self._engine, channel, _Handle(self._start(channel)))
        _run(socket._opened())
        return socket

    async def _connect(self) -> AsyncWebSocket:
        channel = _Channel()
        socket = AsyncWebSocket(self._engine, channel, _Handle(self._start(channel)))
        await socket._opened()
        return socket

    def __await__(self) -> Generator[Any, None, AsyncWebSocket]:
        return self._connect().__await__()

    def __enter__(self) -> WebSocket:
        self._blocking = self.connect()
        return self._blocking

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        socket, self._blocking = self._blocking, None
        if socket is not None:
            socket.close(1000 if kind is None else 1011)

    async def __aenter__(self) -> AsyncWebSocket:
        self._async = await self._connect()
        return self._async

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        socket, self._async = self._async, None
        if socket is not None:
            await socket.close(1000 if kind is None else 1011)


def _forget_all() -> None:
    for channel in list(_open.values()):
        channel.abandon()


os.register_at_fork(after_in_child=_forget_all)
