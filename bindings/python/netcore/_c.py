"""The C interface unchanged: structs, prototypes and callbacks of netcore.h, by ctypes.

`script/examples` compares the layout of each struct with that of the installed headers, as the C compiler computes it.
"""

import ctypes
from ctypes import POINTER, Structure, c_bool, c_char, c_double, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

from ._library import load

lib = load()

UNLIMITED = 0xFFFFFFFF
OK = 0
USAGE = 1
CLOSED = 7
FILE = 22
QUEUE_FULL = 25
SHAPE_MISMATCH = 47
BAD_STATUS = 50
PIN_MISMATCH = 90
CANCELLED = 150
WAIT_TIMED_OUT = 154
NOT_CACHED = 250
CONTINUE, STOP, PAUSE = 0, 1, 2
PIN_PUBLIC_KEY = 1
ROOTS_SYSTEM, ROOTS_FILE = 0, 1
STORE_HIT = 1
REDIRECTS_FOLLOW, REDIRECTS_RETURN = 0, 1
RETRY_MAX_STATUSES = 16
CALL_MAX_ATTEMPTS = 16
SOCKET_TEXT, SOCKET_BINARY = 1, 2
SOCKET_NO_CLOSE_CODE = 1005


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
    _fields_ = [("ctx", c_void_p), ("pull", c_void_p), ("seek", c_void_p)]


class Trailers(Structure):
    _fields_ = [("fields", POINTER(Header)), ("count", c_size_t), ("compute", c_void_p), ("ctx", c_void_p)]


class Credentials(Structure):
    _fields_ = [("schemes", c_uint32), ("user", Slice), ("password", Slice), ("token", Slice)]


class Request(Structure):
    _fields_ = [("method", Slice), ("url", Slice), ("headers", POINTER(Header)), ("header_count", c_size_t),
                ("body", Slice), ("has_body", c_bool), ("omits_zero_length", c_bool), ("body_file", Slice),
                ("body_source", BodySource), ("body_length", c_uint64), ("body_offset", c_uint64),
                ("trailers", Trailers), ("multipart", c_void_p), ("save_path", Slice),
                ("accepts_codings", c_bool), ("http", c_int), ("redirects", c_int), ("limits", Limits),
                ("trust", c_void_p), ("connect_to", c_void_p), ("connect_to_count", c_size_t),
                ("unix_socket", Slice), ("proxy", c_void_p), ("expectation", c_void_p),
                ("credentials", Credentials), ("priority", c_int), ("cookie_use", c_uint8),
                ("keeps_dot_segments", c_bool), ("refuses_malformed_fields", c_bool), ("may_pause", c_bool),
                ("dscp", c_uint8), ("is_cross_origin", c_bool), ("accepts_transfer_codings", c_bool),
                ("ignores_netrc", c_bool)]


HEAD_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_void_p, c_bool)
BODY_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, Slice)
DONE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_void_p, POINTER(Error))


class Sink(Structure):
    _fields_ = [("ctx", c_void_p), ("on_head", HEAD_FN), ("on_body", BODY_FN), ("on_done", DONE_FN),
                ("on_progress", c_void_p)]


class DownloadOptions(Structure):
    _fields_ = [("request", POINTER(Request)), ("path", Slice), ("is_directory", c_bool),
                ("ignores_disposition", c_bool), ("existing", c_int), ("partial_folder", Slice),
                ("restarts", c_bool), ("trusts_server", c_bool), ("requests_destination", c_bool),
                ("skips_sync", c_bool), ("segments", c_uint32), ("checkpoint_interval_ms", c_uint32), ("sha256", c_void_p),
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


class SchemaLimits(Structure):
    _fields_ = [("max_frames", c_uint32), ("max_unique_items", c_uint32), ("max_text_bytes", c_size_t),
                ("max_state_bytes", c_size_t), ("steps_per_byte", c_uint32)]


class ExpectationOptions(Structure):
    _fields_ = [("shape", c_void_p), ("matching", ShapeOptions), ("json", JSONOptions), ("min_status", c_uint16),
                ("max_status", c_uint16), ("types", POINTER(Slice)), ("type_count", c_size_t),
                ("allows_empty", c_bool), ("schema", c_void_p), ("schema_limits", SchemaLimits)]


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


class RetryPolicy(Structure):
    _fields_ = [("max_retries", c_uint32), ("base_delay_ms", c_uint32), ("max_delay_ms", c_uint32),
                ("max_server_delay_ms", c_uint32), ("max_elapsed_ms", c_uint64),
                ("statuses", c_uint16 * RETRY_MAX_STATUSES), ("retries_any_method", c_bool),
                ("retries_any_error", c_bool), ("has_no_jitter", c_bool)]


class CachePolicy(Structure):
    _fields_ = [("mode", c_int), ("stale_while_revalidate_ms", c_int64), ("stale_if_error_ms", c_int64),
                ("heuristic_fraction", c_double), ("heuristic_max_ms", c_int64)]


class HTTPCacheOptions(Structure):
    _fields_ = [("store", c_void_p), ("max_memory_bytes", c_uint64), ("max_body_bytes", c_uint64),
                ("hash_key", c_void_p), ("random", c_void_p), ("cache_store", c_void_p)]


class CacheStoreEntry(Structure):
    _fields_ = [("key", Slice), ("host", Slice), ("metadata", Slice), ("body", Slice)]


class CacheStoreFound(Structure):
    _fields_ = [("metadata_at", c_size_t), ("metadata_bytes", c_size_t)]


STORE_GET_FN = ctypes.CFUNCTYPE(c_int, c_void_p, Slice, POINTER(Buf), POINTER(CacheStoreFound), POINTER(Error))
STORE_PUT_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(CacheStoreEntry), POINTER(Error))
STORE_REMOVE_FN = ctypes.CFUNCTYPE(c_int, c_void_p, Slice, POINTER(Error))


class CacheStore(Structure):
    _fields_ = [("ctx", c_void_p), ("get", STORE_GET_FN), ("put", STORE_PUT_FN), ("remove", STORE_REMOVE_FN),
                ("remove_all", STORE_REMOVE_FN), ("release", c_void_p), ("checks_entries", c_bool)]


class HTTPCacheStats(Structure):
    _fields_ = [("memory_entries", c_uint64), ("memory_bytes", c_uint64), ("memory_hits", c_uint64),
                ("store_hits", c_uint64), ("misses", c_uint64), ("puts", c_uint64), ("failed_puts", c_uint64),
                ("failed_gets", c_uint64)]


class ClientOptions(Structure):
    _fields_ = [("retry", POINTER(RetryPolicy)), ("budget", c_void_p), ("cache", c_void_p), ("clock", c_void_p),
                ("random", c_void_p)]


class CallOptions(Structure):
    _fields_ = [("retry", POINTER(RetryPolicy)), ("is_sent_once", c_bool), ("cache", POINTER(CachePolicy)),
                ("has_cache_scope", c_bool), ("cache_scope", Slice)]


CALL_DONE_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p, POINTER(Error))


class CallSink(Structure):
    _fields_ = [("ctx", c_void_p), ("on_done", CALL_DONE_FN)]


class CallAttempt(Structure):
    _fields_ = [("status", c_int), ("http_status", c_uint16), ("started_ms", c_uint64), ("ended_ms", c_uint64),
                ("reason", c_int), ("delay_ms", c_uint64)]


class CallCache(Structure):
    _fields_ = [("outcome", c_int), ("action", c_int), ("reason", c_int), ("age_ms", c_int64), ("lifetime_ms", c_int64),
                ("is_stored", c_bool)]


class SocketOptions(Structure):
    _fields_ = [("protocols", POINTER(Slice)), ("protocol_count", c_size_t), ("offers_compression", c_bool),
                ("delivers_pieces", c_bool), ("max_frame_bytes", c_uint64), ("max_message_bytes", c_uint64),
                ("max_queued_bytes", c_size_t), ("ping_interval_ms", c_uint32), ("peer_timeout_ms", c_uint32),
                ("close_timeout_ms", c_uint32), ("random", c_void_p)]


class SocketEnd(Structure):
    _fields_ = [("error", POINTER(Error)), ("response", c_void_p), ("refusal", Slice), ("close_code", c_uint16),
                ("close_reason", Slice)]


SOCKET_OPEN_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
SOCKET_MESSAGE_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, Slice, c_bool)
SOCKET_PONG_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, Slice)
SOCKET_ROOM_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
SOCKET_END_FN = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, POINTER(SocketEnd))


class SocketSink(Structure):
    _fields_ = [("ctx", c_void_p), ("on_open", SOCKET_OPEN_FN), ("on_message", SOCKET_MESSAGE_FN),
                ("on_pong", SOCKET_PONG_FN), ("on_room", SOCKET_ROOM_FN), ("on_end", SOCKET_END_FN)]


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
_prototype("nc_socket_open", c_int, _out, c_void_p, POINTER(Request), POINTER(SocketOptions), POINTER(SocketSink),
           _error)
_prototype("nc_socket_release", None, c_void_p)
_prototype("nc_socket_send", c_int, c_void_p, c_int, Slice, c_bool, _error)
_prototype("nc_socket_ping", c_int, c_void_p, Slice, _error)
_prototype("nc_socket_close", c_int, c_void_p, c_uint16, Slice, _error)
_prototype("nc_socket_cancel", None, c_void_p)
_prototype("nc_socket_resume", None, c_void_p)
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
_prototype("nc_http_cache_new", c_int, _out, POINTER(HTTPCacheOptions), _error)
_prototype("nc_http_cache_free", None, c_void_p)
_prototype("nc_http_cache_clear", c_int, c_void_p, _error)
_prototype("nc_http_cache_remove_host", c_int, c_void_p, Slice, _error)
_prototype("nc_http_cache_figures", HTTPCacheStats, c_void_p)
_prototype("nc_client_new", c_int, _out, c_void_p, POINTER(ClientOptions), _error)
_prototype("nc_client_close", c_int, c_void_p)
_prototype("nc_client_send", c_int, c_void_p, POINTER(Request), POINTER(CallOptions), POINTER(CallSink), _out, _error)
_prototype("nc_client_wait_idle", c_int, c_void_p, c_uint32)
_prototype("nc_call_release", None, c_void_p)
_prototype("nc_call_cancel", None, c_void_p)
_prototype("nc_call_attempt_count", c_size_t, c_void_p)
_prototype("nc_call_attempt_at", CallAttempt, c_void_p, c_size_t)
_prototype("nc_call_cache_report", CallCache, c_void_p)
_prototype("nc_cache_reason_name", ctypes.c_char_p, c_int)
_prototype("nc_buf_init", Buf, c_size_t)
_prototype("nc_buf_append", None, POINTER(Buf), Slice)
_prototype("nc_buf_deinit", None, POINTER(Buf))


def view(data: bytes) -> Slice:
    """Returns a view of bytes. The caller must keep the bytes alive until the C call has returned."""
    return Slice(ctypes.cast(ctypes.c_char_p(data), c_void_p), len(data))


def text(value: str, name: str) -> bytes:
    """Returns a text as UTF-8. Rejects bytes, because their charset is unknown."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return value.encode()


def number(value: int, bits: int, name: str) -> int:
    """Returns a number after a check of its range. ctypes would truncate it silently, and -1 would mean "unlimited"."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is an int, not {type(value).__name__}")
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{name} is {value}, not 0 to {(1 << bits) - 1}")
    return value


def layout() -> str:
    """Returns the offset of each field ("nc_slice length 8") and the size of each struct ("nc_slice - 16")."""
    names = {Slice: "slice", Error: "error", Buf: "buf", Header: "header", Limits: "limits",
             BodySource: "body_source", Trailers: "trailers", Credentials: "credentials", Request: "request",
             Sink: "sink", DownloadOptions: "download_options", DownloadProgress: "download_progress",
             DownloadResult: "download_result", DownloadSink: "download_sink", TrustRule: "trust_rule",
             TrustObserver: "trust_observer", TrustOptions: "trust_options", ShapeOptions: "shape_options",
             JSONOptions: "json_options", SchemaLimits: "schema_limits", ExpectationOptions: "expectation_options",
             StoreOptions: "store_options", StoreDraft: "store_draft", StoreEntry: "store_entry", RetryPolicy: "retry_policy",
             CachePolicy: "cache_policy", HTTPCacheOptions: "http_cache_options", HTTPCacheStats: "http_cache_stats",
             CacheStoreEntry: "cache_store_entry", CacheStoreFound: "cache_store_found", CacheStore: "cache_store",
             ClientOptions: "client_options", CallOptions: "call_options", CallSink: "call_sink",
             CallAttempt: "call_attempt", CallCache: "call_cache", SocketOptions: "socket_options",
             SocketEnd: "socket_end", SocketSink: "socket_sink"}
    lines = []
    for kind, name in names.items():
        lines += [f"nc_{name} {field[0]} {getattr(kind, field[0]).offset}" for field in kind._fields_]
        lines.append(f"nc_{name} - {ctypes.sizeof(kind)}")
    return "\n".join(lines)
