use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::mpsc;

use axum::body::to_bytes;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Longer than any socket buffer.
const LARGE: usize = 64 * 1024 * 1024;
const LIMITS: ConnectionLimits = ConnectionLimits {
    max: 4,
    header_timeout: Duration::from_hours(1),
    write_timeout: Duration::from_hours(1),
};

/// Reports when it is dropped, and with it the reply that holds it.
struct Reported(mpsc::Sender<()>);

impl Drop for Reported {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

fn routes() -> Router {
    Router::new().route("/health", get(async || "ok")).route("/large", get(async || vec![b'x'; LARGE])).route(
        "/upload",
        post(async |body: Body| to_bytes(body, LARGE).await.unwrap_or_default().len().to_string()),
    )
}

async fn start(routes: Router, limits: ConnectionLimits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(accept(listener, routes, limits));
    address
}

async fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Everything that the server sends until it closes the connection.
async fn read_all(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}

async fn get_health(address: SocketAddr) -> String {
    let stream = send(address, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    String::from_utf8(read_all(stream).await).unwrap()
}

#[tokio::test]
async fn answers_while_every_client_waits() {
    let clients = [
        ("reads nothing", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("sends no request", ""),
        ("sends half a request", "GET /health HT"),
        ("sends half a body", "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf"),
        ("stays after its reply", "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"),
    ];
    for (what, request) in clients {
        let address = start(routes(), LIMITS).await;
        let mut held = Vec::new();
        for _ in 0..3 * LIMITS.max {
            held.push(send(address, request).await);
        }
        let reply = get_health(address).await;
        assert!(reply.starts_with("HTTP/1.1 200") && reply.ends_with("ok"), "a client that {what}: {reply}");
    }
}

#[tokio::test]
async fn closes_a_connection_when_its_client_stops_reading() {
    let (dropped, is_dropped) = mpsc::channel();
    let route = get(async move || {
        let reported = Reported(dropped.clone());
        let chunks = futures_util::stream::repeat_with(move || {
            let _ = &reported;
            Ok::<_, Infallible>(vec![b'x'; 64 * 1024])
        });
        Body::from_stream(chunks)
    });
    let limits = ConnectionLimits { write_timeout: Duration::from_millis(20), ..LIMITS };
    let address = start(Router::new().route("/endless", route), limits).await;
    let client = send(address, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let dropped = tokio::task::spawn_blocking(move || is_dropped.recv_timeout(Duration::from_secs(30)));
    assert_eq!(dropped.await.unwrap(), Ok(()), "the server goes on waiting for its client");
    drop(client);
}

#[tokio::test]
async fn never_closes_a_connection_that_waits_for_the_server() {
    let (finish, mut is_finished) = tokio::sync::watch::channel(false);
    let (started, mut is_started) = tokio::sync::mpsc::unbounded_channel();
    let slow = get(async move || {
        started.send(()).unwrap();
        is_finished.wait_for(|is_finished| *is_finished).await.unwrap();
        "done"
    });
    let address = start(routes().route("/slow", slow), LIMITS).await;
    let request = "GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut slow = Vec::new();
    for _ in 1..LIMITS.max {
        slow.push(send(address, request).await);
        is_started.recv().await.unwrap();
    }
    for _ in 0..3 * LIMITS.max {
        drop(send(address, "").await);
        assert!(get_health(address).await.ends_with("ok"));
    }
    finish.send_replace(true);
    for stream in slow {
        assert!(read_all(stream).await.ends_with(b"done"));
    }
}

#[tokio::test]
async fn sends_everything_to_a_slow_reader_that_makes_progress() {
    let limits = ConnectionLimits { write_timeout: Duration::from_secs(20), ..LIMITS };
    let address = start(routes(), limits).await;
    let request = "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut stream = send(address, request).await;
    let (mut buffer, mut total) = (vec![0; 32 * 1024], 0);
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => break,
            read => total += read,
        }
        tokio::task::yield_now().await;
    }
    assert!(total > LARGE, "{total}");
}
