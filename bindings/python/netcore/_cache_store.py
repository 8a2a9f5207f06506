"""A cache store in Python, such as a dict or Redis."""

import ctypes
import logging
import struct
from typing import Any, Callable, Optional, Protocol

from . import _c

_log = logging.getLogger("netcore")
_LENGTH = struct.Struct("<I")  # of the metadata; metadata and body follow


class CacheStore(Protocol):
    """A store for a Cache: any object with these methods.

    A value is opaque, and has a checksum that the library verifies. A store may lose any value at any time.

    The methods are called on the threads of engines, also concurrently. All requests of an engine wait meanwhile. They
    must not use an engine or the cache. An exception is logged ("netcore") and means a miss: no request fails.
    """

    def get(self, key: bytes) -> Optional[bytes]:
        """Returns the value of a key; None if there is none."""

    def put(self, key: bytes, value: bytes, host: str) -> None:
        """Stores a value and replaces an older one with the same key. `host` is that of the response's URL."""

    def remove(self, key: bytes) -> None:
        """Removes a value, if there is one."""

    def remove_all(self, host: Optional[str]) -> None:
        """Removes the values of a host; None means all values."""


def is_cache_store(value: Any) -> bool:
    return all(callable(getattr(value, name, None)) for name in ("get", "put", "remove", "remove_all"))


def _attempt(name: str, step: Callable[[], int]) -> int:
    """Returns the status of a step. Nothing may be thrown through C."""
    try:
        return step()
    except BaseException:
        _log.warning("the cache store failed in %s()", name, exc_info=True)
        return _c.FILE


class StoreBridge:
    """The C functions of a store. Keep it as long as the cache."""

    def __init__(self, store: CacheStore) -> None:
        def get(ctx: Any, key: _c.Slice, room: Any, out: Any, error: Any) -> int:
            def step() -> int:
                value = store.get(key.bytes())
                if value is None:
                    return _c.NOT_CACHED
                if not isinstance(value, bytes):
                    raise TypeError(f"get() of a cache store returns bytes or None, not {type(value).__name__}")
                _c.lib.nc_buf_append(room, _c.view(value))
                out.contents.metadata_at = _LENGTH.size
                # Without a length, or with a wrong one, the entry is damaged.
                out.contents.metadata_bytes = _LENGTH.unpack_from(value)[0] if len(value) >= _LENGTH.size else 0
                return _c.OK

            return _attempt("get", step)

        def put(ctx: Any, entry: Any, error: Any) -> int:
            def step() -> int:
                one = entry.contents
                value = b"".join((_LENGTH.pack(one.metadata.length), one.metadata.bytes(), one.body.bytes()))
                store.put(one.key.bytes(), value, one.host.bytes().decode())
                return _c.OK

            return _attempt("put", step)

        def remove(ctx: Any, key: _c.Slice, error: Any) -> int:
            def step() -> int:
                store.remove(key.bytes())
                return _c.OK

            return _attempt("remove", step)

        def remove_all(ctx: Any, host: _c.Slice, error: Any) -> int:
            def step() -> int:
                store.remove_all(host.bytes().decode() if host.length else None)
                return _c.OK

            return _attempt("remove_all", step)

        self.native = _c.CacheStore(get=_c.STORE_GET_FN(get), put=_c.STORE_PUT_FN(put),
                                    remove=_c.STORE_REMOVE_FN(remove), remove_all=_c.STORE_REMOVE_FN(remove_all))

    def address(self) -> int:
        return ctypes.addressof(self.native)
