"""The C interface as it is: structs, prototypes and callbacks of netcore.h, by ctypes.

`script/examples` compares the layout of each struct here with what the C compiler makes of the installed headers.
"""

import ctypes
import ctypes.util
import os
from ctypes import POINTER, Structure, c_bool, c_char, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

_path = os.environ.get("NETCORE_LIBRARY") or ctypes.util.find_library("netcore") or "libnetcore.so.0"
# CDLL releases the interpreter's lock during each call, and takes it again for each callback.
lib = ctypes.CDLL(_path)

UNLIMITED = 0xFFFFFFFF
OK = 0
USAGE = 1
SHAPE_MISMATCH = 47
PIN_MISMATCH = 90
CANCELLED = 150
WAIT_TIMED_OUT = 154
CONTINUE, STOP = 0, 1
PIN_PUBLIC_KEY = 1
ROOTS_SYSTEM, ROOTS_FILE = 0, 1
STORE_HIT = 1


class Slice(Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t)]

    def bytes(self) -> bytes:
        return ctypes.string_at(self.data, self.length) if self.length else b""


class Error(Structure):
    _fields_ = [("status", c_int), ("native_code", c_int32), ("offset", c_int64), ("message", c_char * 256)]


class Buf(Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t), ("capacity", c_size_t), ("max_bytes", c_size_t),
                ("status", c_int)]


class Header(Structure):
    _fields_ = [("name", Slice), ("value", Slice)]


class Limits(Structure):
    _fields_ = [("connect_ms", c_uint32), ("first_byte_ms", c_uint32), ("idle_ms", c_uint32), ("slot_ms", c_uint32),
                ("total_ms", c_uint32), ("max_redirects", c_uint32), ("max_body_bytes", c_uint64),
                ("max_head_bytes", c_uint32), ("max_head_fields", c_uint32), ("max_codings", c_uint32),
                ("max_send_bytes_per_s", c_uint64), ("max_receive_bytes_per_s", c_uint64)]


class BodySource(Structure):
    _fields_ = [("ctx", c_void_p), ("pull", c_void_p), ("rewind", c_void_p)]


class Credentials(Structure):
    _fields_ = [("schemes", c_uint32), ("user", Slice), ("password", Slice), ("token", Slice)]


class Request(Structure):
    _fields_ = [("method", Slice), ("url", Slice), ("headers", POINTER(Header)), ("header_count", c_size_t),
                ("body", Slice), ("has_body", c_bool), ("omits_zero_length", c_bool), ("body_file", Slice),
                ("body_source", BodySource),
                ("body_length", c_uint64), ("multipart", c_void_p), ("save_path", Slice),
                ("accepts_codings", c_bool), ("http", c_int), ("redirects", c_int), ("limits", Limits),
                ("trust", c_void_p), ("connect_to", c_void_p), ("connect_to_count", c_size_t),
                ("unix_socket", Slice), ("proxy", c_void_p), ("expectation", c_void_p),
                ("credentials", Credentials), ("priority", c_int), ("cookie_use", c_uint8),
                ("keeps_dot_segments", c_bool), ("refuses_malformed_fields", c_bool), ("may_pause", c_bool),
                ("dscp", c_uint8), ("is_elsewhere", c_bool)]


HEAD_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_void_p, c_bool)
BODY_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, Slice)
DONE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_void_p, POINTER(Error))


class Sink(Structure):
    _fields_ = [("ctx", c_void_p), ("on_head", HEAD_FN), ("on_body", BODY_FN), ("on_done", DONE_FN),
                ("on_progress", c_void_p)]


class DownloadOptions(Structure):
    _fields_ = [("request", POINTER(Request)), ("path", Slice), ("is_directory", c_bool),
                ("ignores_disposition", c_bool), ("existing", c_int), ("partial_folder", Slice),
                ("restarts", c_bool), ("trusts_server", c_bool), ("asks_destination", c_bool),
                ("skips_sync", c_bool), ("segments", c_uint32), ("proof_ms", c_uint32), ("sha256", c_void_p),
                ("md5", c_void_p)]


class DownloadProgress(Structure):
    _fields_ = [("received_bytes", c_uint64), ("resumed_bytes", c_uint64), ("total_bytes", c_uint64),
                ("bytes_per_s", c_uint64), ("left_ms", c_uint64), ("active_segments", c_uint32)]


class DownloadResult(Structure):
    _fields_ = [("path", Slice), ("partial_path", Slice), ("byte_count", c_uint64), ("resumed_bytes", c_uint64)]


DOWNLOAD_PROGRESS_FN = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, POINTER(DownloadProgress))
DOWNLOAD_DONE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_void_p, POINTER(DownloadResult), POINTER(Error))


class DownloadSink(Structure):
    _fields_ = [("ctx", c_void_p), ("on_head", c_void_p), ("on_resumed", c_void_p), ("on_destination", c_void_p),
                ("on_progress", DOWNLOAD_PROGRESS_FN), ("on_done", DOWNLOAD_DONE_FN)]


class TrustRule(Structure):
    _fields_ = [("hosts", Slice), ("mode", c_int), ("pins", POINTER(Slice)), ("pin_count", c_size_t),
                ("certificates", c_void_p), ("certificate_count", c_size_t), ("files", c_void_p),
                ("file_count", c_size_t), ("expires_at_s", c_int64), ("lapses", c_bool), ("reports_only", c_bool),
                ("min_pins", c_uint32)]


class TrustObserver(Structure):
    _fields_ = [("ctx", c_void_p), ("report", c_void_p), ("decide", c_void_p), ("release", c_void_p),
                ("allows_override", c_bool)]


class TrustOptions(Structure):
    _fields_ = [("roots", c_int), ("ca_file", Slice), ("ca_pem", Slice), ("min_version", c_int),
                ("accepts_anything", c_bool), ("identity_file", Slice), ("identity_key_file", Slice),
                ("identity_pem", Slice), ("identity_key_pem", Slice), ("identity_password", Slice),
                ("identity_pass_phrase", c_void_p), ("identity_ctx", c_void_p), ("identity_release", c_void_p),
                ("rules", POINTER(TrustRule)), ("rule_count", c_size_t), ("accepts_invalid_chains", c_bool),
                ("skips_name_check", c_bool), ("crl_file", Slice), ("requires_staple", c_bool),
                ("max_version", c_int), ("ciphers", Slice), ("cipher_suites", Slice), ("skips_alpn", c_bool),
                ("observer", TrustObserver), ("is_strict", c_bool), ("max_chain_length", c_uint32)]


class ShapeOptions(Structure):
    _fields_ = [("max_mismatches", c_uint32), ("is_lenient", c_bool)]


class JSONOptions(Structure):
    _fields_ = [("max_depth", c_uint32), ("max_names", c_uint32), ("max_bytes", c_uint64),
                ("max_number_bytes", c_uint64), ("allows_lone_surrogates", c_bool),
                ("refuses_duplicate_names", c_bool)]


class ExpectationOptions(Structure):
    _fields_ = [("shape", c_void_p), ("matching", ShapeOptions), ("json", JSONOptions), ("min_status", c_uint16),
                ("max_status", c_uint16), ("types", POINTER(Slice)), ("type_count", c_size_t),
                ("allows_empty", c_bool)]


class StoreOptions(Structure):
    _fields_ = [("directory", ctypes.c_char_p), ("max_bytes", c_uint64), ("max_entries", c_uint32),
                ("max_share", c_uint32), ("durability", c_int), ("seal_key", c_void_p), ("clock", c_void_p),
                ("random", c_void_p), ("file_ops", c_void_p)]


class StoreDraft(Structure):
    _fields_ = [("key", Slice), ("metadata", Slice), ("host", Slice), ("tags", Slice), ("lifetime_ms", c_uint64),
                ("created_at_ms", c_int64)]


class StoreEntry(Structure):
    _fields_ = [("found", c_int), ("key", Slice), ("metadata", Slice), ("host", Slice), ("tags", Slice),
                ("body", Slice), ("body_bytes", c_uint64), ("file_bytes", c_uint64), ("created_at_ms", c_int64),
                ("lifetime_ms", c_uint64)]


def _prototype(name: str, result: Any, *arguments: Any) -> None:
    function = getattr(lib, name)
    function.restype = result
    function.argtypes = arguments


_error = POINTER(Error)
_out = POINTER(c_void_p)
_prototype("nc_version", ctypes.c_char_p)
_prototype("nc_status_name", ctypes.c_char_p, c_int)
_prototype("nc_status_is_retryable", c_bool, c_int)
_prototype("nc_engine_new", c_int, _out, c_void_p, _error)
_prototype("nc_engine_submit", c_int, c_void_p, POINTER(Request), POINTER(Sink), POINTER(c_uint64), _error)
_prototype("nc_engine_wait", c_int, c_void_p, c_uint64, c_uint32, _out, _error)
_prototype("nc_engine_cancel", None, c_void_p, c_uint64)
_prototype("nc_engine_close", c_int, c_void_p, c_uint32)
_prototype("nc_engine_release", None, c_void_p)
_prototype("nc_engine_is_on_loop", c_bool, c_void_p)
_prototype("nc_response_retain", c_void_p, c_void_p)
_prototype("nc_response_release", None, c_void_p)
_prototype("nc_response_status", c_uint16, c_void_p)
_prototype("nc_response_url", Slice, c_void_p)
_prototype("nc_response_body", Slice, c_void_p)
_prototype("nc_response_header_count", c_size_t, c_void_p)
_prototype("nc_response_header_at", Header, c_void_p, c_size_t)
_prototype("nc_download_start", c_int, c_void_p, POINTER(DownloadOptions), POINTER(DownloadSink), POINTER(c_uint64),
           _error)
_prototype("nc_download_cancel", None, c_void_p, c_uint64)
_prototype("nc_trust_new", c_int, _out, POINTER(TrustOptions), _error)
_prototype("nc_trust_release", None, c_void_p)
_prototype("nc_shape_parse", c_int, _out, Slice, _error)
_prototype("nc_shape_release", None, c_void_p)
_prototype("nc_expectation_new", c_int, _out, POINTER(ExpectationOptions), _error)
_prototype("nc_expectation_release", None, c_void_p)
_prototype("nc_store_new", c_int, _out, POINTER(StoreOptions), _error)
_prototype("nc_store_free", None, c_void_p)
_prototype("nc_store_get", c_int, POINTER(StoreEntry), c_void_p, Slice, POINTER(Buf), _error)
_prototype("nc_store_put", c_int, c_void_p, POINTER(StoreDraft), Slice, _error)
_prototype("nc_buf_init", Buf, c_size_t)
_prototype("nc_buf_deinit", None, POINTER(Buf))


def view(data: bytes) -> Slice:
    """Views bytes that the caller keeps until the call that they are for has returned."""
    return Slice(ctypes.cast(ctypes.c_char_p(data), c_void_p), len(data))


def text(value: str, name: str) -> bytes:
    """UTF-8 of a text; bytes are refused, whose charset nobody knows."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return value.encode()


def number(value: int, bits: int, name: str) -> int:
    """A number that C has room for: ctypes itself would cut it, and -1 would be without a limit."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an int, not {type(value).__name__}")
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{name} is {value}, not 0 to {(1 << bits) - 1}")
    return value


def layout() -> str:
    """Says where each field lies: "nc_slice length 8", and "nc_slice - 16" for the whole."""
    names = {Slice: "slice", Error: "error", Buf: "buf", Header: "header", Limits: "limits",
             BodySource: "body_source", Credentials: "credentials", Request: "request", Sink: "sink",
             DownloadOptions: "download_options", DownloadProgress: "download_progress",
             DownloadResult: "download_result", DownloadSink: "download_sink", TrustRule: "trust_rule",
             TrustObserver: "trust_observer", TrustOptions: "trust_options", ShapeOptions: "shape_options",
             JSONOptions: "json_options", ExpectationOptions: "expectation_options", StoreOptions: "store_options",
             StoreDraft: "store_draft", StoreEntry: "store_entry"}
    lines = []
    for kind, name in names.items():
        lines += [f"nc_{name} {field[0]} {getattr(kind, field[0]).offset}" for field in kind._fields_]
        lines.append(f"nc_{name} - {ctypes.sizeof(kind)}")
    return "\n".join(lines)
