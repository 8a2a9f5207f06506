// Fetches, validates, caches, pins, downloads and cancels. See Examples/c/fetch.c for the usage.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"netkit/bindings/go/netcore"
)

const wrongPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func fromEnvironment(name, path string) string { return os.Getenv(name) + path }

func statusOf(err error) int {
	var failure *netcore.Error
	if errors.As(err, &failure) {
		return failure.Status
	}
	return 0
}

// body fetches a body and closes the response.
func body(engine *netcore.Engine, request netcore.Request) ([]byte, error) {
	response, err := engine.Fetch(context.Background(), request)
	if err != nil {
		return nil, err
	}
	defer response.Close()
	if response.Status() != 200 {
		return nil, fmt.Errorf("status %d", response.Status())
	}
	return response.Body(), nil
}

func fetch(engine *netcore.Engine) (bool, error) {
	var group sync.WaitGroup
	var lengths [4]int
	for i := range lengths {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			content, _ := body(engine, netcore.Request{URL: fromEnvironment("NETCORE_PLAIN", "/cities")})
			lengths[i] = len(content)
		}(i)
	}
	group.Wait()
	return lengths == [4]int{47, 47, 47, 47}, nil
}

func validate(engine *netcore.Engine) (bool, error) {
	expectation, err := netcore.NewExpectation(`[{"id": "integer", "name": "string"}]`)
	if err != nil {
		return false, err
	}
	defer expectation.Close()
	if _, err = body(engine, netcore.Request{URL: fromEnvironment("NETCORE_PLAIN", "/cities"), Expectation: expectation}); err != nil {
		return false, err
	}
	_, err = body(engine, netcore.Request{URL: fromEnvironment("NETCORE_PLAIN", "/broken"), Expectation: expectation})
	return statusOf(err) == netcore.ShapeMismatch, nil
}

func cache(engine *netcore.Engine) (bool, error) {
	store, err := netcore.OpenStore(os.Args[1] + "/cache")
	if err != nil {
		return false, err
	}
	defer store.Close()
	url := fromEnvironment("NETCORE_PLAIN", "/cities")
	_, wasThere, err := store.Get(url)
	if err != nil {
		return false, err
	}
	content, err := body(engine, netcore.Request{URL: url})
	if err != nil {
		return false, err
	}
	if err = store.Put(url, content); err != nil {
		return false, err
	}
	kept, isThere, err := store.Get(url)
	return !wasThere && isThere && bytes.Equal(kept, content), err
}

func pin(engine *netcore.Engine) (bool, error) {
	for wanted, pin := range map[int]string{0: fromEnvironment("NETCORE_PIN", ""), netcore.PinMismatch: wrongPin} {
		trust, err := netcore.NewPinnedTrust(fromEnvironment("NETCORE_CA", ""), "localhost", pin)
		if err != nil {
			return false, err
		}
		_, err = body(engine, netcore.Request{URL: fromEnvironment("NETCORE_SECURE", "/cities"), Trust: trust})
		trust.Close()
		if statusOf(err) != wanted {
			return false, err
		}
	}
	return true, nil
}

func download(engine *netcore.Engine) (bool, error) {
	request := netcore.Request{URL: fromEnvironment("NETCORE_PLAIN", "/film")}
	count, err := engine.Download(context.Background(), request, os.Args[1]+"/film")
	return count == 1000000, err
}

func cancel(engine *netcore.Engine) (bool, error) {
	ctx, stop := context.WithCancel(context.Background())
	began := make(chan struct{}, 1)
	go func() {
		<-began
		stop()
	}()
	_, err := engine.Fetch(ctx, netcore.Request{
		URL:     fromEnvironment("NETCORE_PLAIN", "/slow"),
		OnHead:  func() { began <- struct{}{} },
		OnChunk: func([]byte) bool { return true },
	})
	_, panicked := engine.Fetch(context.Background(), netcore.Request{
		URL:     fromEnvironment("NETCORE_PLAIN", "/slow"),
		OnChunk: func([]byte) bool { panic("enough") },
	})
	return statusOf(err) == netcore.Cancelled && panicked != nil && statusOf(panicked) == 0, nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: fetch DIRECTORY")
		os.Exit(2)
	}
	engine, err := netcore.NewEngine()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 0
	for _, step := range []struct {
		name string
		run  func(*netcore.Engine) (bool, error)
	}{{"fetch", fetch}, {"validate", validate}, {"cache", cache}, {"pin", pin}, {"download", download}, {"cancel", cancel}} {
		isRight, err := step.run(engine)
		if isRight && err == nil {
			fmt.Println("ok " + step.name)
		} else {
			fmt.Println("failed", step.name, err)
			code = 1
		}
	}
	engine.Close()
	exit(code)
}
