"""HTTP over libnetcore: blocking calls and asyncio.

    print(netcore.fetch("https://example.com/").text)

    async with netcore.Engine() as engine:
        response = await engine.fetch("https://api.example.com/cities", params={"page": 2}, timeout=5)
        print(response.raise_for_status().json())

    engine = netcore.Engine(cache="~/.cache/app", retries=3)
    response = engine.fetch_blocking(url, cache="reload")  # response.cache.reason, response.attempts

    with engine.websocket("wss://example.com/chat") as socket:
        socket.send("hello")
        for message in socket: ...

An engine keeps its connections, so use one for many requests. Callbacks run on the engine's thread and must not block. An
exception in a callback stops its transfer, and is raised by the call that waits for the result.
"""

from ._cache_store import CacheStore
from ._caching import Attempt, Cache, CachePolicy, CacheReport, CacheStats, RetryPolicy
from ._engine import Engine, Transfer, fetch
from ._errors import (AuthenticationError, BodyMismatchError, CancelledError, ConnectError, HandshakeError,
                      HTTPStatusError, NetError, NotCachedError, RedirectError, ResourceError, ResponseError,
                      TimeoutError, TLSError, UsageError, WebSocketClosedError)
from ._library import LibraryNotFoundError
from ._values import Expectation, Headers, Response, Store, Trust, version
from ._websocket import AsyncWebSocket, WebSocket, WebSocketConnector

__all__ = [
    "AsyncWebSocket", "Attempt", "AuthenticationError", "BodyMismatchError", "Cache", "CachePolicy", "CacheReport",
    "CacheStats", "CacheStore", "CancelledError", "ConnectError", "Engine", "Expectation", "HTTPStatusError",
    "HandshakeError", "Headers", "LibraryNotFoundError", "NetError", "NotCachedError", "RedirectError",
    "ResourceError", "Response", "ResponseError", "RetryPolicy", "Store", "TLSError", "TimeoutError", "Transfer",
    "Trust", "UsageError", "WebSocket", "WebSocketClosedError", "WebSocketConnector", "fetch", "version",
]
