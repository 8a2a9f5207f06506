"""The values that are passed to an engine or returned by it. Each owns one C object."""

import codecs
import json as _json
import os
import re
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar

from . import _c
from ._caching import Attempt, CacheReport
from ._errors import HTTPStatusError, check

_Self = TypeVar("_Self", bound="_Owner")


def version() -> str:
    """Returns the version of the loaded library."""
    return str(_c.lib.nc_version().decode())


class _Handle:
    """A C object, released with its last Python reference. Each call of C holds a reference, so a close() in one thread
    frees nothing that a call in another thread uses. A forked child does not release the objects of its parent."""

    def __init__(self, raw: int, release: Callable[[Any], Any]) -> None:
        self._as_parameter_ = c_void_p(raw)
        self._release, self._process = release, os.getpid()

    @property
    def address(self) -> int:
        return self._as_parameter_.value or 0

    def __del__(self) -> None:
        if os.getpid() == self._process:
            self._release(self._as_parameter_)


class _Owner:
    """Owns one C object until close(), the end of a `with`, or the garbage collector."""

    _handle: Optional[_Handle] = None

    def _own(self, raw: Optional[int], release: Callable[[Any], Any]) -> None:
        self._handle = _Handle(raw or 0, release)

    @property
    def raw(self) -> _Handle:
        handle = self._handle
        if handle is None:
            raise ValueError("it is closed")
        return handle

    def close(self) -> None:
        self._handle = None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        self.close()


class Headers(Mapping[str, str]):
    """The header fields of a response, in the order of arrival. Names are case-insensitive.

    A field that occurs several times is joined with ", ". get_list() returns its values, for example of Set-Cookie.
    """

    def __init__(self, fields: Sequence[Tuple[str, str]]) -> None:
        self._fields = list(fields)

    def get_list(self, name: str) -> List[str]:
        """Returns all values of a name."""
        return [value for field, value in self._fields if field.lower() == name.lower()]

    def multi_items(self) -> List[Tuple[str, str]]:
        """Returns each field separately."""
        return list(self._fields)

    def __getitem__(self, name: str) -> str:
        values = self.get_list(name)
        if not values:
            raise KeyError(name)
        return ", ".join(values)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(field.lower() == name.lower() for field, _ in self._fields)

    def __iter__(self) -> Iterator[str]:
        names: Dict[str, str] = {}
        for field, _ in self._fields:
            names.setdefault(field.lower(), field)
        return iter(names.values())

    def __len__(self) -> int:
        return len({field.lower() for field, _ in self._fields})

    def __repr__(self) -> str:
        return f"Headers({self._fields!r})"


class Response(_Owner):
    """A response. Holds the library's memory until it is closed or garbage collected."""

    def __init__(self, raw: int, cache: CacheReport = CacheReport(), attempts: Tuple[Attempt, ...] = ()) -> None:
        self._own(raw, _c.lib.nc_response_release)
        # What the cache did, and the attempts of a request to an engine with retries or a cache.
        self.cache = cache
        self.attempts = attempts

    @property
    def is_from_cache(self) -> bool:
        """True if the body came from the cache, fresh, stale or revalidated. `cache.reason` is the reason."""
        return self.cache.is_hit

    @property
    def status(self) -> int:
        """The status code, for example 200."""
        return int(_c.lib.nc_response_status(self.raw))

    @property
    def is_success(self) -> bool:
        """True if the status is 200 to 299."""
        return 200 <= self.status < 300

    @property
    def url(self) -> str:
        """The URL of the last hop, after redirects."""
        raw = self.raw
        return str(_c.lib.nc_response_url(raw).bytes().decode())

    @property
    def content(self) -> bytes:
        """A copy of the decoded body."""
        raw = self.raw  # keeps the response alive during the copy
        return bytes(_c.lib.nc_response_body(raw).bytes())

    @property
    def encoding(self) -> str:
        """The charset of the Content-Type field if Python knows it, or else "utf-8"."""
        found = re.search(r'charset="?([^";\s]+)', self.headers.get("content-type", ""), re.IGNORECASE)
        try:
            return codecs.lookup(found.group(1)).name if found else "utf-8"
        except LookupError:
            return "utf-8"

    @property
    def text(self) -> str:
        """The body as text. Bytes that are invalid in its charset become U+FFFD."""
        return self.content.decode(self.encoding, "replace")

    def json(self) -> Any:
        """Returns the parsed body. Raises json.JSONDecodeError, a ValueError, if it is not JSON."""
        encoding = self.encoding
        return _json.loads(self.content.decode("utf-8-sig" if encoding == "utf-8" else encoding, "replace"))

    @property
    def headers(self) -> Headers:
        """The header fields, decoded as ISO 8859-1."""
        raw = self.raw
        fields = (_c.lib.nc_response_header_at(raw, i) for i in range(_c.lib.nc_response_header_count(raw)))
        return Headers([(field.name.bytes().decode("latin-1"), field.value.bytes().decode("latin-1"))
                        for field in fields])

    def raise_for_status(self) -> "Response":
        """Returns this response. Raises HTTPStatusError unless the status is 200 to 299."""
        if not self.is_success:
            raise HTTPStatusError(self)
        return self

    def __repr__(self) -> str:
        return "<Response [closed]>" if self._handle is None else f"<Response [{self.status}]>"


class Trust(_Owner):
    """A TLS trust policy: a file of authorities, and pins ("sha256/…") for each host."""

    def __init__(self, ca_file: Optional[str] = None, pins: Optional[Mapping[str, Sequence[str]]] = None) -> None:
        options = _c.TrustOptions()
        references: List[bytes] = []  # keeps the viewed bytes alive until the library has copied them

        def view(text: str) -> _c.Slice:
            references.append(os.fsencode(text))
            return _c.view(references[-1])

        if ca_file is not None:
            options.roots = _c.ROOTS_FILE
            options.ca_file = view(ca_file)
        by_host: Dict[str, Sequence[str]] = dict(pins or {})
        rules = (_c.TrustRule * len(by_host))()
        for rule, (hosts, host_pins) in zip(rules, by_host.items()):
            if isinstance(host_pins, (str, bytes)):
                raise TypeError("pins are a list of texts for each host")
            rule.hosts = view(hosts)
            rule.mode = _c.PIN_PUBLIC_KEY
            rule.pins = (_c.Slice * len(host_pins))(*[view(pin) for pin in host_pins])
            rule.pin_count = len(host_pins)
        options.rules = rules
        options.rule_count = len(by_host)
        raw, error = c_void_p(), _c.Error()
        check(_c.lib.nc_trust_new(byref(raw), byref(options), byref(error)), error)
        self._own(raw.value, _c.lib.nc_trust_release)


class Expectation(_Owner):
    """Requires that the body is JSON of this shape, checked while it arrives. Without a shape, any JSON is accepted."""

    def __init__(self, shape: Optional[str] = None) -> None:
        compiled, raw, error = c_void_p(), c_void_p(), _c.Error()
        if shape is not None:
            document = _c.text(shape, "shape")
            check(_c.lib.nc_shape_parse(byref(compiled), _c.view(document), byref(error)), error)
        options = _c.ExpectationOptions(shape=compiled.value)
        status = _c.lib.nc_expectation_new(byref(raw), byref(options), byref(error))
        _c.lib.nc_shape_release(compiled)  # the expectation has its own reference
        check(status, error)
        self._own(raw.value, _c.lib.nc_expectation_release)


class Store(_Owner):
    """A directory of entries, each complete or absent. Calls may wait for the disk."""

    def __init__(self, directory: str) -> None:
        raw, error = c_void_p(), _c.Error()
        encoded = os.fsencode(directory)
        if b"\0" in encoded:
            raise ValueError("a NUL in a path")
        options = _c.StoreOptions(directory=encoded)
        check(_c.lib.nc_store_new(byref(raw), byref(options), byref(error)), error)
        self._own(raw.value, _c.lib.nc_store_free)

    def put(self, key: bytes, body: bytes, lifetime_ms: int = 0) -> None:
        """Stores a body. A lifetime of 0 means that it never expires."""
        error = _c.Error()
        draft = _c.StoreDraft(key=_c.view(key), lifetime_ms=_c.number(lifetime_ms, 64, "lifetime_ms"))
        check(_c.lib.nc_store_put(self.raw, byref(draft), _c.view(body), byref(error)), error)

    def get(self, key: bytes, max_bytes: int = 64 << 20) -> Optional[bytes]:
        """Returns the body of a key, or None if there is none."""
        entry, error, room = _c.StoreEntry(), _c.Error(), _c.lib.nc_buf_init(_c.number(max_bytes, 64, "max_bytes"))
        try:
            check(_c.lib.nc_store_get(byref(entry), self.raw, _c.view(key), byref(room), byref(error)), error)
            return bytes(entry.body.bytes()) if entry.found == _c.STORE_HIT else None
        finally:
            _c.lib.nc_buf_deinit(byref(room))
