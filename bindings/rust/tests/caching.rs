//! The cache and retries of an engine: modes, reports, refusals, and the end of an engine.

use netcore::{Cache, CacheMode, CacheOutcome, CachePolicy, Engine, Events, Request, Response, RetryPolicy};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Responds with the number of the request. The path's query is the Cache-Control field of the response. The first
/// `failures` requests get status 503.
struct Origin {
    url: String,
    count: Arc<AtomicU32>,
    failures: Arc<AtomicU32>,
}

fn origin() -> Origin {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (count, failures) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (counted, failing) = (count.clone(), failures.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut arrived = Vec::new();
            while !arrived.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
                let mut piece = [0; 4096];
                match stream.read(&mut piece) {
                    Ok(length) if length > 0 => arrived.extend_from_slice(&piece[..length]),
                    _ => break,
                }
            }
            let head = String::from_utf8_lossy(&arrived).into_owned();
            if head.starts_with("GET /silent") {
                std::mem::forget(stream);
                continue;
            }
            let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
            let status = if number <= failing.load(Ordering::SeqCst) { 503 } else { 200 };
            let control = head.split_whitespace().nth(1).and_then(|path| path.split('?').nth(1)).unwrap_or("");
            let sent: Vec<&str> = head.lines().filter_map(|line| line.strip_prefix("Cache-Control: ")).collect();
            let body = number.to_string();
            let _ = write!(stream, "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {}\r\nX-Sent: {}\r\n\
                Cache-Control: {control}\r\n\r\n{body}", body.len(), sent.join(", "));
        }
    });
    Origin { url, count, failures }
}

fn described(response: &Response) -> String {
    format!("{:?} {} {}", response.cache().outcome, response.cache().reason, response.text())
}

fn quick(max_retries: u32) -> RetryPolicy<'static> {
    RetryPolicy { base_delay: Duration::ZERO, ..max_retries.into() }
}

fn refusal<T>(outcome: netcore::Result<T>) -> String {
    outcome.err().map_or(String::new(), |error| error.to_string())
}

#[test]
fn each_mode_uses_cache_and_network_as_described() -> netcore::Result<()> {
    let server = origin();
    let engine = Engine::builder().cache(&Cache::in_memory(Default::default())?).build()?;
    let url = server.url.clone() + "/?max-age=60";
    let fetch = |mode: CacheMode| engine.fetch(&Request { cache: Some(mode.into()), ..Request::get(&url) });
    assert_eq!(described(&engine.fetch(&Request::get(&url))?), "Network absent 1");
    let hit = engine.fetch(&Request::get(&url))?;
    assert_eq!(described(&hit), "Hit fresh 1");
    assert!(hit.is_from_cache() && hit.attempts().is_empty() && hit.clone().is_from_cache());
    assert_eq!(hit.cache().lifetime, Some(Duration::from_secs(60)));
    assert_eq!(described(&fetch(CacheMode::Reload)?), "Network ignored 2");
    assert_eq!(described(&fetch(CacheMode::CacheOnly)?), "Hit fresh 2");
    assert_eq!(described(&fetch(CacheMode::NoStore)?), "Network uncacheable 3");
    assert_eq!(described(&fetch(CacheMode::NetworkFirst)?), "Network network-first 4");
    let none = Request { cache: Some(CacheMode::CacheOnly.into()), ..Request::get("http://127.0.0.1:1/") };
    let error = engine.fetch(&none).err().unwrap();
    assert_eq!((error.name(), error.cache.outcome, error.cache.reason), ("NC_ERR_NOT_CACHED", CacheOutcome::None, "absent"));
    Ok(())
}

#[test]
fn a_stale_response_is_used_for_the_allowed_time() -> netcore::Result<()> {
    let server = origin();
    let cache = Cache::in_memory(Default::default())?;
    let hour = CachePolicy { stale_if_error: Duration::from_secs(3600), ..Default::default() };
    let engine = Engine::builder().cache(&cache).cache_policy(hour).build()?;
    let url = server.url.clone() + "/?max-age=0";
    let own = [("Cache-Control", "no-transform")];
    let max_stale = |age, url: &str| {
        let policy = CachePolicy { max_stale: Some(age), ..Default::default() };
        engine.fetch(&Request { cache: Some(policy), headers: &own, ..Request::get(url) })
    };
    engine.fetch(&Request::get(&url))?;
    assert_eq!(described(&max_stale(Duration::from_secs(60), &url)?), "StaleHit stale-allowed 1");
    assert_eq!(described(&max_stale(Duration::MAX, &url)?), "StaleHit stale-allowed 1");
    let sent = max_stale(Duration::from_millis(1), &(server.url.clone() + "/other"))?; // less than a second
    assert_eq!(sent.header("x-sent"), Some(&b"no-transform, max-stale=0"[..]));
    server.failures.store(100, Ordering::SeqCst);
    assert_eq!(described(&engine.fetch(&Request::get(&url))?), "StaleHit stale-if-error 1");
    Ok(())
}

#[test]
fn a_temporary_failure_is_sent_again() -> netcore::Result<()> {
    let server = origin();
    let engine = Engine::builder().retries(quick(2)).build()?;
    let fails_once = || server.failures.store(server.count.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    server.failures.store(2, Ordering::SeqCst);
    let response = engine.fetch(&Request::get(&server.url))?;
    let seen: Vec<_> = response.attempts().iter().map(|one| (one.status, one.error, one.reason)).collect();
    assert_eq!(seen, [(Some(503), None, "backoff"), (Some(503), None, "backoff"), (Some(200), None, "not needed")]);
    fails_once();
    let once = engine.fetch(&Request { retry: Some(0.into()), ..Request::get(&server.url) })?;
    assert_eq!((once.status(), once.attempts()[0].reason), (503, "no attempts left"));
    fails_once();
    let post = engine.fetch(&Request { method: "POST", body: Some(b""), ..Request::get(&server.url) })?;
    assert_eq!((post.status(), post.attempts()[0].reason), (503, "not idempotent"));
    let error = engine.fetch(&Request::get("http://127.0.0.1:1/")).err().unwrap();
    assert_eq!(error.attempts.len(), 3);
    assert_eq!(error.attempts[2].error, Some("NC_ERR_REFUSED"));
    fails_once();
    let plain = Engine::new()?.fetch(&Request { retry: Some(quick(1)), ..Request::get(&server.url) })?.success()?;
    assert_eq!((plain.attempts().len(), plain.cache().outcome), (2, CacheOutcome::Unused));
    Ok(())
}

#[test]
fn a_directory_keeps_responses_and_a_scope_names_the_user() -> netcore::Result<()> {
    let server = origin();
    let directory = std::env::temp_dir().join(format!("netcore-rust-{}", std::process::id()));
    let name = directory.join("a").to_string_lossy().into_owned();
    let url = server.url.clone() + "/?max-age=60";
    for expected in ["Network absent 1", "Hit fresh 1"] {
        let engine = Engine::builder().cache(&Cache::open(&name, Default::default())?).retries(1).build()?;
        assert_eq!(described(&engine.fetch(&Request::get(&url))?), expected);
    }
    let cache = Cache::open(&name, Default::default())?;
    let engine = Engine::builder().cache(&cache).build()?;
    let fetch = |user, scope| {
        let headers = [("Authorization", user)];
        let policy = CachePolicy { scope, ..Default::default() };
        engine.fetch(&Request { cache: Some(policy), headers: &headers, ..Request::get(&url) })
    };
    assert_eq!(described(&fetch("Basic a", None)?), "Network absent 2");
    assert_eq!(described(&fetch("Basic a", Some("anna"))?), "Network absent 3");
    assert_eq!(described(&fetch("Basic b", Some("anna"))?), "Hit fresh 3");
    cache.clear()?;
    assert_eq!(described(&engine.fetch(&Request::get(&url))?), "Network absent 4");
    assert!(cache.stats().puts >= 3);
    std::fs::remove_dir_all(&directory).unwrap();
    Ok(())
}

#[test]
fn options_without_a_meaning_are_refused() -> netcore::Result<()> {
    let cache = Cache::in_memory(Default::default())?;
    let (plain, engine) = (Engine::new()?, Engine::builder().cache(&cache).build()?);
    let cached = Request { cache: Some(CachePolicy::default()), ..Request::get("http://127.0.0.1:1/") };
    assert!(refusal(plain.fetch(&cached)).contains("builder"));
    let wrong = CachePolicy { heuristic_fraction: f64::NAN, ..Default::default() };
    assert!(refusal(engine.fetch(&Request { cache: Some(wrong), ..cached })).contains("heuristic_fraction"));
    let statuses = RetryPolicy { statuses: &[99], ..Default::default() };
    assert!(refusal(plain.fetch(&Request { retry: Some(statuses), ..Request::get("") })).contains("99"));
    let many = RetryPolicy { statuses: &[500; 17], ..Default::default() };
    assert!(refusal(Engine::builder().retries(many).build()).contains("17"));
    let chunks = Events { on_chunk: Some(Box::new(|_| true)), ..Default::default() };
    assert!(refusal(engine.start(&cached, chunks)).contains("callbacks"));
    assert!(refusal(Engine::builder().cache_policy(CacheMode::Reload).build()).contains("no cache"));
    for directory in ["", "a\0b", "/dev/null/a"] {
        assert!(Cache::open(directory, Default::default()).is_err(), "{directory:?}");
    }
    Ok(())
}

#[test]
fn an_engine_with_calls_in_flight_ends_them() -> netcore::Result<()> {
    let server = origin();
    let cache = Cache::in_memory(Default::default())?;
    let url = server.url.clone() + "/silent";
    for round in 0..3 {
        let engine = Arc::new(Engine::builder().cache(&cache).retries(2).build()?);
        let transfer = engine.start(&Request::get(&url), Events::default())?;
        let id = transfer.id();
        if round == 0 {
            engine.cancel(id);
            assert!(refusal(transfer.wait()).contains("NC_ERR_CANCELLED"));
            engine.cancel(id);
        } else {
            drop(transfer);
        }
        if round == 2 {
            // The closure has the last reference, and is dropped on the engine's thread.
            let (inner, (said, heard)) = (engine.clone(), std::sync::mpsc::channel::<()>());
            let on_chunk = move |_: &[u8]| {
                let _ = (&inner, &said);
                true
            };
            let events = Events { on_chunk: Some(Box::new(on_chunk)), ..Default::default() };
            drop(engine.start(&Request::get(&server.url), events)?);
            drop(engine);
            assert!(heard.recv().is_err());
        }
    }
    Ok(())
}
