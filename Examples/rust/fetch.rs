//! Fetches, validates, caches, pins, downloads and cancels. See Examples/c/fetch.c for the usage.

use netcore::{raw, Engine, Events, Expectation, Request, Result, Store, Trust};
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::sync::mpsc;

const WRONG_PIN: &str = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn from_environment(name: &str, path: &str) -> String {
    std::env::var(name).unwrap_or_default() + path
}

fn status_of<T>(result: Result<T>) -> i32 {
    result.err().map_or(raw::OK, |error| error.status)
}

fn fetch(engine: &Engine) -> Result<bool> {
    let url = from_environment("NETCORE_PLAIN", "/cities");
    let response = engine.fetch(&Request::get(&url))?;
    let second = response.clone();
    drop(response);
    // Four threads share the engine.
    let lengths: Vec<usize> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(|| engine.fetch(&Request::get(&url)))).collect();
        asked.into_iter().map(|it| it.join().unwrap().map_or(0, |response| response.body().len())).collect()
    });
    Ok(second.status() == 200 && second.body().len() == 47 && lengths == [47; 4])
}

fn validate(engine: &Engine) -> Result<bool> {
    let expectation = Expectation::shaped(r#"[{"id": "integer", "name": "string"}]"#)?;
    let (good, bad) = (from_environment("NETCORE_PLAIN", "/cities"), from_environment("NETCORE_PLAIN", "/broken"));
    engine.fetch(&Request { expectation: Some(&expectation), ..Request::get(&good) })?;
    let failure = engine.fetch(&Request { expectation: Some(&expectation), ..Request::get(&bad) }).err();
    Ok(failure.is_some_and(|error| error.status == raw::SHAPE_MISMATCH && error.message.contains("/1/name")))
}

fn cache(engine: &Engine, directory: &str) -> Result<bool> {
    let store = Store::open(&format!("{directory}/cache"))?;
    let url = from_environment("NETCORE_PLAIN", "/cities");
    let before = store.get(url.as_bytes())?;
    let response = engine.fetch(&Request::get(&url))?;
    store.put(url.as_bytes(), response.body())?;
    Ok(before.is_none() && store.get(url.as_bytes())?.as_deref() == Some(response.body()))
}

fn pin(engine: &Engine) -> Result<bool> {
    let (url, ca) = (from_environment("NETCORE_SECURE", "/cities"), from_environment("NETCORE_CA", ""));
    let right = Trust::pinned(&ca, "localhost", &[&from_environment("NETCORE_PIN", "")])?;
    let response = engine.fetch(&Request { trust: Some(&right), ..Request::get(&url) })?;
    let wrong = Trust::pinned(&ca, "localhost", &[WRONG_PIN])?;
    let refused = engine.fetch(&Request { trust: Some(&wrong), ..Request::get(&url) });
    Ok(response.status() == 200 && status_of(refused) == raw::PIN_MISMATCH)
}

fn download(engine: &Engine, directory: &str) -> Result<bool> {
    let url = from_environment("NETCORE_PLAIN", "/film");
    let length = engine.download(&Request::get(&url), &format!("{directory}/film"))?.wait()?;
    Ok(length == 1_000_000)
}

fn cancel(engine: &Engine) -> Result<bool> {
    let url = from_environment("NETCORE_PLAIN", "/slow");
    let (began, head) = mpsc::channel();
    let events = Events {
        on_head: Some(Box::new(move || began.send(()).unwrap_or(()))),
        on_chunk: Some(Box::new(|_| true)),
    };
    let transfer = engine.start(&Request::get(&url), events)?;
    let id = transfer.id();
    let status = std::thread::scope(|scope| {
        scope.spawn(move || {
            head.recv().unwrap_or(());
            engine.cancel(id);
        });
        status_of(transfer.wait())
    });
    // A closure that returns false, and one that panics: neither unwinds through C.
    let refusing = Events { on_chunk: Some(Box::new(|_| false)), ..Default::default() };
    let refused = status_of(engine.start(&Request::get(&url), refusing)?.wait());
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    let panicking = Events { on_chunk: Some(Box::new(|_| panic!("enough"))), ..Default::default() };
    let transfer = engine.start(&Request::get(&url), panicking)?;
    let panicked = catch_unwind(AssertUnwindSafe(|| transfer.wait())).is_err();
    set_hook(hook);
    Ok(status == raw::CANCELLED && refused == raw::STOPPED_BY_CALLER && panicked)
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        None => {
            eprintln!("usage: fetch DIRECTORY");
            std::process::ExitCode::from(2)
        }
        Some("--layout") => {
            print!("{}", raw::layout());
            std::process::ExitCode::SUCCESS
        }
        Some(directory) => match run(directory) {
            true => std::process::ExitCode::SUCCESS,
            false => std::process::ExitCode::FAILURE,
        },
    }
}

fn run(directory: &str) -> bool {
    let engine = match Engine::new() {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!("{error}");
            return false;
        }
    };
    let steps = [
        ("fetch", fetch(&engine)),
        ("validate", validate(&engine)),
        ("cache", cache(&engine, directory)),
        ("pin", pin(&engine)),
        ("download", download(&engine, directory)),
        ("cancel", cancel(&engine)),
    ];
    for (name, outcome) in &steps {
        match outcome {
            Ok(true) => println!("ok {name}"),
            Ok(false) => println!("failed {name}"),
            Err(error) => println!("failed {name}: {error}"),
        }
    }
    steps.iter().all(|(_, outcome)| matches!(outcome, Ok(true)))
}
