//! Snapshots of the SVG output.

use crate::test_env::{all, assert_drawable, assert_sound, document};

#[test]
fn svg_matches_snapshots() {
    for (name, figure) in all() {
        let svg = figure.svg();
        assert_sound(&svg);
        assert_drawable(&svg);
        // The large figure adds nothing to the snapshots.
        if name != "multiples" {
            insta::assert_snapshot!(name, svg);
        }
    }
}

#[test]
fn output_is_deterministic() {
    for (name, figure) in all() {
        assert_eq!(figure.svg(), figure.clone().svg(), "{name}");
        assert_eq!(figure.html(), figure.clone().html(), "{name}");
    }
}

#[test]
fn svg_has_title_and_description() {
    for (name, figure) in all() {
        let svg = figure.svg();
        let document = document(&svg);
        let root = document.root_element();
        assert_eq!(root.attribute("role"), Some("img"), "{name}");
        let text =
            |tag: &str| root.children().find(|node| node.has_tag_name(tag)).and_then(|node| node.text());
        assert_eq!(text("title").unwrap_or_default(), figure.title, "{name}");
        assert!(text("desc").is_some_and(|text| text.ends_with('.')), "{name}");
    }
    let described = crate::test_env::line().svg();
    assert!(
        described.contains("alpha, 5 points from 90% [82%, 97%] at 0 to 30% [22%, 37%] at 4."),
        "{described}"
    );
}
