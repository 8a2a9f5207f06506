//! The cache and retries of an engine: their options, and the reports about each response.

use crate::{check, raw, Error, Result};
use std::ffi::{c_void, CStr, CString};
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

/// Limits of a cache.
#[derive(Debug, Clone, Copy, Default)]
pub struct CacheLimits {
    /// Of all files; None is the library's default, 256 MiB.
    pub disk_bytes: Option<u64>,
    /// Of the responses in memory; None is 16 MiB.
    pub memory_bytes: Option<u64>,
    /// Of the largest body to store; None is 16 MiB.
    pub body_bytes: Option<u64>,
}

/// A private HTTP cache (RFC 9111). Engines may share it; clones are the same cache.
#[derive(Clone)]
pub struct Cache(pub(crate) Arc<Handles>);

/// The C objects, freed with their last owner: a `Cache`, or an engine.
pub(crate) struct Handles {
    pub(crate) raw: *mut c_void,
    store: *mut c_void,
}

// SAFETY: "Thread-safe" in the C documentation.
unsafe impl Send for Handles {}
unsafe impl Sync for Handles {}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: created by the library, and released once, the cache before its store.
        unsafe {
            raw::nc_http_cache_free(self.raw);
            raw::nc_store_free(self.store);
        }
    }
}

impl Cache {
    /// Keeps responses in memory.
    pub fn in_memory(limits: CacheLimits) -> Result<Cache> {
        if limits.disk_bytes.is_some() {
            return Err(Error::usage("CacheLimits.disk_bytes needs a directory"));
        }
        Cache::over(null_mut(), limits)
    }

    /// Keeps responses in memory and in a directory, which is created if it is missing. Several processes may share it.
    pub fn open(directory: &str, limits: CacheLimits) -> Result<Cache> {
        let directory = CString::new(directory).map_err(|_| Error::usage("a NUL in a path"))?;
        let max_bytes = limit(limits.disk_bytes, "disk_bytes")?;
        let options = raw::StoreOptions { directory: directory.as_ptr(), max_bytes, ..Default::default() };
        let mut store = null_mut();
        // SAFETY: the options live until the call returns.
        check(|err| unsafe { raw::nc_store_new(&mut store, &options, err) })?;
        Cache::over(store, limits)
    }

    fn over(store: *mut c_void, limits: CacheLimits) -> Result<Cache> {
        let mut handles = Handles { raw: null_mut(), store };
        let options = raw::HttpCacheOptions {
            store,
            max_memory_bytes: limit(limits.memory_bytes, "memory_bytes")?,
            max_body_bytes: limit(limits.body_bytes, "body_bytes")?,
            ..Default::default()
        };
        // SAFETY: the options live until the call returns; the store lives as long as the cache.
        check(|err| unsafe { raw::nc_http_cache_new(&mut handles.raw, &options, err) })?;
        Ok(Cache(Arc::new(handles)))
    }

    /// Removes all responses, also those on disk.
    pub fn clear(&self) -> Result<()> {
        // SAFETY: a live cache.
        check(|err| unsafe { raw::nc_http_cache_clear(self.0.raw, err) })
    }

    /// The counters since it was opened, and its contents in memory.
    pub fn stats(&self) -> raw::HttpCacheStats {
        // SAFETY: a live cache.
        unsafe { raw::nc_http_cache_figures(self.0.raw) }
    }
}

/// Returns a limit for C, where 0 is the default.
fn limit(value: Option<u64>, name: &str) -> Result<u64> {
    match value {
        Some(0) => Err(Error::usage(format!("CacheLimits.{name} is 0; None is the default"))),
        value => Ok(value.unwrap_or(0)),
    }
}

/// The order in which cache and network are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Uses the stored response if the rules allow it, otherwise the network.
    #[default]
    Default,
    /// Uses the network, and stores the response.
    Reload,
    /// Uses a stored response, and sends nothing. Without one, the request fails with NC_ERR_NOT_CACHED.
    CacheOnly,
    /// Neither uses nor stores a response.
    NoStore,
    /// Uses the network. If it fails, uses a stored response of any age.
    NetworkFirst,
}

/// How a request uses the cache of its engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CachePolicy<'a> {
    pub mode: CacheMode,
    /// Allows a response that is stale for at most this time; `Duration::MAX` means any time. The request gets the field
    /// "Cache-Control: max-stale=…", in whole seconds.
    pub max_stale: Option<Duration>,
    /// How long a stale response is used while a new one is fetched in the background.
    pub stale_while_revalidate: Duration,
    /// How long a stale response is used if the network or the server fails.
    pub stale_if_error: Duration,
    /// The lifetime of a response without an explicit one, as a fraction of its age when it arrived; 0 to 1.
    pub heuristic_fraction: f64,
    /// The longest heuristic lifetime.
    pub heuristic_max: Duration,
    /// Names the user that the response belongs to, instead of the request's credentials and cookies. An empty text means
    /// that all users share it.
    pub scope: Option<&'a str>,
}

impl Default for CachePolicy<'_> {
    fn default() -> Self {
        CachePolicy {
            mode: CacheMode::Default,
            max_stale: None,
            stale_while_revalidate: Duration::ZERO,
            stale_if_error: Duration::ZERO,
            heuristic_fraction: 0.1,
            heuristic_max: Duration::from_secs(86400),
            scope: None,
        }
    }
}

impl From<CacheMode> for CachePolicy<'_> {
    fn from(mode: CacheMode) -> Self {
        CachePolicy { mode, ..Default::default() }
    }
}

/// A policy for C, with the texts that C does not copy into it.
pub(crate) struct OwnedPolicy {
    pub(crate) native: raw::CachePolicy,
    /// The value of Cache-Control that allows stale responses.
    pub(crate) max_stale: Option<String>,
    pub(crate) scope: Option<String>,
}

impl OwnedPolicy {
    pub(crate) fn of(policy: &CachePolicy<'_>) -> OwnedPolicy {
        let max_stale = |age| match age {
            Duration::MAX => "max-stale".to_string(),
            age => format!("max-stale={}", age.as_secs()),
        };
        OwnedPolicy {
            native: raw::CachePolicy {
                mode: policy.mode as i32,
                stale_while_revalidate_ms: milliseconds(policy.stale_while_revalidate),
                stale_if_error_ms: milliseconds(policy.stale_if_error),
                heuristic_fraction: policy.heuristic_fraction,
                heuristic_max_ms: milliseconds(policy.heuristic_max),
            },
            max_stale: policy.max_stale.map(max_stale),
            scope: policy.scope.map(str::to_string),
        }
    }
}

/// The longest time that the C rules count with.
fn milliseconds(time: Duration) -> i64 {
    time.as_millis().min(1000 << 40) as i64
}

/// When a request is sent again after a temporary failure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy<'a> {
    /// Attempts after the first one.
    pub max_retries: u32,
    /// Upper limit of the first delay. It doubles for each further delay.
    pub base_delay: Duration,
    /// Upper limit of every delay, except for delays from Retry-After.
    pub max_delay: Duration,
    /// The longest Retry-After to wait for. After a longer one the request is not sent again.
    pub max_server_delay: Duration,
    /// No further attempt is decided after this time.
    pub max_elapsed: Option<Duration>,
    /// Statuses after which the request is sent again, at most 16.
    pub statuses: &'a [u16],
    /// Sends requests with any method again. Otherwise only those with idempotent methods.
    pub any_method: bool,
    /// Also after errors that are not temporary.
    pub any_error: bool,
    /// Each delay is a random part of its interval.
    pub jitter: bool,
}

impl Default for RetryPolicy<'_> {
    fn default() -> Self {
        RetryPolicy {
            max_retries: 3,
            base_delay: Duration::from_millis(200),
            max_delay: Duration::from_secs(20),
            max_server_delay: Duration::from_secs(60),
            max_elapsed: None,
            statuses: &[408, 429, 500, 502, 503, 504],
            any_method: false,
            any_error: false,
            jitter: true,
        }
    }
}

impl From<u32> for RetryPolicy<'_> {
    fn from(max_retries: u32) -> Self {
        RetryPolicy { max_retries, ..Default::default() }
    }
}

impl RetryPolicy<'_> {
    pub(crate) fn native(&self) -> Result<raw::RetryPolicy> {
        let delay = |time: Duration| time.as_millis().min(u128::from(raw::UNLIMITED)) as u32;
        let mut statuses = [0; raw::RETRY_MAX_STATUSES];
        if self.statuses.len() > statuses.len() {
            return Err(Error::usage(format!("RetryPolicy.statuses has {} elements, not at most 16", self.statuses.len())));
        }
        if let Some(wrong) = self.statuses.iter().find(|status| !(100..600).contains(*status)) {
            return Err(Error::usage(format!("RetryPolicy.statuses has {wrong}, not 100 to 599")));
        }
        statuses[..self.statuses.len()].copy_from_slice(self.statuses);
        Ok(raw::RetryPolicy {
            max_retries: self.max_retries,
            base_delay_ms: delay(self.base_delay),
            max_delay_ms: delay(self.max_delay),
            max_server_delay_ms: delay(self.max_server_delay),
            max_elapsed_ms: self.max_elapsed.map_or(0, |time| milliseconds(time).max(1) as u64), // 0 is no limit
            statuses,
            retries_any_method: self.any_method,
            retries_any_error: self.any_error,
            has_no_jitter: !self.jitter,
        })
    }
}

/// The source of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheOutcome {
    /// The cache was not used.
    #[default]
    Unused,
    /// A fresh response from the cache.
    Hit,
    /// A stale response from the cache.
    StaleHit,
    /// A response from the cache that the server has revalidated.
    Revalidated,
    /// A response from the network.
    Network,
    /// No response: nothing may be sent.
    None,
}

/// What the cache did for a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheReport {
    pub outcome: CacheOutcome,
    /// The reason for the decision, such as "fresh" or "absent"; empty if the cache was not used.
    pub reason: &'static str,
    /// The age of the stored response.
    pub age: Option<Duration>,
    /// The freshness lifetime of the stored response.
    pub lifetime: Option<Duration>,
    /// The response from the network was stored.
    pub is_stored: bool,
}

impl CacheReport {
    /// True if the body came from the cache: fresh, stale or revalidated.
    pub fn is_hit(&self) -> bool {
        matches!(self.outcome, CacheOutcome::Hit | CacheOutcome::StaleHit | CacheOutcome::Revalidated)
    }

    /// # Safety
    /// `call` is a call that has ended.
    pub(crate) unsafe fn of(call: *mut c_void) -> CacheReport {
        // SAFETY: a live call; the name of a reason is static.
        let (report, reason) = unsafe {
            let report = raw::nc_call_cache_report(call);
            (report, CStr::from_ptr(raw::nc_cache_reason_name(report.reason)))
        };
        let time = |ms: i64| u64::try_from(ms).ok().map(Duration::from_millis);
        let outcome = match report.outcome {
            1 => CacheOutcome::Hit,
            2 => CacheOutcome::StaleHit,
            3 => CacheOutcome::Revalidated,
            4 => CacheOutcome::Network,
            5 => CacheOutcome::None,
            _ => return CacheReport::default(),
        };
        CacheReport {
            outcome,
            reason: reason.to_str().unwrap_or(""),
            age: time(report.age_ms),
            lifetime: time(report.lifetime_ms),
            is_stored: report.is_stored,
        }
    }
}

/// One attempt of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The name of the error, such as "NC_ERR_REFUSED"; None if there was a response.
    pub error: Option<&'static str>,
    /// The status code; None without a response.
    pub status: Option<u16>,
    /// Its start, after the start of the request.
    pub started: Duration,
    /// Its end, after the start of the request.
    pub ended: Duration,
    /// Why the request was sent again after this attempt, or why not, such as "backoff" or "not idempotent".
    pub reason: &'static str,
    /// The delay before the next attempt.
    pub delay: Duration,
}

const RETRY_REASONS: [&str; 9] = [
    "not needed", "backoff", "server delay", "no attempts left", "no time left", "not idempotent", "not repeatable",
    "server delay too long", "no budget",
];

impl Attempt {
    /// # Safety
    /// `call` is a call that has ended.
    pub(crate) unsafe fn all_of(call: *mut c_void) -> Vec<Attempt> {
        // SAFETY: a live call.
        let count = unsafe { raw::nc_call_attempt_count(call) }.min(raw::CALL_MAX_ATTEMPTS);
        let attempt = |index| {
            // SAFETY: as above; the name of a status is static.
            let one = unsafe { raw::nc_call_attempt_at(call, index) };
            let name = unsafe { CStr::from_ptr(raw::nc_status_name(one.status)) };
            Attempt {
                error: (one.status != raw::OK).then(|| name.to_str().unwrap_or("")),
                status: (one.http_status != 0).then_some(one.http_status),
                started: Duration::from_millis(one.started_ms),
                ended: Duration::from_millis(one.ended_ms),
                reason: RETRY_REASONS.get(one.reason as usize).copied().unwrap_or("unknown"),
                delay: Duration::from_millis(one.delay_ms),
            }
        };
        (0..count).map(attempt).collect()
    }
}

/// Options of an engine; see `Engine::builder()`.
#[derive(Default)]
pub struct Builder<'a> {
    pub(crate) cache: Option<Cache>,
    pub(crate) policy: Option<CachePolicy<'a>>,
    pub(crate) retry: Option<RetryPolicy<'a>>,
}

impl<'a> Builder<'a> {
    /// Stores responses in this cache. Each request then uses it with `CacheMode::Default`, or with its own policy.
    pub fn cache(mut self, cache: &Cache) -> Self {
        self.cache = Some(cache.clone());
        self
    }

    /// How requests without their own policy use the cache.
    pub fn cache_policy(mut self, policy: impl Into<CachePolicy<'a>>) -> Self {
        self.policy = Some(policy.into());
        self
    }

    /// Sends requests without their own policy again after a temporary failure: a number of retries, or a policy.
    pub fn retries(mut self, retries: impl Into<RetryPolicy<'a>>) -> Self {
        self.retry = Some(retries.into());
        self
    }
}
