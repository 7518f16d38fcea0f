//! A page of another origin, open in a browser on the same machine.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::serve::attacks::long_filter;
use crate::serve::server::Server;
use reasonscape_test_support::webdriver::Browser;

/// Serves this page until the test ends, and returns its URL.
fn foreign_page(html: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{html}",
                html.len()
            );
        }
    });
    url
}

#[test]
fn images_on_foreign_pages_cannot_stop_the_server() {
    let server = Server::start(&["--read-only"]);
    let count = || -> u64 {
        let metrics = server.get("/metrics").body;
        let lines = metrics.lines().filter(|line| line.starts_with("reasonscape_http_requests_total"));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    };
    let image = format!("<img src=\"{}{}\">", server.url.trim_end_matches('/'), long_filter());
    let url = foreign_page(format!("<title>foreign</title>{image}{image}"));
    let Some(browser) = Browser::on(&url) else { return };
    let before = count();
    browser.go("/");
    browser.wait_for("[...document.images].every(image => image.complete) && document.images.length === 2");
    assert_eq!(server.get("/health").body, "ok\n");
    // The image, the health check, and the first count: the server did receive it.
    assert!(count() >= before + 3, "the browser sent no request");
}
