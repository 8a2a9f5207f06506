package netcore

/*
#include "callbacks.h"
#include <stdlib.h>
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/cgo"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// Cache is a private HTTP cache (RFC 9111). Engines may share it, and keep it alive, also after Close.
type Cache struct {
	mutex  sync.Mutex
	raw    *C.nc_http_cache // nil when the last owner has released it
	store  *C.nc_store
	owners int // this value until Close, and the engines
	closed bool
}

// CacheLimits are the limits of a cache. Zero means the library's default.
type CacheLimits struct {
	DiskBytes   uint64 // of all files, 256 MiB
	MemoryBytes uint64 // of the responses in memory, 16 MiB
	BodyBytes   uint64 // of the largest body to store, 16 MiB
}

// OpenCache opens a cache that keeps responses in memory and in a directory, which is created if it is missing. Several
// processes may share a directory. The directory "" keeps them in memory only.
func OpenCache(directory string, limits CacheLimits) (*Cache, error) {
	var detail C.nc_error
	if strings.Contains(directory, "\x00") {
		return nil, errors.New("netcore: a NUL in a path")
	}
	if directory == "" && limits.DiskBytes != 0 {
		return nil, errors.New("netcore: CacheLimits.DiskBytes needs a directory")
	}
	cache := &Cache{owners: 1}
	if directory != "" {
		path := C.CString(directory)
		defer C.free(unsafe.Pointer(path))
		files := C.nc_store_options{directory: path, max_bytes: C.uint64_t(limits.DiskBytes)}
		if err := failure(C.nc_store_new(&cache.store, &files, &detail), &detail); err != nil {
			return nil, err
		}
	}
	options := C.nc_http_cache_options{store: cache.store, max_memory_bytes: C.uint64_t(limits.MemoryBytes),
		max_body_bytes: C.uint64_t(limits.BodyBytes)}
	if err := failure(C.nc_http_cache_new(&cache.raw, &options, &detail), &detail); err != nil {
		C.nc_store_free(cache.store)
		return nil, err
	}
	return cache, nil
}

// retain adds an owner. It fails after Close.
func (c *Cache) retain() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return ErrClosed
	}
	c.owners++
	return nil
}

func (c *Cache) release() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.owners--
	if c.owners == 0 {
		C.nc_http_cache_free(c.raw)
		C.nc_store_free(c.store)
		c.raw, c.store = nil, nil
	}
}

// Close frees the cache when no engine uses it. The responses on disk stay.
func (c *Cache) Close() {
	c.mutex.Lock()
	wasClosed := c.closed
	c.closed = true
	c.mutex.Unlock()
	if !wasClosed {
		c.release()
	}
}

// Clear removes all responses, also those on disk.
func (c *Cache) Clear() error {
	var detail C.nc_error
	if err := c.retain(); err != nil {
		return err
	}
	defer c.release()
	return failure(C.nc_http_cache_clear(c.raw, &detail), &detail)
}

// CacheStats are counters since the cache was opened. An entry is a response, or an index of the variants of one URL.
type CacheStats struct {
	MemoryEntries, MemoryBytes, MemoryHits, StoreHits, Misses, Puts, FailedPuts, FailedGets uint64
}

// Stats returns the counters; zeros after Close.
func (c *Cache) Stats() CacheStats {
	if c.retain() != nil {
		return CacheStats{}
	}
	defer c.release()
	s := C.nc_http_cache_figures(c.raw)
	return CacheStats{uint64(s.memory_entries), uint64(s.memory_bytes), uint64(s.memory_hits), uint64(s.store_hits),
		uint64(s.misses), uint64(s.puts), uint64(s.failed_puts), uint64(s.failed_gets)}
}

// CacheMode is the order in which cache and network are used.
type CacheMode int

const (
	// CacheDefault uses the stored response if the rules allow it, otherwise the network.
	CacheDefault CacheMode = C.NC_CACHE_MODE_DEFAULT
	// CacheReload uses the network, and stores the response.
	CacheReload CacheMode = C.NC_CACHE_MODE_RELOAD
	// CacheOnly uses a stored response, and sends nothing. Without one, Fetch fails with NotCached.
	CacheOnly CacheMode = C.NC_CACHE_MODE_CACHE_ONLY
	// CacheNoStore neither uses nor stores a response.
	CacheNoStore CacheMode = C.NC_CACHE_MODE_NO_STORE
	// CacheNetworkFirst uses the network. If it fails, uses a stored response of any age.
	CacheNetworkFirst CacheMode = C.NC_CACHE_MODE_NETWORK_FIRST
)

// AnyAge is a MaxStale without a limit.
const AnyAge time.Duration = math.MaxInt64

// CachePolicy is how a request uses the cache of its engine.
type CachePolicy struct {
	Mode CacheMode
	// MaxStale allows a response that is stale for at most this time; AnyAge means any time. The request gets the field
	// "Cache-Control: max-stale=…", in whole seconds.
	MaxStale time.Duration
	// StaleWhileRevalidate is how long a stale response is used while a new one is fetched in the background.
	StaleWhileRevalidate time.Duration
	// StaleIfError is how long a stale response is used if the network or the server fails.
	StaleIfError time.Duration
	// NoHeuristics gives a response without an explicit lifetime none (RFC 9111, 4.2.2).
	NoHeuristics bool
	// Scope names the user that the response belongs to, instead of the request's credentials and cookies. An empty text
	// means that all users share it.
	Scope *string
}

func (p *CachePolicy) maxStaleField() Field {
	if p.MaxStale == AnyAge {
		return Field{"Cache-Control", "max-stale"}
	}
	return Field{"Cache-Control", "max-stale=" + strconv.FormatInt(int64(p.MaxStale/time.Second), 10)}
}

func (p *CachePolicy) native(arguments *arena) *C.nc_cache_policy {
	policy := (*C.nc_cache_policy)(C.calloc(1, C.size_t(unsafe.Sizeof(C.nc_cache_policy{}))))
	*arguments = append(*arguments, unsafe.Pointer(policy))
	policy.mode = C.nc_cache_mode(p.Mode)
	policy.stale_while_revalidate_ms = C.int64_t(p.StaleWhileRevalidate.Milliseconds())
	policy.stale_if_error_ms = C.int64_t(p.StaleIfError.Milliseconds())
	policy.heuristic_fraction, policy.heuristic_max_ms = 0.1, 86400000
	if p.NoHeuristics {
		policy.heuristic_fraction = 0
	}
	return policy
}

// RetryPolicy is when a request is sent again after a temporary failure. A zero duration means the default.
type RetryPolicy struct {
	MaxRetries     int           // attempts after the first one
	BaseDelay      time.Duration // upper limit of the first delay, which doubles for each further one; 200 ms
	MaxDelay       time.Duration // upper limit of every delay; 20 s
	MaxServerDelay time.Duration // the longest Retry-After to wait for; 60 s
	MaxElapsed     time.Duration // no further attempt is decided after this time; no limit
	Statuses       []int         // nil means 408, 429, 500, 502, 503, 504; at most 16
	AnyMethod      bool          // sends requests with any method again
	AnyError       bool          // also after errors that are not temporary
	NoJitter       bool          // the delay is the whole interval instead of a random part of it
}

// Retries returns the default policy with this many retries. 0 sends the request once.
func Retries(most int) *RetryPolicy { return &RetryPolicy{MaxRetries: most} }

func (p *RetryPolicy) native(arguments *arena) (*C.nc_retry_policy, error) {
	policy := (*C.nc_retry_policy)(C.calloc(1, C.size_t(unsafe.Sizeof(C.nc_retry_policy{}))))
	*arguments = append(*arguments, unsafe.Pointer(policy))
	statuses := p.Statuses
	if statuses == nil {
		statuses = []int{408, 429, 500, 502, 503, 504}
	}
	if p.MaxRetries < 0 || int64(p.MaxRetries) > math.MaxUint32 {
		return nil, fmt.Errorf("netcore: RetryPolicy.MaxRetries is %d, not 0 to %d", p.MaxRetries, uint32(math.MaxUint32))
	}
	if len(statuses) > len(policy.statuses) {
		return nil, fmt.Errorf("netcore: RetryPolicy.Statuses has %d elements, not at most %d", len(statuses), len(policy.statuses))
	}
	for i, status := range statuses {
		if status < 100 || status > 599 {
			return nil, fmt.Errorf("netcore: RetryPolicy.Statuses has %d, not 100 to 599", status)
		}
		policy.statuses[i] = C.uint16_t(status)
	}
	for _, limit := range []time.Duration{p.BaseDelay, p.MaxDelay, p.MaxServerDelay, p.MaxElapsed} {
		if limit < 0 {
			return nil, fmt.Errorf("netcore: a RetryPolicy has the negative duration %v", limit)
		}
	}
	or := func(limit, other time.Duration) C.uint32_t {
		if limit == 0 {
			limit = other
		}
		return milliseconds(limit)
	}
	policy.max_retries = C.uint32_t(p.MaxRetries)
	policy.base_delay_ms = or(p.BaseDelay, 200*time.Millisecond)
	policy.max_delay_ms = or(p.MaxDelay, 20*time.Second)
	policy.max_server_delay_ms = or(p.MaxServerDelay, time.Minute)
	policy.max_elapsed_ms = C.uint64_t((p.MaxElapsed + time.Millisecond - 1) / time.Millisecond)
	policy.retries_any_method, policy.retries_any_error = C.bool(p.AnyMethod), C.bool(p.AnyError)
	policy.has_no_jitter = C.bool(p.NoJitter)
	return policy, nil
}

// Option is an option of NewEngine.
type Option func(*settings)

type settings struct {
	cache  *Cache
	policy *CachePolicy
	retry  *RetryPolicy
}

// WithCache stores responses in a cache. Each request then uses it with CacheDefault, or with its own Cache field.
func WithCache(cache *Cache) Option { return func(s *settings) { s.cache = cache } }

// WithCachePolicy is how requests without a Cache field use the cache.
func WithCachePolicy(policy CachePolicy) Option { return func(s *settings) { s.policy = &policy } }

// WithRetries sends requests without a Retry field again after a temporary failure.
func WithRetries(policy *RetryPolicy) Option { return func(s *settings) { s.retry = policy } }

// CacheOutcome is the source of a response.
type CacheOutcome int

const (
	CacheUnused      CacheOutcome = C.NC_CACHE_OUTCOME_UNUSED
	CacheHit         CacheOutcome = C.NC_CACHE_OUTCOME_HIT
	CacheStaleHit    CacheOutcome = C.NC_CACHE_OUTCOME_STALE_HIT
	CacheRevalidated CacheOutcome = C.NC_CACHE_OUTCOME_REVALIDATED
	CacheNetwork     CacheOutcome = C.NC_CACHE_OUTCOME_NETWORK
	CacheNone        CacheOutcome = C.NC_CACHE_OUTCOME_NONE // no response: nothing may be sent
)

// String returns the name of the outcome.
func (o CacheOutcome) String() string {
	names := []string{"unused", "hit", "stale hit", "revalidated", "network", "none"}
	if o < 0 || int(o) >= len(names) {
		return "unknown"
	}
	return names[o]
}

// CacheReport is what the cache did for a request.
type CacheReport struct {
	Outcome  CacheOutcome
	Reason   string        // such as "fresh" or "absent"; empty if the cache was not used
	Age      time.Duration // of the stored response; -1 without one
	Lifetime time.Duration // of the stored response; -1 if it has none
	IsStored bool          // the response from the network was stored
}

// IsHit returns true if the body came from the cache: fresh, stale or revalidated.
func (r CacheReport) IsHit() bool {
	return r.Outcome == CacheHit || r.Outcome == CacheStaleHit || r.Outcome == CacheRevalidated
}

// Attempt is one attempt of a request. Times are durations since its start.
type Attempt struct {
	Error      string // the name of the error, such as "NC_ERR_REFUSED"; empty if there was a response
	Status     int    // the status code; 0 without a response
	Start, End time.Duration
	Reason     string        // why the request was sent again after this attempt, or why not
	Delay      time.Duration // before the next attempt
}

var retryReasons = []string{"not needed", "backoff", "server delay", "no attempts left", "no time left", "not idempotent",
	"not repeatable", "server delay too long", "no budget"}

func duration(ms int64) time.Duration {
	switch {
	case ms < 0:
		return -1
	case ms > math.MaxInt64/int64(time.Millisecond):
		return math.MaxInt64
	default:
		return time.Duration(ms) * time.Millisecond
	}
}

func reportOf(call *C.nc_call) CacheReport {
	report := C.nc_call_cache_report(call)
	if report.outcome == C.NC_CACHE_OUTCOME_UNUSED {
		return CacheReport{}
	}
	return CacheReport{CacheOutcome(report.outcome), C.GoString(C.nc_cache_reason_name(report.reason)),
		duration(int64(report.age_ms)), duration(int64(report.lifetime_ms)), bool(report.is_stored)}
}

func attemptsOf(call *C.nc_call) []Attempt {
	attempts := make([]Attempt, 0, 1)
	for i, count := C.size_t(0), C.nc_call_attempt_count(call); i < count && i < C.NC_CALL_MAX_ATTEMPTS; i++ {
		one := C.nc_call_attempt_at(call, i)
		attempt := Attempt{Status: int(one.http_status), Start: duration(int64(one.started_ms)),
			End: duration(int64(one.ended_ms)), Reason: retryReasons[one.reason], Delay: duration(int64(one.delay_ms))}
		if one.status != C.NC_OK {
			attempt.Error = C.GoString(C.nc_status_name(one.status))
		}
		attempts = append(attempts, attempt)
	}
	return attempts
}

//export goCallDone
func goCallDone(handle C.uintptr_t, call *C.nc_call, response *C.nc_response, detail *C.nc_error) {
	it := cgo.Handle(handle)
	result := outcome{err: failure(detail.status, detail)}
	report, attempts := reportOf(call), attemptsOf(call)
	if response != nil {
		result.response = &Response{report, attempts, response}
	}
	var failed *Error
	if errors.As(result.err, &failed) {
		failed.Cache, failed.Attempts = report, attempts
	}
	it.Value().(*transferState).end(result)
	it.Delete()
}

// openClient creates the client, unless it exists. The engine's mutex is locked.
func (e *Engine) openClient(retry *C.nc_retry_policy, detail *C.nc_error) C.nc_status {
	e.clientMutex.Lock()
	defer e.clientMutex.Unlock()
	if e.client != nil {
		return C.NC_OK
	}
	options := C.nc_client_options{retry: retry}
	if e.cache != nil {
		options.cache = e.cache.raw
	}
	return C.nc_client_new(&e.client, e.raw, &options, detail)
}

// configure applies the options of a new engine.
func (e *Engine) configure(settings *settings) error {
	var arguments arena
	defer arguments.free()
	var retry *C.nc_retry_policy
	if settings.retry != nil {
		var err error
		if retry, err = settings.retry.native(&arguments); err != nil {
			return err
		}
	}
	if settings.cache != nil {
		if err := settings.cache.retain(); err != nil {
			return err
		}
		e.cache, e.policy = settings.cache, &CachePolicy{}
	}
	if settings.policy != nil {
		e.policy = settings.policy
	}
	e.usesClient = settings.cache != nil || settings.retry != nil
	if !e.usesClient {
		return nil
	}
	var detail C.nc_error
	return failure(e.openClient(retry, &detail), &detail)
}

// fetchByClient sends a request with retries and the cache.
func (e *Engine) fetchByClient(ctx context.Context, request Request) (*Response, error) {
	var arguments arena
	defer arguments.free()
	if request.Cache == nil {
		request.Cache = e.policy
	} else if e.policy == nil && request.Cache.Mode != CacheNoStore {
		return nil, errors.New("netcore: the request uses a cache, but the engine has none: use WithCache")
	}
	options := C.nc_call_options{}
	if policy := request.Cache; policy != nil {
		if policy.MaxStale < 0 || policy.StaleWhileRevalidate < 0 || policy.StaleIfError < 0 {
			return nil, errors.New("netcore: a CachePolicy has a negative duration")
		}
		options.cache = policy.native(&arguments)
		if policy.Scope != nil {
			options.has_cache_scope, options.cache_scope = true, arguments.slice(*policy.Scope)
		}
	}
	var err error
	if request.Retry != nil {
		if options.retry, err = request.Retry.native(&arguments); err != nil {
			return nil, err
		}
	}
	native, err := request.native(&arguments)
	if err != nil {
		return nil, err
	}
	var call *C.nc_call
	result := e.run(ctx, request, func(raw *C.nc_engine, handle C.uintptr_t, detail *C.nc_error) C.nc_status {
		if status := e.openClient(nil, detail); status != C.NC_OK {
			return status
		}
		return C.start_call(e.client, &native, &options, handle, &call, detail)
	}, func(raw *C.nc_engine) { C.nc_call_cancel(call) })
	C.nc_call_release(call)
	if result.err != nil {
		if result.response != nil {
			result.response.Close()
		}
		return nil, result.err
	}
	return result.response, nil
}
