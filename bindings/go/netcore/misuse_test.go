package netcore

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
)

func urlOf(path string) string { return os.Getenv("NETCORE_PLAIN") + path }

func engineOf(t *testing.T) *Engine {
	engine, err := NewEngine()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	return engine
}

func TestWhatIsClosedIsNeverTakenForNone(t *testing.T) {
	engine := engineOf(t)
	trust, err := NewPinnedTrust(os.Getenv("NETCORE_CA"), "localhost", os.Getenv("NETCORE_PIN"))
	if err != nil {
		t.Fatal(err)
	}
	expectation, err := NewExpectation("{}")
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	response, err := engine.Fetch(context.Background(), Request{URL: urlOf("/cities"), Trust: trust})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 2; i++ {
		trust.Close()
		expectation.Close()
		store.Close()
		response.Close()
	}
	if response.Status() != 0 || response.Body() != nil {
		t.Error("a closed response has a status or a body")
	}
	if _, err := engine.Fetch(context.Background(), Request{URL: urlOf("/cities"), Trust: trust}); err != ErrClosed {
		t.Error("a closed policy:", err)
	}
	if _, err := engine.Download(context.Background(), Request{URL: urlOf("/film"), Expectation: expectation}, "x"); err != ErrClosed {
		t.Error("a closed expectation:", err)
	}
	if err := store.Put("a", nil); err != ErrClosed {
		t.Error("a closed store:", err)
	}
	if _, _, err := store.Get("a"); err != ErrClosed {
		t.Error("a closed store:", err)
	}
	engine.Close()
	if _, err := engine.Fetch(context.Background(), Request{URL: urlOf("/cities")}); err != ErrClosed {
		t.Error("a closed engine:", err)
	}
}

func TestWhatCannotBeMadeIsNil(t *testing.T) {
	trust, err := NewPinnedTrust("/nowhere", "localhost", "sha256/none")
	if trust != nil || err == nil {
		t.Error("a policy:", err)
	}
	expectation, err := NewExpectation("{")
	if expectation != nil || err == nil {
		t.Error("an expectation:", err)
	}
	for _, directory := range []string{"", "/dev/null/a", "a\x00b"} {
		store, err := OpenStore(directory)
		if store != nil || err == nil {
			t.Errorf("a store in %q: %v", directory, err)
		}
	}
}

func TestAContextEndsItsTransfer(t *testing.T) {
	engine := engineOf(t)
	ctx, stop := context.WithCancel(context.Background())
	_, err := engine.Fetch(ctx, Request{URL: urlOf("/slow"), OnHead: stop, OnChunk: func([]byte) bool { return true }})
	var failed *Error
	if !errors.Is(err, context.Canceled) || !errors.As(err, &failed) || failed.Status != Cancelled {
		t.Error("cancelled under way:", err)
	}
	called := false
	_, err = engine.Fetch(ctx, Request{URL: urlOf("/cities"), OnHead: func() { called = true }})
	if err != context.Canceled || called {
		t.Error("cancelled before:", err)
	}
}

func TestACallbackNeitherPanicsThroughCNorWaits(t *testing.T) {
	engine := engineOf(t)
	if _, err := engine.Fetch(context.Background(), Request{URL: urlOf("/slow"), OnHead: func() { panic(errors.New("x")) }}); err == nil {
		t.Error("a panic was lost")
	}
	var inner error
	_, err := engine.Fetch(context.Background(), Request{URL: urlOf("/slow"), OnChunk: func([]byte) bool {
		_, inner = engine.Fetch(context.Background(), Request{URL: urlOf("/cities")})
		engine.Close()
		return true
	}})
	if inner == nil || err == nil {
		t.Error("the loop waited for itself:", inner, err)
	}
}

func TestADownloadIsRefusedWhatItWouldNotCall(t *testing.T) {
	engine := engineOf(t)
	for _, request := range []Request{{OnHead: func() {}}, {OnChunk: func([]byte) bool { return false }}} {
		request.URL = urlOf("/film")
		path := t.TempDir() + "/film"
		if _, err := engine.Download(context.Background(), request, path); err == nil {
			t.Error("a function that is never called was taken")
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("it was fetched all the same")
		}
	}
}

func TestManyAskWhileOneCloses(t *testing.T) {
	for round := 0; round < 5; round++ {
		engine := engineOf(t)
		var group sync.WaitGroup
		for number := 0; number < 16; number++ {
			group.Add(1)
			go func(number int) {
				defer group.Done()
				for count := 0; count < 20; count++ {
					ctx, stop := context.WithCancel(context.Background())
					request := Request{URL: urlOf("/cities")}
					if number%2 == 0 {
						request = Request{URL: urlOf("/slow"), OnChunk: func([]byte) bool { runtime.GC(); stop(); return true }}
					}
					response, err := engine.Fetch(ctx, request)
					stop()
					if err == nil {
						response.Close()
					}
					if number == 7 && count == 10 {
						engine.Close()
					}
				}
			}(number)
		}
		group.Wait()
	}
}
