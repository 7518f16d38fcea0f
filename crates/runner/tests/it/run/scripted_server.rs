//! A server that sends the replies of a test, and records when each request came.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A status, further headers (each with its line end), and a body.
pub(super) type Reply = (u16, &'static str, String);

#[derive(Debug)]
pub(super) struct ScriptedServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Instant>>>,
}

impl ScriptedServer {
    /// Serves until the test ends. `reply` is given the number of the request, from 0.
    pub(super) fn start(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (reply, seen_by_server) = (Arc::new(reply), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (reply, seen) = (Arc::clone(&reply), Arc::clone(&seen_by_server));
                // A client that goes away in the middle is what some tests are about.
                std::thread::spawn(move || _ = answer(stream, &*reply, &seen));
            }
        });
        Self { address, seen }
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// When each request came.
    pub(super) fn seen(&self) -> Vec<Instant> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: TcpStream,
    reply: &dyn Fn(usize) -> Reply,
    seen: &Mutex<Vec<Instant>>,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while !is_complete_request(&bytes) {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            length => bytes.extend_from_slice(&piece[..length]),
        }
    }
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(Instant::now());
        seen.len() - 1
    };
    let (status, headers, body) = reply(number);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

/// Whether a request has come with its body.
fn is_complete_request(bytes: &[u8]) -> bool {
    let Some(head) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length: usize =
        text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    bytes.len() >= head + 4 + length
}

/// A complete answer.
pub(super) fn completion() -> Reply {
    let body = r#"{"choices":[{"message":{"content":"Answer: 1"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}"#;
    (200, "Content-Type: application/json\r\n", body.to_owned())
}
