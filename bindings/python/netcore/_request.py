"""Turns the arguments of a call into a C request."""

import json as _json
import math
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote, urlencode

from . import _c
from ._values import Expectation, Trust

# A value of a query or of a form. None omits the name, a list repeats it.
Value = Union[str, int, float, bool, None, Sequence[Union[str, int, float, bool]]]
Params = Union[Mapping[str, Value], Sequence[Tuple[str, Value]]]
HeaderFields = Union[Mapping[str, str], Sequence[Tuple[str, str]]]
# A body: bytes and texts are sent as they are, pairs as a form.
Data = Union[bytes, bytearray, memoryview, str, Mapping[str, Value], Sequence[Tuple[str, Value]]]


def _text_of(value: Union[str, int, float, bool]) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"a value of a query or a form is a str, a number or a bool, not {type(value).__name__}")
    return str(value)


def _encode_pairs(params: Params) -> str:
    pairs: List[Tuple[str, str]] = []
    for name, value in params.items() if isinstance(params, Mapping) else params:
        if value is None:
            continue
        values = [value] if isinstance(value, (str, int, float)) else value
        pairs += [(_c.text(name, "a name").decode(), _text_of(one)) for one in values]
    return urlencode(pairs, quote_via=quote, safe="")


def _with_params(url: str, params: Optional[Params]) -> str:
    _c.text(url, "url")
    query = _encode_pairs(params) if params is not None else ""
    if not query:
        return url
    url, mark, fragment = url.partition("#")
    return url + ("&" if "?" in url else "?") + query + mark + fragment


def _body_of(json: Any, data: Optional[Data]) -> Tuple[Optional[bytes], Optional[str]]:
    """Returns the body and its content type."""
    if json is not None and data is not None:
        raise TypeError("json and data are given; a request has one body")
    if json is not None:
        return _json.dumps(json, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(), "application/json"
    if data is None:
        return None, None
    if isinstance(data, str):
        return data.encode(), "text/plain; charset=utf-8"
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data), None
    if isinstance(data, (Mapping, list, tuple)):
        return _encode_pairs(data).encode(), "application/x-www-form-urlencoded"
    raise TypeError(f"data is bytes, a str, or the pairs of a form, not {type(data).__name__}")


def _milliseconds(timeout: Optional[float]) -> int:
    """Returns nc_limits.total_ms: 0 is the library's default."""
    if timeout is None:
        return 0
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout is a number of seconds, not {type(timeout).__name__}")
    if timeout == math.inf:
        return _c.UNLIMITED
    if not 0 < timeout * 1000 < _c.UNLIMITED:
        raise ValueError(f"timeout is {timeout} s, not greater than 0 and less than {_c.UNLIMITED // 1000} s; "
                         "math.inf means no limit")
    return max(1, math.ceil(timeout * 1000))


def _fields_of(headers: Optional[HeaderFields], content_type: Optional[str]) -> List[Tuple[bytes, bytes]]:
    given = list(headers.items() if isinstance(headers, Mapping) else headers or ())
    if content_type is not None and not any(name.lower() == "content-type" for name, _ in given):
        given.append(("Content-Type", content_type))
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given]


def native_request(url: str, *, method: Optional[str] = None, headers: Optional[HeaderFields] = None,
                   params: Optional[Params] = None, json: Any = None, data: Optional[Data] = None,
                   timeout: Optional[float] = None, follow_redirects: bool = True, trust: Optional[Trust] = None,
                   expectation: Optional[Expectation] = None,
                   cache_control: Optional[str] = None) -> Tuple[_c.Request, List[Any]]:
    """Returns a request and the objects that it views. The caller keeps them alive until the request is submitted."""
    for value, kind in ((trust, Trust), (expectation, Expectation)):
        if not isinstance(value, (kind, type(None))):
            raise TypeError(f"{type(value).__name__} given for a {kind.__name__}")
    body, content_type = _body_of(json, data)
    if method is None:
        method = "GET" if body is None else "POST"
    owned = [None if owner is None else owner.raw for owner in (trust, expectation)]
    references: List[Any] = [_c.text(_with_params(url, params), "url"), _c.text(method, "method"), body or b"", owned]
    request = _c.Request(url=_c.view(references[0]), method=_c.view(references[1]), body=_c.view(references[2]),
                         has_body=body is not None, trust=owned[0] and owned[0].address,
                         expectation=owned[1] and owned[1].address, accepts_codings=True)
    request.limits.total_ms = _milliseconds(timeout)
    request.redirects = _c.REDIRECTS_FOLLOW if follow_redirects else _c.REDIRECTS_RETURN
    texts = _fields_of(headers, content_type)
    if cache_control is not None:
        texts.append((b"Cache-Control", cache_control.encode()))
    fields = (_c.Header * len(texts))(*[_c.Header(_c.view(name), _c.view(value)) for name, value in texts])
    request.headers = fields
    request.header_count = len(texts)
    return request, references + [texts, fields]
