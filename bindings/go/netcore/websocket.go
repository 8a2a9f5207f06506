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
	"runtime/cgo"
	"sync"
	"time"
	"unsafe"
)

// Above these limits of unread messages, reading from the connection is paused.
const (
	maxUnreadBytes    = 1 << 20
	maxUnreadMessages = 1024
)

// Message is a message of a WebSocket.
type Message struct {
	IsText bool // the data is UTF-8
	Data   []byte
}

func (m Message) String() string { return string(m.Data) }

// CloseFrame is the server's close frame: code 1005 if it has none, 1006 if no frame arrived.
type CloseFrame struct {
	Code   int
	Reason string
}

func (f CloseFrame) isOrderly() bool { return f.Code == 1000 || f.Code == 1001 || f.Code == 1005 }

// CloseError is returned after both sides have closed a WebSocket in order, with any code.
type CloseError struct{ CloseFrame }

func (e *CloseError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the WebSocket was closed with code %d", e.Code)
	}
	return fmt.Sprintf("the WebSocket was closed with code %d: %s", e.Code, e.Reason)
}

// HandshakeError is returned if the server refuses a WebSocket. Body has at most 64 KiB.
type HandshakeError struct {
	Cause      *Error
	StatusCode int
	Headers    []Field
	Body       []byte
}

func (e *HandshakeError) Error() string { return e.Cause.Error() }

// Unwrap returns the Cause.
func (e *HandshakeError) Unwrap() error { return e.Cause }

// WebSocketOptions are the options of a WebSocket. In a time or a size, 0 means the default in parentheses.
type WebSocketOptions struct {
	Protocols       []string      // subprotocols to offer, the preferred one first
	Compression     bool          // offers permessage-deflate
	MaxMessageBytes uint64        // of a received message (64 MiB)
	PingInterval    time.Duration // a ping is sent after so much time without a received byte (30 s)
	PeerTimeout     time.Duration // the socket fails after so much time without a received byte (90 s)
	CloseTimeout    time.Duration // for the server to close the connection (5 s)
}

// socketState is what the callbacks of a socket have received.
type socketState struct {
	mutex    sync.Mutex
	changed  chan struct{} // closed and replaced at each change
	response *Response
	unread   []Message
	bytes    int // unread
	isPaused bool
	drops    bool
	room     uint64 // how often on_room was called
	pings    uint64
	pongs    map[uint64]string // the payloads of the pings without a pong
	frame    CloseFrame
	err      error // set at the end
}

// change changes the state and wakes every wait.
func (s *socketState) change(change func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits for a condition, which is called with the lock, or for the context.
func (s *socketState) until(ctx context.Context, condition func() bool) error {
	for {
		s.mutex.Lock()
		isOver, changed := condition(), s.changed
		s.mutex.Unlock()
		if isOver {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func socketOf(handle C.uintptr_t) *socketState { return cgo.Handle(handle).Value().(*socketState) }

//export goSocketOpen
func goSocketOpen(handle C.uintptr_t, response *C.nc_response) {
	state := socketOf(handle)
	state.change(func() { state.response = &Response{raw: response} })
}

//export goSocketMessage
func goSocketMessage(handle C.uintptr_t, isText C.bool, bytes unsafe.Pointer, length C.size_t) (pauses bool) {
	state := socketOf(handle)
	state.change(func() {
		if state.drops {
			return
		}
		state.unread = append(state.unread, Message{bool(isText), C.GoBytes(bytes, C.int(length))})
		state.bytes += int(length)
		state.isPaused = state.bytes > maxUnreadBytes || len(state.unread) > maxUnreadMessages
		pauses = state.isPaused
	})
	return
}

//export goSocketPong
func goSocketPong(handle C.uintptr_t, bytes unsafe.Pointer, length C.size_t) {
	state, payload := socketOf(handle), string(C.GoBytes(bytes, C.int(length)))
	state.change(func() {
		for number, expected := range state.pongs {
			if expected == payload {
				delete(state.pongs, number)
			}
		}
	})
}

//export goSocketRoom
func goSocketRoom(handle C.uintptr_t) {
	state := socketOf(handle)
	state.change(func() { state.room++ })
}

//export goSocketEnd
func goSocketEnd(handle C.uintptr_t, end *C.nc_socket_end) {
	state := socketOf(handle)
	frame := CloseFrame{int(end.close_code), textOf(end.close_reason)}
	err := failure(end.error.status, end.error)
	if err == nil {
		err = &CloseError{frame}
	} else if end.error.status == C.NC_ERR_UPGRADE_REFUSED {
		refusal := &Response{raw: end.response} // borrowed
		err = &HandshakeError{err.(*Error), refusal.Status(), refusal.Headers(), []byte(textOf(end.refusal))}
	}
	state.change(func() { state.frame, state.err = frame, err })
	cgo.Handle(handle).Delete()
}

// WebSocket is an open WebSocket. Goroutines may share it. The owner calls Close.
type WebSocket struct {
	engine *Engine
	state  *socketState
	mutex  sync.RWMutex // read-locked during C calls, none of which waits
	raw    *C.nc_socket
}

// WebSocket opens a WebSocket and waits for the handshake. The request is a GET; its Timeout ends with the handshake. If
// the server refuses the handshake, the error is a HandshakeError.
func (e *Engine) WebSocket(ctx context.Context, request Request, options WebSocketOptions) (*WebSocket, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if request.OnHead != nil || request.OnChunk != nil {
		return nil, errors.New("netcore: a WebSocket calls neither OnHead nor OnChunk")
	}
	var arguments arena
	defer arguments.free()
	native, err := request.native(&arguments)
	if err != nil {
		return nil, err
	}
	settings := C.nc_socket_options{
		protocols: arguments.slices(options.Protocols), protocol_count: C.size_t(len(options.Protocols)),
		offers_compression: C.bool(options.Compression), max_message_bytes: C.uint64_t(options.MaxMessageBytes),
		max_frame_bytes: C.uint64_t(options.MaxMessageBytes), ping_interval_ms: milliseconds(options.PingInterval),
		peer_timeout_ms: milliseconds(options.PeerTimeout), close_timeout_ms: milliseconds(options.CloseTimeout),
	}
	state := &socketState{changed: make(chan struct{}), pongs: map[uint64]string{}}
	socket, handle := &WebSocket{engine: e, state: state}, cgo.NewHandle(state)
	if err := e.use(func(raw *C.nc_engine) error {
		if C.nc_engine_is_on_loop(raw) {
			return errors.New("netcore: a callback may not wait for a WebSocket")
		}
		var detail C.nc_error
		return failure(C.open_socket(&socket.raw, raw, &native, &settings, C.uintptr_t(handle), &detail), &detail)
	}); err != nil {
		handle.Delete() // no callback will follow
		return nil, err
	}
	err = state.until(ctx, func() bool { return state.response != nil || state.err != nil })
	if err == nil && state.response == nil {
		err = state.err
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return socket, nil
}

// Close ends the socket without a close frame, unless it has ended, and releases it. See Shutdown for an orderly end.
func (s *WebSocket) Close() {
	s.mutex.Lock()
	raw := s.raw
	s.raw = nil
	s.mutex.Unlock()
	if raw == nil {
		return
	}
	C.nc_socket_cancel(raw)
	C.nc_socket_release(raw)
	s.state.mutex.Lock()
	defer s.state.mutex.Unlock()
	if s.state.response != nil {
		s.state.response.Close()
	}
}

// use calls a function of C, unless the socket is closed. A status for a closed socket becomes the reason of its end.
func (s *WebSocket) use(call func(raw *C.nc_socket, detail *C.nc_error) C.nc_status) error {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.raw == nil {
		return ErrClosed
	}
	var detail C.nc_error
	status := call(s.raw, &detail)
	if status == C.NC_ERR_CLOSED {
		s.state.mutex.Lock()
		defer s.state.mutex.Unlock()
		if s.state.err != nil {
			return s.state.err
		}
	}
	return failure(status, &detail)
}

// Header returns the first field of this name of the response to the handshake; empty if there is none, and after Close.
func (s *WebSocket) Header(name string) string {
	s.state.mutex.Lock()
	defer s.state.mutex.Unlock()
	return s.state.response.Header(name)
}

// Protocol returns the subprotocol that the server chose; empty for none.
func (s *WebSocket) Protocol() string { return s.Header("Sec-WebSocket-Protocol") }

// Send queues a text. It waits while 16 MiB wait to be sent.
func (s *WebSocket) Send(ctx context.Context, text string) error {
	return s.send(ctx, C.NC_SOCKET_TEXT, text)
}

// SendBytes queues a binary message. It waits while 16 MiB wait to be sent.
func (s *WebSocket) SendBytes(ctx context.Context, data []byte) error {
	return s.send(ctx, C.NC_SOCKET_BINARY, string(data))
}

func (s *WebSocket) send(ctx context.Context, kind C.nc_socket_kind, data string) error {
	var arguments arena
	defer arguments.free()
	bytes, state := arguments.slice(data), s.state
	for {
		state.mutex.Lock()
		room := state.room
		state.mutex.Unlock()
		isFull := false
		err := s.use(func(raw *C.nc_socket, detail *C.nc_error) C.nc_status {
			status := C.nc_socket_send(raw, kind, bytes, true, detail)
			isFull = status == C.NC_ERR_QUEUE_FULL
			return status
		})
		if !isFull {
			return err
		}
		if err := state.until(ctx, func() bool { return state.room != room || state.err != nil }); err != nil {
			return err
		}
	}
}

// Receive waits for the next message. After the last one it returns a CloseError, or the error that ended the socket.
func (s *WebSocket) Receive(ctx context.Context) (Message, error) {
	state, resumes := s.state, false
	var message Message
	var end error
	if err := state.until(ctx, func() bool {
		if len(state.unread) == 0 {
			end = state.err
			return end != nil
		}
		message, state.unread = state.unread[0], state.unread[1:]
		state.bytes -= len(message.Data)
		resumes = state.isPaused && state.bytes <= maxUnreadBytes/2 && len(state.unread) <= maxUnreadMessages/2
		state.isPaused = state.isPaused && !resumes
		return true
	}); err != nil {
		return Message{}, err
	}
	if resumes {
		_ = s.use(func(raw *C.nc_socket, _ *C.nc_error) C.nc_status { C.nc_socket_resume(raw); return C.NC_OK })
	}
	return message, end
}

// ForEach calls a function for each message, until it returns an error or the socket ends. It returns that error, or nil
// if the server closed the socket with code 1000, 1001 or none.
func (s *WebSocket) ForEach(ctx context.Context, handle func(Message) error) error {
	for {
		message, err := s.Receive(ctx)
		var closed *CloseError
		if errors.As(err, &closed) && closed.isOrderly() {
			return nil
		}
		if err == nil {
			err = handle(message)
		}
		if err != nil {
			return err
		}
	}
}

// Ping sends a ping of at most 125 bytes and waits for its pong. While more than 1 MiB of messages is unread, no pong
// arrives.
func (s *WebSocket) Ping(ctx context.Context, payload string) error {
	var arguments arena
	defer arguments.free()
	var number uint64
	bytes, state := arguments.slice(payload), s.state
	state.change(func() {
		state.pings++
		number = state.pings
		state.pongs[number] = payload
	})
	defer state.change(func() { delete(state.pongs, number) })
	if err := s.use(func(raw *C.nc_socket, detail *C.nc_error) C.nc_status {
		return C.nc_socket_ping(raw, bytes, detail)
	}); err != nil {
		return err
	}
	var end error
	err := state.until(ctx, func() bool {
		_, isExpected := state.pongs[number]
		if isExpected {
			end = state.err
		}
		return !isExpected || end != nil
	})
	if err == nil {
		err = end
	}
	return err
}

// Shutdown sends a close frame after everything that was sent, waits until the server has closed, and returns its close
// frame. Messages that arrive meanwhile are dropped. Code 0 sends none. The owner still calls Close.
func (s *WebSocket) Shutdown(ctx context.Context, code int, reason string) (CloseFrame, error) {
	var arguments arena
	defer arguments.free()
	state := s.state
	if code < 0 || code > 65535 {
		return CloseFrame{}, fmt.Errorf("netcore: the close code %d is not 0 to 65535", code)
	}
	text, isClosed := arguments.slice(reason), false
	err := s.use(func(raw *C.nc_socket, detail *C.nc_error) C.nc_status {
		status := C.nc_socket_close(raw, C.uint16_t(code), text, detail)
		isClosed = status == C.NC_OK || status == C.NC_ERR_CLOSED
		if isClosed {
			state.change(func() { state.drops = true })
			C.nc_socket_resume(raw)
		}
		return status
	})
	if !isClosed {
		return CloseFrame{}, err
	}
	if err := state.until(ctx, func() bool { return state.err != nil }); err != nil {
		return CloseFrame{}, err
	}
	var closed *CloseError
	if errors.As(state.err, &closed) {
		return closed.CloseFrame, nil
	}
	return state.frame, state.err
}
