//! Security: headers, escaping, host and origin checks, tokens.

use super::server::{SCRIPT, Server};

fn token_of(said: &str) -> String {
    let line =
        said.lines().find(|line| line.contains("token")).unwrap_or_else(|| panic!("no token in {said}"));
    line.rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn every_response_has_security_headers() {
    let server = Server::shared();
    for path in
        ["/", "/trials", "/no-such-page", "/api/v1/evals", "/api/v1/no-such", "/assets/site.css", "/health"]
    {
        let reply = server.get(path);
        let policy = reply.header("content-security-policy").unwrap_or_else(|| panic!("none on {path}"));
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("same-origin"));
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"));
        if path != "/assets/site.css" {
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        }
    }
}

#[test]
fn pages_have_no_inline_script_or_style() {
    let server = Server::shared();
    let trial = first_trial(&server);
    for path in [
        "/",
        "/?mode=K_P&sort=task:add",
        "/trials",
        "/trials?text=alert",
        "/compare",
        "/compare/tests",
        &trial,
        "/explorer",
        "/explorer?task=%3Cscript%3E",
        "/forensics",
        "/forensics?by=task",
        "/no-such-page",
    ] {
        let page = server.get(path).body;
        for (at, _) in page.match_indices("<script") {
            let tag = &page[at..at + page[at..].find("</script>").unwrap()];
            assert!(tag.contains(" src=\"") && tag.ends_with('>'), "{path}: {tag}");
        }
        for wrong in ["<style", " style=", "javascript:", " onclick", " onerror=\"", "<img"] {
            assert!(!page.contains(wrong), "`{wrong}` on {path}");
        }
    }
}

fn first_trial(server: &Server) -> String {
    let rows = server.get("/api/v1/trials?eval=a00001&task=add&limit=1").json();
    let row = &rows["rows"][0];
    assert_eq!(row["answer"], SCRIPT);
    format!("/trials/a00001/add/{}/0", row["point"].as_str().unwrap())
}

#[test]
fn escapes_model_output() {
    let server = Server::shared();
    let shown = "&lt;script&gt;alert(&#x27;x&#x27;)&lt;&#x2f;script&gt;␛[31m[U+202E]&quot;&#x27;&amp;";
    let page = server.get(&first_trial(&server)).body;
    // Answer, reasoning and reply.
    assert_eq!(page.matches(shown).count(), 3, "{page}");
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"), "{page}");
    let list = server.get("/trials?text=alert").body;
    assert_eq!(list.matches(shown).count(), 8, "{list}");
    assert!(server.get("/").body.contains("good &lt;model&gt;"));
    for path in [
        "/trials?text=%3Cscript%3E",
        "/trials?params=%3Cscript%3E",
        "/?filter=%3Cscript%3E%3Dx",
        "/?sort=%3Cscript%3E",
    ] {
        let page = server.get(path).body;
        assert!(!page.contains("<script>"), "{path}: {page}");
    }
}

#[test]
fn serves_no_files_by_path() {
    let server = Server::shared();
    for path in [
        "/../../../../etc/passwd",
        "/assets/../../../etc/passwd",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e%2f%2e%2e%2fstudy.toml",
        "/assets/site.css%00.html",
        "/cache.sqlite",
        "/trials/..%2f..%2f/add/x/0",
        "/trials/a00001/..%2f..%2fcache.sqlite/814011ef82bb/0",
        "//etc/passwd",
        "/trials/a00001/add/*/0",
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
        assert!(!reply.body.contains("root:") && !reply.body.contains("SQLite"), "{path}");
    }
}

#[test]
fn accepts_only_own_host_names() {
    let server = Server::shared();
    let port = server.address.rsplit(':').next().unwrap();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1:1", ""] {
        let reply = server.request("GET", "/api/v1/evals", &[("Host", host)], "");
        assert_ne!(reply.status, 200, "{host}");
        assert!(!reply.body.contains("a00001"), "{host}: {reply:?}");
    }
    assert_eq!(server.request("GET", "/", &[("Host", &format!("localhost:{port}"))], "").status, 200);
    assert_eq!(server.send(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status, 400);
    let proxied = Server::start(&["--allow-host", "scores.example"]);
    assert_eq!(proxied.request("GET", "/", &[("Host", "scores.example")], "").status, 200);
}

#[test]
fn rejects_oversized_requests() {
    let server = Server::shared();
    let long = server.request("POST", "/login", &[("Content-Length", "10000000")], "");
    assert_eq!(long.status, 413, "{long:?}");
    let header = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", server.address, "x".repeat(100_000));
    assert_eq!(server.send(header.as_bytes()).status, 431);
    let path = server.get(&format!("/{}", "x".repeat(100_000)));
    assert!([414, 431].contains(&path.status), "{path:?}");
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn rejects_changes_to_pages_and_foreign_origins() {
    let server = Server::shared();
    for (method, path) in
        [("POST", "/"), ("DELETE", "/trials"), ("PUT", "/api/v1/evals"), ("PATCH", "/health")]
    {
        let reply = server.request(method, path, &[], "");
        assert_eq!(reply.status, 405, "{method} {path}: {reply:?}");
        assert!(reply.header("allow").is_some_and(|allowed| allowed.contains("GET")), "{reply:?}");
    }
    for (name, value) in
        [("Origin", "http://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")]
    {
        assert_eq!(
            server.request("POST", "/login", &[(name, value)], "token=x").status,
            403,
            "{name}: {value}"
        );
    }
    let read_only = Server::start(&["--read-only"]);
    assert_eq!(read_only.request("POST", "/", &[], "").status, 403);
    assert_eq!(read_only.get("/").status, 200);
}

#[test]
fn not_found_pages_have_the_layout() {
    let server = Server::shared();
    let page = server.get("/no-such-page");
    assert_eq!(page.status, 404);
    assert!(page.body.contains("no page or API route at this URL") && page.body.contains("<nav"), "{page:?}");
    let json = server.get("/api/v1/no-such");
    assert_eq!(json.json()["error"], "no page or API route at this URL");
    for path in [
        "/trials/a00001/add/000000000000/0",
        "/trials/zzzzzz/add/000000000000/0",
        "/trials/a00001/add/000000000000/18446744073709551615",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(server.get("/trials/a00001/add/000000000000/-1").status, 400);
}

#[test]
fn requires_the_token() {
    let server = Server::start(&["--token", "open-sesame-012345678"]);
    let page = server.get("/?mode=K_P");
    assert_eq!((page.status, page.header("location")), (303, Some("/login?next=%2F%3Fmode%3DK_P")));
    for path in
        ["/trials", "/leaderboard.csv", "/no-such-page", "/api/v1/evals", "/api/v1/openapi.json", "/metrics"]
    {
        let reply = server.get(path);
        assert!([303, 401].contains(&reply.status), "{path}: {reply:?}");
        assert!(!reply.body.contains("a00001") && !reply.body.contains("poor"), "{path}");
    }
    for path in ["/assets/no-such", "/assets/x/y", "/assets/"] {
        let reply = server.get(path);
        assert_eq!((reply.status, reply.header("location")), (404, None), "{path}: {reply:?}");
    }
    let login = server.get("/login?next=/trials");
    assert!(login.body.contains("type=\"password\"") && !login.body.contains("sesame"), "{login:?}");
    for given in
        ["token=wrong-one", "token=", "", "token=open-sesame-01234567", "token=open-sesame-0123456782"]
    {
        let reply = server.request("POST", "/login", &[], given);
        assert!(
            reply.header("set-cookie").is_none() && reply.body.contains("Incorrect token"),
            "{given}: {reply:?}"
        );
    }
    let entered = server.request("POST", "/login", &[], "token=open-sesame-012345678&next=%2Ftrials");
    assert_eq!((entered.status, entered.header("location")), (303, Some("/trials")));
    let cookie = entered.header("set-cookie").unwrap();
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict") && !cookie.contains("sesame"),
        "{cookie}"
    );
    let session = cookie.split(';').next().unwrap();
    assert_eq!(server.request("GET", "/", &[("Cookie", session)], "").status, 200);
    assert_eq!(
        server
            .request("GET", "/api/v1/evals", &[("Authorization", "Bearer open-sesame-012345678")], "")
            .status,
        200
    );
    assert_eq!(
        server
            .request("GET", "/api/v1/evals", &[("Authorization", "Bearer open-sesame-01234567")], "")
            .status,
        401
    );
    for next in ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"] {
        let reply =
            server.request("POST", "/login", &[], &format!("token=open-sesame-012345678&next={next}"));
        assert_eq!(reply.header("location"), Some("/"), "{next}");
    }
    let left = server.request("POST", "/logout", &[("Cookie", session)], "");
    assert!(left.header("set-cookie").unwrap().contains("Max-Age=0"), "{left:?}");
    assert!(!server.end().contains("sesame"));
}

#[test]
fn generates_a_token_for_other_machines() {
    let server = Server::start(&["--host", "0.0.0.0", "--quiet"]);
    assert_eq!(server.get("/api/v1/evals").status, 401);
    assert_eq!(server.get("/health").body, "ok\n");
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let here = format!("127.0.0.1:{port}");
    let said = {
        use std::io::{BufRead, BufReader};
        let mut server = server;
        let mut line = String::new();
        BufReader::new(server.child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let token = token_of(&line);
        assert_eq!(token.len(), 64, "{line}");
        let bearer = format!("Bearer {token}");
        let headers = [("Host", here.as_str()), ("Authorization", bearer.as_str())];
        assert_eq!(server.request("GET", "/api/v1/evals", &headers, "").status, 200);
        line
    };
    assert!(said.starts_with("note: access token"), "{said}");
}
