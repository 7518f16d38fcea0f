//! Requests that are meant to stop the server or to starve it.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::server::Server;
use crate::test_env::{assert_rejected, reasonscape, reasonscape_with, wait_until};

/// `name=VALUE&name=VALUE…`, with a value for each number.
fn repeated(name: &str, count: usize, value: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| format!("{name}={}", value(n))).collect::<Vec<_>>().join("&")
}

/// A list of distinct values.
fn list(count: usize, value: impl Fn(usize) -> String) -> String {
    (0..count).map(value).collect::<Vec<_>>().join(",")
}

/// The GET of 3.5 kB that once stopped the server.
pub(super) fn long_filter() -> String {
    format!("/?filter=model={}", vec!["a"; 1_773].join(","))
}

#[test]
fn survives_queries_with_thousands_of_values() {
    let server = Server::start(&["--read-only"]);
    let gets = |path: &str, says: &str| {
        let reply = server.get(path);
        assert!(reply.status < 500 && reply.body.contains(says), "{}: {reply:?}", &path[..60]);
        assert_eq!(server.get("/health").body, "ok\n", "after {}", &path[..60]);
    };
    let nothing = "nothing in the study matches";
    gets(&long_filter(), nothing);
    gets(&format!("/api/v1/evals?filter=model={}", list(900, |n| format!("m{n}"))), nothing);
    gets(&format!("/api/v1/evals?filter=model={}", list(900, |n| format!("m{n}*"))), nothing);
    gets(&format!("/api/v1/tasks?{}", repeated("filter", 1_700, |_| "model=a".to_owned())), nothing);
    gets(&format!("/explorer?{}", repeated("task", 3_000, |_| "t".to_owned())), "unknown task");
    gets(&format!("/explorer?{}", repeated("eval", 900, |n| format!("e{n}"))), "Explorer");
    gets(&format!("/api/v1/trials?{}", repeated("eval", 3_000, |_| "a".to_owned())), "\"total\":0");
    gets(
        &format!("/api/v1/trials?{}", repeated("params", 900, |n| format!("length%3D{n}.."))),
        "\"total\":480",
    );
    let most = "expected at most 1000";
    gets(&format!("/?filter=model={}", list(5_000, |n| format!("m{n}"))), most);
    gets(&format!("/api/v1/trials?{}", repeated("eval", 2_000, |n| format!("e{n}"))), most);
    gets(&format!("/api/v1/hazard?{}", repeated("task", 2_000, |n| format!("t{n}"))), most);
    let columns = repeated("params", 900, |n| format!("p{n}%3D1"));
    gets(&format!("/api/v1/trials?{columns}"), "expected at most 100");
    gets(&format!("/api/v1/aggregate?by={}", list(2_000, |n| format!("params.p{n}"))), "too many columns");
    let modes = server.get(&format!("/api/v1/aggregate?mode={}", vec!["all"; 6_000].join(",")));
    assert_eq!(modes.status, 200);
    assert_eq!(modes.body, server.get("/api/v1/aggregate?mode=all").body);
}

#[test]
fn answers_the_health_check_while_queries_are_planned() {
    const QUERIES: usize = 16;
    let server = Server::start(&[]);
    let done = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for query in 0..QUERIES {
            let (server, done) = (&server, Arc::clone(&done));
            let ranges = repeated("filter", 900, |n| format!("params.length={n}..{n}.{query}"));
            let mut stream = TcpStream::connect(&server.address).unwrap();
            write!(
                stream,
                "GET /api/v1/points?{ranges} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                server.address
            )
            .unwrap();
            scope.spawn(move || {
                std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        // Planning all of them takes many seconds of every core.
        for _ in 0..3 {
            assert_eq!(server.get("/health").body, "ok\n");
        }
        assert!(done.load(Ordering::SeqCst) < QUERIES, "the health check waited for every query");
    });
    assert_eq!(done.load(Ordering::SeqCst), QUERIES);
}

#[test]
fn answers_while_slow_readers_hold_every_connection() {
    let server = Server::start(&[]);
    let request = format!("GET /assets/plotly.js HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let mut slow = Vec::new();
    for _ in 0..1_024 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        // The server may have closed it for the next.
        let _ = stream.write_all(request.as_bytes());
        slow.push(stream);
    }
    assert_eq!(server.get("/health").body, "ok\n");
    assert_eq!(server.get("/api/v1/evals").status, 200);
}

#[test]
fn answers_while_half_sent_bodies_hold_connections() {
    // More than the requests that are handled at the same time.
    const CLIENTS: usize = 400;
    for path in ["/api/v1/datasets?name=half.jsonl", "/api/v1/runs", "/datasets"] {
        let server = Server::start(&[]);
        let half =
            format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000\r\n\r\nhalf", server.address);
        let held: Vec<TcpStream> = (0..CLIENTS)
            .map(|_| {
                let mut stream = TcpStream::connect(&server.address).unwrap();
                stream.write_all(half.as_bytes()).unwrap();
                stream
            })
            .collect();
        for _ in 0..3 {
            let reply = server.get("/api/v1/evals");
            assert_eq!(reply.status, 200, "while {CLIENTS} clients hold back half of {path}: {reply:?}");
        }
        let row = "{\"input\": \"1 + 1?\", \"target\": \"2\"}\n";
        let uploaded = server.request("POST", "/api/v1/datasets?name=whole.jsonl", &[], row);
        assert_eq!(uploaded.status, 201, "{uploaded:?}");
        drop(held);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn answers_while_a_client_process_is_stopped() {
    let server = Server::start(&[]);
    let port = server.address.rsplit(':').next().unwrap();
    // Requests more than the buffers of its sockets take, reads the beginning of each reply, and stops itself.
    let script = r#"
import os, signal, socket, sys
held = []
for _ in range(600):
    stream = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    stream.sendall(b"GET /assets/plotly.js HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n" % sys.argv[1].encode())
    held.append(stream)
held[-1].recv(1)
os.kill(os.getpid(), signal.SIGSTOP)
"#;
    let spawned = std::process::Command::new("python3").args(["-c", script, port]).spawn();
    let Ok(mut client) = spawned else { return reasonscape_test_support::skip("python3 not found") };
    let stat = format!("/proc/{}/stat", client.id());
    wait_until("the client stopped", || {
        let stat = std::fs::read_to_string(&stat).unwrap();
        stat.rsplit(')').next().unwrap().trim_start().starts_with('T')
    });
    for _ in 0..3 {
        assert_eq!(server.get("/health").body, "ok\n");
        assert_eq!(server.get("/api/v1/evals").status, 200);
        assert_eq!(server.get("/").status, 200);
    }
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(server.get("/health").body, "ok\n");
}

#[test]
fn wrong_bearer_tokens_cost_as_much_as_wrong_logins() {
    const TOKEN: &str = "open-sesame-0123456789";
    let server = Server::start(&["--token", TOKEN]);
    let entered = server.request("POST", "/login", &[], &format!("token={TOKEN}"));
    let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let refused = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for guesser in 0..16 {
            let (server, refused) = (&server, &refused);
            scope.spawn(move || {
                for guess in 0..4 {
                    let bearer = format!("Bearer open-sesame-{guesser}-{guess}");
                    let reply = server.request("GET", "/api/v1/evals", &[("Authorization", &bearer)], "");
                    match reply.status {
                        401 => assert!(reply.body.contains("requires its token"), "{reply:?}"),
                        429 => {
                            assert!(reply.body.contains("too many incorrect tokens"), "{reply:?}");
                            assert_eq!(reply.header("retry-after"), Some("2"));
                            refused.fetch_add(1, Ordering::SeqCst);
                        }
                        _ => panic!("{reply:?}"),
                    }
                }
            });
        }
        // Sessions are not guessed, and the health check has no token.
        assert_eq!(server.request("GET", "/api/v1/evals", &[("Cookie", &cookie)], "").status, 200);
        assert_eq!(server.request("GET", "/health", &[("Authorization", "Bearer x")], "").body, "ok\n");
    });
    assert!(refused.load(Ordering::SeqCst) > 0, "64 tokens were guessed at once");
}

#[test]
fn commands_survive_long_filters_and_deep_sql() {
    let server = Server::shared();
    let study = server.study.path();
    let models = list(5_000, |n| format!("model-{n}"));
    let run = reasonscape(&["analyze", "evals", study, "--filter", &format!("model={models}")]);
    assert_rejected(&run, &["too many filter values", "expected at most 1000"]);
    let same = vec!["org/poor"; 5_000].join(",");
    let run = reasonscape(&["analyze", "evals", study, "--filter", &format!("model={same}")]);
    assert_eq!((run.code, run.stdout.contains("b00002")), (0, true), "{run:?}");
    for query in [
        format!("SELECT {}1", "1+".repeat(10_000)),
        format!("SELECT count(*) FROM points WHERE {}", vec!["n > 0"; 20_000].join(" AND ")),
        vec!["SELECT 1"; 5_000].join(" UNION ALL "),
        format!("SELECT 1 FROM {}", list(5_000, |n| format!("evals e{n}"))),
        format!("SELECT 1 {}", "IS NULL ".repeat(5_000)),
        format!("SELECT 1{}", "::INT".repeat(5_000)),
    ] {
        let run = reasonscape_with(&["sql", study, "-"], query);
        assert_rejected(&run, &["operators and keywords; expected at most 2000", "`model IN ('a', 'b')`"]);
    }
    let query = format!("SELECT {}1 AS n", "1+".repeat(500));
    assert!(reasonscape_with(&["sql", study, "-", "--format", "csv"], query).stdout.ends_with("501\n"));
    let names = list(20_000, |n| format!("'m{n}'"));
    let query = format!("SELECT count(*) AS n FROM evals WHERE model IN ({names}, 'org/poor')");
    assert!(reasonscape_with(&["sql", study, "-", "--format", "csv"], query).stdout.ends_with("\n1\n"));
}
