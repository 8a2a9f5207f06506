//! libnetcore for Rust: the C interface in `raw`, and a safe module over it. No crates.
//!
//! ```no_run
//! use netcore::{Engine, Request};
//!
//! fn main() -> netcore::Result<()> {
//!     let engine = Engine::new()?;
//!     let cities = engine.fetch(&Request::get("https://example.com/cities"))?.success()?;
//!     println!("{}", cities.text());
//!     let city = Request { method: "PUT", body: Some(b"{}"), ..Request::get("https://example.com/cities/1") };
//!     println!("{}", engine.fetch(&city)?.status());
//!     Ok(())
//! }
//! ```
//!
//! Values free what they own when they are dropped. Closures run on the engine's thread and must not block. A panic in one
//! stops its transfer, and resumes in the thread that waits for the transfer. Dropping an engine cancels all transfers in
//! flight and waits for their end.

use std::borrow::Cow;
use std::ffi::{c_void, CStr, CString};
use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::sync::mpsc;
use std::time::Duration;

mod caching;
mod client;
pub mod raw;
mod websocket;

pub use caching::{
    Attempt, Builder, Cache, CacheLimits, CacheMode, CacheOutcome, CachePolicy, CacheReport, RetryPolicy,
};
pub use websocket::{Close, Message, Messages, Payload, WebSocket, WebSocketError, WebSocketOptions};

/// The error of every failure.
#[derive(Debug, Clone)]
pub struct Error {
    /// The C status.
    pub status: i32,
    /// The library's message.
    pub message: String,
    /// The attempts of a request to an engine with retries or a cache.
    pub attempts: Vec<Attempt>,
    /// What the cache did.
    pub cache: CacheReport,
}

impl Error {
    fn new(status: i32, message: impl Into<String>) -> Error {
        Error { status, message: message.into(), attempts: Vec::new(), cache: CacheReport::default() }
    }

    fn usage(message: impl Into<String>) -> Error {
        Error::new(raw::USAGE, message)
    }

    fn of(status: i32, detail: &raw::Error) -> Error {
        // SAFETY: the library terminates the message with a NUL.
        let message = unsafe { CStr::from_ptr(detail.message.as_ptr()) };
        Error::new(status, message.to_string_lossy())
    }

    /// The C spelling, such as "NC_ERR_RESOLVE".
    pub fn name(&self) -> &'static str {
        // SAFETY: a static string.
        unsafe { CStr::from_ptr(raw::nc_status_name(self.status)) }.to_str().unwrap_or("")
    }

    /// True if a retry may succeed.
    pub fn is_retryable(&self) -> bool {
        // SAFETY: a pure function.
        unsafe { raw::nc_status_is_retryable(self.status) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.message)
    }
}

impl std::error::Error for Error {}

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

fn check(call: impl FnOnce(&mut raw::Error) -> i32) -> Result<()> {
    let mut detail = raw::Error::default();
    match call(&mut detail) {
        raw::OK => Ok(()),
        status => Err(Error::of(status, &detail)),
    }
}

macro_rules! owner {
    ($(#[$doc:meta])* $name:ident, $release:path) => {
        $(#[$doc])*
        pub struct $name(*mut c_void);
        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: created by the library, and released once.
                unsafe { $release(self.0) }
            }
        }
    };
}

/// A response. Its slices live as long as it does.
pub struct Response {
    raw: *mut c_void,
    cache: CacheReport,
    attempts: Vec<Attempt>,
}

impl Drop for Response {
    fn drop(&mut self) {
        // SAFETY: created by the library, and released once.
        unsafe { raw::nc_response_release(self.raw) }
    }
}

owner!(
    /// A TLS trust policy.
    Trust, raw::nc_trust_release);
owner!(
    /// The JSON shape that a response is checked against while it arrives.
    Expectation, raw::nc_expectation_release);
owner!(
    /// A directory of entries, each complete or absent.
    Store, raw::nc_store_free);

// SAFETY: the C documentation calls these thread-safe; all except the store are immutable and counted atomically.
unsafe impl Send for Response {}
unsafe impl Sync for Response {}
unsafe impl Send for Trust {}
unsafe impl Sync for Trust {}
unsafe impl Send for Expectation {}
unsafe impl Sync for Expectation {}
unsafe impl Send for Store {}
unsafe impl Sync for Store {}

impl Response {
    fn of(raw: *mut c_void) -> Response {
        Response { raw, cache: CacheReport::default(), attempts: Vec::new() }
    }

    /// The status code.
    pub fn status(&self) -> u16 {
        // SAFETY: a live response.
        unsafe { raw::nc_response_status(self.raw) }
    }

    /// The decoded body.
    pub fn body(&self) -> &[u8] {
        // SAFETY: borrowed from the response, whose lifetime bounds it.
        unsafe { raw::nc_response_body(self.raw).bytes() }
    }

    /// The body as UTF-8; invalid bytes become U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.body())
    }

    /// The URL of the last hop, after redirects.
    pub fn url(&self) -> Cow<'_, str> {
        // SAFETY: as in body().
        String::from_utf8_lossy(unsafe { raw::nc_response_url(self.raw).bytes() })
    }

    /// The header fields in the order of arrival.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        // SAFETY: as in body().
        let count = unsafe { raw::nc_response_header_count(self.raw) };
        (0..count).map(|index| unsafe {
            let field = raw::nc_response_header_at(self.raw, index);
            (field.name.bytes(), field.value.bytes())
        })
    }

    /// The first header field of this name, which is case-insensitive.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers().find(|(field, _)| field.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    /// What the cache did.
    pub fn cache(&self) -> &CacheReport {
        &self.cache
    }

    /// True if the body came from the cache: fresh, stale or revalidated.
    pub fn is_from_cache(&self) -> bool {
        self.cache.is_hit()
    }

    /// The attempts of a request to an engine with retries or a cache, at most 16.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Returns the response, or an error (NC_ERR_BAD_STATUS) unless the status is 200 to 299.
    pub fn success(self) -> Result<Response> {
        match self.status() {
            200..=299 => Ok(self),
            status => {
                let message = format!("the server responded with status {status}: {}", self.url());
                Err(Error::new(raw::BAD_STATUS, message))
            }
        }
    }
}

impl Clone for Response {
    fn clone(&self) -> Response {
        // SAFETY: another reference to the same response.
        let raw = unsafe { raw::nc_response_retain(self.raw) };
        Response { raw, cache: self.cache, attempts: self.attempts.clone() }
    }
}

impl Trust {
    /// Trusts the authorities in a PEM file, and requires one of the pins in the chain of a matching host.
    pub fn pinned(ca_file: &str, hosts: &str, pins: &[&str]) -> Result<Trust> {
        let pins: Vec<raw::Slice> = pins.iter().map(|pin| raw::Slice::of(pin.as_bytes())).collect();
        let rule = raw::TrustRule {
            hosts: raw::Slice::of(hosts.as_bytes()),
            mode: raw::PIN_PUBLIC_KEY,
            pins: pins.as_ptr(),
            pin_count: pins.len(),
            ..Default::default()
        };
        let options = raw::TrustOptions {
            roots: raw::ROOTS_FILE,
            ca_file: raw::Slice::of(ca_file.as_bytes()),
            rules: &rule,
            rule_count: 1,
            ..Default::default()
        };
        let mut out = null_mut();
        // SAFETY: the options and what they point to live until the call returns; the library copies them.
        check(|err| unsafe { raw::nc_trust_new(&mut out, &options, err) })?;
        Ok(Trust(out))
    }
}

impl Expectation {
    /// Compiles a shape document.
    pub fn shaped(document: &str) -> Result<Expectation> {
        let (mut shape, mut out) = (null_mut(), null_mut());
        // SAFETY: the document lives until the call returns.
        check(|err| unsafe { raw::nc_shape_parse(&mut shape, raw::Slice::of(document.as_bytes()), err) })?;
        let options = raw::ExpectationOptions { shape, ..Default::default() };
        // SAFETY: the expectation has its own reference to the shape, so ours can be released.
        let made = check(|err| unsafe { raw::nc_expectation_new(&mut out, &options, err) });
        unsafe { raw::nc_shape_release(shape) };
        made.map(|()| Expectation(out))
    }
}

impl Store {
    /// Opens a directory, and creates it if it is missing.
    pub fn open(directory: &str) -> Result<Store> {
        let directory = CString::new(directory).map_err(|_| Error::usage("a NUL in a path"))?;
        let options = raw::StoreOptions { directory: directory.as_ptr(), ..Default::default() };
        let mut out = null_mut();
        // SAFETY: the options live until the call returns.
        check(|err| unsafe { raw::nc_store_new(&mut out, &options, err) })?;
        Ok(Store(out))
    }

    /// Stores a body under a key.
    pub fn put(&self, key: &[u8], body: &[u8]) -> Result<()> {
        let draft = raw::StoreDraft { key: raw::Slice::of(key), ..Default::default() };
        // SAFETY: borrowed for the call.
        check(|err| unsafe { raw::nc_store_put(self.0, &draft, raw::Slice::of(body), err) })
    }

    /// Returns the body of a key, or None.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut entry = raw::StoreEntry::default();
        // SAFETY: the entry's slices point into the room, and are copied before it is freed.
        unsafe {
            let mut room = raw::nc_buf_init(64 << 20);
            let status = check(|err| raw::nc_store_get(&mut entry, self.0, raw::Slice::of(key), &mut room, err));
            let found = (entry.found == raw::STORE_HIT).then(|| entry.body.bytes().to_vec());
            raw::nc_buf_deinit(&mut room);
            status.map(|()| found)
        }
    }
}

/// A request to send. Everything it borrows lives at least until it is submitted.
#[derive(Default, Clone, Copy)]
pub struct Request<'a> {
    pub url: &'a str,
    /// Empty means GET.
    pub method: &'a str,
    /// Names and values.
    pub headers: &'a [(&'a str, &'a str)],
    pub body: Option<&'a [u8]>,
    /// The limit of the whole transfer; None is the library's default, 300 s.
    pub timeout: Option<Duration>,
    pub trust: Option<&'a Trust>,
    pub expectation: Option<&'a Expectation>,
    /// How the request uses the engine's cache; None is the engine's policy.
    pub cache: Option<CachePolicy<'a>>,
    /// When the request is sent again; None is the engine's policy.
    pub retry: Option<RetryPolicy<'a>>,
}

impl<'a> Request<'a> {
    /// A GET.
    pub fn get(url: &'a str) -> Request<'a> {
        Request { url, ..Default::default() }
    }

    /// Calls a function with the C request, which views this request and is valid during the call.
    fn with_raw<T>(&self, call: impl FnOnce(&raw::Request) -> T) -> T {
        self.with_raw_and(None, call)
    }

    /// Like with_raw(), with one more field.
    fn with_raw_and<T>(&self, more: Option<(&str, &str)>, call: impl FnOnce(&raw::Request) -> T) -> T {
        let slice = |text: &str| raw::Slice::of(text.as_bytes());
        let fields = self.headers.iter().copied().chain(more);
        let fields = fields.map(|(name, value)| raw::Header { name: slice(name), value: slice(value) });
        let fields: Vec<raw::Header> = fields.collect();
        // The C number 0 means the default, and its maximum "unlimited".
        let milliseconds = |time: Duration| time.as_millis().clamp(1, u128::from(raw::UNLIMITED - 1)) as u32;
        let limits = raw::Limits { total_ms: self.timeout.map_or(0, milliseconds), ..Default::default() };
        call(&raw::Request {
            url: slice(self.url),
            method: slice(self.method),
            headers: fields.as_ptr(),
            header_count: fields.len(),
            body: self.body.map_or(raw::Slice::default(), raw::Slice::of),
            has_body: self.body.is_some(),
            accepts_codings: true,
            limits,
            trust: self.trust.map_or(null_mut(), |trust| trust.0),
            expectation: self.expectation.map_or(null_mut(), |expectation| expectation.0),
            ..Default::default()
        })
    }
}

/// Callbacks of a transfer. `on_chunk` gets the body's pieces, and returns false to stop.
#[derive(Default)]
pub struct Events {
    pub on_head: Option<Box<dyn FnMut() + Send>>,
    pub on_chunk: Option<Box<dyn FnMut(&[u8]) -> bool + Send>>,
}

type Panic = Box<dyn std::any::Any + Send>;
type Outcome<T> = std::result::Result<Result<T>, Panic>;

/// The context of a transfer: the only value that C holds. It is boxed at submit; on_done takes the box back.
struct TransferContext<T> {
    events: Events,
    panic: Option<Panic>,
    out: mpsc::Sender<Outcome<T>>,
}

impl<T> TransferContext<T> {
    /// Runs a closure. No panic may unwind through C.
    fn guarded(&mut self, run: impl FnOnce(&mut Events) -> bool) -> i32 {
        match catch_unwind(AssertUnwindSafe(|| run(&mut self.events))) {
            Ok(true) => raw::CONTINUE,
            Ok(false) => raw::STOP,
            Err(panic) => {
                self.panic = Some(panic);
                raw::STOP
            }
        }
    }

    fn end(self, value: T, detail: &raw::Error) {
        let TransferContext { events, panic, out } = self;
        // The closures' values are dropped here, and may panic.
        let late = catch_unwind(AssertUnwindSafe(|| drop(events))).err();
        let outcome = match (panic.or(late), detail.status) {
            (Some(panic), _) => Err(panic),
            (None, raw::OK) => Ok(Ok(value)),
            (None, status) => Ok(Err(Error::of(status, detail))),
        };
        let _ = out.send(outcome); // the receiver may be gone
    }
}

unsafe extern "C" fn head_came(ctx: *mut c_void, _id: u64, _head: *const c_void, _is_last: bool) -> i32 {
    // SAFETY: the library passes the pointer given to submit, on one thread, until on_done.
    let context = unsafe { &mut *ctx.cast::<TransferContext<Response>>() };
    context.guarded(|events| {
        if let Some(on_head) = &mut events.on_head {
            on_head();
        }
        true
    })
}

unsafe extern "C" fn body_came(ctx: *mut c_void, _id: u64, bytes: raw::Slice) -> i32 {
    // SAFETY: as in head_came; the bytes are borrowed for the call.
    let (context, bytes) = unsafe { (&mut *ctx.cast::<TransferContext<Response>>(), bytes.bytes()) };
    context.guarded(|events| events.on_chunk.as_mut().map_or(true, |on_chunk| on_chunk(bytes)))
}

unsafe extern "C" fn transfer_ended(ctx: *mut c_void, _id: u64, response: *mut c_void, error: *const raw::Error) {
    // SAFETY: called once, as the last callback: the box comes back. The response is borrowed, so a reference is taken.
    unsafe {
        let context = Box::from_raw(ctx.cast::<TransferContext<Response>>());
        context.end(Response::of(raw::nc_response_retain(response)), &*error);
    }
}

unsafe extern "C" fn download_ended(
    ctx: *mut c_void, _id: u64, _response: *mut c_void, result: *const raw::DownloadResult, error: *const raw::Error,
) {
    // SAFETY: as in transfer_ended.
    unsafe { Box::from_raw(ctx.cast::<TransferContext<u64>>()).end((*result).byte_count, &*error) }
}

/// One event loop thread with its connections. Share it by reference, or in an Arc.
pub struct Engine {
    raw: *mut c_void,
    client: client::Client,
}

// SAFETY: "Thread-safe" in the C documentation.
unsafe impl Send for Engine {}
unsafe impl Sync for Engine {}

impl Drop for Engine {
    fn drop(&mut self) {
        let (raw, client) = (client::Pointer(self.raw), std::mem::take(&mut self.client));
        // In a callback, neither the client nor the engine can wait for its own thread.
        // SAFETY: no other reference exists.
        if unsafe { client.is_open() && raw::nc_engine_is_on_loop(self.raw) } {
            std::thread::spawn(move || close_all(raw, client));
        } else {
            close_all(raw, client);
        }
    }
}

/// Closes a client, its cache and its engine, in this order.
fn close_all(raw: client::Pointer, client: client::Client) {
    drop(client);
    // SAFETY: as in drop(). In a callback, close() cannot wait and fails, so the engine is released.
    unsafe {
        if raw::nc_engine_close(raw.0, raw::UNLIMITED) == raw::USAGE {
            raw::nc_engine_release(raw.0);
        }
    }
}

/// Identifies a transfer in flight to other threads. Fetches, calls and downloads have separate ids. A call is a fetch
/// that uses the cache or retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Id {
    Fetch(u64),
    Call(u64),
    Download(u64),
}

/// A transfer in flight. Dropping it does not cancel it; its result is discarded.
pub struct Transfer<'a, T> {
    engine: &'a Engine,
    id: Id,
    done: mpsc::Receiver<Outcome<T>>,
}

impl<T> Transfer<'_, T> {
    /// Returns its id for other threads; see Engine::cancel.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Cancels it. Allowed after its end.
    pub fn cancel(&self) {
        self.engine.cancel(self.id)
    }

    /// Waits for the end. Returns an error in a callback, where the engine's thread would wait for itself.
    pub fn wait(self) -> Result<T> {
        // SAFETY: the engine lives as long as this borrow.
        if unsafe { raw::nc_engine_is_on_loop(self.engine.raw) } {
            return Err(Error::usage("a callback may not wait for a transfer"));
        }
        match self.done.recv() {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => unreachable!("on_done comes exactly once"),
        }
    }
}

impl Engine {
    /// Starts an engine with the default options.
    pub fn new() -> Result<Engine> {
        let mut out = null_mut();
        // SAFETY: NULL options are the default.
        check(|err| unsafe { raw::nc_engine_new(&mut out, null(), err) })?;
        Ok(Engine { raw: out, client: client::Client::default() })
    }

    /// Options of an engine: a cache and retries.
    ///
    /// ```no_run
    /// # fn main() -> netcore::Result<()> {
    /// let cache = netcore::Cache::open("cache", Default::default())?;
    /// let engine = netcore::Engine::builder().cache(&cache).retries(3).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder<'a>() -> Builder<'a> {
        Builder::default()
    }

    /// Sends a request, and calls the closures of `events`. With closures, it uses neither the cache nor retries, and
    /// invalidates no stored response.
    pub fn start(&self, request: &Request<'_>, events: Events) -> Result<Transfer<'_, Response>> {
        let has_own = request.cache.is_some() || request.retry.is_some();
        if events.on_head.is_some() || events.on_chunk.is_some() {
            if has_own {
                return Err(Error::usage("a request with callbacks uses neither the cache nor retries"));
            }
        } else if has_own || self.client.is_default() {
            return self.call(request);
        }
        let on_body: Option<raw::BodyFn> = if events.on_chunk.is_some() { Some(body_came) } else { None };
        let (out, done) = mpsc::channel();
        let ctx = Box::into_raw(Box::new(TransferContext::<Response> { events, panic: None, out }));
        let sink = raw::Sink {
            ctx: ctx.cast(),
            on_head: Some(head_came),
            on_body,
            on_done: Some(transfer_ended),
            on_progress: null_mut(),
        };
        let mut id = 0;
        // SAFETY: request and sink are copied. If the request was not accepted, on_done is never called, and the box is
        // ours.
        let submit = |raw: &raw::Request| check(|err| unsafe { raw::nc_engine_submit(self.raw, raw, &sink, &mut id, err) });
        request
            .with_raw(submit)
            .inspect_err(|_| drop(unsafe { Box::from_raw(ctx) }))?;
        Ok(Transfer { engine: self, id: Id::Fetch(id), done })
    }

    /// Sends a request and waits.
    pub fn fetch(&self, request: &Request<'_>) -> Result<Response> {
        self.start(request, Events::default())?.wait()
    }

    /// Fetches into a file, resuming a partial file. Returns the file's length.
    pub fn download(&self, request: &Request<'_>, path: &str) -> Result<Transfer<'_, u64>> {
        let (out, done) = mpsc::channel();
        let ctx = Box::into_raw(Box::new(TransferContext::<u64> { events: Events::default(), panic: None, out }));
        let sink = raw::DownloadSink { ctx: ctx.cast(), on_done: Some(download_ended), ..Default::default() };
        let mut id = 0;
        let start = |described: &raw::Request| {
            // A resumed file consists of the bytes as they were sent.
            let plain = raw::Request { accepts_codings: false, ..*described };
            let path = raw::Slice::of(path.as_bytes());
            let options = raw::DownloadOptions { request: &plain, path, ..Default::default() };
            // SAFETY: as in start().
            check(|err| unsafe { raw::nc_download_start(self.raw, &options, &sink, &mut id, err) })
        };
        request
            .with_raw(start)
            .inspect_err(|_| drop(unsafe { Box::from_raw(ctx) }))?;
        Ok(Transfer { engine: self, id: Id::Download(id), done })
    }

    /// Cancels a fetch or a download from any thread. Unknown ids are ignored.
    pub fn cancel(&self, id: Id) {
        // SAFETY: a live engine.
        unsafe {
            match id {
                Id::Call(number) => self.client.cancel(number),
                Id::Fetch(number) => raw::nc_engine_cancel(self.raw, number),
                Id::Download(number) => raw::nc_download_cancel(self.raw, number),
            }
        }
    }
}
