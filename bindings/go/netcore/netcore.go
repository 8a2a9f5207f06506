// Package netcore is libnetcore for Go, by cgo.
//
//	engine, err := netcore.NewEngine()
//	defer engine.Close()
//	response, err := engine.Fetch(ctx, netcore.Request{URL: "https://example.com/"})
//	defer response.Close()
//
// The owner of a value with a Close method must close it. Functions passed to the package run on the engine's thread and
// must not block. A panic in one ends the transfer and is returned as its error. C keeps no Go memory: requests are
// copied into C memory for the call, and callbacks are identified by a cgo.Handle.
package netcore

/*
#cgo pkg-config: netcore
#include "callbacks.h"
#include <stdlib.h>
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// ErrClosed is returned if a value was closed. A closed Trust is an error, and is never ignored like a missing one.
var ErrClosed = errors.New("netcore: it is closed")

// Statuses that callers often compare with. The other numbers are in netcore/status.h.
const (
	ShapeMismatch = int(C.NC_ERR_SHAPE_MISMATCH)
	PinMismatch   = int(C.NC_ERR_PIN_MISMATCH)
	Cancelled     = int(C.NC_ERR_CANCELLED)
	NotCached     = int(C.NC_ERR_NOT_CACHED)
)

// Error is the type of every failure.
type Error struct {
	Status  int
	Name    string
	Message string
	// Attempts and Cache are those of a request to an engine with retries or a cache.
	Attempts []Attempt
	Cache    CacheReport
	cause    error
}

func (e *Error) Error() string { return e.Name + ": " + e.Message }

// IsRetryable returns true if a retry may succeed.
func (e *Error) IsRetryable() bool { return bool(C.nc_status_is_retryable(C.nc_status(e.Status))) }

// Unwrap returns the context's error, if that cancelled the transfer.
func (e *Error) Unwrap() error { return e.cause }

func failure(status C.nc_status, detail *C.nc_error) error {
	if status == C.NC_OK {
		return nil
	}
	return &Error{Status: int(status), Name: C.GoString(C.nc_status_name(status)), Message: C.GoString(&detail.message[0])}
}

// arena holds the arguments of a call in C memory until the call returns.
type arena []unsafe.Pointer

func (a *arena) slice(text string) C.nc_slice {
	if text == "" {
		return C.nc_slice{}
	}
	block := C.CBytes([]byte(text))
	*a = append(*a, block)
	return C.nc_slice{(*C.uint8_t)(block), C.size_t(len(text))}
}

func (a *arena) slices(texts []string) *C.nc_slice {
	if len(texts) == 0 {
		return nil
	}
	block := C.calloc(C.size_t(len(texts)), C.size_t(unsafe.Sizeof(C.nc_slice{})))
	*a = append(*a, block)
	for i, slice := 0, unsafe.Slice((*C.nc_slice)(block), len(texts)); i < len(texts); i++ {
		slice[i] = a.slice(texts[i])
	}
	return (*C.nc_slice)(block)
}

func (a *arena) fields(fields []Field) *C.nc_header {
	if len(fields) == 0 {
		return nil
	}
	block := C.calloc(C.size_t(len(fields)), C.size_t(unsafe.Sizeof(C.nc_header{})))
	*a = append(*a, block)
	for i, header := 0, unsafe.Slice((*C.nc_header)(block), len(fields)); i < len(fields); i++ {
		header[i].name, header[i].value = a.slice(fields[i].Name), a.slice(fields[i].Value)
	}
	return (*C.nc_header)(block)
}

func (a *arena) free() {
	for _, block := range *a {
		C.free(block)
	}
}

// Trust is a TLS trust policy.
type Trust struct{ raw *C.nc_trust }

// NewPinnedTrust trusts the authorities of a PEM file, and requires one of the pins in the chain of a matching host.
func NewPinnedTrust(caFile, hosts string, pins ...string) (*Trust, error) {
	var arguments arena
	defer arguments.free()
	var detail C.nc_error
	rule := (*C.nc_trust_rule)(C.calloc(1, C.size_t(unsafe.Sizeof(C.nc_trust_rule{}))))
	arguments = append(arguments, unsafe.Pointer(rule))
	rule.hosts, rule.mode, rule.pins, rule.pin_count = arguments.slice(hosts), C.NC_PIN_PUBLIC_KEY, arguments.slices(pins), C.size_t(len(pins))
	options := C.nc_trust_options{roots: C.NC_ROOTS_FILE, ca_file: arguments.slice(caFile), rules: rule, rule_count: 1}
	trust := &Trust{}
	if err := failure(C.nc_trust_new(&trust.raw, &options, &detail), &detail); err != nil {
		return nil, err
	}
	return trust, nil
}

// Close releases the policy. Started requests keep it alive.
func (t *Trust) Close() { C.nc_trust_release(t.raw); t.raw = nil }

// Expectation is the JSON shape that a response is checked against while it arrives.
type Expectation struct{ raw *C.nc_expectation }

// NewExpectation compiles a shape document.
func NewExpectation(shape string) (*Expectation, error) {
	var arguments arena
	defer arguments.free()
	var detail C.nc_error
	var compiled *C.nc_shape
	if err := failure(C.nc_shape_parse(&compiled, arguments.slice(shape), &detail), &detail); err != nil {
		return nil, err
	}
	defer C.nc_shape_release(compiled) // the expectation has its own reference
	expectation := &Expectation{}
	options := C.nc_expectation_options{shape: compiled}
	if err := failure(C.nc_expectation_new(&expectation.raw, &options, &detail), &detail); err != nil {
		return nil, err
	}
	return expectation, nil
}

// Close releases the expectation.
func (e *Expectation) Close() { C.nc_expectation_release(e.raw); e.raw = nil }

// Store is a directory of entries, each complete or absent.
type Store struct{ raw *C.nc_store }

// OpenStore opens a directory, and creates it if it is missing.
func OpenStore(directory string) (*Store, error) {
	var detail C.nc_error
	if strings.Contains(directory, "\x00") {
		return nil, errors.New("netcore: a NUL in a path")
	}
	path := C.CString(directory)
	defer C.free(unsafe.Pointer(path))
	store := &Store{}
	options := C.nc_store_options{directory: path}
	if err := failure(C.nc_store_new(&store.raw, &options, &detail), &detail); err != nil {
		return nil, err
	}
	return store, nil
}

// Close closes the store. The entries stay.
func (s *Store) Close() { C.nc_store_free(s.raw); s.raw = nil }

// Put stores a body under a key.
func (s *Store) Put(key string, body []byte) error {
	if s.raw == nil {
		return ErrClosed
	}
	var arguments arena
	defer arguments.free()
	var detail C.nc_error
	draft := C.nc_store_draft{key: arguments.slice(key)}
	return failure(C.nc_store_put(s.raw, &draft, arguments.slice(string(body)), &detail), &detail)
}

// Get returns the body of a key; the second result is false if there is none.
func (s *Store) Get(key string) ([]byte, bool, error) {
	if s.raw == nil {
		return nil, false, ErrClosed
	}
	var arguments arena
	defer arguments.free()
	var detail C.nc_error
	entry := (*C.nc_store_entry)(C.calloc(1, C.size_t(unsafe.Sizeof(C.nc_store_entry{}))))
	room := (*C.nc_buf)(C.calloc(1, C.size_t(unsafe.Sizeof(C.nc_buf{}))))
	arguments = append(arguments, unsafe.Pointer(entry), unsafe.Pointer(room))
	*room = C.nc_buf_init(64 << 20)
	defer C.nc_buf_deinit(room)
	if err := failure(C.nc_store_get(entry, s.raw, arguments.slice(key), room, &detail), &detail); err != nil {
		return nil, false, err
	}
	if entry.found != C.NC_STORE_HIT {
		return nil, false, nil
	}
	return C.GoBytes(unsafe.Pointer(entry.body.data), C.int(entry.body.length)), true, nil
}

// Response is the response to a request.
type Response struct {
	// Cache is what the cache did. Attempts are those of a request to an engine with retries or a cache, at most 16.
	Cache    CacheReport
	Attempts []Attempt
	raw      *C.nc_response
}

// Close releases the response.
func (r *Response) Close() { C.nc_response_release(r.raw); r.raw = nil }

// Status returns the status code; 0 after Close.
func (r *Response) Status() int {
	if r.raw == nil {
		return 0
	}
	return int(C.nc_response_status(r.raw))
}

// Body returns a copy of the decoded body; nil after Close.
func (r *Response) Body() []byte {
	if r.raw == nil {
		return nil
	}
	body := C.nc_response_body(r.raw)
	return C.GoBytes(unsafe.Pointer(body.data), C.int(body.length))
}

// URL returns the URL of the last hop, after redirects; empty after Close.
func (r *Response) URL() string {
	if r.raw == nil {
		return ""
	}
	return textOf(C.nc_response_url(r.raw))
}

// Header returns the first field of this name, which is case-insensitive; empty if there is none, and after Close.
func (r *Response) Header(name string) string {
	for _, field := range r.Headers() {
		if strings.EqualFold(field.Name, name) {
			return field.Value
		}
	}
	return ""
}

// Headers returns the header fields in the order of arrival; nil after Close.
func (r *Response) Headers() []Field {
	if r.raw == nil {
		return nil
	}
	fields := make([]Field, C.nc_response_header_count(r.raw))
	for i := range fields {
		field := C.nc_response_header_at(r.raw, C.size_t(i))
		fields[i] = Field{textOf(field.name), textOf(field.value)}
	}
	return fields
}

func textOf(slice C.nc_slice) string {
	return string(C.GoBytes(unsafe.Pointer(slice.data), C.int(slice.length)))
}

// Field is a header field.
type Field struct{ Name, Value string }

// Request is a request to send. OnHead and OnChunk are called on the engine's thread. OnChunk, if set, receives the body.
type Request struct {
	URL     string
	Method  string // empty means GET
	Headers []Field
	Body    []byte        // nil means no body
	Timeout time.Duration // limits the whole transfer; 0 means the library's default, 300 s

	Trust       *Trust
	Expectation *Expectation
	OnHead      func()
	OnChunk     func([]byte) bool

	Cache *CachePolicy // nil means the engine's
	Retry *RetryPolicy // nil means the engine's
}

func (r *Request) native(arguments *arena) (C.nc_request, error) {
	request := C.nc_request{url: arguments.slice(r.URL), method: arguments.slice(r.Method), accepts_codings: true}
	request.body, request.has_body = arguments.slice(string(r.Body)), C.bool(r.Body != nil)
	request.limits.total_ms = milliseconds(r.Timeout)
	headers := r.Headers
	if r.Cache != nil && r.Cache.MaxStale != 0 {
		headers = append(headers[:len(headers):len(headers)], r.Cache.maxStaleField())
	}
	request.headers, request.header_count = arguments.fields(headers), C.size_t(len(headers))
	if r.Trust != nil {
		request.trust = r.Trust.raw
	}
	if r.Expectation != nil {
		request.expectation = r.Expectation.raw
	}
	if (r.Trust != nil && request.trust == nil) || (r.Expectation != nil && request.expectation == nil) {
		return request, ErrClosed
	}
	return request, nil
}

// milliseconds returns the number for C, where 0 means the default, and the maximum "unlimited".
func milliseconds(limit time.Duration) C.uint32_t {
	switch number := (limit + time.Millisecond - 1) / time.Millisecond; {
	case limit == 0:
		return 0
	case number < 1:
		return 1
	case number >= 1<<32-1:
		return 1<<32 - 2
	default:
		return C.uint32_t(number)
	}
}

type outcome struct {
	response *Response
	bytes    uint64
	err      error
}

// transferState belongs to one transfer. Its handle is valid from start to end.
type transferState struct {
	request Request
	panic   any
	done    chan outcome // buffered, so that the event loop never blocks
}

func (t *transferState) guarded(run func() bool) (continues bool) {
	defer func() {
		if reason := recover(); reason != nil {
			t.panic, continues = reason, false
		}
	}()
	return run()
}

func (t *transferState) end(result outcome) {
	if t.panic != nil {
		result.err = fmt.Errorf("a callback panicked: %v", t.panic)
	}
	t.done <- result
}

//export goHead
func goHead(handle C.uintptr_t) bool {
	it := cgo.Handle(handle).Value().(*transferState)
	return it.guarded(func() bool {
		if it.request.OnHead != nil {
			it.request.OnHead()
		}
		return true
	})
}

//export goChunk
func goChunk(handle C.uintptr_t, bytes unsafe.Pointer, length C.size_t) bool {
	it := cgo.Handle(handle).Value().(*transferState)
	return it.guarded(func() bool { return it.request.OnChunk(C.GoBytes(bytes, C.int(length))) })
}

//export goDone
func goDone(handle C.uintptr_t, response *C.nc_response, detail *C.nc_error) {
	it := cgo.Handle(handle)
	it.Value().(*transferState).end(outcome{response: &Response{raw: response}, err: failure(detail.status, detail)})
	it.Delete()
}

//export goDownloaded
func goDownloaded(handle C.uintptr_t, count C.uint64_t, detail *C.nc_error) {
	it := cgo.Handle(handle)
	it.Value().(*transferState).end(outcome{bytes: uint64(count), err: failure(detail.status, detail)})
	it.Delete()
}

// Engine is one event loop thread with its connections. Goroutines may share it.
type Engine struct {
	mutex  sync.RWMutex // read-locked during C calls, none of which waits, so that Close does not free an engine in use
	raw    *C.nc_engine
	cache  *Cache
	policy *CachePolicy // of requests without their own; nil for an engine without a cache

	usesClient  bool // every request uses the client
	clientMutex sync.Mutex
	client      *C.nc_client // has retries and the cache
}

// NewEngine starts an engine. Without options it has no cache and sends each request once.
func NewEngine(options ...Option) (*Engine, error) {
	var detail C.nc_error
	engine, settings := &Engine{}, settings{}
	for _, option := range options {
		option(&settings)
	}
	if settings.policy != nil && settings.cache == nil {
		return nil, errors.New("netcore: WithCachePolicy needs WithCache")
	}
	if err := failure(C.nc_engine_new(&engine.raw, nil, &detail), &detail); err != nil {
		return nil, err
	}
	if err := engine.configure(&settings); err != nil {
		engine.Close()
		return nil, err
	}
	return engine, nil
}

// Close cancels everything in flight and waits for it to end. In a callback, which cannot wait, it returns immediately.
func (e *Engine) Close() {
	e.mutex.Lock()
	raw, client, cache := e.raw, e.client, e.cache
	e.raw, e.client, e.cache = nil, nil, nil
	e.mutex.Unlock()
	if raw != nil {
		closeAll(raw, client, cache)
	}
}

// closeAll closes a client, its cache and its engine, in this order.
func closeAll(raw *C.nc_engine, client *C.nc_client, cache *Cache) {
	if C.nc_client_close(client) == C.NC_ERR_USAGE {
		go closeAll(raw, client, cache) // a callback cannot wait for its own thread
		return
	}
	if cache != nil {
		cache.release()
	}
	if C.nc_engine_close(raw, C.UINT32_MAX) == C.NC_ERR_USAGE {
		C.nc_engine_release(raw)
	}
}

// use calls a function with the engine, unless it is closed.
func (e *Engine) use(call func(raw *C.nc_engine) error) error {
	e.mutex.RLock()
	defer e.mutex.RUnlock()
	if e.raw == nil {
		return ErrClosed
	}
	return call(e.raw)
}

// Fetch sends a request and waits. If the context ends first, the transfer is cancelled. The caller closes the
// response.
//
// A request with OnHead or OnChunk uses neither the cache nor retries, and invalidates no stored response.
func (e *Engine) Fetch(ctx context.Context, request Request) (*Response, error) {
	var arguments arena
	defer arguments.free()
	hasCallback := request.OnHead != nil || request.OnChunk != nil
	if hasCallback && (request.Cache != nil || request.Retry != nil) {
		return nil, errors.New("netcore: a request with OnHead or OnChunk uses neither the cache nor retries")
	}
	if !hasCallback && (e.usesClient || request.Cache != nil || request.Retry != nil) {
		return e.fetchByClient(ctx, request)
	}
	var id C.nc_transfer_id
	native, err := request.native(&arguments)
	if err != nil {
		return nil, err
	}
	result := e.run(ctx, request, func(raw *C.nc_engine, handle C.uintptr_t, detail *C.nc_error) C.nc_status {
		return C.start_transfer(raw, &native, C.bool(request.OnChunk != nil), handle, &id, detail)
	}, func(raw *C.nc_engine) { C.nc_engine_cancel(raw, id) })
	if result.err != nil {
		if result.response != nil {
			result.response.Close()
		}
		return nil, result.err
	}
	return result.response, nil
}

// Download fetches into a file, resuming a partial file. It returns the file's length. The body goes nowhere else, so a
// request with OnHead or OnChunk is rejected.
func (e *Engine) Download(ctx context.Context, request Request, path string) (uint64, error) {
	if request.OnHead != nil || request.OnChunk != nil {
		return 0, errors.New("netcore: a download calls neither OnHead nor OnChunk")
	}
	var arguments arena
	defer arguments.free()
	var id C.nc_download_id
	native := (*C.nc_request)(C.calloc(1, C.size_t(unsafe.Sizeof(C.nc_request{}))))
	arguments = append(arguments, unsafe.Pointer(native))
	var err error
	if *native, err = request.native(&arguments); err != nil {
		return 0, err
	}
	native.accepts_codings = false // a resumed file consists of the bytes as they were sent
	options := C.nc_download_options{request: native, path: arguments.slice(path)}
	result := e.run(ctx, request, func(raw *C.nc_engine, handle C.uintptr_t, detail *C.nc_error) C.nc_status {
		return C.start_download(raw, &options, handle, &id, detail)
	}, func(raw *C.nc_engine) { C.nc_download_cancel(raw, id) })
	return result.bytes, result.err
}

// run starts an operation and waits for its end. If the context ends first, it cancels the operation and waits too.
func (e *Engine) run(ctx context.Context, request Request,
	start func(*C.nc_engine, C.uintptr_t, *C.nc_error) C.nc_status, cancel func(*C.nc_engine)) outcome {
	if err := ctx.Err(); err != nil {
		return outcome{err: err}
	}
	it := &transferState{request: request, done: make(chan outcome, 1)}
	handle := cgo.NewHandle(it)
	if err := e.use(func(raw *C.nc_engine) error {
		if C.nc_engine_is_on_loop(raw) {
			return errors.New("netcore: a callback may not wait for a transfer")
		}
		var detail C.nc_error
		return failure(start(raw, C.uintptr_t(handle), &detail), &detail)
	}); err != nil {
		handle.Delete() // no callback will follow
		return outcome{err: err}
	}
	select {
	case result := <-it.done:
		return result
	case <-ctx.Done():
		_ = e.use(func(raw *C.nc_engine) error { cancel(raw); return nil }) // if the engine is closed, Close has cancelled it
		result := <-it.done
		var failed *Error
		if errors.As(result.err, &failed) && failed.Status == Cancelled {
			failed.cause = ctx.Err()
		}
		return result
	}
}
