//! The pages without JavaScript.

use super::server::{Server, TRIALS};

/// The model names in row order.
fn order(page: &str) -> Vec<&'static str> {
    let at = |name: &'static str| page.find(&format!("data-v=\"{name}\"")).map(|at| (at, name));
    let mut found: Vec<_> = ["good &lt;model&gt;", "poor"].into_iter().filter_map(at).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn leaderboard_shows_scores_with_intervals() {
    let server = Server::shared();
    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let scores = server.get("/api/v1/leaderboard").json();
    for row in scores["rows"].as_array().unwrap() {
        let number = |name: &str| row["reason_score"][name].as_f64().unwrap();
        let interval = format!("{:.0} to {:.0}", number("ci_low"), number("ci_high"));
        let shown = format!("<b>{:.0}</b> <small title=\"95 % CI\">{interval}</small>", number("estimate"));
        assert!(page.body.contains(&shown), "{shown} is not in {}", page.body);
        let v2 = |name: &str| row["score"][name].as_f64().unwrap();
        let shown = format!(">{:.0} ± {:.0}</td>", v2("center"), v2("margin"));
        assert!(page.body.contains(&shown), "{shown} is not in {}", page.body);
        let drawn = format!("{:.0}, 95 % CI {interval}", number("estimate"));
        assert!(page.body.contains(&format!("aria-label=\"{drawn}\"")), "{drawn}");
        for task in row["tasks"].as_object().unwrap().values() {
            let percent = |name: &str| 100.0 * task[name].as_f64().unwrap();
            let said = format!(
                "from {:.1} to {:.1}; {} of {} correct",
                percent("low"),
                percent("high"),
                task["n_e"],
                task["n"]
            );
            assert!(page.body.contains(&said), "{said}");
        }
    }
    assert!(page.body.contains("10 % truncated"));
    // Nine modes, one of them selected.
    let (_, modes) = page.body.split_once("<select id=\"mode\"").unwrap();
    let (modes, _) = modes.split_once("</select>").unwrap();
    assert_eq!(modes.matches("<option value=\"").count(), 9);
    assert_eq!(modes.matches(" selected>").count(), 1);
}

#[test]
fn url_determines_the_view() {
    let server = Server::shared();
    let page = |path: &str| server.get(path).body;
    let (good, poor) = ("good &lt;model&gt;", "poor");
    assert_eq!(order(&page("/")), [good, poor]);
    assert_eq!(order(&page("/?sort=score&dir=asc")), [poor, good]);
    assert_eq!(order(&page("/?sort=tokens")), [poor, good]);
    assert_eq!(order(&page("/?sort=name&dir=desc")), [poor, good]);
    assert_eq!(order(&page("/?sort=task:sort&dir=asc")), [poor, good]);
    assert_eq!(order(&page("/?sort=no-such")), [good, poor]);
    assert!(page("/?sort=score&dir=asc").contains("aria-sort=\"ascending\""));
    assert_eq!(order(&page("/?group=arch:moe")), [good]);
    assert_eq!(order(&page("/?group=arch:moe&group=arch:dense")), [good, poor]);
    assert_eq!(order(&page("/?group=arch:dense&group=size:large")), [""; 0]);
    assert!(page("/?group=arch:dense&group=size:large").contains("nothing in the study matches"));
    assert!(page("/?mode=E_O").contains("<option value=\"E_O\" selected>"));
    assert!(page("/?mode=E_O").contains("comparable only with scores by E_O"));
    let wrong = server.get("/?mode=X_Y");
    assert_eq!(wrong.status, 400);
}

#[test]
fn leaderboard_downloads_match_analyze() {
    let server = Server::shared();
    let printed = |format: &str, more: &[&str]| {
        let arguments = [&["analyze", "scores", server.study.path(), "--format", format], more].concat();
        crate::test_env::reasonscape(&arguments).stdout
    };
    assert_eq!(server.get("/leaderboard.csv").body, printed("csv", &[]));
    assert_eq!(server.get("/leaderboard.json").body, printed("json", &[]));
    assert_eq!(server.get("/leaderboard.md?mode=K_P").body, printed("markdown", &["--mode", "K_P"]));
    let filtered = server.get("/leaderboard.csv?group=arch:moe");
    assert_eq!(filtered.body, printed("csv", &["--filter", "groups=arch:moe"]));
    assert_eq!(filtered.header("content-disposition"), Some("attachment; filename=\"leaderboard.csv\""));
}

#[test]
fn filters_and_pages_trials() {
    let server = Server::shared();
    let total = |query: &str| server.get(&format!("/api/v1/trials{query}")).json()["total"].as_u64().unwrap();
    assert_eq!(total(""), 8 * TRIALS);
    assert_eq!(total("?eval=a00001&task=add"), 2 * TRIALS);
    assert_eq!(total("?status=truncated"), 8 * TRIALS / 10);
    assert_eq!(total("?status=truncated&status=correct&eval=b00002"), 4 * TRIALS / 2);
    assert_eq!(total("?params=length%3D16"), 4 * TRIALS);
    assert_eq!(total("?params=length%3D8..32+depth%3D1"), 4 * TRIALS);
    assert_eq!(total("?text=ANSWER-17"), 8);
    assert_eq!(total("?text=100+%25+_right_"), 8 * TRIALS);
    assert_eq!(total("?text=100_"), 0);
    assert_eq!(total("?text=answer-17&eval=a00001&status=correct"), 4);

    let page = server.get("/trials?status=incorrect").body;
    assert!(page.contains("1 to 50 of "), "{page}");
    assert_eq!(page.matches("class=\"status incorrect\"").count(), 50);
    let past = server.get("/trials?page=99999").body;
    assert!(past.contains(&format!("451 to 480 of {}", 8 * TRIALS)), "{past}");
    assert!(server.get("/trials?text=no-such-text").body.contains("No trials match this filter"));
    assert!(
        server.get("/trials?status=wrong").body.contains("expected `correct`, `incorrect` or `truncated`")
    );
}

#[test]
fn pages_list_every_trial_once_in_order() {
    let server = Server::shared();
    let mut seen = Vec::new();
    for offset in (0..8 * TRIALS).step_by(70) {
        let rows = server.get(&format!("/api/v1/trials?offset={offset}&limit=70")).json();
        for row in rows["rows"].as_array().unwrap() {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            seen.push((
                text("eval_id"),
                text("base_task"),
                row["params"]["length"].as_u64(),
                row["index"].as_u64(),
            ));
        }
    }
    assert_eq!(seen.len() as u64, 8 * TRIALS);
    // Numerically: 4 comes before 16.
    assert!(seen.is_sorted(), "{seen:?}");
    seen.dedup();
    assert_eq!(seen.len() as u64, 8 * TRIALS);
}

#[test]
fn trial_links_to_its_neighbors_in_the_list() {
    let server = Server::shared();
    let query = "?task=sort&status=truncated";
    let list = server.get(&format!("/api/v1/trials{query}&limit=500")).json();
    let rows = list["rows"].as_array().unwrap();
    let path = |row: &serde_json::Value| {
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        format!("/trials/{}/{}/{}/{}", text("eval_id"), text("base_task"), text("point"), row["index"])
    };
    let mut here = path(&rows[0]);
    let mut walked = vec![here.clone()];
    loop {
        let trial = server.get(&format!("/api/v1{here}{query}")).json();
        assert_eq!(trial["previous"].as_str(), walked.len().checked_sub(2).map(|at| walked[at].as_str()));
        let Some(next) = trial["next"].as_str() else { break };
        here = next.to_owned();
        walked.push(here.clone());
    }
    assert_eq!(walked, rows.iter().map(path).collect::<Vec<_>>());

    let page = server.get(&format!("{}{query}&page=2", walked[1])).body;
    let links = |rel: &str| page.split(&format!("rel=\"{rel}\"")).count() - 1;
    assert_eq!((links("prev"), links("next")), (1, 1), "{page}");
    // The links keep the filters and the page of the list.
    assert_eq!(page.matches("?task=sort&amp;status=truncated&amp;page=2").count(), 3, "{page}");
    for fact in
        ["finish reason", "100 % _right_", "none: truncated before an answer", "1.50 s", "depth=1 length=4"]
    {
        assert!(page.contains(fact), "{fact} is not in {page}");
    }
    assert!(!page.contains("found by"), "{page}");
    let answered = &server.get("/api/v1/trials?status=correct&limit=1").json()["rows"][0];
    assert!(server.get(&path(answered)).body.contains("found by <code>boxed</code>"));
    assert!(page.contains("<details><summary><h2>reasoning</h2>"), "{page}");
}

#[test]
fn serves_below_the_base_path() {
    let server = Server::start(&["--base-path", "/scores/", "--token", "open-sesame-012345678"]);
    assert!(server.url.ends_with("/scores/"), "{}", server.url);
    let bearer = [("Authorization", "Bearer open-sesame-012345678")];
    for path in ["/scores/", "/scores/compare", "/scores/compare/tests", "/scores/trials"] {
        let page = server.request("GET", path, &bearer, "").body;
        for attribute in ["href=\"", "src=\"", "action=\""] {
            for part in page.split(attribute).skip(1) {
                let target = part.split('"').next().unwrap().replace("&#x2f;", "/");
                assert!(target.starts_with("/scores/") || target == "#main", "{target} on {path}");
            }
        }
    }
    assert_eq!(server.request("GET", "/", &bearer, "").status, 404);
    assert_eq!(server.request("GET", "/scores", &bearer, "").header("location"), Some("/scores/"));
    let entered = server.request(
        "POST",
        "/scores/login",
        &[("Origin", &format!("https://{}", server.address))],
        "token=open-sesame-012345678",
    );
    assert!(
        entered.header("set-cookie").unwrap().ends_with("; Path=/scores/; HttpOnly; SameSite=Strict; Secure")
    );
}

#[test]
fn compresses_pages_on_request() {
    let server = Server::shared();
    let packed = server.request("GET", "/", &[("Accept-Encoding", "br, gzip")], "");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(
        server.request("GET", "/", &[("Accept-Encoding", "gzip;q=0, br")], "").header("content-encoding"),
        None
    );
    let style = server.get("/assets/site.css");
    assert_eq!(style.header("cache-control"), Some("public, max-age=31536000, immutable"));
}
