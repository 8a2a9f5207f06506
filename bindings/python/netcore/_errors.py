"""The exceptions. Each failure of the library is a NetError, or one of its subclasses."""

import builtins
from typing import TYPE_CHECKING, Dict, Optional, Tuple, Type

from . import _c

if TYPE_CHECKING:
    from ._caching import Attempt, CacheReport
    from ._values import Response


class NetError(Exception):
    """A failure of the library.

    `code` is the C name of the status, such as "NC_ERR_RESOLVE", and `number` its value (netcore/status.h).
    """

    def __init__(self, code: str, message: str, *, number: int = 0, native_code: int = 0, offset: int = -1,
                 is_retryable: bool = False) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.number = number
        # The number of the layer below (a CURLcode, an errno, …); 0 if there is none.
        self.native_code = native_code
        # The offset of the wrong byte in the input; -1 if there is none.
        self.offset = offset
        # True if a retry may succeed.
        self.is_retryable = is_retryable
        # The attempts of a request to an engine with retries or a cache, and what the cache did.
        self.attempts: "Tuple[Attempt, ...]" = ()
        self.cache: "Optional[CacheReport]" = None


class NotCachedError(NetError):
    """The cache mode is "cache-only", and no stored response can be used. `cache` has the reason."""


class UsageError(NetError, ValueError):
    """An argument is wrong, for example the URL."""


class ResourceError(NetError):
    """Memory, file descriptors, threads or a file failed."""


class ResponseError(NetError):
    """The server's response is not valid, or too large."""


class BodyMismatchError(ResponseError):
    """The body is not JSON, or does not have the expected shape or digest."""


class TLSError(NetError):
    """TLS failed: the certificate, a pin, or the handshake."""


class AuthenticationError(NetError):
    """The server or the proxy did not accept the credentials."""


class ConnectError(NetError):
    """The host is unknown, or the connection could not be made or broke."""


class TimeoutError(NetError, builtins.TimeoutError):
    """A limit of time was exceeded. Also a built-in TimeoutError."""


class CancelledError(NetError):
    """The transfer was cancelled, by cancel() or because the engine was closed."""


class RedirectError(NetError):
    """There were too many redirects, or one was refused."""


class HandshakeError(ResponseError):
    """The server refused the handshake of a WebSocket. `response` has its status and headers.

    `body` is the body of the response, at most 64 KiB of it.
    """

    response: "Response"
    body = b""


class WebSocketClosedError(NetError):
    """The WebSocket was closed. `close_code` and `close_reason` are those of the server's close frame."""

    def __init__(self, close_code: int, close_reason: str, message: str = "") -> None:
        reason = f": {close_reason}" if close_reason else ""
        super().__init__("NC_ERR_CLOSED", message or f"the WebSocket was closed with code {close_code}{reason}",
                         number=_c.CLOSED)
        self.close_code = close_code
        self.close_reason = close_reason


class HTTPStatusError(NetError):
    """Raised by raise_for_status(). `response` is the response, whose status is not a success."""

    def __init__(self, response: "Response") -> None:
        super().__init__("NC_ERR_BAD_STATUS", f"the server responded with status {response.status}: {response.url}",
                         number=_c.BAD_STATUS, native_code=response.status,
                         is_retryable=response.status in (408, 429, 500, 502, 503, 504))
        self.response = response


_KINDS: Dict[range, Type[NetError]] = {
    range(1, 20): UsageError,
    range(20, 40): ResourceError,
    range(40, 80): ResponseError,
    range(80, 100): TLSError,
    range(100, 120): ConnectError,
    range(120, 130): TimeoutError,
}
_SINGLE_KINDS: Dict[int, Type[NetError]] = {
    44: RedirectError, 46: BodyMismatchError, 51: HandshakeError, 52: HandshakeError, 47: BodyMismatchError, 48: BodyMismatchError, 89: AuthenticationError,
    150: CancelledError, 250: NotCachedError, 152: RedirectError, 153: RedirectError, 154: TimeoutError,
}


def error_of(error: _c.Error) -> NetError:
    """Returns the exception of a C error."""
    number: int = error.status
    kind = _SINGLE_KINDS.get(number)
    if kind is None:
        kind = next((kind for numbers, kind in _KINDS.items() if number in numbers), NetError)
    code: bytes = _c.lib.nc_status_name(number)
    message: bytes = error.message
    return kind(code.decode(), message.decode("utf-8", "replace"), number=number, native_code=error.native_code,
                offset=error.offset, is_retryable=bool(_c.lib.nc_status_is_retryable(number)))


def check(status: int, error: _c.Error) -> None:
    """Raises the error unless the status is OK."""
    if status != _c.OK:
        error.status = status
        raise error_of(error)
