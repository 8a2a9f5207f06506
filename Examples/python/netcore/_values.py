"""What an engine is given and what it gives: owners of one C object each."""

import ctypes
import os
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar

from . import _c

_Self = TypeVar("_Self", bound="_Owner")


def version() -> str:
    """The version of the library that is loaded."""
    return str(_c.lib.nc_version().decode())


class NetError(Exception):
    """What every failure raises; `name` is the C spelling, such as "NC_ERR_RESOLVE"."""

    def __init__(self, error: _c.Error) -> None:
        super().__init__(error.message.decode("utf-8", "replace"))
        self.status: int = error.status
        self.name: str = _c.lib.nc_status_name(error.status).decode()
        self.native_code: int = error.native_code
        self.offset: int = error.offset
        self.is_retryable: bool = _c.lib.nc_status_is_retryable(error.status)


def check(status: int, error: _c.Error) -> None:
    if status != _c.OK:
        error.status = status
        raise NetError(error)


class _Handle:
    """One C object. Whoever calls C with it holds it: it is given back when nobody does any more, so that a close()
    in one thread frees nothing under a call in another. A forked child leaves what is its parent's alone."""

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


class Response(_Owner):
    """What came back; holds the library's memory until it is closed or forgotten."""

    def __init__(self, raw: int) -> None:
        self._own(raw, _c.lib.nc_response_release)

    @property
    def status(self) -> int:
        return int(_c.lib.nc_response_status(self.raw))

    @property
    def url(self) -> str:
        raw = self.raw
        return str(_c.lib.nc_response_url(raw).bytes().decode())

    @property
    def body(self) -> bytes:
        """A copy of the decoded body."""
        raw = self.raw  # held while it is copied
        return bytes(_c.lib.nc_response_body(raw).bytes())

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def headers(self) -> List[Tuple[str, str]]:
        """The fields in the order of arrival, their bytes as ISO 8859-1."""
        raw = self.raw
        fields = (_c.lib.nc_response_header_at(raw, i) for i in range(_c.lib.nc_response_header_count(raw)))
        return [(field.name.bytes().decode("latin-1"), field.value.bytes().decode("latin-1")) for field in fields]


class Trust(_Owner):
    """Whom TLS believes: an authority's file, and pins by host ("sha256/…")."""

    def __init__(self, ca_file: Optional[str] = None, pins: Optional[Mapping[str, Sequence[str]]] = None) -> None:
        options = _c.TrustOptions()
        kept: List[bytes] = []  # what the options view; the library copies it

        def view(text: str) -> _c.Slice:
            kept.append(os.fsencode(text))
            return _c.view(kept[-1])

        if ca_file is not None:
            options.roots = _c.ROOTS_FILE
            options.ca_file = view(ca_file)
        by_host: Dict[str, Sequence[str]] = dict(pins or {})
        rules = (_c.TrustRule * len(by_host))()
        for rule, (hosts, wanted) in zip(rules, by_host.items()):
            if isinstance(wanted, (str, bytes)):
                raise TypeError("pins are a list of texts for each host")
            rule.hosts = view(hosts)
            rule.mode = _c.PIN_PUBLIC_KEY
            rule.pins = (_c.Slice * len(wanted))(*[view(pin) for pin in wanted])
            rule.pin_count = len(wanted)
        options.rules = rules
        options.rule_count = len(by_host)
        raw, error = c_void_p(), _c.Error()
        check(_c.lib.nc_trust_new(byref(raw), byref(options), byref(error)), error)
        self._own(raw.value, _c.lib.nc_trust_release)


class Expectation(_Owner):
    """JSON of a shape, checked while it arrives; of any shape without one."""

    def __init__(self, shape: Optional[str] = None) -> None:
        compiled, raw, error = c_void_p(), c_void_p(), _c.Error()
        if shape is not None:
            document = _c.text(shape, "shape")
            check(_c.lib.nc_shape_parse(byref(compiled), _c.view(document), byref(error)), error)
        options = _c.ExpectationOptions(shape=compiled.value)
        status = _c.lib.nc_expectation_new(byref(raw), byref(options), byref(error))
        _c.lib.nc_shape_release(compiled)  # the expectation has a reference of its own
        check(status, error)
        self._own(raw.value, _c.lib.nc_expectation_release)


class Store(_Owner):
    """A directory of entries, each whole or absent. Calls may wait for the disk."""

    def __init__(self, directory: str) -> None:
        raw, error = c_void_p(), _c.Error()
        place = os.fsencode(directory)
        if b"\0" in place:
            raise ValueError("a NUL in a path")
        options = _c.StoreOptions(directory=place)
        check(_c.lib.nc_store_new(byref(raw), byref(options), byref(error)), error)
        self._own(raw.value, _c.lib.nc_store_free)

    def put(self, key: bytes, body: bytes, lifetime_ms: int = 0) -> None:
        """Puts a body; a lifetime of 0 is for ever."""
        error = _c.Error()
        draft = _c.StoreDraft(key=_c.view(key), lifetime_ms=_c.number(lifetime_ms, 64, "lifetime_ms"))
        check(_c.lib.nc_store_put(self.raw, byref(draft), _c.view(body), byref(error)), error)

    def get(self, key: bytes, max_bytes: int = 64 << 20) -> Optional[bytes]:
        """Finds a body; None when there is none."""
        entry, error, room = _c.StoreEntry(), _c.Error(), _c.lib.nc_buf_init(_c.number(max_bytes, 64, "max_bytes"))
        try:
            check(_c.lib.nc_store_get(byref(entry), self.raw, _c.view(key), byref(room), byref(error)), error)
            return bytes(entry.body.bytes()) if entry.found == _c.STORE_HIT else None
        finally:
            _c.lib.nc_buf_deinit(byref(room))
