//! Headless Chromium, controlled over a pipe. Its DevTools protocol is JSON, and each message ends
//! with a NUL.

use icecore::text::from_base64;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Only ends a wait that would never end.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Browser {
    child: Child,
    sent: ChildStdin,
    came: Receiver<Vec<u8>>,
    next: u64,
    session: Option<String>,
    /// Console messages, exceptions and refused requests of the page.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// Returns the name of the program, if it is installed.
fn program() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let is_there = |name: &&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    names.into_iter().find(is_there)
}

impl Browser {
    /// Starts the browser with one empty page; `None` if it is not installed.
    pub fn start() -> Option<Browser> {
        let program = program()?;
        let profile = tempfile::tempdir().expect("a folder");
        // It reads from descriptor 3 and writes to 4.
        let script = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let data = format!("--user-data-dir={}", profile.path().display());
        let mut child = Command::new("sh")
            .args(["-c", script, "sh", program, "--headless", "--no-sandbox", "--remote-debugging-pipe", &data])
            .args(["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"])
            .args([
                "--disable-component-update",
                "--disable-sync",
                "--disable-extensions",
                "--disable-dev-shm-usage",
                "about:blank",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let sent = child.stdin.take().expect("a pipe");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (message, came) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while out.read_until(0, &mut bytes).is_ok() && bytes.pop() == Some(0) {
                if message.send(std::mem::take(&mut bytes)).is_err() {
                    return;
                }
            }
        });
        let mut browser =
            Browser { child, sent, came, next: 0, session: None, complaints: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = Some(attached["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method and waits for its answer.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.sent.write_all(&text).expect("the browser takes it");
        self.sent.flush().expect("the browser takes it");
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.record_complaint(&message);
        }
    }

    fn receive(&mut self) -> Value {
        let bytes = self.came.recv_timeout(PATIENCE).expect("the browser answers");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn record_complaint(&mut self, message: &Value) {
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                let details = &parameters["exceptionDetails"];
                self.complaints.push(format!("{} {}", details["text"], details["exception"]["description"]));
            }
            Some("Runtime.consoleAPICalled") => self.complaints.push(parameters["args"].to_string()),
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"]["text"].to_string()),
            _ => {}
        }
    }

    /// Returns the value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let began = Instant::now();
        // While the page reloads, parts of it are missing.
        let tried = format!("(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()");
        while self.value(&tried) != json!(true) {
            if began.elapsed() > PATIENCE {
                let shown = self.value("document.body.innerText");
                panic!("never came: {expression}\n{shown}\n{:?}", self.complaints);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        self.wait(&format!("location.href.startsWith({}) && document.readyState === 'complete'", quoted(address)));
    }

    /// Waits for a visible element and clicks on its centre, as a mouse does.
    pub fn click(&mut self, selector: &str) {
        let shown = format!(
            "(() => {{ const e = document.querySelector({}); return e && e.checkVisibility(); }})()",
            quoted(selector)
        );
        self.wait(&shown);
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{ block: 'center' }}); \
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()",
            quoted(selector)
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        let text = match key {
            "Enter" => Some("\r"),
            key if key.chars().count() == 1 => Some(key),
            _ => None,
        };
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            _ => 0,
        };
        let mut event = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if let Some(text) = text {
            event["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", event);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
    }

    /// Types text into the focused element.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Sets the size of the window and its colour scheme.
    pub fn set_window(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Takes a picture if the variable `ICECORE_SCREENSHOTS` names a folder for it.
    pub fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("ICECORE_SCREENSHOTS") else { return };
        let picture = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let data = from_base64(picture["data"].as_str().expect("a picture").as_bytes()).expect("Base64");
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), data).expect("it is written");
    }
}

/// Returns a text as a JavaScript literal.
pub fn quoted(text: &str) -> String {
    json!(text).to_string()
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends its own child processes on this request.
        let _ = self.sent.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.sent.flush();
        while self.came.recv_timeout(PATIENCE).is_ok() {}
        let _ = self.child.wait();
    }
}
