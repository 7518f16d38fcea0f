use super::is_accessible;
use crate::serve::server::Server;
use crate::webdriver::{Browser, key};

fn names(browser: &Browser) -> Vec<String> {
    browser.texts("#board tbody th a")
}

#[test]
fn headings_sort_without_a_page_load_and_the_address_follows() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/");
    assert_eq!(names(&browser), ["good <model>", "poor"]);
    browser.script("window.isSamePage = true");
    // The best come first; once more turns it round.
    browser.click("th.c-score a");
    assert_eq!(names(&browser), ["good <model>", "poor"]);
    browser.click("th.c-score a");
    assert_eq!(names(&browser), ["poor", "good <model>"]);
    assert_eq!(browser.script("return window.isSamePage"), true);
    assert!(browser.path().contains("sort=score&dir=asc"), "{}", browser.path());
    // The address shows the same to somebody else.
    let address = browser.path();
    browser.go(&address);
    assert_eq!(names(&browser), ["poor", "good <model>"]);
    // By the keyboard as well.
    browser.script("document.querySelector('th.c-score a').focus()");
    browser.press(key::ENTER);
    browser.wait_for("location.search.includes('dir=desc')");
    assert_eq!(names(&browser), ["good <model>", "poor"]);
    browser.is_quiet();
}

#[test]
fn the_estimator_and_the_labels_are_chosen() {
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
    browser.is_quiet();
}

#[test]
fn colours_are_remembered() {
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
    browser.is_quiet();
}

#[test]
fn everybody_can_use_it() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    is_accessible(&browser, "/");
    browser.is_quiet();
    // On a telephone the page itself does not scroll sideways.
    browser.resize(400, 800);
    browser.go("/");
    let [wide, window] = ["scrollWidth", "clientWidth"]
        .map(|name| browser.script(&format!("return document.documentElement.{name}")).as_u64().unwrap());
    assert!(wide <= window, "{wide} > {window}");
}
