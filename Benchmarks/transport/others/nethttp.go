// GETs with Go's net/http: one goroutine per request in flight, over persistent connections.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type options struct {
	url       string
	bodyBytes int
	inFlight  int
	requests  int64
	warmUp    int64
}

func parse(words []string) (options, error) {
	parsed := options{inFlight: 1, requests: 1}
	for ; len(words) >= 2; words = words[2:] {
		if words[0] == "--url" {
			parsed.url = words[1]
			continue
		}
		number, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return parsed, err
		}
		switch words[0] {
		case "--body-bytes":
			parsed.bodyBytes = int(number)
		case "--in-flight":
			parsed.inFlight = int(number)
		case "--requests":
			parsed.requests = number
		case "--warm-up":
			parsed.warmUp = number
		default:
			return parsed, fmt.Errorf("unknown option %s", words[0])
		}
	}
	if len(words) != 0 || parsed.url == "" {
		return parsed, fmt.Errorf("--url is missing, or a value")
	}
	return parsed, nil
}

// get reads the whole body into the buffer and returns whether it was correct.
func get(client *http.Client, url string, buffer []byte) bool {
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	// The buffer has room for one more byte, to detect a body that is too long.
	count, err := io.ReadFull(response.Body, buffer)
	return response.StatusCode == 200 && count == len(buffer)-1 && err == io.ErrUnexpectedEOF
}

func run(client *http.Client, asked options, requests int64) (failures int64) {
	var workers sync.WaitGroup
	left := requests
	for worker := 0; worker < asked.inFlight; worker++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			buffer := make([]byte, asked.bodyBytes+1)
			for atomic.AddInt64(&left, -1) >= 0 {
				if !get(client, asked.url, buffer) {
					atomic.AddInt64(&failures, 1)
				}
			}
		}()
	}
	workers.Wait()
	return failures
}

func usage() (cpu float64, peakKB int64) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9, used.Maxrss
}

func main() {
	asked, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConns: asked.inFlight, MaxIdleConnsPerHost: asked.inFlight, MaxConnsPerHost: asked.inFlight,
		DisableCompression: true,
	}}
	failures := run(client, asked, asked.warmUp)
	begin := time.Now()
	cpuBefore, _ := usage()
	failures += run(client, asked, asked.requests)
	cpu, peak := usage()
	fmt.Printf("peer=go in_flight=%d requests=%d cpu_s=%.6f wall_s=%.6f peak_rss_kb=%d connections=- failures=%d\n",
		asked.inFlight, asked.requests, cpu-cpuBefore, time.Since(begin).Seconds(), peak, failures)
}
