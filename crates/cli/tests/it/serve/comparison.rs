//! Comparisons: the matrix, the pair, and problems with different outcomes.

use serde_json::Value;

use super::server::{SCRIPT, Server, TRIALS};

/// Of every ten problems A has nine correct and B four; the last is truncated for both.
const DIFFERENT: u64 = 4 * TRIALS / 10 * 5;

fn told(page: &str, what: &str) -> bool {
    page.contains(what)
}

#[test]
fn page_matches_the_commands() {
    let server = Server::shared();
    let said = |arguments: &[&str]| -> Value {
        let run = crate::test_env::reasonscape(&[&["analyze"], arguments, &["--format", "json"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    };
    let study = server.study.path();
    assert_eq!(server.get("/api/v1/pairwise").json(), said(&["pairwise", study]));
    let compared =
        said(&["compare", study, "a00001", "b00002", "--mode", "K_P", "--filter", "base_task=add"]);
    assert_eq!(server.get("/api/v1/compare?a=a00001&b=poor&mode=K_P&task=add").json(), compared);
    // By default the two best are compared.
    let best = server.get("/api/v1/compare").json();
    assert_eq!(best, said(&["compare", study, "a00001", "b00002"]));

    let page = server.get("/compare").body;
    assert!(told(&page, "all 2 evaluations"), "{page}");
    let sentence = best["finding"]
        .as_str()
        .unwrap()
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace(" ± ", "\u{a0}±\u{a0}");
    assert!(told(&page, &format!("{sentence}.")), "{sentence} is not in {page}");
    assert_eq!(page.matches("class=\"word better\"").count(), 2, "{page}");
    assert!(told(&page, "<b>120</b></a> exactly one correct") && told(&page, "<b>0</b> only poor correct"));
    // A cell of the matrix selects its pair and keeps the filters.
    let cell = "compare?mode=K_P&amp;task=add&amp;a=b00002&amp;b=a00001#pair".replace('/', "&#x2f;");
    assert!(told(&server.get("/compare?mode=K_P&task=add").body, &cell), "{cell}");
    let turned = server.get("/compare?a=b00002&b=a00001").body;
    assert!(
        told(&turned, "poor is worse than good &lt;model&gt; by ") && told(&turned, "aria-current=\"true\"")
    );
}

#[test]
fn explains_what_cannot_be_compared() {
    let server = Server::shared();
    for (path, says) in [
        ("/compare?eval=a00001", "a comparison needs two"),
        ("/compare?eval=no-such", "unknown evaluation `no-such`"),
        ("/compare?a=poor&b=poor", "the same evaluation b00002"),
        ("/compare?task=no-such", "nothing in the study matches"),
        ("/compare?params=length", "is not a condition on a parameter"),
        ("/compare?a=%3Cscript%3E", "unknown evaluation `&lt;script&gt;`"),
        ("/compare/tests?params=length%3D9..1", "the range from 9 to 1 is empty"),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        assert!(reply.body.contains(says) && reply.body.contains("role=\"alert\""), "{path}: {}", reply.body);
        assert!(reply.body.contains("<form id=\"choose\"") && !reply.body.contains("<script>"), "{path}");
    }
    for (path, says) in [
        ("/api/v1/pairwise?eval=no-such", "unknown evaluation"),
        ("/api/v1/pairwise?mode=X", "X"),
        ("/api/v1/compare?a=poor&b=b00002", "the same evaluation b00002"),
        ("/api/v1/compare?filter=modle%3Dx", "did you mean `model`?"),
        (
            "/api/v1/differences?disagreement=both",
            "`disagreement=both` is unknown; expected `one`, `a`, `b` or `any`",
        ),
        ("/api/v1/differences?right=both", "`right=both` is unknown"),
        ("/api/v1/differences?disagreement=a&right=b", "`disagreement=a` contradicts `right=b`"),
        ("/api/v1/differences?limit=0", "from 1 to 500"),
        ("/api/v1/differences?offset=99999999999999999999", "is not a valid number"),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 400, "{path}: {reply:?}");
        let said = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(said.contains(says) && !said.contains(server.study.path()), "{path}: {said}");
    }
}

#[test]
fn lists_disagreements_by_outcome() {
    let server = Server::shared();
    let total =
        |query: &str| server.get(&format!("/api/v1/differences{query}")).json()["total"].as_u64().unwrap();
    assert_eq!(total(""), DIFFERENT);
    assert_eq!(total("?disagreement=a"), DIFFERENT);
    assert_eq!(total("?disagreement=b"), 0);
    assert_eq!(total("?disagreement=any&a=poor&b=a00001"), DIFFERENT);
    assert_eq!(total("?a=poor&b=a00001&disagreement=b&task=sort&params=length%3D16"), DIFFERENT / 4);

    let mut seen = Vec::new();
    for offset in (0..DIFFERENT).step_by(35) {
        let rows = server.get(&format!("/api/v1/differences?offset={offset}&limit=35")).json();
        for row in rows["rows"].as_array().unwrap() {
            let (a, b) = (&row["a"], &row["b"]);
            for name in ["base_task", "params", "index", "repeat", "target"] {
                assert_eq!(a[name], b[name]);
            }
            assert_eq!((&a["eval_id"], &a["status"]), (&"a00001".into(), &"correct".into()));
            assert_eq!((&b["eval_id"], &b["status"]), (&"b00002".into(), &"incorrect".into()));
            seen.push((
                a["base_task"].as_str().unwrap().to_owned(),
                a["params"]["length"].as_u64(),
                a["index"].as_u64().unwrap(),
            ));
        }
    }
    assert_eq!(seen.len() as u64, DIFFERENT);
    assert!(seen.is_sorted() && seen.iter().all(|(_, _, index)| (4..9).contains(&(index % 10))), "{seen:?}");

    let page = server.get("/compare/tests?task=sort&page=2").body;
    assert!(page.contains("51 to 60 of 60"), "{page}");
    assert_eq!(page.matches("class=\"status incorrect\"").count(), 10);
    assert!(
        server.get("/compare/tests?disagreement=b").body.contains("No common problem has these outcomes")
    );
    let past = server.get("/compare/tests?page=18446744073709551615").body;
    assert!(past.contains("101 to 120 of 120"), "{past}");
}

#[test]
fn accepts_the_former_name_of_disagreement() {
    let server = Server::shared();
    for path in ["/api/v1/differences", "/compare/tests"] {
        for value in ["one", "a", "b", "any"] {
            let [new, old, both] = [
                format!("disagreement={value}"),
                format!("right={value}"),
                format!("right={value}&disagreement={value}"),
            ]
            .map(|query| server.get(&format!("{path}?{query}")));
            assert_eq!((new.status, &new.body), (200, &old.body), "{path} {value}");
            assert_eq!(new.body, both.body, "{path} {value}");
        }
        let reply = server.get(&format!("{path}?disagreement=a&right=b"));
        assert_eq!(reply.status, 400, "{path}: {reply:?}");
        assert!(reply.body.contains("contradicts `right=b`, its former name"), "{path}: {reply:?}");
    }
    let document = server.get("/api/v1/openapi.json").json();
    let is_deprecated = |name: &str| document["components"]["parameters"][name]["deprecated"].clone();
    assert_eq!(
        (is_deprecated("right"), is_deprecated("disagreement")),
        (true.into(), serde_json::Value::Null)
    );
}

#[test]
fn shows_a_test_with_both_answers_and_neighbors() {
    let server = Server::shared();
    let list = server.get("/compare/tests?a=a00001&b=b00002&task=sort&disagreement=a").body;
    let links: Vec<String> = list
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().replace("&#x2f;", "/").replace("&amp;", "&"))
        .filter(|link| link.starts_with("/compare/tests/a00001/b00002/sort/"))
        .collect();
    assert_eq!(links.len(), 50);
    let page = server.get(&links[1]).body;
    let link = |rel: &str| {
        let before = page.split(&format!("rel=\"{rel}\"")).next().unwrap();
        let link = before.rsplit("href=\"").next().unwrap().split('"').next().unwrap();
        link.replace("&#x2f;", "/").replace("&amp;", "&")
    };
    assert_eq!((link("prev"), link("next")), (links[0].clone(), links[2].clone()));
    for said in [
        "2 of 60",
        "status correct\">correct",
        "status incorrect\">incorrect",
        "entropy (gzip)",
        "surprisal (log-probabilities)",
        "1.00 bits per token, over 2 tokens",
        "100 % _right_",
        "depth=1 length=4",
    ] {
        assert!(page.contains(said), "{said} is not in {page}");
    }
    // The common prompt is shown once; each side has its reply and reasoning.
    assert_eq!(page.matches("What is 1 + 1?").count(), 1, "{page}");
    assert_eq!(page.matches("&lt;script&gt;alert").count(), 4, "{page}");
    assert!(SCRIPT.contains("<script>") && !page.contains("<script>"));

    // A problem with equal outcomes has no neighbors; an unknown one is a 404.
    let same = links[0].replace("/4?", "/0?");
    assert_ne!(same, links[0]);
    assert_eq!(server.get(&same).body.matches("rel=\"").count(), 2, "the icon and the style");
    for path in [
        "/compare/tests/a00001/b00002/sort/000000000000/0",
        "/compare/tests/a00001/zzzzzz/sort/000000000000/0",
        "/compare/tests/a00001/b00002/*/000000000000/0",
        &links[0].replace("/4?", "/18446744073709551615?"),
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(server.get(&links[0].replace("disagreement=a", "disagreement=x")).status, 400);
}

#[test]
fn compares_the_best_twelve_of_many() {
    let server = Server::start(&[]);
    server.study.add_crowd(12);
    server.wait_until("/api/v1/evals", |reply| reply.json().as_array().unwrap().len() == 14);
    let board = server.get("/api/v1/leaderboard").json();
    let mut best: Vec<&str> =
        board["rows"].as_array().unwrap()[..12].iter().map(|row| row["eval_id"].as_str().unwrap()).collect();
    let contest = server.get("/api/v1/pairwise").json();
    let mut compared: Vec<&str> =
        contest["evals"].as_array().unwrap().iter().map(|eval| eval["eval_id"].as_str().unwrap()).collect();
    best.sort_unstable();
    compared.sort_unstable();
    assert_eq!(compared, best);
    let page = server.get("/compare").body;
    assert!(page.contains("the best 12 of 14 by ReasonScore"), "{page}");
    assert_eq!(page.matches(" checked>").count(), 12, "{page}");
    let two = server.get("/compare?eval=poor&eval=a00001").body;
    assert!(two.contains("2 of 14 evaluations"), "{two}");
}

#[test]
fn keeps_showing_a_study_that_became_unreadable() {
    let server = Server::start(&[]);
    let file = std::path::Path::new(server.study.path()).join("points/eval=a00001/task=add/points.parquet");
    let sound = std::fs::read(&file).unwrap();
    std::fs::write(&file, b"no such file").unwrap();
    let says = "the study files changed and can&#x27;t be read";
    server.wait_until("/", |reply| reply.body.contains(says));
    let page = server.get("/compare").body;
    assert!(page.contains(says) && page.contains("good &lt;model&gt; is better than poor"), "{page}");
    std::fs::write(&file, sound).unwrap();
    server.wait_until("/", |reply| !reply.body.contains(says));
}
