package netcore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// origin responds with the number of the request, and with the query as Cache-Control. The first `failures` requests get 503.
type origin struct {
	*httptest.Server
	count, failures int32
	hold            chan struct{}
}

func originOf(t *testing.T, failures int32) *origin {
	it := &origin{failures: failures, hold: make(chan struct{})}
	it.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := atomic.AddInt32(&it.count, 1)
		w.Header().Set("X-Sent", strings.Join(r.Header.Values("Cache-Control"), ", "))
		w.Header().Set("Cache-Control", r.URL.RawQuery)
		if r.URL.Path == "/silent" {
			<-it.hold
		}
		if number <= atomic.LoadInt32(&it.failures) {
			w.WriteHeader(503)
		}
		_, _ = fmt.Fprintf(w, "%d", number)
	}))
	t.Cleanup(it.Server.Close)
	t.Cleanup(func() { close(it.hold) })
	return it
}

func cacheOf(t *testing.T, directory string) *Cache {
	cache, err := OpenCache(directory, CacheLimits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cache.Close)
	return cache
}

func openEngine(t *testing.T, options ...Option) *Engine {
	engine, err := NewEngine(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	return engine
}

// got sends a request and returns "outcome reason body".
func got(t *testing.T, engine *Engine, request Request) string {
	response, err := engine.Fetch(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Close()
	return fmt.Sprintf("%v %v %s", response.Cache.Outcome, response.Cache.Reason, response.Body())
}

func TestEachModeUsesCacheAndNetworkAsDescribed(t *testing.T) {
	server := originOf(t, 0)
	engine := openEngine(t, WithCache(cacheOf(t, "")))
	request := Request{URL: server.URL + "/?max-age=60"}
	for _, one := range []struct {
		policy *CachePolicy
		want   string
	}{
		{nil, "network absent 1"},
		{nil, "hit fresh 1"},
		{&CachePolicy{Mode: CacheReload}, "network ignored 2"},
		{&CachePolicy{Mode: CacheOnly}, "hit fresh 2"},
		{&CachePolicy{Mode: CacheNoStore}, "network uncacheable 3"},
		{&CachePolicy{Mode: CacheNetworkFirst}, "network network-first 4"},
	} {
		request.Cache = one.policy
		if found := got(t, engine, request); found != one.want {
			t.Errorf("%q, not %q", found, one.want)
		}
	}
	_, err := engine.Fetch(context.Background(), Request{URL: server.URL + "/none", Cache: &CachePolicy{Mode: CacheOnly}})
	var failed *Error
	if !errors.As(err, &failed) || failed.Status != NotCached || failed.Cache.Outcome != CacheNone || failed.Cache.Reason != "absent" {
		t.Error("nothing is stored:", err)
	}
}

func TestAStaleResponseIsUsedForTheAllowedTime(t *testing.T) {
	server := originOf(t, 0)
	engine := openEngine(t, WithCache(cacheOf(t, "")), WithCachePolicy(CachePolicy{StaleIfError: time.Hour}))
	request := Request{URL: server.URL + "/?max-age=0", Headers: []Field{{"Cache-Control", "no-transform"}}}
	first := got(t, engine, request)
	request.Cache = &CachePolicy{MaxStale: time.Minute}
	used := got(t, engine, request)
	request.Cache = &CachePolicy{MaxStale: AnyAge}
	anyAge := got(t, engine, request)
	other := Request{URL: server.URL + "/other", Headers: request.Headers}
	other.Cache = &CachePolicy{MaxStale: time.Millisecond} // less than a second
	response, err := engine.Fetch(context.Background(), other)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Close()
	atomic.StoreInt32(&server.failures, 100)
	request.Cache = nil
	failed := got(t, engine, request)
	if first != "network absent 1" || used != "stale hit stale-allowed 1" || anyAge != used || failed != "stale hit stale-if-error 1" {
		t.Errorf("%q %q %q %q", first, used, anyAge, failed)
	}
	if response.Cache.Outcome != CacheNetwork || response.Header("X-Sent") != "no-transform, max-stale=0" {
		t.Errorf("%v %q", response.Cache, response.Header("X-Sent"))
	}
}

func TestATemporaryFailureIsSentAgain(t *testing.T) {
	server := originOf(t, 2)
	quick := RetryPolicy{MaxRetries: 2, BaseDelay: time.Nanosecond}
	engine := openEngine(t, WithRetries(&quick))
	response, err := engine.Fetch(context.Background(), Request{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Close()
	seen := ""
	for _, attempt := range response.Attempts {
		seen += fmt.Sprint(attempt.Status, " ", attempt.Reason, attempt.Error, "; ")
	}
	if response.Status() != 200 || seen != "503 backoff; 503 backoff; 200 not needed; " || response.Cache.IsHit() {
		t.Errorf("%d %q", response.Status(), seen)
	}
	for _, one := range []struct {
		request Request
		want    string
	}{
		{Request{Retry: Retries(0)}, "503 [no attempts left]"},
		{Request{Body: []byte("x"), Method: "POST"}, "503 [not idempotent]"},
		{Request{Body: []byte("x"), Method: "POST", Retry: &RetryPolicy{MaxRetries: 1, BaseDelay: 1, AnyMethod: true}}, "200 [backoff not needed]"},
		{Request{Retry: &RetryPolicy{MaxRetries: 1, Statuses: []int{500}}}, "503 [not needed]"},
	} {
		one.request.URL = server.URL
		atomic.StoreInt32(&server.failures, atomic.LoadInt32(&server.count)+1)
		response, err := engine.Fetch(context.Background(), one.request)
		if err != nil {
			t.Fatal(err)
		}
		reasons := []string{}
		for _, attempt := range response.Attempts {
			reasons = append(reasons, attempt.Reason)
		}
		if found := fmt.Sprint(response.Status(), " ", reasons); found != one.want {
			t.Errorf("%q, not %q", found, one.want)
		}
		response.Close()
	}
	_, err = engine.Fetch(context.Background(), Request{URL: "http://127.0.0.1:1/"})
	var failed *Error
	if !errors.As(err, &failed) || len(failed.Attempts) != 3 || failed.Attempts[2].Error != "NC_ERR_REFUSED" {
		t.Error(err)
	}
	plain := openEngine(t)
	atomic.StoreInt32(&server.failures, atomic.LoadInt32(&server.count)+1)
	if found := got(t, plain, Request{URL: server.URL, Retry: &quick}); !strings.HasPrefix(found, "unused ") {
		t.Error(found)
	}
}

func TestADirectoryKeepsResponses(t *testing.T) {
	server := originOf(t, 0)
	directory := t.TempDir() + "/a/b"
	request := Request{URL: server.URL + "/?max-age=60"}
	for _, want := range []string{"network absent 1", "hit fresh 1"} {
		cache, err := OpenCache(directory, CacheLimits{DiskBytes: 1 << 20, MemoryBytes: 1 << 20, BodyBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		engine := openEngine(t, WithCache(cache), WithRetries(Retries(1)))
		cache.Close() // the engine keeps it alive
		if found := got(t, engine, request); found != want {
			t.Errorf("%q, not %q", found, want)
		}
		engine.Close()
	}
	cache := cacheOf(t, directory)
	engine := openEngine(t, WithCache(cache))
	if err := cache.Clear(); err != nil {
		t.Error(err)
	}
	if found := got(t, engine, request); found != "network absent 2" || cache.Stats().Puts != 1 {
		t.Error(found, cache.Stats())
	}
}

func TestAScopeNamesTheUser(t *testing.T) {
	server := originOf(t, 0)
	engine := openEngine(t, WithCache(cacheOf(t, "")))
	anna, everyone := "anna", ""
	for _, one := range []struct {
		user  string
		scope *string
		want  string
	}{
		{"a", nil, "network absent 1"}, {"b", nil, "network absent 2"}, {"a", &anna, "network absent 3"}, {"b", &anna, "hit fresh 3"},
		{"a", &everyone, "network absent 4"}, {"b", &everyone, "hit fresh 4"}, {"a", nil, "hit fresh 1"},
	} {
		request := Request{URL: server.URL + "/?max-age=60", Headers: []Field{{"Authorization", "Basic " + one.user}}, Cache: &CachePolicy{Scope: one.scope}}
		if found := got(t, engine, request); found != one.want {
			t.Errorf("%q, not %q", found, one.want)
		}
	}
}

func TestOptionsWithoutAMeaningAreRefused(t *testing.T) {
	plain, cached := openEngine(t), openEngine(t, WithCache(cacheOf(t, "")))
	closed := cacheOf(t, "")
	closed.Close()
	closed.Close()
	url := originOf(t, 0).URL
	for text, one := range map[string]struct {
		engine  *Engine
		request Request
	}{
		"WithCache":     {plain, Request{Cache: &CachePolicy{}}},
		"unknown mode":  {cached, Request{Cache: &CachePolicy{Mode: 9}}},
		"negative":      {cached, Request{Cache: &CachePolicy{StaleIfError: -1}}},
		"OnHead":        {cached, Request{Cache: &CachePolicy{}, OnHead: func() {}}},
		"MaxRetries":    {plain, Request{Retry: Retries(-1)}},
		"has 99":        {plain, Request{Retry: &RetryPolicy{Statuses: []int{99}}}},
		"at most 16":    {plain, Request{Retry: &RetryPolicy{Statuses: make([]int, 17)}}},
		"negative dura": {plain, Request{Retry: &RetryPolicy{MaxElapsed: -1}}},
	} {
		one.request.URL = url
		if _, err := one.engine.Fetch(context.Background(), one.request); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := NewEngine(WithCache(closed)); err != ErrClosed {
		t.Error("a closed cache:", err)
	}
	if closed.Clear() != ErrClosed || closed.Stats() != (CacheStats{}) {
		t.Error("a closed cache was used")
	}
	if _, err := NewEngine(WithCachePolicy(CachePolicy{})); err == nil {
		t.Error("a policy without a cache was accepted")
	}
	for _, directory := range []string{"/dev/null/a", "a\x00b"} {
		if cache, err := OpenCache(directory, CacheLimits{}); cache != nil || err == nil {
			t.Errorf("a cache in %q: %v", directory, err)
		}
	}
	if found := got(t, plain, Request{URL: url, Cache: &CachePolicy{Mode: CacheNoStore}}); !strings.HasPrefix(found, "unused ") {
		t.Error(found)
	}
}

func TestManyShareACacheWhileOneEngineCloses(t *testing.T) {
	server := originOf(t, 0)
	cache := cacheOf(t, t.TempDir())
	first, second := openEngine(t, WithCache(cache)), openEngine(t, WithCache(cache), WithRetries(Retries(1)))
	var group sync.WaitGroup
	for number := 0; number < 16; number++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			for count := 0; count < 40; count++ {
				engine := first
				if number%2 == 0 {
					engine = second
				}
				ctx, stop := context.WithCancel(context.Background())
				if number%4 == 1 {
					time.AfterFunc(time.Millisecond, stop)
					_, _ = engine.Fetch(ctx, Request{URL: server.URL + "/silent"})
				} else if response, err := engine.Fetch(ctx, Request{URL: server.URL + "/?max-age=60"}); err == nil {
					response.Close()
				}
				stop()
				if number == 3 && count == 20 {
					first.Close()
				}
			}
		}(number)
	}
	group.Wait()
	cache.Close()
	response, err := second.Fetch(context.Background(), Request{URL: server.URL + "/", OnHead: func() { second.Close() }})
	if err == nil {
		response.Close()
	}
}
