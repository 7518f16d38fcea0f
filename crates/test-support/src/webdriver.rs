//! A client that drives Chromium in tests.
//!
//! The protocol is JSON over HTTP, and tests need a dozen requests. Existing client crates would add two dozen
//! dependencies, some with features of `syn` that would rebuild everything.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{chromedriver, chromium};

/// Timeout of anything on a page; generous, since tests run in parallel.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The JSON key of an element id.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Special keys as the driver encodes them.
pub mod key {
    /// Tab.
    pub const TAB: &str = "\u{e004}";
    /// Enter.
    pub const ENTER: &str = "\u{e007}";
    /// Left arrow.
    pub const LEFT: &str = "\u{e012}";
    /// Right arrow.
    pub const RIGHT: &str = "\u{e014}";
}

/// A browser window; it is closed on drop.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Base URL of the site, such as `http://127.0.0.1:8050`.
    site: String,
    _profile: TempDir,
}

impl Browser {
    /// Opens a window; `None` without Chromium and its driver.
    pub fn on(site: &str) -> Option<Self> {
        let (chromium, driver) = (chromium()?, chromedriver()?);
        let mut driver = Command::new(&driver)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("failed to start `{}`: {error}", driver.display()));
        let port = port(&mut driver);
        let profile = TempDir::new().unwrap();
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": {
                "binary": chromium,
                // In a container tests run as root, where the sandbox is unavailable.
                "args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--no-first-run", "--disable-background-networking", "--disable-component-update",
                    "--disable-sync", "--window-size=1280,900", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                    format!("--user-data-dir={}", profile.path().display())],
            },
        } } });
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            site: site.trim_end_matches('/').to_owned(),
            _profile: profile,
        };
        let begun = browser.request("POST", "/session", &capabilities).expect("a session");
        begun["sessionId"].as_str().expect("the session has a name").clone_into(&mut browser.session);
        Some(browser)
    }

    /// Opens a page of the site.
    pub fn go(&self, path: &str) {
        self.command("POST", "/url", &json!({ "url": format!("{}{path}", self.site) }));
    }

    /// The current path.
    pub fn path(&self) -> String {
        let address = self.command("GET", "/url", &Value::Null);
        let address = address.as_str().unwrap();
        address.strip_prefix(&self.site).unwrap_or(address).to_owned()
    }

    /// Runs a script and returns its result.
    pub fn script(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a JavaScript expression is true.
    #[track_caller]
    pub fn wait_for(&self, condition: &str) {
        let started = Instant::now();
        // Fails while a page is being replaced.
        let is_met = || {
            let script = json!({ "script": format!("return !!({condition})"), "args": [] });
            let path = format!("/session/{}/execute/sync", self.session);
            self.request("POST", &path, &script).is_ok_and(|met| met == true)
        };
        while !is_met() {
            let page = || self.script("return document.body.innerText.slice(0, 2000)");
            assert!(
                started.elapsed() < TIMEOUT,
                "timed out waiting for `{condition}`: {} {}",
                self.path(),
                page()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The visible text of the first matching element.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let element = self.element(selector);
        self.command("GET", &format!("/element/{element}/text"), &Value::Null).as_str().unwrap().to_owned()
    }

    /// The visible texts of all matching elements.
    pub fn texts(&self, selector: &str) -> Vec<String> {
        let script =
            format!("return [...document.querySelectorAll({})].map((e) => e.innerText)", json!(selector));
        serde_json::from_value(self.script(&script)).unwrap()
    }

    /// Clicks an element; fails if it is hidden or covered.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/click"), &json!({}));
    }

    /// Types into an element.
    #[track_caller]
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/clear"), &json!({}));
        self.command("POST", &format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Selects an option by its value, then moves the focus away.
    #[track_caller]
    pub fn choose(&self, list: &str, value: &str) {
        self.click(&format!("{list} option[value={}]", json!(value)));
    }

    /// Presses keys in the focused element.
    pub fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let keyboard = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.command("POST", "/actions", &keyboard);
    }

    /// Sets the width of the window.
    pub fn resize(&self, width: u32, height: u32) {
        self.command("POST", "/window/rect", &json!({ "width": width, "height": height }));
    }

    /// Runs a command of the debugging protocol of Chromium.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.command("POST", "/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// The console messages since the last call.
    pub fn console(&self) -> Vec<String> {
        let lines = self.command("POST", "/se/log", &json!({ "type": "browser" }));
        let line = |line: &Value| format!("{} {}", line["level"], line["message"]);
        lines.as_array().unwrap().iter().map(line).collect()
    }

    /// Asserts that the console has no errors since the last call.
    #[track_caller]
    pub fn assert_console_is_empty(&self) {
        assert_eq!(self.console(), [""; 0], "{}", self.path());
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let started = Instant::now();
        let question = json!({ "using": "css selector", "value": selector });
        loop {
            let path = format!("/session/{}/element", self.session);
            match self.request("POST", &path, &question) {
                Ok(found) => return found[ELEMENT].as_str().expect("an element").to_owned(),
                Err(problem) => {
                    assert!(started.elapsed() < TIMEOUT, "`{selector}` on {}: {problem}", self.path());
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.request(method, &format!("/session/{}{path}", self.session), body);
        answer.unwrap_or_else(|problem| panic!("{method} {path} {body}: {problem}"))
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(2 * TIMEOUT)).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let host = format!("127.0.0.1:{}", self.port);
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).map_err(|error| error.to_string())?;
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap();
                }
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let value = answer["value"].take();
        match value["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", value["message"])),
            None => Ok(value),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.request("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The port on which the driver listens, read from its output.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().expect("stdout is piped")).lines();
    let ready = lines.map_while(Result::ok).find(|line| line.contains("started successfully on port"));
    let ready = ready.expect("the driver prints its port");
    let digits: String =
        ready.chars().rev().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.chars().rev().collect::<String>().parse().expect("a port")
}
