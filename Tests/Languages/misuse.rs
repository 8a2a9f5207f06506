//! Misuse of the Rust module: each step ends, panics if it must, and leaks nothing.

use netcore::{raw, Engine, Error, Events, Expectation, Id, Request, Response, Store, Transfer, Trust};
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::{mpsc, Arc, Mutex};

fn url_of(path: &str) -> String {
    std::env::var("NETCORE_PLAIN").unwrap_or_default() + path
}

fn status_of<T>(outcome: netcore::Result<T>) -> i32 {
    outcome.err().map_or(0, |error| error.status)
}

/// Checked by the compiler.
fn threads_may_share() -> bool {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<(Engine, Error, Response, Trust, Expectation, Store)>();
    sent::<Transfer<'_, Response>>();
    sent::<Events>();
    true
}

fn chunks(run: impl FnMut(&[u8]) -> bool + Send + 'static) -> Events {
    Events { on_chunk: Some(Box::new(run)), ..Default::default() }
}

struct PanicsWhenDropped(mpsc::Sender<()>);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.send(());
        panic!("in drop");
    }
}

/// Panics in a callback and in values that it owns never unwind through C.
fn panics() -> bool {
    let engine = Engine::new().unwrap();
    let url = url_of("/slow");
    let head = Events { on_head: Some(Box::new(|| panic!("in head"))), ..Default::default() };
    let in_head = engine.start(&Request::get(&url), head).unwrap();
    let in_head = catch_unwind(AssertUnwindSafe(|| in_head.wait())).is_err();
    let (dropped, word) = mpsc::channel();
    let owned = PanicsWhenDropped(dropped);
    let refusing = chunks(move |_| {
        let _ = &owned;
        false
    });
    let in_drop = engine.start(&Request::get(&url), refusing).unwrap();
    let in_drop = catch_unwind(AssertUnwindSafe(|| in_drop.wait())).is_err();
    in_head && in_drop && word.recv().is_ok()
}

/// A callback that would wait for its own thread gets an error.
fn waits_inside() -> bool {
    let engine = Arc::new(Engine::new().unwrap());
    let (inner, url) = (engine.clone(), url_of("/slow"));
    let (said, heard) = mpsc::channel();
    let asking = chunks(move |_| {
        let status = status_of(inner.fetch(&Request::get(&url_of("/cities"))));
        said.send(status).is_err()
    });
    let transfer = engine.start(&Request::get(&url), asking).unwrap();
    let status = status_of(transfer.wait());
    heard.recv() == Ok(raw::USAGE) && status == raw::STOPPED_BY_CALLER
}

/// The last reference of an engine may be dropped on its own thread.
fn ends_inside() -> bool {
    let (said, heard) = mpsc::channel();
    let slot = Arc::new(Mutex::new(Some(Engine::new().unwrap())));
    let inner = slot.clone();
    let url = url_of("/slow");
    let engine = slot.lock().unwrap();
    let events = chunks(move |_| {
        drop(inner.lock().unwrap().take());
        let _ = said.send(());
        true
    });
    drop(engine.as_ref().unwrap().start(&Request::get(&url), events).unwrap());
    drop(engine);
    heard.recv().is_ok() && slot.lock().unwrap().is_none()
}

/// Transfers without a wait, also forgotten ones, end with their engine. Captured values are freed.
fn dropped_in_flight() -> bool {
    let owned = Arc::new(());
    for _ in 0..10 {
        let engine = Engine::new().unwrap();
        let (slow, film) = (url_of("/slow"), url_of("/film"));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (engine, owned, url) = (&engine, owned.clone(), if number % 2 == 0 { &slow } else { &film });
                scope.spawn(move || {
                    for count in 0..10 {
                        let kept = owned.clone();
                        let transfer =
                            engine.start(&Request::get(url), chunks(move |_| Arc::strong_count(&kept) > 0)).unwrap();
                        match count % 3 {
                            0 => transfer.cancel(),
                            // The outcome is lost with it. It is an error, because this transfer never completes.
                            1 if number % 2 == 0 => std::mem::forget(transfer),
                            _ => drop(transfer),
                        }
                    }
                });
            }
        });
    }
    Arc::strong_count(&owned) == 1
}

/// Another thread cancels a download by its id while this one waits.
fn cancelled_elsewhere() -> bool {
    let engine = Engine::new().unwrap();
    let directory = std::env::args().nth(1).unwrap_or_default();
    let url = url_of("/slow");
    let download = engine.download(&Request::get(&url), &format!("{directory}/slow")).unwrap();
    let id = download.id();
    let status = std::thread::scope(|scope| {
        scope.spawn(|| engine.cancel(id));
        status_of(download.wait())
    });
    status == raw::CANCELLED
}

fn refusals() -> bool {
    let engine = Engine::new().unwrap();
    engine.cancel(Id::Fetch(12345));
    engine.cancel(Id::Download(12345));
    status_of(engine.fetch(&Request::get(""))) != 0
        && status_of(engine.fetch(&Request::get("http://a\0b/"))) != 0
        && status_of(Store::open("a\0b")) == raw::USAGE
        && status_of(Trust::pinned("/nowhere", "localhost", &[])) != 0
        && status_of(Expectation::shaped("{")) != 0
}

fn main() -> std::process::ExitCode {
    set_hook(Box::new(|_| ()));
    let steps: [(&str, fn() -> bool); 7] = [
        ("threads_may_share", threads_may_share),
        ("panics", panics),
        ("waits_inside", waits_inside),
        ("ends_inside", ends_inside),
        ("dropped_in_flight", dropped_in_flight),
        ("cancelled_elsewhere", cancelled_elsewhere),
        ("refusals", refusals),
    ];
    let mut code = 0;
    for (name, step) in steps {
        let is_right = catch_unwind(step).unwrap_or(false);
        println!("{} {name}", if is_right { "ok" } else { "failed" });
        code |= u8::from(!is_right);
    }
    std::process::ExitCode::from(code)
}
