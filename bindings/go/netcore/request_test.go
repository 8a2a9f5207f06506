package netcore

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestARequestArrivesAsDescribed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Name", "value")
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Own")+" "+string(body))
	}))
	defer server.Close()
	engine := engineOf(t)
	request := Request{URL: server.URL + "/a", Method: "PUT", Body: []byte("body"), Headers: []Field{{"X-Own", "y"}}, Timeout: time.Minute}
	response, err := engine.Fetch(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Close()
	if string(response.Body()) != "PUT /a y body" || response.Header("x-name") != "value" || response.Header("x") != "" || response.URL() != server.URL+"/a" {
		t.Errorf("%q %q %q", response.Body(), response.Headers(), response.URL())
	}
}

func TestErrorsHaveANameAndAMessage(t *testing.T) {
	engine := engineOf(t)
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	for name, request := range map[string]Request{
		"NC_ERR_REFUSED":         {URL: "http://127.0.0.1:1/"},
		"NC_ERR_BAD_URL":         {URL: "no url"},
		"NC_ERR_TOTAL_TIMED_OUT": {URL: silent.URL, Timeout: 50 * time.Millisecond},
		"NC_ERR_BAD_METHOD":      {URL: silent.URL, Method: "A B"},
	} {
		_, err := engine.Fetch(context.Background(), request)
		var failed *Error
		if !errors.As(err, &failed) || failed.Name != name || failed.Message == "" {
			t.Error(name, err)
		}
	}
}
