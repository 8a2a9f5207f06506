package netcore

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// The server of script/examples.
func open(t *testing.T, engine *Engine, path string) *WebSocket {
	t.Helper()
	socket, err := engine.WebSocket(context.Background(), Request{URL: os.Getenv("NETCORE_SOCKET") + path}, WebSocketOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(socket.Close)
	return socket
}

func nameOf(err error) string {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Name
	}
	return ""
}

func expect(t *testing.T, socket *WebSocket, isText bool, data string) {
	t.Helper()
	message, err := socket.Receive(context.Background())
	if err != nil || message.IsText != isText || message.String() != data {
		t.Fatalf("%v %q %v", message.IsText, message.Data, err)
	}
}

func TestMessagesArriveAsSent(t *testing.T) {
	engine, ctx := engineOf(t), context.Background()
	request := Request{URL: os.Getenv("NETCORE_SOCKET") + "/chat/v2", Headers: []Field{{"X-Own", "y"}}}
	socket, err := engine.WebSocket(ctx, request, WebSocketOptions{Protocols: []string{"v1", "v2"}, Compression: true})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if socket.Protocol() != "v2" || socket.Header("Upgrade") != "websocket" {
		t.Error(socket.Protocol())
	}
	for _, err := range []error{socket.Send(ctx, "Malmö"), socket.SendBytes(ctx, []byte{0, 255}), socket.Send(ctx, "")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	expect(t, socket, true, "Malmö")
	expect(t, socket, false, "\x00\xff")
	expect(t, socket, true, "")
	var news []string
	if err := open(t, engine, "/news").ForEach(ctx, func(message Message) error {
		news = append(news, message.String())
		return nil
	}); err != nil || len(news) != 2 || news[0] != "one" || news[1] != "\x00\x01" {
		t.Errorf("%q %v", news, err)
	}
}

func TestASocketIsPingedAndClosed(t *testing.T) {
	engine, ctx := engineOf(t), context.Background()
	socket := open(t, engine, "/chat")
	if err := socket.Ping(ctx, ""); err != nil {
		t.Error(err)
	}
	if err := socket.Ping(ctx, strings.Repeat("x", 125)); err != nil {
		t.Error(err)
	}
	if err := socket.Ping(ctx, strings.Repeat("x", 126)); nameOf(err) != "NC_ERR_USAGE" {
		t.Error(err)
	}
	if _, err := socket.Shutdown(ctx, 999, ""); nameOf(err) != "NC_ERR_USAGE" {
		t.Error(err)
	}
	frame, err := socket.Shutdown(ctx, 4000, "bye")
	if err != nil || frame != (CloseFrame{4000, "bye"}) {
		t.Error(frame, err)
	}
	var closed *CloseError
	if err := socket.Send(ctx, "late"); !errors.As(err, &closed) || closed.Code != 4000 {
		t.Error(err)
	}
	if frame, err := socket.Shutdown(ctx, 1000, ""); err != nil || frame.Code != 4000 {
		t.Error(frame, err)
	}
	socket.Close()
	if err := socket.Send(ctx, "late"); err != ErrClosed {
		t.Error(err)
	}
}

func TestEachEndOfASocketHasItsError(t *testing.T) {
	engine, ctx := engineOf(t), context.Background()
	var closed *CloseError
	if err := open(t, engine, "/full").ForEach(ctx, nil); !errors.As(err, &closed) || closed.CloseFrame != (CloseFrame{4001, "full"}) {
		t.Error(err)
	}
	cut := open(t, engine, "/cut")
	expect(t, cut, true, "one")
	if _, err := cut.Receive(ctx); nameOf(err) != "NC_ERR_CUT_SHORT" {
		t.Error(err)
	}
	if _, err := open(t, engine, "/malformed").Receive(ctx); nameOf(err) != "NC_ERR_BAD_FRAME" {
		t.Error(err)
	}
	_, err := engine.WebSocket(ctx, Request{URL: os.Getenv("NETCORE_SOCKET") + "/cities"}, WebSocketOptions{})
	var refused *HandshakeError
	if !errors.As(err, &refused) || refused.StatusCode != 200 || !bytes.Contains(refused.Body, []byte("Oslo")) ||
		nameOf(err) != "NC_ERR_UPGRADE_REFUSED" {
		t.Error(err)
	}
	if _, err := engine.WebSocket(ctx, Request{URL: "ws://127.0.0.1:1/"}, WebSocketOptions{}); nameOf(err) != "NC_ERR_REFUSED" {
		t.Error(err)
	}
	quiet, short := open(t, engine, "/quiet"), func() context.Context {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		return ended
	}
	if _, err := quiet.Receive(short()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := engine.WebSocket(short(), Request{URL: "ws://127.0.0.1:1/"}, WebSocketOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	done := make(chan error)
	go func() {
		_, err := quiet.Receive(ctx)
		done <- err
	}()
	engine.Close()
	if err := <-done; nameOf(err) != "NC_ERR_CANCELLED" {
		t.Error(err)
	}
}

func TestLargeMessagesWaitForTheirReader(t *testing.T) {
	engine := engineOf(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	socket, block, sent := open(t, engine, "/chat"), bytes.Repeat([]byte{7}, 1<<20), make(chan error, 60)
	go func() {
		for i := 0; i < 60; i++ {
			sent <- socket.SendBytes(ctx, block)
		}
	}()
	for i := 0; i < 16; i++ { // the queue has room for them
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < 60; i++ {
		if message, err := socket.Receive(ctx); err != nil || !bytes.Equal(message.Data, block) {
			t.Fatal(len(message.Data), err)
		}
	}
}
