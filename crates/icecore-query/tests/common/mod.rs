//! Filters over texts, for tests.
#![allow(dead_code, reason = "each test uses a part")]

use icecore::{Document, Limits, Stage};
use icecore_query::{Input, Query, Running, on_query_thread};
use std::ops::ControlFlow;

/// Chooses the size of a test: `usual` in `make test`; `full` with `ICECORE_FULL=1`, which `make test-all` sets.
pub fn usual_or_full<T>(usual: T, full: T) -> T {
    if std::env::var_os("ICECORE_FULL").is_some() { full } else { usual }
}

/// Returns the results of a filter over inputs, each as a text in a format; a failure is `!` and its message.
pub fn results(filter: &str, inputs: &[(&str, &[u8])], to: &str, running: &Running<'_>) -> Vec<Vec<u8>> {
    let Running { null_input, steps, memory, allocated_bytes: held, .. } = *running;
    on_query_thread(|| {
        let query = match Query::new(filter, &[]) {
            Ok(query) => query,
            Err(mistake) => return vec![format!("!{mistake}").into_bytes()],
        };
        let (stage, limits) = (Stage::parse(to).expect("a stage"), Limits::default());
        let mut inputs = inputs.iter().map(|(format, bytes)| {
            let stage = Stage::parse(format).expect("a stage");
            let document = icecore::read_as(bytes, &stage, &limits).map(Document::into_owned);
            Input::new(*format, document.expect("a document"))
        });
        let mut running = Running::default();
        (running.null_input, running.steps, running.memory, running.allocated_bytes) =
            (null_input, steps, memory, held);
        let mut all = Vec::new();
        query.run(&mut inputs, &running, &mut |result| {
            all.push(match result {
                Ok(answer) => {
                    let mut out = Vec::new();
                    match answer.write(&stage, &limits, &mut out) {
                        Ok(_) => out,
                        Err(error) => format!("!{error}").into_bytes(),
                    }
                }
                Err(failure) => format!("!{}", failure.message).into_bytes(),
            });
            ControlFlow::Continue(())
        });
        all
    })
}

/// Returns the results over one input as JSON in one line.
pub fn ask(filter: &str, format: &str, bytes: &[u8]) -> String {
    let all = results(filter, &[(format, bytes)], "json", &Running::default());
    all.iter().map(|result| String::from_utf8_lossy(result)).collect::<Vec<_>>().join(" ")
}

/// Returns the results over JSON.
pub fn json(filter: &str, text: &str) -> String {
    ask(filter, "json", text.as_bytes())
}
