//! Names come from servers and files of others and must not inject HTML.

use reasonscape_charts::{
    Axis, Cell, Dendrogram, Figure, Heatmap, Layer, Merge, Panel, Point, Summary, plotly_script,
};

use crate::test_env::document;

const HOSTILE: &str = "</script><b onload=\"alert(1)\">&\"'`]]>-->%{x}$x$\u{0}\u{2028}<img src=x>";

fn hostile() -> Figure {
    let name = || HOSTILE.to_owned();
    let axis = || Axis::linear(HOSTILE);
    let points = vec![Point::between(0.0, 0.5, 0.4, 0.6), Point::between(1.0, 0.5, 0.4, 0.6)];
    let named = Axis::categories(HOSTILE, [HOSTILE, HOSTILE]);
    let summary = Summary { at: 0.0, low: 0.0, q1: 1.0, median: 2.0, q3: 3.0, high: 4.0, outliers: None };
    let cell = Cell { value: Some(1.0), interval: None, text: name() };
    let heatmap = Heatmap {
        rows: vec![name()],
        columns: vec![name(), name()],
        cells: vec![cell],
        label: name(),
        ..Heatmap::default()
    };
    let merges = vec![Merge { a: 0, b: 1, height: 1.0 }];
    let dendrogram = Dendrogram { leaves: vec![name(), name()], order: vec![], merges, noise: None };
    Figure::new(HOSTILE)
        .subtitle(HOSTILE)
        .note(HOSTILE)
        .panel(
            Panel::new(HOSTILE, axis(), axis())
                .layer(Layer::line(HOSTILE, points.clone()))
                .layer(Layer::vertical(HOSTILE, 0.5))
                .layer(Layer::horizontal(HOSTILE, 0.5))
                .layer(Layer::Text { x: 0.5, y: 0.5, text: name() }),
        )
        .panel(
            Panel::new(HOSTILE, named, axis())
                .layer(Layer::dots("d", points.clone()))
                .layer(Layer::bars(HOSTILE, points))
                .layer(Layer::boxes(HOSTILE, vec![summary])),
        )
        .panel(Panel::new("", axis(), axis()).layer(Layer::Heatmap(heatmap)))
        .panel(Panel::new("", axis(), axis()).layer(Layer::Dendrogram(dendrogram)))
}

#[test]
fn svg_escapes_names() {
    let svg = hostile().svg();
    let document = document(&svg);
    assert!(document.descendants().all(|node| !matches!(node.tag_name().name(), "b" | "img" | "script")));
    assert!(document.descendants().all(|node| node.attribute("onload").is_none()));
    let title = document.descendants().find(|node| node.has_tag_name("title")).unwrap();
    assert_eq!(title.text(), Some(HOSTILE.replace('\u{0}', "\u{fffd}").as_str()));
}

#[test]
fn html_escapes_names_in_script() {
    let fragment = hostile().fragment("id\"><script>");
    assert_eq!(fragment.matches("<script").count(), 1);
    assert_eq!(fragment.matches("</script").count(), 1);
    assert!(!fragment.contains("<b onload") && !fragment.contains("<img"));
    // The arguments of the call are valid JSON.
    let call = fragment.split_once("Plotly.newPlot(").unwrap().1.split_once(");</script>").unwrap().0;
    let arguments: serde_json::Value = serde_json::from_str(&format!("[{call}]")).unwrap();
    assert_eq!(arguments[0], "id\"><script>");
    // Plotly interprets tags in texts, so they must be escaped.
    let shown = arguments[1][2]["name"].as_str().unwrap();
    assert!(shown.starts_with("&lt;/script&gt;&lt;b onload"), "{shown}");
}

#[test]
fn html_loads_no_external_resource() {
    let page = hostile().html();
    let own = page.replace(plotly_script(), "");
    for part in ["src=\"", "href=\""] {
        for (at, _) in own.match_indices(part) {
            assert!(own[at + part.len()..].starts_with("data:"), "{}", &own[at..at + 40]);
        }
    }
    assert!(
        !own.contains("http:")
            && !own.contains("https:")
            && !own.contains("@import")
            && !own.contains("url(")
    );
    assert!(own.contains("default-src 'none'"));
    assert!(page.len() < 6_000_000, "{}", page.len());
    assert!(!page.contains("MathJax.js") && !own.contains("MathJax"));
}
