//! A browser that tests drive: Chromium by way of its driver, over a socket.
//!
//! The protocol is JSON over HTTP on this machine, a dozen kinds of request. The crates that speak it bring two dozen
//! others along, among them features of `syn` with which everything would be built anew.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{chromedriver, chromium};

/// How long anything on a page may take; tests share two cores.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The key under which an answer names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys without a letter, as the protocol writes them.
pub mod key {
    /// The tabulator key.
    pub const TAB: &str = "\u{e004}";
    /// The enter key.
    pub const ENTER: &str = "\u{e007}";
    /// The left arrow.
    pub const LEFT: &str = "\u{e012}";
    /// The right arrow.
    pub const RIGHT: &str = "\u{e014}";
}

/// A window of a browser. It is closed whatever the test does.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// What pages are below: `http://127.0.0.1:8050`.
    site: String,
    _profile: TempDir,
}

impl Browser {
    /// A window on a site; `None` without a Chromium and its driver.
    pub fn on(site: &str) -> Option<Self> {
        let (chromium, driver) = (chromium()?, chromedriver()?);
        let mut driver = Command::new(&driver)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("`{}` does not start: {error}", driver.display()));
        let port = port(&mut driver);
        let profile = TempDir::new().unwrap();
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": {
                "binary": chromium,
                // In a container the tests are root, for whom there is no sandbox.
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

    /// Where it is, without the site.
    pub fn path(&self) -> String {
        let address = self.command("GET", "/url", &Value::Null);
        let address = address.as_str().unwrap();
        address.strip_prefix(&self.site).unwrap_or(address).to_owned()
    }

    /// What a script gives back.
    pub fn script(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression of JavaScript is true.
    #[track_caller]
    pub fn wait_for(&self, condition: &str) {
        let started = Instant::now();
        // While a page is being replaced there may be no answer.
        let is_met = || {
            let script = json!({ "script": format!("return !!({condition})"), "args": [] });
            let path = format!("/session/{}/execute/sync", self.session);
            self.request("POST", &path, &script).is_ok_and(|met| met == true)
        };
        while !is_met() {
            let page = || self.script("return document.body.innerText.slice(0, 2000)");
            assert!(started.elapsed() < TIMEOUT, "`{condition}` does not come: {} {}", self.path(), page());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The text that a reader sees of the first element of this kind.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let element = self.element(selector);
        self.command("GET", &format!("/element/{element}/text"), &Value::Null).as_str().unwrap().to_owned()
    }

    /// The texts of all of them.
    pub fn texts(&self, selector: &str) -> Vec<String> {
        let script =
            format!("return [...document.querySelectorAll({})].map((e) => e.innerText)", json!(selector));
        serde_json::from_value(self.script(&script)).unwrap()
    }

    /// Clicks as a person does: it fails where something lies over the element or it is not to be seen.
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

    /// Chooses an option of a list by its value, as a person does who then looks elsewhere.
    #[track_caller]
    pub fn choose(&self, list: &str, value: &str) {
        self.click(&format!("{list} option[value={}]", json!(value)));
    }

    /// Presses keys, wherever the focus is.
    pub fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let keyboard = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.command("POST", "/actions", &keyboard);
    }

    /// Makes the window so wide.
    pub fn resize(&self, width: u32, height: u32) {
        self.command("POST", "/window/rect", &json!({ "width": width, "height": height }));
    }

    /// A question to Chromium's own protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.command("POST", "/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    /// What the console has got since it was last asked.
    pub fn console(&self) -> Vec<String> {
        let lines = self.command("POST", "/se/log", &json!({ "type": "browser" }));
        let line = |line: &Value| format!("{} {}", line["level"], line["message"]);
        lines.as_array().unwrap().iter().map(line).collect()
    }

    /// Asserts that no page since the last call has complained.
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

/// The port that the driver says it has taken.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().expect("the pipe was asked for")).lines();
    let ready = lines.map_while(Result::ok).find(|line| line.contains("started successfully on port"));
    let ready = ready.expect("the driver says where it listens");
    let digits: String =
        ready.chars().rev().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.chars().rev().collect::<String>().parse().expect("a port")
}
