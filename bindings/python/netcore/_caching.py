"""The cache and the retries of an engine: their options, and the reports about each response."""

import ctypes
import math
import os
import threading
from ctypes import byref, c_void_p
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Type, Union, cast

from . import _c
from ._cache_store import CacheStore, StoreBridge, is_cache_store
from ._errors import check

# "only-if-cached" is the name of "cache-only" in the fetch() of browsers.
_MODES = {"default": 0, "reload": 1, "cache-only": 2, "only-if-cached": 2, "no-store": 3, "network-first": 4}
_OUTCOMES = ("unused", "hit", "stale-hit", "revalidated", "network", "none")
_RETRY_REASONS = ("not-needed", "backoff", "server-delay", "no-attempts-left", "no-time-left", "not-idempotent",
                  "not-repeatable", "server-delay-too-long", "no-budget")
_LONGEST_MS = (1 << 40) * 1000


def _milliseconds(value: float, name: str, most: int) -> int:
    """Returns a duration for C. The longest one that C accepts stands for each longer one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number of seconds, not {type(value).__name__}")
    if not value >= 0:  # also false for NaN
        raise ValueError(f"{name} is {value} s, not 0 or more")
    return most if value * 1000 >= most else math.ceil(value * 1000)


class CachePolicy:
    """How a request uses the cache of its engine. Times are in seconds.

    - mode: "default", "reload" (asks the network, and stores the response), "cache-only" or "only-if-cached" (sends
      nothing), "no-store" (neither uses nor stores a response), or "network-first" (uses a stored response of any age if
      the network fails).
    - max_stale: a response that is stale for at most this time may be used; math.inf means any time. The request gets
      the field "Cache-Control: max-stale=…", in whole seconds.
    - stale_while_revalidate: for this time a stale response is used while a new one is fetched in the background.
    - stale_if_error: for this time a stale response is used if the network or the server fails.
    - heuristic_fraction, heuristic_max: the lifetime of a response without an explicit one (RFC 9111, 4.2.2).
    - scope: names the user that the stored response belongs to, instead of the request's credentials and cookies. An
      empty text means that all users share it.
    """

    def __init__(self, mode: str = "default", *, max_stale: Optional[float] = None, stale_while_revalidate: float = 0,
                 stale_if_error: float = 0, heuristic_fraction: float = 0.1, heuristic_max: float = 86400,
                 scope: Optional[str] = None) -> None:
        if not isinstance(mode, str):
            raise TypeError(f"the cache mode is a str, not {type(mode).__name__}")
        if mode not in _MODES:
            raise ValueError(f"the cache mode is {mode!r}, not one of {', '.join(_MODES)}")
        if isinstance(heuristic_fraction, bool) or not isinstance(heuristic_fraction, (int, float)):
            raise TypeError(f"heuristic_fraction is a number, not {type(heuristic_fraction).__name__}")
        if not 0 <= heuristic_fraction <= 1:
            raise ValueError(f"heuristic_fraction is {heuristic_fraction}, not 0 to 1")
        self.mode = mode
        self.scope = None if scope is None else _c.text(scope, "scope")
        self.max_stale_field: Optional[str] = None
        if max_stale is not None:
            seconds = _milliseconds(max_stale, "max_stale", _LONGEST_MS) // 1000
            self.max_stale_field = "max-stale" if max_stale == math.inf else f"max-stale={seconds}"
        self.native = _c.CachePolicy(
            mode=_MODES[mode], heuristic_fraction=heuristic_fraction,
            stale_while_revalidate_ms=_milliseconds(stale_while_revalidate, "stale_while_revalidate", _LONGEST_MS),
            stale_if_error_ms=_milliseconds(stale_if_error, "stale_if_error", _LONGEST_MS),
            heuristic_max_ms=_milliseconds(heuristic_max, "heuristic_max", _LONGEST_MS))


class RetryPolicy:
    """When a request is sent again after a temporary failure. Times are in seconds.

    - max_retries: attempts after the first one.
    - base_delay: the upper limit of the first delay. It doubles for each further delay, up to `max_delay`.
    - max_server_delay: the longest Retry-After to wait for. After a longer one the request is not sent again.
    - max_elapsed: no further attempt is decided after this time; None is no limit.
    - statuses: the statuses after which the request is sent again, at most 16.
    - any_method: sends requests with any method again. By default, only those with idempotent methods.
    - any_error: also after errors that are not temporary.
    - jitter: each delay is a random part of its interval.
    """

    def __init__(self, max_retries: int = 3, *, base_delay: float = 0.2, max_delay: float = 20,
                 max_server_delay: float = 60, max_elapsed: Optional[float] = None,
                 statuses: Sequence[int] = (408, 429, 500, 502, 503, 504), any_method: bool = False,
                 any_error: bool = False, jitter: bool = True) -> None:
        chosen = [_c.number(status, 16, "a status") for status in statuses]
        if len(chosen) > _c.RETRY_MAX_STATUSES:
            raise ValueError(f"there are {len(chosen)} statuses, not at most {_c.RETRY_MAX_STATUSES}")
        if not all(100 <= status <= 599 for status in chosen):
            raise ValueError(f"the statuses are {chosen}, not 100 to 599")
        elapsed = None if max_elapsed is None else max(1, _milliseconds(max_elapsed, "max_elapsed", _LONGEST_MS))
        self.native = _c.RetryPolicy(
            max_retries=_c.number(max_retries, 32, "max_retries"),
            base_delay_ms=_milliseconds(base_delay, "base_delay", _c.UNLIMITED),
            max_delay_ms=_milliseconds(max_delay, "max_delay", _c.UNLIMITED),
            max_server_delay_ms=_milliseconds(max_server_delay, "max_server_delay", _c.UNLIMITED),
            max_elapsed_ms=elapsed or 0, statuses=(ctypes.c_uint16 * _c.RETRY_MAX_STATUSES)(*chosen),
            retries_any_method=any_method, retries_any_error=any_error, has_no_jitter=not jitter)


# What callers may write: a mode or a policy; a number of retries or a policy.
CacheUse = Union[str, CachePolicy]
Retries = Union[int, RetryPolicy]


def cache_policy(use: CacheUse) -> CachePolicy:
    """Returns the policy of a mode."""
    if isinstance(use, (str, CachePolicy)):
        return CachePolicy(use) if isinstance(use, str) else use
    raise TypeError(f"cache is a mode (a str) or a CachePolicy, not {type(use).__name__}")


def retry_policy(retries: Retries) -> RetryPolicy:
    """Returns the policy of a number of retries."""
    return retries if isinstance(retries, RetryPolicy) else RetryPolicy(_c.number(retries, 32, "retries"))


class Attempt(NamedTuple):
    """One attempt of a request. Times are in seconds since its start."""

    error: Optional[str]
    """The C name of the error, such as "NC_ERR_REFUSED"; None if there was a response."""
    status: Optional[int]
    """The status code; None without a response."""
    started: float
    ended: float
    reason: str
    """Why the request was sent again after this attempt, or why not, such as "backoff" or "not-idempotent"."""
    delay: float
    """The delay before the next attempt; 0 after the last one."""


class CacheReport(NamedTuple):
    """What the cache did for a request."""

    outcome: str = "unused"
    """"hit", "stale-hit" and "revalidated": from the cache. "network", "none" (no response), "unused" (no cache)."""
    reason: Optional[str] = None
    """The reason for the decision, such as "fresh" or "absent"; None if the cache was not used."""
    age: Optional[float] = None
    """The age of the stored response in seconds."""
    lifetime: Optional[float] = None
    """The freshness lifetime of the stored response in seconds."""
    is_stored: bool = False
    """True: the response from the network was stored."""

    @property
    def is_hit(self) -> bool:
        """True if the body came from the cache, fresh, stale or revalidated."""
        return self.outcome in ("hit", "stale-hit", "revalidated")


def attempts_of(call: int) -> Tuple[Attempt, ...]:
    """Returns the attempts of a call that has ended, at most 16."""
    attempts: List[Attempt] = []
    for index in range(min(_c.lib.nc_call_attempt_count(call), _c.CALL_MAX_ATTEMPTS)):
        one = _c.lib.nc_call_attempt_at(call, index)
        error = None if one.status == _c.OK else _c.lib.nc_status_name(one.status).decode()
        attempts.append(Attempt(error, one.http_status or None, one.started_ms / 1000, one.ended_ms / 1000,
                                _RETRY_REASONS[one.reason], one.delay_ms / 1000))
    return tuple(attempts)


def report_of(call: int) -> CacheReport:
    """Returns what the cache did for a call that has ended."""
    one = _c.lib.nc_call_cache_report(call)
    if one.outcome == 0:
        return CacheReport()
    return CacheReport(_OUTCOMES[one.outcome], _c.lib.nc_cache_reason_name(one.reason).decode(),
                       None if one.age_ms < 0 else one.age_ms / 1000,
                       None if one.lifetime_ms < 0 else one.lifetime_ms / 1000, one.is_stored)


class CacheStats(NamedTuple):
    """Counters of a cache since it was opened. An entry is a response, or an index of the variants of one URL."""

    memory_entries: int
    memory_bytes: int
    memory_hits: int
    store_hits: int
    misses: int
    puts: int
    failed_puts: int
    failed_gets: int


class SharedCache:
    """The C objects of a cache, freed by their last owner: a Cache, or an engine.

    Owners are counted, and do not depend on references: Python finalizes the objects of a reference cycle in any order,
    but a client must be closed before its cache is freed. append() and pop() are atomic, and a lock could deadlock if
    the garbage collector closes an engine.
    """

    def __init__(self, directory: Optional[bytes], own_store: Optional[CacheStore], disk_bytes: int, memory_bytes: int,
                 body_bytes: int) -> None:
        store, self.address, error = c_void_p(), c_void_p(), _c.Error()
        self._bridge = None if own_store is None else StoreBridge(own_store)
        if directory is not None:
            files = _c.StoreOptions(directory=directory, max_bytes=disk_bytes)
            check(_c.lib.nc_store_new(byref(store), byref(files), byref(error)), error)
        options = _c.HTTPCacheOptions(store=store.value, max_memory_bytes=memory_bytes, max_body_bytes=body_bytes,
                                      cache_store=None if self._bridge is None else self._bridge.address())
        status = _c.lib.nc_http_cache_new(byref(self.address), byref(options), byref(error))
        if status != _c.OK:
            _c.lib.nc_store_free(store)
        check(status, error)
        self._store, self._process = store, os.getpid()
        self._owners = [True]

    def retain(self) -> "SharedCache":
        """Adds an owner. Only for callers that are owners themselves."""
        self._owners.append(False)
        return self

    def release(self) -> None:
        if self._owners.pop() and os.getpid() == self._process:
            _c.lib.nc_http_cache_free(self.address)
            _c.lib.nc_store_free(self._store)


class Cache:
    """A private HTTP cache (RFC 9111) for engines. Thread-safe; several engines may share one.

    - directory: keeps the responses on disk too, so that they survive the process. "~" is the home directory. None keeps
      them in memory only. Several processes may share a directory.
    - store: keeps the responses in this CacheStore too, instead of a directory.
    - max_disk_bytes, max_memory_bytes, max_body_bytes: limits; None is the library's default (256, 16 and 16 MiB).

    An engine that uses the cache keeps it alive, also after close().
    """

    _shared: Optional[SharedCache] = None

    def __init__(self, directory: Union[str, "os.PathLike[str]", None] = None, *, store: Optional[CacheStore] = None,
                 max_disk_bytes: Optional[int] = None, max_memory_bytes: Optional[int] = None,
                 max_body_bytes: Optional[int] = None) -> None:
        self._guard = threading.Lock()
        encoded = None
        if directory is not None:
            if not isinstance(directory, (str, os.PathLike)):
                raise TypeError(f"the directory of a cache is a path, not {type(directory).__name__}")
            encoded = os.fsencode(os.path.expanduser(directory))
            if not encoded or b"\0" in encoded:
                raise ValueError(f"the directory of a cache is {directory!r}, not a path")
        elif max_disk_bytes is not None:
            raise ValueError("max_disk_bytes needs a directory")
        if store is not None and not is_cache_store(store):
            raise TypeError(f"the store of a cache has get, put, remove and remove_all; {type(store).__name__} has not")
        if store is not None and directory is not None:
            raise ValueError("a cache has a directory or a store, not both")
        limits = {"max_disk_bytes": max_disk_bytes, "max_memory_bytes": max_memory_bytes, "max_body_bytes": max_body_bytes}
        for name, value in limits.items():
            if value is not None and _c.number(value, 64, name) == 0:
                raise ValueError(f"{name} is 0; None is the default, and no limit can be 0")
        self._shared = SharedCache(encoded, store, max_disk_bytes or 0, max_memory_bytes or 0, max_body_bytes or 0)

    def share(self) -> SharedCache:
        """Adds an owner of the C objects. Raises ValueError if the cache is closed."""
        with self._guard:
            if self._shared is None:
                raise ValueError("the cache is closed")
            return self._shared.retain()

    def clear(self) -> None:
        """Removes all responses. Waits for the store."""
        shared, error = self.share(), _c.Error()
        try:
            check(_c.lib.nc_http_cache_clear(shared.address, byref(error)), error)
        finally:
            shared.release()

    def remove_host(self, host: str) -> None:
        """Removes the responses for the URLs of a host. Waits for the store."""
        name, shared, error = _c.text(host, "host"), self.share(), _c.Error()
        try:
            check(_c.lib.nc_http_cache_remove_host(shared.address, _c.view(name), byref(error)), error)
        finally:
            shared.release()

    def stats(self) -> CacheStats:
        """Returns the counters."""
        shared = self.share()
        try:
            figures = _c.lib.nc_http_cache_figures(shared.address)
            return CacheStats(*(getattr(figures, name) for name in CacheStats._fields))
        finally:
            shared.release()

    def close(self) -> None:
        """Frees the cache when no engine uses it. The responses on disk stay."""
        with self._guard:
            shared, self._shared = self._shared, None
        if shared is not None:
            shared.release()

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if self._shared is not None:
            self.close()


def cache_of(value: Union[Cache, CacheStore, str, "os.PathLike[str]"]) -> Cache:
    """Returns the cache of an engine's argument."""
    if isinstance(value, Cache):
        return value
    return Cache(store=cast(CacheStore, value)) if is_cache_store(value) else Cache(cast(str, value))
