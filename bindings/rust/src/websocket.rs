//! WebSockets: open, send, receive, ping and close. Every call blocks.

use crate::{check, raw, Engine, Error, Request, Response, Result};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

// Messages that were received and not read. Above these limits, reading from the connection is paused.
const MAX_UNREAD_BYTES: usize = 1 << 20;
const MAX_UNREAD_MESSAGES: usize = 1024;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    Text(String),
    Binary(Vec<u8>),
}

impl Message {
    fn len(&self) -> usize {
        match self {
            Message::Text(text) => text.len(),
            Message::Binary(bytes) => bytes.len(),
        }
    }
}

/// What `WebSocket::send()` accepts: a text, bytes, or a message.
pub enum Payload<'a> {
    Text(&'a str),
    Binary(&'a [u8]),
}

impl<'a> From<&'a str> for Payload<'a> {
    fn from(text: &'a str) -> Self {
        Payload::Text(text)
    }
}

impl<'a> From<&'a String> for Payload<'a> {
    fn from(text: &'a String) -> Self {
        Payload::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Payload::Binary(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Payload<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Payload::Binary(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Payload<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Payload::Binary(bytes)
    }
}

impl<'a> From<&'a Message> for Payload<'a> {
    fn from(message: &'a Message) -> Self {
        match message {
            Message::Text(text) => Payload::Text(text),
            Message::Binary(bytes) => Payload::Binary(bytes),
        }
    }
}

/// The server's close frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// The code: 1005 if the frame has none, 1006 if no frame arrived.
    pub code: u16,
    pub reason: String,
}

impl Close {
    fn is_orderly(&self) -> bool {
        matches!(self.code, 1000 | 1001 | 1005)
    }
}

/// The failure of a WebSocket. `?` converts it to `Error`.
#[derive(Clone)]
pub enum WebSocketError {
    /// Both sides have closed the socket in order, with any code.
    Closed(Close),
    /// The server refused the handshake: its response, and at most 64 KiB of the body.
    Refused { error: Error, response: Response, body: Vec<u8> },
    /// Any other failure.
    Failed(Error),
}

impl fmt::Display for WebSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WebSocketError::Closed(close) if close.reason.is_empty() => {
                write!(f, "the WebSocket was closed with code {}", close.code)
            }
            WebSocketError::Closed(close) => {
                write!(f, "the WebSocket was closed with code {}: {}", close.code, close.reason)
            }
            WebSocketError::Refused { error, .. } | WebSocketError::Failed(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for WebSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebSocketError({self})")
    }
}

impl std::error::Error for WebSocketError {}

impl From<Error> for WebSocketError {
    fn from(error: Error) -> Self {
        WebSocketError::Failed(error)
    }
}

impl From<WebSocketError> for Error {
    fn from(error: WebSocketError) -> Self {
        match error {
            WebSocketError::Closed(_) => Error::new(raw::CLOSED, error.to_string()),
            WebSocketError::Refused { error, .. } | WebSocketError::Failed(error) => error,
        }
    }
}

/// Options of a WebSocket.
#[derive(Debug, Clone, Copy)]
pub struct WebSocketOptions<'a> {
    /// Subprotocols to offer, the preferred one first.
    pub protocols: &'a [&'a str],
    /// Offers permessage-deflate.
    pub compression: bool,
    /// The largest message to receive.
    pub max_message_bytes: u64,
    /// A ping is sent after so much time without a received byte. `Duration::MAX` sends none.
    pub ping_interval: Duration,
    /// The socket fails after so much time without a received byte. `Duration::MAX` is no limit.
    pub peer_timeout: Duration,
    /// The time for the server to close the connection.
    pub close_timeout: Duration,
}

impl Default for WebSocketOptions<'_> {
    fn default() -> Self {
        WebSocketOptions {
            protocols: &[],
            compression: false,
            max_message_bytes: 64 << 20,
            ping_interval: Duration::from_secs(30),
            peer_timeout: Duration::from_secs(90),
            close_timeout: Duration::from_secs(5),
        }
    }
}

/// Returns a time for C, where 0 is the default, and the maximum is no limit.
fn limit_ms(time: Duration) -> u32 {
    match time {
        Duration::MAX => raw::UNLIMITED,
        time => time.as_millis().clamp(1, u128::from(raw::UNLIMITED - 1)) as u32,
    }
}

/// What the callbacks have received.
#[derive(Default)]
struct State {
    response: Option<Response>,
    unread: VecDeque<Message>,
    unread_bytes: usize,
    is_paused: bool,
    drops_messages: bool,
    room: u64, // how often on_room was called
    pings: u64, // sent by ping()
    expected_pongs: Vec<(u64, Vec<u8>)>,
    end: Option<(WebSocketError, Close)>,
}

/// C holds one reference until on_end.
#[derive(Default)]
struct Channel {
    state: Mutex<State>,
    changed: Condvar,
}

impl Channel {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes all waits.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.locked());
        self.changed.notify_all();
        result
    }

    /// Waits until a function returns a value. Returns None at the deadline.
    fn until<T>(&self, deadline: Option<Instant>, mut found: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let mut state = self.locked();
        loop {
            if let Some(value) = found(&mut state) {
                return Some(value);
            }
            state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return None,
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// # Safety
/// `ctx` is the pointer that was given to nc_socket_open(), before on_end.
unsafe fn channel<'a>(ctx: *mut c_void) -> &'a Channel {
    unsafe { &*ctx.cast::<Channel>() }
}

unsafe extern "C" fn opened(ctx: *mut c_void, _socket: *mut c_void, response: *mut c_void) {
    // SAFETY: the response is borrowed, so a reference is taken.
    unsafe {
        let response = Response::of(raw::nc_response_retain(response));
        channel(ctx).change(|state| state.response = Some(response));
    }
}

unsafe extern "C" fn message_came(ctx: *mut c_void, _socket: *mut c_void, kind: i32, bytes: raw::Slice, _is_last: bool) -> i32 {
    // SAFETY: the bytes are borrowed for the call.
    let (channel, bytes) = unsafe { (channel(ctx), bytes.bytes()) };
    channel.change(|state| {
        if state.drops_messages {
            return raw::CONTINUE;
        }
        state.unread_bytes += bytes.len();
        state.unread.push_back(match kind {
            raw::SOCKET_TEXT => Message::Text(String::from_utf8_lossy(bytes).into_owned()),
            _ => Message::Binary(bytes.to_vec()),
        });
        state.is_paused = state.unread_bytes > MAX_UNREAD_BYTES || state.unread.len() > MAX_UNREAD_MESSAGES;
        if state.is_paused { raw::PAUSE } else { raw::CONTINUE }
    })
}

unsafe extern "C" fn pong_came(ctx: *mut c_void, _socket: *mut c_void, payload: raw::Slice) {
    // SAFETY: as in message_came().
    let (channel, payload) = unsafe { (channel(ctx), payload.bytes()) };
    channel.change(|state| state.expected_pongs.retain(|(_, expected)| expected != payload));
}

unsafe extern "C" fn room_came(ctx: *mut c_void, _socket: *mut c_void) {
    // SAFETY: as in channel().
    unsafe { channel(ctx) }.change(|state| state.room += 1);
}

unsafe extern "C" fn ended(ctx: *mut c_void, _socket: *mut c_void, end: *const raw::SocketEnd) {
    // SAFETY: called once, as the last callback: C's reference comes back. The values of `end` are borrowed.
    unsafe {
        let channel = Arc::from_raw(ctx.cast::<Channel>());
        let (end, error) = (&*end, &*(*end).error);
        let close = Close { code: end.close_code, reason: String::from_utf8_lossy(end.close_reason.bytes()).into_owned() };
        let failure = match error.status {
            raw::OK => WebSocketError::Closed(close.clone()),
            raw::UPGRADE_REFUSED => WebSocketError::Refused {
                error: Error::of(error.status, error),
                response: Response::of(raw::nc_response_retain(end.response)),
                body: end.refusal.bytes().to_vec(),
            },
            status => WebSocketError::Failed(Error::of(status, error)),
        };
        channel.change(|state| state.end = Some((failure, close)));
    }
}

/// An open WebSocket. All threads may use it by reference. Dropping it ends it without a close frame.
pub struct WebSocket<'a> {
    raw: *mut c_void,
    engine: &'a Engine,
    channel: Arc<Channel>,
    response: Response,
}

// SAFETY: "Thread-safe" in the C documentation.
unsafe impl Send for WebSocket<'_> {}
unsafe impl Sync for WebSocket<'_> {}

/// A reference to a C socket, which ends with it.
struct Handle(*mut c_void);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the only reference. The engine is alive, or the socket has ended.
        unsafe {
            raw::nc_socket_cancel(self.0);
            raw::nc_socket_release(self.0);
        }
    }
}

impl Drop for WebSocket<'_> {
    fn drop(&mut self) {
        drop(Handle(self.raw));
    }
}

impl Engine {
    /// Opens a WebSocket with the default options. See `websocket_with()`.
    pub fn websocket(&self, request: &Request<'_>) -> std::result::Result<WebSocket<'_>, WebSocketError> {
        self.websocket_with(request, &WebSocketOptions::default())
    }

    /// Opens a WebSocket and waits for the handshake. The request is a GET; its timeout, 300 s by default, ends with the
    /// handshake.
    ///
    /// ```no_run
    /// # fn main() -> netcore::Result<()> {
    /// let engine = netcore::Engine::new()?;
    /// let socket = engine.websocket(&netcore::Request::get("wss://example.com/chat"))?;
    /// socket.send("hello")?;
    /// for message in &socket {
    ///     println!("{:?}", message?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn websocket_with(
        &self, request: &Request<'_>, options: &WebSocketOptions<'_>,
    ) -> std::result::Result<WebSocket<'_>, WebSocketError> {
        self.refuse_loop()?;
        let protocols: Vec<raw::Slice> = options.protocols.iter().map(|name| raw::Slice::of(name.as_bytes())).collect();
        let options = raw::SocketOptions {
            protocols: protocols.as_ptr(),
            protocol_count: protocols.len(),
            offers_compression: options.compression,
            max_frame_bytes: options.max_message_bytes.max(1),
            max_message_bytes: options.max_message_bytes.max(1),
            ping_interval_ms: limit_ms(options.ping_interval),
            peer_timeout_ms: limit_ms(options.peer_timeout),
            close_timeout_ms: limit_ms(options.close_timeout),
            ..Default::default()
        };
        let channel = Arc::new(Channel::default());
        let ctx = Arc::into_raw(channel.clone());
        let sink = raw::SocketSink {
            ctx: ctx.cast_mut().cast(),
            on_open: Some(opened),
            on_message: Some(message_came),
            on_pong: Some(pong_came),
            on_room: Some(room_came),
            on_end: Some(ended),
        };
        let mut out = null_mut();
        // SAFETY: request, options and sink are copied. If the socket was not accepted, on_end is never called, and the
        // reference is ours.
        let open = |request: &raw::Request| {
            check(|err| unsafe { raw::nc_socket_open(&mut out, self.raw, request, &options, &sink, err) })
        };
        request.with_raw(open).inspect_err(|_| drop(unsafe { Arc::from_raw(ctx) }))?;
        let handle = Handle(out);
        let outcome = channel.until(None, |state| match (&state.response, &state.end) {
            (Some(response), _) => Some(Ok(response.clone())),
            (None, Some((failure, _))) => Some(Err(failure.clone())),
            (None, None) => None,
        });
        let response = outcome.unwrap_or_else(|| Err(Error::usage("the wait has ended").into()))?;
        std::mem::forget(handle);
        Ok(WebSocket { raw: out, engine: self, channel, response })
    }

    /// Returns an error on the engine's thread, which would wait for itself.
    fn refuse_loop(&self) -> Result<()> {
        // SAFETY: a live engine.
        match unsafe { raw::nc_engine_is_on_loop(self.raw) } {
            true => Err(Error::usage("a callback may not wait for a WebSocket")),
            false => Ok(()),
        }
    }
}

impl WebSocket<'_> {
    /// The response to the handshake, with status 101.
    pub fn response(&self) -> &Response {
        &self.response
    }

    /// The subprotocol that the server chose.
    pub fn protocol(&self) -> Option<Cow<'_, str>> {
        self.response.header("Sec-WebSocket-Protocol").map(String::from_utf8_lossy)
    }

    /// The server's close frame, after the end.
    pub fn close_frame(&self) -> Option<Close> {
        self.channel.locked().end.as_ref().map(|(_, close)| close.clone())
    }

    /// Returns the reason why the socket is closed.
    fn failure(&self) -> WebSocketError {
        match &self.channel.locked().end {
            Some((failure, _)) => failure.clone(),
            None => WebSocketError::Failed(Error::new(raw::CLOSED, "the WebSocket is closing")),
        }
    }

    /// Converts the result of a function of C: a socket that is closed has a reason.
    fn checked(&self, result: Result<()>) -> std::result::Result<(), WebSocketError> {
        match result {
            Err(error) if error.status == raw::CLOSED => Err(self.failure()),
            result => result.map_err(WebSocketError::Failed),
        }
    }

    /// Queues a message: a text or bytes. Waits while 16 MiB wait to be sent.
    pub fn send<'p>(&self, message: impl Into<Payload<'p>>) -> std::result::Result<(), WebSocketError> {
        let (kind, bytes) = match message.into() {
            Payload::Text(text) => (raw::SOCKET_TEXT, text.as_bytes()),
            Payload::Binary(bytes) => (raw::SOCKET_BINARY, bytes),
        };
        loop {
            let room = self.channel.locked().room;
            // SAFETY: a live socket; the bytes are copied.
            let sent = check(|err| unsafe { raw::nc_socket_send(self.raw, kind, raw::Slice::of(bytes), true, err) });
            match sent {
                Err(error) if error.status == raw::QUEUE_FULL => {}
                sent => return self.checked(sent),
            }
            self.engine.refuse_loop()?;
            self.channel.until(None, |state| (state.room != room || state.end.is_some()).then_some(()));
        }
    }

    /// Waits for the next message. A server that is silent and answers no pings is a failure after `peer_timeout`.
    pub fn receive(&self) -> std::result::Result<Message, WebSocketError> {
        self.receive_until(None)
    }

    /// Like receive(), and returns NC_ERR_WAIT_TIMED_OUT after a time.
    pub fn receive_timeout(&self, timeout: Duration) -> std::result::Result<Message, WebSocketError> {
        self.receive_until(Instant::now().checked_add(timeout))
    }

    fn receive_until(&self, deadline: Option<Instant>) -> std::result::Result<Message, WebSocketError> {
        self.engine.refuse_loop()?;
        let outcome = self.channel.until(deadline, |state| match (state.unread.pop_front(), &state.end) {
            (Some(message), _) => {
                state.unread_bytes -= message.len();
                let is_low = state.unread_bytes <= MAX_UNREAD_BYTES / 2 && state.unread.len() <= MAX_UNREAD_MESSAGES / 2;
                let resumes = state.is_paused && is_low;
                state.is_paused &= !resumes;
                Some(Ok((message, resumes)))
            }
            (None, Some((failure, _))) => Some(Err(failure.clone())),
            (None, None) => None,
        });
        let timed_out = || Err(Error::new(raw::WAIT_TIMED_OUT, "no message arrived within the timeout").into());
        let (message, resumes) = outcome.unwrap_or_else(timed_out)?;
        if resumes {
            // SAFETY: a live socket.
            unsafe { raw::nc_socket_resume(self.raw) }
        }
        Ok(message)
    }

    /// Receives messages until the server closes the socket with code 1000, 1001 or none. Any other end is the last
    /// element.
    pub fn messages(&self) -> Messages<'_> {
        Messages { socket: self, is_over: false }
    }

    /// Sends a ping of at most 125 bytes, waits for its pong, and returns the time between them. While more than 1 MiB of
    /// messages is unread, no pong arrives.
    pub fn ping(&self, payload: &[u8], timeout: Duration) -> std::result::Result<Duration, WebSocketError> {
        self.engine.refuse_loop()?;
        let began = Instant::now();
        let number = self.channel.change(|state| {
            state.pings += 1;
            state.expected_pongs.push((state.pings, payload.to_vec()));
            state.pings
        });
        // SAFETY: a live socket; the bytes are copied.
        let sent = check(|err| unsafe { raw::nc_socket_ping(self.raw, raw::Slice::of(payload), err) });
        let outcome = self.checked(sent).map(|()| {
            self.channel.until(began.checked_add(timeout), |state| match &state.end {
                _ if state.expected_pongs.iter().all(|(expected, _)| *expected != number) => Some(Ok(())),
                Some((failure, _)) => Some(Err(failure.clone())),
                None => None,
            })
        });
        self.channel.change(|state| state.expected_pongs.retain(|(expected, _)| *expected != number));
        let timed_out = || Err(Error::new(raw::WAIT_TIMED_OUT, "no pong arrived within the timeout").into());
        outcome?.unwrap_or_else(timed_out).map(|()| began.elapsed())
    }

    /// Sends a close frame after what was sent, waits until the server has closed, and returns the server's close frame.
    /// Messages that arrive meanwhile are dropped. Code 0 sends none. After the end, returns what has happened.
    pub fn close(&self, code: u16, reason: &str) -> std::result::Result<Close, WebSocketError> {
        self.engine.refuse_loop()?;
        // SAFETY: a live socket; the bytes are copied.
        let sent = check(|err| unsafe { raw::nc_socket_close(self.raw, code, raw::Slice::of(reason.as_bytes()), err) });
        match sent {
            Err(error) if error.status != raw::CLOSED => return Err(error.into()),
            _ => {}
        }
        self.channel.locked().drops_messages = true;
        // SAFETY: a live socket.
        unsafe { raw::nc_socket_resume(self.raw) };
        let end = self.channel.until(None, |state| state.end.clone());
        match end {
            Some((WebSocketError::Closed(_), close)) => Ok(close),
            Some((failure, _)) => Err(failure),
            None => Err(self.failure()),
        }
    }

    /// Ends the socket without a close frame. Allowed after the end.
    pub fn cancel(&self) {
        // SAFETY: a live socket.
        unsafe { raw::nc_socket_cancel(self.raw) }
    }
}

/// The messages of a socket; see `WebSocket::messages()`.
pub struct Messages<'a> {
    socket: &'a WebSocket<'a>,
    is_over: bool,
}

impl Iterator for Messages<'_> {
    type Item = std::result::Result<Message, WebSocketError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let received = self.socket.receive();
        self.is_over = received.is_err();
        match received {
            Err(WebSocketError::Closed(close)) if close.is_orderly() => None,
            received => Some(received),
        }
    }
}

impl<'a> IntoIterator for &'a WebSocket<'a> {
    type Item = std::result::Result<Message, WebSocketError>;
    type IntoIter = Messages<'a>;

    fn into_iter(self) -> Messages<'a> {
        self.messages()
    }
}
