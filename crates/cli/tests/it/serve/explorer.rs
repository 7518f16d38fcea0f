//! The Explorer and Forensics pages, their charts and API routes.

use serde_json::Value;

use super::server::Server;
use crate::test_env::reasonscape;

/// The URLs of the links in cells of this class.
fn links(page: &str, class: &str) -> Vec<String> {
    let start = format!("<td class=\"{class}");
    let parts = page.split(&start).skip(1);
    let href = |part: &str| {
        let cell = part.split("</td>").next()?;
        Some(cell.split_once("href=\"")?.1.split('"').next()?.replace("&#x2f;", "/").replace("&amp;", "&"))
    };
    parts.filter_map(href).collect()
}

fn total(server: &Server, address: &str) -> u64 {
    server.get(&format!("/api/v1{address}")).json()["total"].as_u64().unwrap()
}

#[test]
fn analyses_match_the_command_line() {
    let server = Server::landscape();
    for (path, arguments) in [
        ("/surface?task=maze&x=length&y=depth", "surface --filter base_task=maze --x length --y depth"),
        ("/surface?filter=base_task%3Dmaze&mode=K_O", "surface --filter base_task=maze --mode K_O"),
        ("/projection?eval=e00001&confidence=0.8", "projection --filter eval_id=e00001 --confidence 0.8"),
        ("/projection?task=maze&x=kind", "projection --filter base_task=maze --x kind"),
        ("/threshold?x=length", "threshold --x length"),
        // The former path.
        ("/frontier?x=length", "threshold --x length"),
        ("/hazard?by=eval&width=100", "hazard --by eval --width 100"),
        ("/hazard?task=maze&task=flat", "hazard --filter base_task=maze,flat"),
        ("/tokens?keep=0.5&budget=64&budget=1024", "tokens --keep 0.5 --budget 64 --budget 1024"),
        (
            "/compression?by=eval&loop_bits=1.5&examples=2",
            "compression --by eval --loop-bits 1.5 --examples 2",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let all =
            [&["analyze", arguments[0], server.study.path(), "--format", "json"], &arguments[1..]].concat();
        let printed: Value = serde_json::from_str(&reasonscape(&all).stdout).unwrap();
        let reply = server.get(&format!("/api/v1{path}"));
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        assert!(reply.json() == printed, "{path}: {} is not {printed}", reply.body);
    }
}

#[test]
fn draws_every_figure() {
    let server = Server::landscape();
    for kind in ["surface", "projection", "threshold", "hazard", "histogram", "tokens", "compression", "size"]
    {
        let chart = server.get(&format!("/api/v1/figures/{kind}?task=maze&by=eval&columns=1")).json();
        assert!(!chart["data"].as_array().unwrap().is_empty(), "{kind}: {chart}");
        assert!(chart["layout"]["height"].is_number() && chart["config"].is_object(), "{kind}");
    }
    let [threshold, former] =
        ["threshold", "frontier"].map(|kind| server.get(&format!("/api/v1/figures/{kind}?task=maze")));
    assert_eq!((former.status, &former.body), (200, &threshold.body), "the former name");
    assert_eq!(server.get("/api/v1/figures/no-such").status, 404);
    assert_eq!(server.get("/api/v1/figures/hazard?columns=0").status, 200);
    assert_eq!(server.get("/api/v1/figures/hazard?columns=999999").status, 200);
}

#[test]
fn projection_points_link_to_trials() {
    let server = Server::landscape();
    let query = "?task=maze&x=length&x=kind&eval=e00000&eval=e00002&filter=params.depth%3D1";
    let chart = server.get(&format!("/api/v1/figures/projection{query}")).json();
    let mut seen = 0;
    for trace in chart["data"].as_array().unwrap() {
        let Some(addresses) = trace["customdata"].as_array() else { continue };
        for (address, text) in addresses.iter().zip(trace["text"].as_array().unwrap()) {
            let (address, text) = (address.as_str().unwrap(), text.as_str().unwrap());
            let trials = total(&server, address);
            assert!(text.contains(&format!(" of {trials} correct, ")), "{address}: {text}");
            let right = total(&server, &format!("{address}&status=correct"));
            assert!(text.contains(&format!("<br>{right} of {trials} correct")), "{address}: {text}");
            seen += 1;
        }
    }
    // Three lengths and two kinds, of two evaluations.
    assert_eq!(seen, 2 * (3 + 2));
}

#[test]
fn cells_show_numbers_and_link_to_trials() {
    let server = Server::landscape();
    let page = server.get("/explorer?task=maze&x=length&y=depth&eval=e00003").body;
    let cells = links(&page, "heat");
    assert_eq!(cells.len(), 6, "{page}");
    for address in &cells {
        assert_eq!(total(&server, address), 40, "{address}");
    }
    let views = server.get("/api/v1/surface?task=maze&x=length&y=depth&eval=e00003").json();
    for cell in views[0]["cells"].as_array().unwrap() {
        let number = |name: &str| 100.0 * cell["estimate"][name].as_f64().unwrap();
        let said = format!(
            "length={} depth={}: {:.1} %, nominal 95 % interval from {:.1} to {:.1}; {} of {} correct, {} truncated; {} points pooled",
            cell["at"]["length"],
            cell["at"]["depth"],
            number("point"),
            number("low"),
            number("high"),
            cell["n_e"],
            cell["n"],
            cell["n_t"],
            cell["points"]
        );
        let said = said.replace(".0 depth", " depth").replace(".0: ", ": ");
        assert!(page.contains(&format!("title=\"{said}\"")), "{said} is not in {page}");
    }
    assert!(page.contains("Each cell pools all values of kind."), "{page}");
    // Values with spaces work too.
    let spaced = server.get("/explorer?task=maze&x=kind&y=depth&eval=e00003").body;
    for address in links(&spaced, "heat") {
        assert_eq!(total(&server, &address), 60, "{address}");
    }
}

#[test]
fn explorer_fills_in_missing_parameters() {
    let server = Server::landscape();
    let page = |path: &str| {
        let reply = server.get(path);
        assert_eq!(reply.status, 200, "{path}");
        reply.body
    };
    let headings = |page: &str| page.matches("<h2 class=\"plain\">").count();
    let first = page("/explorer");
    // Default: the task with the most parameters, and the best three models.
    assert!(first.contains("<option value=\"maze\" selected>"), "{first}");
    assert_eq!(headings(&first), 3);
    assert!(first.contains("Of 5 models on maze, showing the 3 with the highest ReasonScore."), "{first}");
    for name in ["m1", "m2", "m3 &lt;b&gt;&quot;&amp;&#x27; ${x} %{y}"] {
        assert!(first.contains(&format!("<h2 class=\"plain\">{name}</h2>")), "{name}");
    }
    assert!(!first.contains("<h2 class=\"plain\">m4</h2>"));
    assert_eq!(headings(&page("/explorer?eval=e00004&eval=e00003")), 2);
    // Unknown values are reported or ignored.
    let wrong = page("/explorer?task=%3Cscript%3Ealert(1)%3C/script%3E&eval=%3Cimg%3E&x=no&y=such&part=none");
    assert!(wrong.contains("unknown task `&lt;script&gt;"), "{wrong}");
    assert!(wrong.contains("The study has no evaluation `&lt;img&gt;`"), "{wrong}");
    assert_eq!(headings(&wrong), 3);
    assert!(page("/explorer?x=depth&y=depth").contains("<option value=\"depth\" selected>depth (2 values)"));
    assert_eq!(headings(&page("/explorer?eval=a&eval=b&eval=c&eval=d&eval=e")), 3);
    // Within one manifold no other parameter varies.
    let part = page("/explorer?task=maze&part=maze-c&x=length&y=depth&eval=e00000");
    assert!(!part.contains("Each cell pools"), "{part}");
    for address in links(&part, "heat") {
        assert_eq!(total(&server, &address), 20, "{address}");
    }
    // Fewer than two parameters.
    let line = page("/explorer?task=line");
    assert!(line.contains("line has only one varying parameter; a surface needs two."), "{line}");
    assert!(line.contains("id=\"projection\"") && line.contains("id=\"threshold\""));
    let flat = page("/explorer?task=flat");
    assert!(flat.contains("No parameter of flat varies"), "{flat}");
    assert!(!flat.contains("<svg xmlns"), "{flat}");
    assert_eq!(server.get("/explorer?mode=X").status, 400);
    assert_eq!(server.get(&format!("/explorer?{}", "eval=e00001&".repeat(1000))).status, 200);
}

#[test]
fn forensics_matches_the_analyses() {
    let server = Server::landscape();
    let page = server.get("/forensics?eval=e00000&eval=e00004").body;
    for path in ["hazard", "tokens", "compression"] {
        let found = server.get(&format!("/api/v1/{path}?by=eval&eval=e00000&eval=e00004")).json();
        let rows = found.get("rows").unwrap_or(&found).as_array().unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            let said =
                format!("<li>{}: {}</li>", row["name"].as_str().unwrap(), row["finding"].as_str().unwrap())
                    .replace('\'', "&#x27;");
            assert!(page.contains(&said), "{said} is not in {page}");
        }
    }
    for figure in ["hazard", "histogram", "tokens", "compression"] {
        assert!(page.contains(&format!("id=\"{figure}\"")), "{figure}");
    }
    // Ids are unique, including those of SVG patterns.
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|part| part.split('"').next().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
    let apart = server.get("/forensics?by=task&task=no-such").body;
    assert!(apart.contains("unknown task `no-such`"), "{apart}");
    assert!(apart.contains("m1 on maze"), "{apart}");
    assert_eq!(server.get("/forensics?by=model").status, 400);
}

#[test]
fn chart_policy_allows_data_images_only() {
    let server = Server::shared();
    let policy = |path: &str| server.get(path).header("content-security-policy").unwrap().to_owned();
    let strict = policy("/");
    assert!(!strict.contains("data:"), "{strict}");
    for path in ["/explorer", "/forensics"] {
        assert_eq!(
            policy(path),
            strict.replace("img-src 'self'", "style-src-attr 'unsafe-inline'; img-src 'self' data:"),
            "{path}"
        );
    }
    for path in ["/trials", "/api/v1/figures/hazard", "/assets/plotly.js", "/explorer?mode=X"] {
        assert_eq!(policy(path), strict, "{path}");
    }
    // Only pages with charts load plotly.
    for path in ["/", "/trials", "/explorer", "/forensics"] {
        assert!(!server.get(path).body.contains("plotly.js?"), "{path}");
    }
}

#[test]
fn chart_library_is_compressed_once_and_cached() {
    let server = Server::shared();
    let plain = server.get("/assets/plotly.js");
    assert!(plain.body.trim_start().starts_with("/**\n* plotly.js"), "{}", &plain.body[..80]);
    let packed = server.request("GET", "/assets/plotly.js", &[("Accept-Encoding", "gzip")], "");
    for reply in [&plain, &packed] {
        assert_eq!(reply.header("cache-control"), Some("public, max-age=31536000, immutable"));
        assert_eq!(reply.header("content-type"), Some("text/javascript; charset=utf-8"));
        assert_eq!(reply.header("vary"), Some("Accept-Encoding"));
    }
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), (None, Some("gzip")));
    let length: usize = packed.header("content-length").unwrap().parse().unwrap();
    assert!(length < 1_600_000, "{length}");
}

#[test]
fn links_have_the_base_path() {
    let server = Server::start(&["--base-path", "/scores"]);
    for path in ["/scores/explorer", "/scores/forensics"] {
        let page = server.get(path).body;
        for attribute in [" href=\"", " src=\"", " action=\"", " data-source=\""] {
            for part in page.split(attribute).skip(1) {
                let target = part.split('"').next().unwrap().replace("&#x2f;", "/");
                assert!(target.starts_with("/scores/") || target == "#main", "{target}");
            }
        }
    }
}
