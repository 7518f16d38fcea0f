use std::time::Duration;

use serde_json::{Value, json};

use super::is_accessible;
use crate::serve::server::Server;
use reasonscape_test_support::webdriver::{Browser, key};

/// Moves the pointer, or presses or releases its button.
fn pointer(browser: &Browser, kind: &str, x: f64, y: f64) {
    let button = if kind == "mouseMoved" { "none" } else { "left" };
    let buttons = i32::from(kind == "mousePressed");
    browser.devtools(
        "Input.dispatchMouseEvent",
        &json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 }),
    );
}

/// The pixels of the first surface, as a data URL.
fn picture(browser: &Browser) -> Value {
    browser.script("return document.querySelector('.surface canvas').toDataURL()")
}

/// Waits until every figure is an interactive chart.
fn wait_for_charts(browser: &Browser) {
    browser.script("document.querySelectorAll('.drawing').forEach((drawing) => drawing.scrollIntoView())");
    let drawings = browser.script("return document.querySelectorAll('.drawing').length");
    for place in 0..drawings.as_u64().unwrap() {
        let drawing = format!("document.querySelectorAll('.drawing')[{place}]");
        browser.script(&format!("{drawing}.scrollIntoView()"));
        browser.wait_for(&format!("{drawing}.querySelector('.main-svg')"));
    }
    browser.script("scrollTo(0, 0)");
}

#[test]
fn surface_rotates_shows_tooltips_and_links_to_trials() {
    let server = Server::landscape();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/explorer?task=maze&x=length&y=depth&eval=e00000&eval=e00003");
    browser.wait_for("document.querySelectorAll('.surface canvas').length === 2");
    browser.script("document.querySelector('.surface canvas').focus()");
    browser.wait_for("document.querySelector('.surface canvas').toDataURL().length > 5000");
    let first = picture(&browser);
    browser.press(key::RIGHT);
    browser.wait_for(&format!("document.querySelector('.surface canvas').toDataURL() !== {first}"));
    // Home resets the view.
    browser.press(key::LEFT);
    browser.wait_for(&format!("document.querySelector('.surface canvas').toDataURL() === {first}"));

    // Search for a point with a tooltip.
    let corner = browser.script(
        "const canvas = document.querySelector('.surface canvas');
         canvas.scrollIntoView({ block: 'center' });
         const box = canvas.getBoundingClientRect();
         return [box.left, box.top, box.width, box.height];",
    );
    let number = |place: usize| corner[place].as_f64().unwrap();
    let places = (1..40).flat_map(|down| (1..40).map(move |right| (f64::from(right), f64::from(down))));
    let found = places
        .map(|(right, down)| (number(0) + number(2) * right / 40.0, number(1) + number(3) * down / 40.0))
        .find(|(x, y)| {
            pointer(&browser, "mouseMoved", *x, *y);
            browser.script("return document.querySelector('.tip').hidden") == false
        });
    let (x, y) = found.expect("a point to point at");
    let said = browser.text(".tip");
    assert!(said.starts_with("length=") && said.contains(" correct"), "{said}");
    // Dragging rotates and is not a click.
    pointer(&browser, "mousePressed", x, y);
    pointer(&browser, "mouseMoved", x + 60.0, y + 10.0);
    pointer(&browser, "mouseReleased", x + 60.0, y + 10.0);
    browser.wait_for(&format!("document.querySelector('.surface canvas').toDataURL() !== {first}"));
    assert!(browser.path().starts_with("/explorer"), "{}", browser.path());
    browser.script("document.querySelector('.surface canvas').focus()");
    browser.press("\u{e011}");
    browser.wait_for(&format!("document.querySelector('.surface canvas').toDataURL() === {first}"));
    pointer(&browser, "mouseMoved", x, y);
    pointer(&browser, "mousePressed", x, y);
    pointer(&browser, "mouseReleased", x, y);
    browser.wait_for("location.pathname === '/trials' && document.querySelector('#trials')");
    assert!(browser.path().contains("eval=e00000&task=maze&params="), "{}", browser.path());
    browser.assert_console_is_empty();
}

#[test]
fn figures_become_charts_with_data_legend_and_links() {
    let server = Server::landscape();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/explorer?task=maze&eval=e00000&eval=e00002");
    wait_for_charts(&browser);
    assert_eq!(
        browser.script("return getComputedStyle(document.querySelector('.drawing > svg')).display"),
        "none"
    );
    // Model names are never parsed as markup.
    let texts = |selector: &str| {
        browser
            .script(&format!("return [...document.querySelectorAll('{selector}')].map((e) => e.textContent)"))
    };
    assert_eq!(texts("#projection .legendtext"), json!(["m1", "m3 <b>\"&' ${x} %{y}"]));
    // A point has a tooltip and links to its trials. It moves while charts above it are still being drawn, and plotly ignores
    // clicks while it handles pointer events, so the test retries.
    let aim = || {
        let place = browser.script(
            "document.querySelector('#projection').scrollIntoView();
             const points = [...document.querySelectorAll('#projection .scatterlayer .point')];
             const box = points.find((point) => point.checkVisibility()).getBoundingClientRect();
             return [box.left + box.width / 2, box.top + box.height / 2];",
        );
        let [x, y] = [0, 1].map(|axis| place[axis].as_f64().unwrap());
        pointer(&browser, "mouseMoved", x - 1.0, y);
        pointer(&browser, "mouseMoved", x, y);
        (x, y)
    };
    let is_told = || {
        aim();
        std::thread::sleep(Duration::from_millis(200));
        texts("#projection .hovertext").to_string().contains(" correct")
    };
    assert!((0..50).any(|_| is_told()), "a point tells nothing");
    for _ in 0..20 {
        let (x, y) = aim();
        pointer(&browser, "mousePressed", x, y);
        pointer(&browser, "mouseReleased", x, y);
        let left = || {
            std::thread::sleep(Duration::from_millis(50));
            browser.path().starts_with("/trials")
        };
        if (0..20).any(|_| left()) {
            break;
        }
    }
    browser.wait_for("location.pathname === '/trials' && document.querySelector('#trials')");
    assert!(browser.path().contains("task=maze&params="), "{}", browser.path());
    // The legend hides a model.
    browser.go("/explorer?task=maze&eval=e00000&eval=e00002");
    wait_for_charts(&browser);
    let lines = "return [...document.querySelectorAll('#projection .scatterlayer .trace')].filter((trace) => \
                 getComputedStyle(trace).display !== 'none').length";
    let all = browser.script(lines);
    browser.script("document.querySelector('#projection').scrollIntoView()");
    browser.click("#projection .legendtoggle");
    browser.wait_for(&format!("(() => {{ {lines} < {all} }})()"));
    browser.assert_console_is_empty();
}

#[test]
fn selecting_a_task_selects_its_parameters() {
    let server = Server::landscape();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/explorer?task=maze&x=kind&y=depth&part=maze-c");
    browser.choose("#task", "line");
    browser.wait_for("location.search.includes('task=line') && document.querySelector('#projection')");
    assert!(!browser.path().contains("kind") && !browser.path().contains("part="), "{}", browser.path());
    browser.choose("#mode", "E_O");
    browser.wait_for("location.search.includes('mode=E_O') && location.search.includes('task=line')");
    // Checkboxes wait for the button.
    browser.wait_for("document.querySelector('#projection')");
    browser.click("input[value='e00004']");
    assert!(!browser.path().contains("e00004"));
    browser.click("button.primary");
    browser.wait_for("location.search.includes('eval=e00004') && document.querySelector('#projection')");
    browser.assert_console_is_empty();
}

#[test]
fn charts_follow_the_color_scheme() {
    let server = Server::landscape();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/forensics?eval=e00000");
    wait_for_charts(&browser);
    let ink = "getComputedStyle(document.querySelector('#hazard .xtick text')).fill";
    let light = browser.script(&format!("return {ink}"));
    browser.script("document.documentElement.dataset.theme = 'dark'");
    browser.wait_for(&format!("{ink} !== {light}"));
    // On a phone, panels are stacked and the page does not scroll sideways.
    browser.resize(420, 800);
    browser.wait_for("document.querySelector('#hazard .drawing').dataset.columns === '1'");
    browser.go("/forensics?eval=e00000");
    wait_for_charts(&browser);
    let wide =
        browser.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(wide, 0);
    browser.assert_console_is_empty();
}

#[test]
fn page_is_accessible() {
    let server = Server::landscape();
    let Some(browser) = Browser::on(&server.url) else { return };
    is_accessible(&browser, "/explorer?task=maze&eval=e00000");
    is_accessible(&browser, "/explorer?task=flat");
    is_accessible(&browser, "/forensics?eval=e00000");
    browser.resize(400, 800);
    browser.go("/explorer");
    wait_for_charts(&browser);
    let wide =
        browser.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(wide, 0);
    browser.assert_console_is_empty();
}
