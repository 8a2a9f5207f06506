//! WebSockets of the Rust crate: messages, pings, and every way in which a socket ends.

use netcore::{raw, Close, Engine, Message, Request, WebSocket, WebSocketError, WebSocketOptions};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

type Outcome = Result<bool, Box<dyn std::error::Error>>;

fn url_of(path: &str) -> String {
    std::env::var("NETCORE_SOCKET").unwrap_or_default() + path
}

fn open<'a>(engine: &'a Engine, path: &str) -> Result<WebSocket<'a>, WebSocketError> {
    engine.websocket(&Request::get(&url_of(path)))
}

fn code_of<T>(outcome: Result<T, WebSocketError>) -> &'static str {
    outcome.err().map_or("", |failure| netcore::Error::from(failure).name())
}

fn text(text: &str) -> Message {
    Message::Text(text.into())
}

/// Checked by the compiler.
fn threads_may_share() -> Outcome {
    fn shared<T: Send + Sync>() {}
    shared::<(WebSocket<'_>, WebSocketError, Message)>();
    Ok(true)
}

/// Texts and bytes arrive as they were sent. Iterating ends when the server closes.
fn messages() -> Outcome {
    let engine = Engine::new()?;
    let options = WebSocketOptions { compression: true, protocols: &["v1", "v2"], ..Default::default() };
    let url = url_of("/chat/v2");
    let socket = engine.websocket_with(&Request { headers: &[("X-Own", "y")], ..Request::get(&url) }, &options)?;
    let sent = [text("Malmö"), Message::Binary(vec![0, 255]), text("")];
    for message in &sent {
        socket.send(message)?;
    }
    socket.send("a")?;
    socket.send(&String::from("b"))?;
    socket.send(b"c")?;
    let received: Result<Vec<_>, _> = socket.messages().take(6).collect();
    let received = received?;
    let news = open(&engine, "/news")?;
    let read: Result<Vec<_>, _> = news.into_iter().collect();
    Ok(received[..3] == sent
        && received[3..] == [text("a"), text("b"), Message::Binary(b"c".to_vec())]
        && (socket.protocol().as_deref(), socket.response().status()) == (Some("v2"), 101)
        && socket.close_frame().is_none()
        && read? == [text("one"), Message::Binary(vec![0, 1])]
        && news.close_frame() == Some(Close { code: 1000, reason: String::new() })
        && news.protocol().is_none())
}

fn operations() -> Outcome {
    let engine = Engine::new()?;
    let socket = open(&engine, "/chat")?;
    socket.ping(b"", Duration::from_secs(60))?;
    socket.ping(&[1; 125], Duration::from_secs(60))?;
    let silent = socket.receive_timeout(Duration::ZERO);
    socket.send("after")?;
    let arrived = socket.receive_timeout(Duration::from_secs(60))?;
    let close = socket.close(4000, "bye")?;
    Ok(code_of(silent) == "NC_ERR_WAIT_TIMED_OUT"
        && arrived == text("after")
        && close == Close { code: 4000, reason: "bye".into() }
        && socket.close(1000, "")? == close
        && matches!(socket.send("late"), Err(WebSocketError::Closed(end)) if end == close)
        && matches!(socket.receive(), Err(WebSocketError::Closed(end)) if end == close)
        && code_of(socket.ping(b"", Duration::from_secs(60))) == "NC_ERR_CLOSED"
        && matches!(socket.messages().next(), Some(Err(WebSocketError::Closed(_)))))
}

/// Each way to end has its error, with the close code or the response.
fn ends() -> Outcome {
    let engine = Engine::new()?;
    let full = open(&engine, "/full")?.receive();
    let is_full = matches!(&full, Err(WebSocketError::Closed(end)) if (end.code, end.reason.as_str()) == (4001, "full"));
    let names_reason = full.err().is_some_and(|failure| failure.to_string().ends_with("4001: full"));
    let is_refused = match open(&engine, "/cities").err() {
        Some(WebSocketError::Refused { error, response, body }) => {
            let has_city = String::from_utf8_lossy(&body).contains("Oslo");
            error.name() == "NC_ERR_UPGRADE_REFUSED" && response.status() == 200 && has_city
        }
        _ => false,
    };
    let cut = open(&engine, "/cut")?;
    let first = cut.receive()?;
    let left = open(&engine, "/chat")?;
    left.cancel();
    Ok(is_full && names_reason && is_refused && first == text("one")
        && code_of(cut.receive()) == "NC_ERR_CUT_SHORT"
        && cut.close_frame().map(|close| close.code) == Some(1006)
        && code_of(left.receive()) == "NC_ERR_CANCELLED"
        && code_of(open(&engine, "/malformed")?.receive()) == "NC_ERR_BAD_FRAME"
        && code_of(open(&engine, "/chat/v2")) == "NC_ERR_BAD_UPGRADE"
        && code_of(engine.websocket(&Request::get("ws://127.0.0.1:1/"))) == "NC_ERR_REFUSED")
}

fn refused_arguments() -> Outcome {
    let engine = Engine::new()?;
    let socket = open(&engine, "/chat")?;
    let spaced = WebSocketOptions { protocols: &["a b"], ..Default::default() };
    let url = url_of("/chat");
    let posted = Request { method: "POST", ..Request::get(&url) };
    Ok(code_of(engine.websocket(&Request::get("no url"))) == "NC_ERR_BAD_URL"
        && code_of(engine.websocket(&posted)) == "NC_ERR_USAGE"
        && code_of(engine.websocket_with(&Request::get(&url), &spaced)) == "NC_ERR_USAGE"
        && code_of(socket.close(999, "")) == "NC_ERR_USAGE"
        && code_of(socket.ping(&[0; 126], Duration::from_secs(60))) == "NC_ERR_USAGE"
        && socket.close(1000, "")?.code == 1000)
}

/// Sending waits for the queue, and reading is paused until the messages are received.
fn large_messages() -> Outcome {
    let engine = Engine::new()?;
    let socket = open(&engine, "/chat")?;
    let block = vec![7; 1 << 20];
    let sent = AtomicUsize::new(0);
    let all = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..60 {
                socket.send(&block).unwrap();
                sent.fetch_add(1, Ordering::SeqCst);
            }
        });
        while sent.load(Ordering::SeqCst) < 16 {
            std::thread::yield_now(); // the queue has room for them
        }
        (0..60).all(|_| socket.receive().is_ok_and(|message| message == Message::Binary(block.clone())))
    });
    let options = WebSocketOptions { max_message_bytes: 10, ..Default::default() };
    let url = url_of("/chat");
    let small = engine.websocket_with(&Request::get(&url), &options)?;
    small.send("12345678901")?;
    Ok(all && code_of(small.receive()) == "NC_ERR_MESSAGE_TOO_LARGE")
}

/// A dropped socket, or one that is used until its engine ends, leaks nothing.
fn dropped() -> Outcome {
    for _ in 0..20 {
        let engine = Engine::new()?;
        let socket = open(&engine, "/chat")?;
        socket.send("x")?;
        drop(socket);
        let _kept = open(&engine, "/quiet")?;
    }
    Ok(raw::OK == 0)
}

fn main() {
    let steps: [(&str, fn() -> Outcome); 7] = [
        ("messages", messages),
        ("operations", operations),
        ("ends", ends),
        ("refused_arguments", refused_arguments),
        ("large_messages", large_messages),
        ("dropped", dropped),
        ("threads_may_share", threads_may_share),
    ];
    let mut code = 0;
    for (name, step) in steps {
        match step() {
            Ok(true) => println!("ok {name}"),
            outcome => {
                println!("failed {name} {outcome:?}");
                code = 1;
            }
        }
    }
    std::process::exit(code);
}
