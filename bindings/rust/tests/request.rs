//! A request arrives as it was described, and errors can be returned with `?`.

use netcore::{Engine, Request};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

/// Serves one request with a status, and returns what arrived.
fn served(status: &'static str, last: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut arrived = Vec::new();
        while !arrived.ends_with(last.as_bytes()) {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "the request is incomplete");
            arrived.extend_from_slice(&piece[..count]);
        }
        let head = format!("HTTP/1.1 {status} x\r\nX-Name: value\r\nContent-Length: 2\r\n\r\nok");
        stream.write_all(head.as_bytes()).unwrap();
        String::from_utf8(arrived).unwrap()
    });
    (url, server)
}

#[test]
fn a_request_arrives_as_described() -> Result<(), Box<dyn std::error::Error>> {
    let (url, server) = served("200", "\r\n\r\n{\"a\":1}");
    let engine = Engine::new()?;
    let response = engine
        .fetch(&Request {
            method: "PUT",
            headers: &[("Content-Type", "application/json"), ("X-Own", "y")],
            body: Some(b"{\"a\":1}"),
            timeout: Some(Duration::from_secs(60)),
            ..Request::get(&url)
        })?
        .success()?;
    assert_eq!(response.text(), "ok");
    assert_eq!(response.header("x-NAME"), Some(&b"value"[..]));
    assert_eq!(response.header("x"), None);
    assert_eq!(response.url(), url.as_str());
    let arrived = server.join().unwrap();
    assert!(arrived.starts_with("PUT /a HTTP/1.1\r\n"), "{arrived}");
    assert!(arrived.contains("\r\nContent-Type: application/json\r\n") && arrived.contains("\r\nX-Own: y\r\n"), "{arrived}");
    Ok(())
}

#[test]
fn errors_have_a_status_a_name_and_a_message() {
    let engine = Engine::new().unwrap();
    let refused = engine.fetch(&Request::get("http://127.0.0.1:1/")).err().unwrap();
    assert_eq!((refused.name(), refused.is_retryable()), ("NC_ERR_REFUSED", true));
    assert!(!refused.message.is_empty() && refused.to_string().contains("NC_ERR_REFUSED"));
    assert_eq!(engine.fetch(&Request::get("no url")).err().unwrap().name(), "NC_ERR_BAD_URL");
    let (url, server) = served("404", "\r\n\r\n");
    let missing = engine.fetch(&Request::get(&url)).unwrap().success().err().unwrap();
    assert_eq!(missing.name(), "NC_ERR_BAD_STATUS");
    assert!(missing.message.contains("404"));
    server.join().unwrap();
}
