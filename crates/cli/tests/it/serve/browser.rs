//! Pages in a real browser: scripts, keyboard and accessibility.

mod compare;
mod explorer;
mod foreign;
mod leaderboard;
mod runs;
mod trials;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::server::{Server, Study};
use crate::test_env::reasonscape;
use reasonscape_test_support::webdriver::{Browser, key};

const HINDRANCES: &str = include_str!("accessible.js");
/// Roles of interactive elements in Chromium's accessibility tree.
const USABLE: [&str; 10] = [
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "textbox",
];

/// Asserts that a page is accessible: names, structure, contrast in light and dark, and a visible focus that follows the
/// order of the page.
#[track_caller]
fn is_accessible(browser: &Browser, path: &str) {
    for theme in ["light", "dark"] {
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        browser.devtools("Emulation.setEmulatedMedia", &feature);
        browser.go(path);
        // A page that has just been opened may reload itself once.
        browser.wait_for("document.readyState === 'complete' && document.body !== null");
        assert_eq!(browser.script(HINDRANCES), json!([]), "{path} in {theme}");
    }
    assert_eq!(nameless(browser), [""; 0], "{path}");
    walk(browser, path);
}

/// Interactive elements without an accessible name, according to Chromium.
fn nameless(browser: &Browser) -> Vec<String> {
    let tree = browser.devtools("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let usable = nodes.iter().filter(|node| {
        node["ignored"] != true && USABLE.contains(&node["role"]["value"].as_str().unwrap_or_default())
    });
    assert!(usable.clone().count() > 0, "the page has nothing to use");
    let has_name = |node: &Value| node["name"]["value"].as_str().is_some_and(|name| !name.trim().is_empty());
    usable.filter(|node| !has_name(node)).map(|node| node["role"].to_string()).collect()
}

/// Moves through the page with the Tab key.
#[track_caller]
fn walk(browser: &Browser, path: &str) {
    const FARTHEST: usize = 60;
    browser.script("document.activeElement?.blur(); window.walked = []; scrollTo(0, 0)");
    let mut seen = BTreeSet::new();
    for _ in 0..FARTHEST {
        browser.press(key::TAB);
        let here = browser.script(
            "const at = document.activeElement;
             if (at === document.body) return null;
             const style = getComputedStyle(at);
             const isSeen = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
             const last = window.walked.at(-1);
             const follows = !last || !!(last.compareDocumentPosition(at) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY));
             const number = window.walked.push(at);
             return { number, isSeen, follows, name: at.outerHTML.slice(0, 120) };",
        );
        // After the last element the focus leaves the page.
        if here.is_null() {
            break;
        }
        assert_eq!(here["isSeen"], true, "the focus is not to be seen on {path}: {}", here["name"]);
        assert_eq!(here["follows"], true, "the focus goes back on {path}: {}", here["name"]);
        seen.insert(here["number"].to_string());
    }
    assert!(seen.len() > 3, "the focus goes nowhere on {path}");
}

#[test]
fn accessibility_check_finds_planted_problems() {
    let Some(browser) = Browser::on("data:text/html,") else { return };
    let found = |page: &str| {
        browser.go(&format!("<html lang=en><title>x</title><main><h1>x</h1>{page}</main>"));
        let said: Vec<String> = serde_json::from_value(browser.script(HINDRANCES)).unwrap();
        (said.join("; "), nameless(&browser))
    };
    let named = "<a href=/x>x</a>";
    assert_eq!(found(named), (String::new(), Vec::new()));
    for (page, problem) in [
        ("<p style='color:rgb(140,140,140)'>pale</p>", "contrast 3.3"),
        (
            "<div style='background:rgb(0,0,0)'><p style='color:rgba(255,255,255,0.4)'>dim</p></div>",
            "contrast 3.6",
        ),
        ("<h3>deep</h3>", "a level is left out"),
        ("<i id=a></i><i id=a></i>", "two elements are"),
        ("<img src=x>", "has no text"),
        ("<b tabindex=3>x</b>", "out of the order"),
        ("<h1>y</h1>", "not one h1"),
    ] {
        let (said, _) = found(&format!("{named}{page}"));
        assert!(said.contains(problem), "{page}: {said}");
    }
    assert_eq!(found(&format!("{named}<input>")).1.len(), 1);
    assert_eq!(found(&format!("{named}<button></button>")).1.len(), 1);
}

#[test]
fn demo_pages_log_nothing_to_the_console() {
    let study = Study::with_files(&[]);
    let run = reasonscape(&["demo", "--quiet", "--dir", study.path()]);
    assert_eq!(run.code, 0, "{run:?}");
    let server = Server::on(Arc::new(study), &[], &[]);
    let Some(browser) = Browser::on(&server.url) else { return };
    for (path, heading, sign) in [
        ("/", "Leaderboard", "#board tbody tr:nth-child(5)"),
        ("/explorer", "Explorer", "canvas"),
        ("/explorer?task=dates%402", "Explorer dates@2", "#projection .main-svg"),
        ("/compare", "Compare", ".matrix td.heat a"),
        ("/compare/tests", "Problems with different outcomes", "tbody tr"),
        ("/trials?status=truncated", "Trials", "#trials tbody tr"),
        ("/forensics", "Forensics", ".main-svg"),
        ("/runs", "Runs", "main a"),
        ("/runs/new", "New run", "form"),
    ] {
        browser.go(path);
        // Charts are drawn when they scroll into view.
        browser.script("document.querySelector('.drawing')?.scrollIntoView()");
        browser.wait_for(&format!("document.querySelector({})", json!(sign)));
        assert!(browser.text("h1").starts_with(heading), "{path}: {}", browser.text("h1"));
        browser.assert_console_is_empty();
    }
}
