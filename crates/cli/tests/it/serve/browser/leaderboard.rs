use super::is_accessible;
use crate::serve::server::Server;
use reasonscape_test_support::webdriver::{Browser, key};

fn names(browser: &Browser) -> Vec<String> {
    browser.texts("#board tbody th a")
}

#[test]
fn sorts_without_reload_and_updates_the_url() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/");
    assert_eq!(names(&browser), ["good <model>", "poor"]);
    browser.script("window.isSamePage = true");
    // Descending first; a second click reverses the order.
    browser.click("th.c-score a");
    assert_eq!(names(&browser), ["good <model>", "poor"]);
    browser.click("th.c-score a");
    assert_eq!(names(&browser), ["poor", "good <model>"]);
    assert_eq!(browser.script("return window.isSamePage"), true);
    assert!(browser.path().contains("sort=score&dir=asc"), "{}", browser.path());
    // The URL reproduces the view.
    let address = browser.path();
    browser.go(&address);
    assert_eq!(names(&browser), ["poor", "good <model>"]);
    // The keyboard works too.
    browser.script("document.querySelector('th.c-score a').focus()");
    browser.press(key::ENTER);
    browser.wait_for("location.search.includes('dir=desc')");
    assert_eq!(names(&browser), ["good <model>", "poor"]);
    browser.assert_console_is_empty();
}

#[test]
fn selects_estimator_and_labels() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/");
    let before = browser.text("td.score");
    browser.choose("#mode", "E_O");
    browser.wait_for("location.search.includes('mode=E_O')");
    browser.wait_for("document.querySelector('#board')");
    assert_ne!(browser.text("td.score"), before);
    browser.click("input[value='arch:dense']");
    browser.wait_for("location.search.includes('group=arch')");
    browser.wait_for("document.querySelectorAll('#board tbody tr').length === 1");
    assert_eq!(names(&browser), ["poor"]);
    assert!(browser.path().contains("mode=E_O"), "{}", browser.path());
    browser.click("td.heat a");
    browser.wait_for("location.pathname === '/trials'");
    browser.assert_console_is_empty();
}

#[test]
fn remembers_the_color_scheme() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/");
    let ground = || browser.script("return getComputedStyle(document.body).backgroundColor");
    let light = ground();
    browser.click("#theme");
    browser.click("#theme");
    assert_eq!(browser.script("return document.documentElement.dataset.theme"), "dark");
    assert_ne!(ground(), light);
    browser.go("/trials");
    assert_eq!(browser.script("return document.documentElement.dataset.theme"), "dark");
    browser.assert_console_is_empty();
}

#[test]
fn page_is_accessible() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    is_accessible(&browser, "/");
    browser.assert_console_is_empty();
    // On a phone the page itself does not scroll sideways.
    browser.resize(400, 800);
    browser.go("/");
    let [wide, window] = ["scrollWidth", "clientWidth"]
        .map(|name| browser.script(&format!("return document.documentElement.{name}")).as_u64().unwrap());
    assert!(wide <= window, "{wide} > {window}");
}
