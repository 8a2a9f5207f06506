//! The client of an engine: calls with a cache and retries.

use crate::caching::OwnedPolicy;
use crate::{check, raw, Attempt, Builder, Cache, CacheMode, CacheReport, Engine, Error, Events, Id, Outcome, Request};
use crate::{Response, Result, Transfer, TransferContext};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::{mpsc, Arc, Mutex, MutexGuard, PoisonError};

/// A pointer of the library that any thread may use.
#[derive(Clone, Copy)]
pub(crate) struct Pointer(pub(crate) *mut c_void);

// SAFETY: only for pointers to objects that are "Thread-safe" in the C documentation.
unsafe impl Send for Pointer {}

/// Returns a lock. A panic while it was held leaves the map as it was.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calls in flight, by their numbers. Each is a reference.
#[derive(Default)]
struct Calls {
    last: u64,
    open: HashMap<u64, Pointer>,
}

/// The C client of an engine. It is created by the first request that needs it.
#[derive(Default)]
pub(crate) struct Client {
    raw: Mutex<Option<Pointer>>,
    calls: Arc<Mutex<Calls>>,
    cache: Option<Cache>,
    policy: Option<OwnedPolicy>, // of requests without their own; None without a cache
    retry: Option<raw::RetryPolicy>,
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(client) = locked(&self.raw).take() {
            // SAFETY: no other reference exists, and this is not a thread of the library.
            unsafe { raw::nc_client_close(client.0) };
        }
    }
}

impl Client {
    /// True if each request uses the client.
    pub(crate) fn is_default(&self) -> bool {
        self.cache.is_some() || self.retry.is_some()
    }

    pub(crate) fn is_open(&self) -> bool {
        locked(&self.raw).is_some()
    }

    /// Cancels a call. Ignored if it has ended.
    pub(crate) fn cancel(&self, number: u64) {
        if let Some(call) = locked(&self.calls).open.get(&number) {
            // SAFETY: the map has a reference. The library calls back without locks, so this cannot deadlock.
            unsafe { raw::nc_call_cancel(call.0) }
        }
    }

    fn open(&self, engine: *mut c_void) -> Result<*mut c_void> {
        let mut client = locked(&self.raw);
        if let Some(client) = *client {
            return Ok(client.0);
        }
        let options = raw::ClientOptions {
            retry: self.retry.as_ref().map_or(null(), |policy| policy),
            cache: self.cache.as_ref().map_or(null_mut(), |cache| cache.0.raw),
            ..Default::default()
        };
        let mut out = null_mut();
        // SAFETY: the options are copied; engine and cache outlive the client.
        check(|err| unsafe { raw::nc_client_new(&mut out, engine, &options, err) })?;
        *client = Some(Pointer(out));
        Ok(out)
    }
}

impl Builder<'_> {
    /// Starts the engine.
    pub fn build(self) -> Result<Engine> {
        if self.policy.is_some() && self.cache.is_none() {
            return Err(Error::usage("the engine has a cache policy, but no cache"));
        }
        let retry = self.retry.map(|policy| policy.native()).transpose()?;
        let policy = self.cache.as_ref().map(|_| OwnedPolicy::of(&self.policy.unwrap_or_default()));
        let mut engine = Engine::new()?;
        (engine.client.cache, engine.client.policy, engine.client.retry) = (self.cache, policy, retry);
        Ok(engine)
    }
}

/// The context of a call: the context of a transfer, and how to forget the call.
struct CallContext {
    transfer: TransferContext<Response>,
    calls: Arc<Mutex<Calls>>,
    number: u64,
}

unsafe extern "C" fn call_ended(ctx: *mut c_void, call: *mut c_void, response: *mut c_void, error: *const raw::Error) {
    // SAFETY: called once: the box comes back. The response is borrowed, so a reference is taken.
    unsafe {
        let context = *Box::from_raw(ctx.cast::<CallContext>());
        let response = match response.is_null() {
            true => null_mut(),
            false => raw::nc_response_retain(response),
        };
        let (cache, attempts) = (CacheReport::of(call), Attempt::all_of(call));
        let ended = locked(&context.calls).open.remove(&context.number);
        if let Some(ended) = ended {
            raw::nc_call_release(ended.0);
        }
        let outcome: Outcome<Response> = match (*error).status {
            raw::OK => Ok(Ok(Response { raw: response, cache, attempts })),
            status => {
                drop(Response::of(response));
                Ok(Err(Error { attempts, cache, ..Error::of(status, &*error) }))
            }
        };
        let _ = context.transfer.out.send(outcome); // the receiver may be gone
    }
}

impl Engine {
    /// Sends a request by the client.
    pub(crate) fn call(&self, request: &Request<'_>) -> Result<Transfer<'_, Response>> {
        let own = request.cache.map(|policy| OwnedPolicy::of(&policy));
        if self.client.cache.is_none() && own.as_ref().is_some_and(|own| own.native.mode != CacheMode::NoStore as i32) {
            return Err(Error::usage("the request uses a cache, but the engine has none: Engine::builder().cache()"));
        }
        let policy = own.as_ref().or(self.client.policy.as_ref());
        let retry = request.retry.map(|policy| policy.native()).transpose()?;
        let scope = policy.and_then(|policy| policy.scope.as_deref());
        let options = raw::CallOptions {
            retry: retry.as_ref().map_or(null(), |policy| policy),
            cache: policy.map_or(null(), |policy| &policy.native),
            has_cache_scope: scope.is_some(),
            cache_scope: scope.map_or(raw::Slice::default(), |scope| raw::Slice::of(scope.as_bytes())),
            ..Default::default()
        };
        let client = self.client.open(self.raw)?;
        let max_stale = policy.and_then(|policy| policy.max_stale.as_deref()).map(|value| ("Cache-Control", value));
        request.with_raw_and(max_stale, |raw| self.send(client, raw, &options))
    }

    fn send(&self, client: *mut c_void, raw: &raw::Request, options: &raw::CallOptions) -> Result<Transfer<'_, Response>> {
        let (out, done) = mpsc::channel();
        let mut calls = locked(&self.client.calls); // until the call is in the map, its end waits
        calls.last += 1;
        let number = calls.last;
        let transfer = TransferContext { events: Events::default(), panic: None, out };
        let ctx = Box::into_raw(Box::new(CallContext { transfer, calls: self.client.calls.clone(), number }));
        let sink = raw::CallSink { ctx: ctx.cast(), on_done: Some(call_ended) };
        let mut call = null_mut();
        // SAFETY: request, options and sink are copied. If the request was not accepted, the box is ours.
        check(|err| unsafe { raw::nc_client_send(client, raw, options, &sink, &mut call, err) })
            .inspect_err(|_| drop(unsafe { Box::from_raw(ctx) }))?;
        calls.open.insert(number, Pointer(call));
        Ok(Transfer { engine: self, id: Id::Call(number), done })
    }
}
