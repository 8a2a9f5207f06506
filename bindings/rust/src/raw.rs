//! The C interface: structs and functions of netcore.h. `script/examples` compares the layout of each struct with that of
//! the installed headers, as the C compiler computes it.

use std::ffi::{c_char, c_void};

pub const OK: i32 = 0;
pub const USAGE: i32 = 1;
pub const CLOSED: i32 = 7;
pub const QUEUE_FULL: i32 = 25;
pub const SHAPE_MISMATCH: i32 = 47;
pub const BAD_STATUS: i32 = 50;
pub const UPGRADE_REFUSED: i32 = 51;
pub const PIN_MISMATCH: i32 = 90;
pub const CANCELLED: i32 = 150;
pub const STOPPED_BY_CALLER: i32 = 151;
pub const WAIT_TIMED_OUT: i32 = 154;
pub const CONTINUE: i32 = 0;
pub const STOP: i32 = 1;
pub const PAUSE: i32 = 2;
pub const SOCKET_TEXT: i32 = 1;
pub const SOCKET_BINARY: i32 = 2;
pub const PIN_PUBLIC_KEY: i32 = 1;
pub const ROOTS_FILE: i32 = 1;
pub const STORE_HIT: i32 = 1;
pub const UNLIMITED: u32 = u32::MAX;
pub const RETRY_MAX_STATUSES: usize = 16;
pub const CALL_MAX_ATTEMPTS: usize = 16;

pub type HeadFn = unsafe extern "C" fn(*mut c_void, u64, *const c_void, bool) -> i32;
pub type BodyFn = unsafe extern "C" fn(*mut c_void, u64, Slice) -> i32;
pub type DoneFn = unsafe extern "C" fn(*mut c_void, u64, *mut c_void, *const Error);
pub type CallDoneFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *const Error);
pub type SocketOpenFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void);
pub type SocketMessageFn = unsafe extern "C" fn(*mut c_void, *mut c_void, i32, Slice, bool) -> i32;
pub type SocketPongFn = unsafe extern "C" fn(*mut c_void, *mut c_void, Slice);
pub type SocketRoomFn = unsafe extern "C" fn(*mut c_void, *mut c_void);
pub type SocketEndFn = unsafe extern "C" fn(*mut c_void, *mut c_void, *const SocketEnd);
pub type DownloadDoneFn = unsafe extern "C" fn(*mut c_void, u64, *mut c_void, *const DownloadResult, *const Error);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slice {
    pub data: *const u8,
    pub length: usize,
}

impl Default for Slice {
    fn default() -> Slice {
        Slice { data: std::ptr::null(), length: 0 }
    }
}

impl Slice {
    /// Returns a view of bytes that outlive the call.
    pub fn of(bytes: &[u8]) -> Slice {
        Slice { data: bytes.as_ptr(), length: bytes.len() }
    }

    /// # Safety
    /// The viewed bytes must outlive `'a`.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.length == 0 {
            return &[];
        }
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }
}

/// Defines a C struct: zero by default, and with a function that returns the offsets of its fields.
macro_rules! c_struct {
    ($name:ident, $c:literal, $($field:ident: $kind:ty),*) => {
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            $(pub $field: $kind),*
        }
        impl Default for $name {
            fn default() -> $name {
                // SAFETY: the fields are numbers, pointers and optional functions; zero is a valid value of each.
                unsafe { std::mem::zeroed() }
            }
        }
        impl $name {
            fn layout() -> String {
                let mut lines = String::new();
                $(lines += &format!("{} {} {}\n", $c, stringify!($field), std::mem::offset_of!($name, $field));)*
                lines + &format!("{} - {}\n", $c, std::mem::size_of::<$name>())
            }
        }
    };
}

c_struct!(Error, "nc_error", status: i32, native_code: i32, offset: i64, message: [c_char; 256]);

c_struct!(Buf, "nc_buf", data: *mut u8, length: usize, capacity: usize, max_bytes: usize, status: i32);

c_struct!(Header, "nc_header", name: Slice, value: Slice);

c_struct!(Limits, "nc_limits", connect_ms: u32, first_byte_ms: u32, idle_ms: u32, slot_ms: u32, total_ms: u32,
    max_redirects: u32, max_body_bytes: u64, max_head_bytes: u32, max_head_fields: u32, max_codings: u32,
    max_send_bytes_per_s: u64, max_receive_bytes_per_s: u64);

c_struct!(BodySource, "nc_body_source", ctx: *mut c_void, pull: *mut c_void, seek: *mut c_void);

c_struct!(Trailers, "nc_trailers", fields: *const c_void, count: usize, compute: *mut c_void, ctx: *mut c_void);

c_struct!(Credentials, "nc_credentials", schemes: u32, user: Slice, password: Slice, token: Slice);

c_struct!(Request, "nc_request", method: Slice, url: Slice, headers: *const Header, header_count: usize, body:
    Slice, has_body: bool, omits_zero_length: bool, body_file: Slice, body_source: BodySource, body_length: u64,
    body_offset: u64, trailers: Trailers, multipart: *mut c_void, save_path: Slice, accepts_codings: bool, http: i32,
    redirects: i32, limits: Limits, trust: *mut c_void, connect_to: *const c_void, connect_to_count: usize,
    unix_socket: Slice, proxy: *const c_void, expectation: *mut c_void, credentials: Credentials, priority: i32,
    cookie_use: u8, keeps_dot_segments: bool, refuses_malformed_fields: bool, may_pause: bool, dscp: u8,
    is_cross_origin: bool, accepts_transfer_codings: bool, ignores_netrc: bool);

c_struct!(Sink, "nc_sink", ctx: *mut c_void, on_head: Option<HeadFn>, on_body: Option<BodyFn>, on_done:
    Option<DoneFn>, on_progress: *mut c_void);

c_struct!(DownloadOptions, "nc_download_options", request: *const Request, path: Slice, is_directory: bool,
    ignores_disposition: bool, existing: i32, partial_folder: Slice, restarts: bool, trusts_server: bool,
    requests_destination: bool, skips_sync: bool, segments: u32, checkpoint_interval_ms: u32, sha256: *const u8, md5: *const u8);

c_struct!(DownloadResult, "nc_download_result", path: Slice, partial_path: Slice, byte_count: u64, resumed_bytes:
    u64);

c_struct!(DownloadSink, "nc_download_sink", ctx: *mut c_void, on_head: *mut c_void, on_resumed: *mut c_void,
    on_destination: *mut c_void, on_progress: *mut c_void, on_done: Option<DownloadDoneFn>);

c_struct!(TrustRule, "nc_trust_rule", hosts: Slice, mode: i32, pins: *const Slice, pin_count: usize, certificates:
    *const Slice, certificate_count: usize, files: *const Slice, file_count: usize, expires_at_s: i64, lapses: bool,
    reports_only: bool, min_pins: u32);

c_struct!(TrustObserver, "nc_trust_observer", ctx: *mut c_void, report: *mut c_void, decide: *mut c_void, release:
    *mut c_void, allows_override: bool);

c_struct!(TrustOptions, "nc_trust_options", roots: i32, ca_file: Slice, ca_pem: Slice, min_version: i32,
    accepts_anything: bool, identity_file: Slice, identity_key_file: Slice, identity_pem: Slice, identity_key_pem:
    Slice, identity_password: Slice, identity_pass_phrase: *mut c_void, identity_ctx: *mut c_void, identity_release:
    *mut c_void, rules: *const TrustRule, rule_count: usize, accepts_invalid_chains: bool, skips_name_check: bool,
    crl_file: Slice, requires_staple: bool, max_version: i32, ciphers: Slice, cipher_suites: Slice, skips_alpn:
    bool, observer: TrustObserver, is_strict: bool, max_chain_length: u32);

c_struct!(ShapeOptions, "nc_shape_options", max_mismatches: u32, is_lenient: bool);

c_struct!(JsonOptions, "nc_json_options", max_depth: u32, max_names: u32, max_bytes: u64, max_number_bytes: u64,
    allows_lone_surrogates: bool, refuses_duplicate_names: bool);

c_struct!(SchemaLimits, "nc_schema_limits", max_frames: u32, max_unique_items: u32, max_text_bytes: usize,
    max_state_bytes: usize, steps_per_byte: u32);

c_struct!(ExpectationOptions, "nc_expectation_options", shape: *mut c_void, matching: ShapeOptions, json:
    JsonOptions, min_status: u16, max_status: u16, types: *const Slice, type_count: usize, allows_empty: bool,
    schema: *mut c_void, schema_limits: SchemaLimits);

c_struct!(StoreOptions, "nc_store_options", directory: *const c_char, max_bytes: u64, max_entries: u32, max_share:
    u32, durability: i32, seal_key: *const u8, clock: *const c_void, random: *const c_void, file_ops: *const
    c_void);

c_struct!(StoreDraft, "nc_store_draft", key: Slice, metadata: Slice, host: Slice, tags: Slice, lifetime_ms: u64,
    created_at_ms: i64);

c_struct!(StoreEntry, "nc_store_entry", found: i32, key: Slice, metadata: Slice, host: Slice, tags: Slice, body:
    Slice, body_bytes: u64, file_bytes: u64, created_at_ms: i64, lifetime_ms: u64);

c_struct!(RetryPolicy, "nc_retry_policy", max_retries: u32, base_delay_ms: u32, max_delay_ms: u32, max_server_delay_ms:
    u32, max_elapsed_ms: u64, statuses: [u16; RETRY_MAX_STATUSES], retries_any_method: bool, retries_any_error: bool,
    has_no_jitter: bool);

c_struct!(CachePolicy, "nc_cache_policy", mode: i32, stale_while_revalidate_ms: i64, stale_if_error_ms: i64,
    heuristic_fraction: f64, heuristic_max_ms: i64);

c_struct!(HttpCacheOptions, "nc_http_cache_options", store: *mut c_void, max_memory_bytes: u64, max_body_bytes: u64,
    hash_key: *const u8, random: *const c_void, cache_store: *const c_void);

c_struct!(HttpCacheStats, "nc_http_cache_stats", memory_entries: u64, memory_bytes: u64, memory_hits: u64, store_hits:
    u64, misses: u64, puts: u64, failed_puts: u64, failed_gets: u64);

c_struct!(ClientOptions, "nc_client_options", retry: *const RetryPolicy, budget: *mut c_void, cache: *mut c_void, clock:
    *const c_void, random: *const c_void);

c_struct!(CallOptions, "nc_call_options", retry: *const RetryPolicy, is_sent_once: bool, cache: *const CachePolicy,
    has_cache_scope: bool, cache_scope: Slice);

c_struct!(CallSink, "nc_call_sink", ctx: *mut c_void, on_done: Option<CallDoneFn>);

c_struct!(CallAttempt, "nc_call_attempt", status: i32, http_status: u16, started_ms: u64, ended_ms: u64, reason: i32,
    delay_ms: u64);

c_struct!(CallCache, "nc_call_cache", outcome: i32, action: i32, reason: i32, age_ms: i64, lifetime_ms: i64, is_stored:
    bool);

c_struct!(SocketOptions, "nc_socket_options", protocols: *const Slice, protocol_count: usize, offers_compression: bool,
    delivers_pieces: bool, max_frame_bytes: u64, max_message_bytes: u64, max_queued_bytes: usize, ping_interval_ms: u32,
    peer_timeout_ms: u32, close_timeout_ms: u32, random: *const c_void);

c_struct!(SocketEnd, "nc_socket_end", error: *const Error, response: *mut c_void, refusal: Slice, close_code: u16,
    close_reason: Slice);

c_struct!(SocketSink, "nc_socket_sink", ctx: *mut c_void, on_open: Option<SocketOpenFn>, on_message:
    Option<SocketMessageFn>, on_pong: Option<SocketPongFn>, on_room: Option<SocketRoomFn>, on_end: Option<SocketEndFn>);

/// "nc_request url 16" for each field, and "nc_request - 512" for the whole.
pub fn layout() -> String {
    [
        Error::layout(),
        Buf::layout(),
        Header::layout(),
        Limits::layout(),
        BodySource::layout(),
        Trailers::layout(),
        Credentials::layout(),
        Request::layout(),
        Sink::layout(),
        DownloadOptions::layout(),
        DownloadResult::layout(),
        DownloadSink::layout(),
        TrustRule::layout(),
        TrustObserver::layout(),
        TrustOptions::layout(),
        ShapeOptions::layout(),
        JsonOptions::layout(),
        SchemaLimits::layout(),
        ExpectationOptions::layout(),
        StoreOptions::layout(),
        StoreDraft::layout(),
        StoreEntry::layout(),
        RetryPolicy::layout(),
        CachePolicy::layout(),
        HttpCacheOptions::layout(),
        HttpCacheStats::layout(),
        ClientOptions::layout(),
        CallOptions::layout(),
        CallSink::layout(),
        CallAttempt::layout(),
        CallCache::layout(),
        SocketOptions::layout(),
        SocketEnd::layout(),
        SocketSink::layout(),
    ]
    .concat()
}

// build.rs names the library to link.
extern "C" {
    pub fn nc_status_name(status: i32) -> *const c_char;
    pub fn nc_engine_new(out: *mut *mut c_void, options: *const c_void, err: *mut Error) -> i32;
    pub fn nc_engine_submit(engine: *mut c_void, request: *const Request, sink: *const Sink, out: *mut u64, err: *mut Error) -> i32;
    pub fn nc_engine_cancel(engine: *mut c_void, id: u64);
    pub fn nc_engine_release(engine: *mut c_void);
    pub fn nc_engine_is_on_loop(engine: *const c_void) -> bool;
    pub fn nc_engine_close(engine: *mut c_void, timeout_ms: u32) -> i32;
    pub fn nc_response_retain(response: *mut c_void) -> *mut c_void;
    pub fn nc_response_release(response: *mut c_void);
    pub fn nc_response_status(response: *const c_void) -> u16;
    pub fn nc_response_body(response: *const c_void) -> Slice;
    pub fn nc_response_url(response: *const c_void) -> Slice;
    pub fn nc_response_header_count(response: *const c_void) -> usize;
    pub fn nc_response_header_at(response: *const c_void, index: usize) -> Header;
    pub fn nc_status_is_retryable(status: i32) -> bool;
    pub fn nc_download_start(
        engine: *mut c_void, options: *const DownloadOptions, sink: *const DownloadSink, out: *mut u64, err: *mut Error,
    ) -> i32;
    pub fn nc_socket_open(
        out: *mut *mut c_void, engine: *mut c_void, request: *const Request, options: *const SocketOptions,
        sink: *const SocketSink, err: *mut Error,
    ) -> i32;
    pub fn nc_socket_release(socket: *mut c_void);
    pub fn nc_socket_send(socket: *mut c_void, kind: i32, bytes: Slice, is_last: bool, err: *mut Error) -> i32;
    pub fn nc_socket_ping(socket: *mut c_void, payload: Slice, err: *mut Error) -> i32;
    pub fn nc_socket_close(socket: *mut c_void, code: u16, reason: Slice, err: *mut Error) -> i32;
    pub fn nc_socket_cancel(socket: *mut c_void);
    pub fn nc_socket_resume(socket: *mut c_void);
    pub fn nc_download_cancel(engine: *mut c_void, id: u64);
    pub fn nc_trust_new(out: *mut *mut c_void, options: *const TrustOptions, err: *mut Error) -> i32;
    pub fn nc_trust_release(trust: *mut c_void);
    pub fn nc_shape_parse(out: *mut *mut c_void, document: Slice, err: *mut Error) -> i32;
    pub fn nc_shape_release(shape: *mut c_void);
    pub fn nc_expectation_new(out: *mut *mut c_void, options: *const ExpectationOptions, err: *mut Error) -> i32;
    pub fn nc_expectation_release(expectation: *mut c_void);
    pub fn nc_store_new(out: *mut *mut c_void, options: *const StoreOptions, err: *mut Error) -> i32;
    pub fn nc_store_free(store: *mut c_void);
    pub fn nc_store_get(out: *mut StoreEntry, store: *mut c_void, key: Slice, room: *mut Buf, err: *mut Error) -> i32;
    pub fn nc_store_put(store: *mut c_void, draft: *const StoreDraft, body: Slice, err: *mut Error) -> i32;
    pub fn nc_http_cache_new(out: *mut *mut c_void, options: *const HttpCacheOptions, err: *mut Error) -> i32;
    pub fn nc_http_cache_free(cache: *mut c_void);
    pub fn nc_http_cache_clear(cache: *mut c_void, err: *mut Error) -> i32;
    pub fn nc_http_cache_figures(cache: *mut c_void) -> HttpCacheStats;
    pub fn nc_client_new(out: *mut *mut c_void, engine: *mut c_void, options: *const ClientOptions, err: *mut Error) -> i32;
    pub fn nc_client_close(client: *mut c_void) -> i32;
    pub fn nc_client_send(
        client: *mut c_void, request: *const Request, options: *const CallOptions, sink: *const CallSink,
        out: *mut *mut c_void, err: *mut Error,
    ) -> i32;
    pub fn nc_call_cancel(call: *mut c_void);
    pub fn nc_call_release(call: *mut c_void);
    pub fn nc_call_attempt_count(call: *mut c_void) -> usize;
    pub fn nc_call_attempt_at(call: *mut c_void, index: usize) -> CallAttempt;
    pub fn nc_call_cache_report(call: *mut c_void) -> CallCache;
    pub fn nc_cache_reason_name(reason: i32) -> *const c_char;
    pub fn nc_buf_init(max_bytes: usize) -> Buf;
    pub fn nc_buf_deinit(buf: *mut Buf);
}
