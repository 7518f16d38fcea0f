//! The simulated models, over real sockets and in volume.

mod faults;
mod skill;
mod wire;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use reasonscape_core::{Suite, Test, TestStream};
use reasonscape_simulator::{Faults, SimulateOptions, SimulatedServer};
use serde_json::{Value, json};

/// A response as it came over the wire.
#[derive(Debug, PartialEq)]
struct WireResponse {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl WireResponse {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// How long a reply may take on a machine that has other things to do.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Sends a request on a connection of its own and reads until the server closes it; says also how that ended.
fn exchange(address: SocketAddr, request: &str, timeout: Duration) -> (Vec<u8>, std::io::Result<usize>) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(timeout)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes);
    (bytes, end)
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

/// The response to a request, which must come.
fn send(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> WireResponse {
    let (bytes, _) = exchange(address, &request(method, path, headers, body), TIMEOUT);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a whole head");
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let (line, headers) = head.split_once("\r\n").unwrap_or((&head, ""));
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    WireResponse { status, headers: headers.to_lowercase(), body: bytes[end + 4..].to_vec() }
}

fn post(server: &SimulatedServer, path: &str, body: &Value) -> WireResponse {
    send(server.address(), "POST", path, "", &body.to_string())
}

fn get(server: &SimulatedServer, path: &str) -> WireResponse {
    send(server.address(), "GET", path, "", "")
}

fn quick() -> Suite {
    Suite::parse(Suite::built_in("quick").unwrap()).unwrap()
}

fn server_with(faults: &str) -> SimulatedServer {
    let faults: Faults = if faults.is_empty() { Faults::default() } else { faults.parse().unwrap() };
    SimulatedServer::start(SimulateOptions { suites: vec![quick()], faults, ..SimulateOptions::default() })
        .unwrap()
}

/// The first test of every point of the quick suite.
fn some_tests() -> Vec<Test> {
    let suite = quick();
    let points = suite.points();
    points.iter().map(|point| TestStream::new(point.task, point.params, suite.seed).next().unwrap()).collect()
}

fn chat(model: &str, prompt: &str, more: &Value) -> Value {
    let mut body = json!({
        "model": model,
        "messages": [
            { "role": "system", "content": "Be careful." },
            { "role": "user", "content": format!("{prompt}\n\nEnd with: The answer is X.") },
        ],
        "temperature": 0,
    });
    let members = more.as_object().unwrap().clone();
    body.as_object_mut().unwrap().extend(members);
    body
}
