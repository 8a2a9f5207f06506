//! libnetcore for Rust: the C interface in `raw`, and a safe module over it. No crates.
//!
//! ```
//! let engine = Engine::new()?;
//! println!("{}", String::from_utf8_lossy(engine.fetch(&Request::get("https://example.com/"))?.body()));
//! ```
//!
//! Values free what they own when they are dropped. Closures run on the engine's thread and must not block. A panic in one
//! stops its transfer, and resumes in the thread that waits for the transfer. Dropping an engine cancels all transfers in
//! flight and waits for their end.

// The file is copied into programs, and no program calls all of it.
#![allow(dead_code)]

use std::ffi::{c_void, CStr, CString};
use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::sync::mpsc;

#[path = "raw.rs"]
pub mod raw;

/// The error of every failure.
#[derive(Debug, Clone)]
pub struct Error {
    /// The C status.
    pub status: i32,
    /// The library's message.
    pub message: String,
}

impl Error {
    fn of(status: i32, detail: &raw::Error) -> Error {
        // SAFETY: the library terminates the message with a NUL.
        let message = unsafe { CStr::from_ptr(detail.message.as_ptr()) };
        Error { status, message: message.to_string_lossy().into_owned() }
    }

    /// The C spelling, such as "NC_ERR_RESOLVE".
    pub fn name(&self) -> &'static str {
        // SAFETY: a static string.
        unsafe { CStr::from_ptr(raw::nc_status_name(self.status)) }.to_str().unwrap_or("")
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

owner!(
    /// A response. Its slices live as long as it does.
    Response, raw::nc_response_release);
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
    /// The status code.
    pub fn status(&self) -> u16 {
        // SAFETY: a live response.
        unsafe { raw::nc_response_status(self.0) }
    }

    /// The decoded body.
    pub fn body(&self) -> &[u8] {
        // SAFETY: borrowed from the response, whose lifetime bounds it.
        unsafe { raw::nc_response_body(self.0).bytes() }
    }
}

impl Clone for Response {
    fn clone(&self) -> Response {
        // SAFETY: another reference to the same response.
        Response(unsafe { raw::nc_response_retain(self.0) })
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
        let directory = CString::new(directory).map_err(|_| Error { status: 1, message: "a NUL in a path".into() })?;
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
    pub trust: Option<&'a Trust>,
    pub expectation: Option<&'a Expectation>,
}

impl<'a> Request<'a> {
    /// A GET.
    pub fn get(url: &'a str) -> Request<'a> {
        Request { url, ..Default::default() }
    }

    fn raw(&self) -> raw::Request {
        raw::Request {
            url: raw::Slice::of(self.url.as_bytes()),
            trust: self.trust.map_or(null_mut(), |trust| trust.0),
            expectation: self.expectation.map_or(null_mut(), |expectation| expectation.0),
            ..Default::default()
        }
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

/// The only value that C keeps: from submit to on_done, which takes it back.
struct Told<T> {
    events: Events,
    panic: Option<Panic>,
    out: mpsc::Sender<Outcome<T>>,
}

impl<T> Told<T> {
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
        let Told { events, panic, out } = self;
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
    let told = unsafe { &mut *ctx.cast::<Told<Response>>() };
    told.guarded(|events| {
        if let Some(on_head) = &mut events.on_head {
            on_head();
        }
        true
    })
}

unsafe extern "C" fn body_came(ctx: *mut c_void, _id: u64, bytes: raw::Slice) -> i32 {
    // SAFETY: as in head_came; the bytes are borrowed for the call.
    let (told, bytes) = unsafe { (&mut *ctx.cast::<Told<Response>>(), bytes.bytes()) };
    told.guarded(|events| events.on_chunk.as_mut().map_or(true, |on_chunk| on_chunk(bytes)))
}

unsafe extern "C" fn transfer_ended(ctx: *mut c_void, _id: u64, response: *mut c_void, error: *const raw::Error) {
    // SAFETY: called once, as the last callback: the box comes back. The response is borrowed, so a reference is taken.
    unsafe {
        let told = Box::from_raw(ctx.cast::<Told<Response>>());
        told.end(Response(raw::nc_response_retain(response)), &*error);
    }
}

unsafe extern "C" fn download_ended(
    ctx: *mut c_void, _id: u64, _response: *mut c_void, result: *const raw::DownloadResult, error: *const raw::Error,
) {
    // SAFETY: as in transfer_ended.
    unsafe { Box::from_raw(ctx.cast::<Told<u64>>()).end((*result).byte_count, &*error) }
}

/// One event loop thread with its connections. Share it by reference, or in an Arc.
pub struct Engine(*mut c_void);

// SAFETY: "Thread-safe" in the C documentation.
unsafe impl Send for Engine {}
unsafe impl Sync for Engine {}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: no other reference exists. In a callback it cannot wait, and is released.
        unsafe {
            if raw::nc_engine_close(self.0, raw::UNLIMITED) == raw::USAGE {
                raw::nc_engine_release(self.0);
            }
        }
    }
}

/// Identifies a transfer in flight to other threads. Fetches and downloads have separate ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Id {
    Fetch(u64),
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

    /// Waits for the end. In a callback, whose thread would wait for itself, it returns an error.
    pub fn wait(self) -> Result<T> {
        // SAFETY: the engine lives as long as this borrow.
        if unsafe { raw::nc_engine_is_on_loop(self.engine.0) } {
            return Err(Error { status: raw::USAGE, message: "a callback may not wait for a transfer".into() });
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
        Ok(Engine(out))
    }

    /// Sends a request, and calls the closures of `events`.
    pub fn start(&self, request: &Request<'_>, events: Events) -> Result<Transfer<'_, Response>> {
        let on_body: Option<raw::BodyFn> = if events.on_chunk.is_some() { Some(body_came) } else { None };
        let (out, done) = mpsc::channel();
        let ctx = Box::into_raw(Box::new(Told::<Response> { events, panic: None, out }));
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
        check(|err| unsafe { raw::nc_engine_submit(self.0, &request.raw(), &sink, &mut id, err) })
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
        let ctx = Box::into_raw(Box::new(Told::<u64> { events: Events::default(), panic: None, out }));
        let described = request.raw();
        let options = raw::DownloadOptions {
            request: &described,
            path: raw::Slice::of(path.as_bytes()),
            ..Default::default()
        };
        let sink = raw::DownloadSink { ctx: ctx.cast(), on_done: Some(download_ended), ..Default::default() };
        let mut id = 0;
        // SAFETY: as in start().
        check(|err| unsafe { raw::nc_download_start(self.0, &options, &sink, &mut id, err) })
            .inspect_err(|_| drop(unsafe { Box::from_raw(ctx) }))?;
        Ok(Transfer { engine: self, id: Id::Download(id), done })
    }

    /// Cancels a fetch or a download from any thread. Unknown ids are ignored.
    pub fn cancel(&self, id: Id) {
        // SAFETY: a live engine.
        unsafe {
            match id {
                Id::Fetch(number) => raw::nc_engine_cancel(self.0, number),
                Id::Download(number) => raw::nc_download_cancel(self.0, number),
            }
        }
    }
}
