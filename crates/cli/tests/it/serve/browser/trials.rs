use super::is_accessible;
use crate::serve::server::{SCRIPT, Server};
use reasonscape_test_support::webdriver::{Browser, key};

#[test]
fn reaches_a_trial_by_filters_keys_and_links() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/trials");
    browser.choose("#task", "sort");
    browser.fill("#params", "length=16");
    browser.click("input[value='incorrect']");
    browser.click("button.primary");
    browser.wait_for("location.search.includes('status=incorrect')");
    browser.wait_for("document.querySelector('#trials tbody tr')");
    assert!(browser.texts("#trials tbody tr td:nth-child(3)").iter().all(|task| task == "sort"));
    assert!(browser.texts("#trials tbody tr td:first-child").iter().all(|status| status == "incorrect"));
    // Two rows down, one up, then open it.
    browser.script("document.activeElement.blur()");
    browser.press("jjk");
    browser.press(key::ENTER);
    browser.wait_for("location.pathname.startsWith('/trials/')");
    let first = browser.path();
    assert!(browser.text("h1").starts_with("sort"), "{}", browser.text("h1"));
    browser.press("j");
    browser.wait_for(&format!(
        "location.pathname + location.search !== {first:?} && document.readyState === 'complete'"
    ));
    browser.press(key::LEFT);
    browser.wait_for(&format!(
        "location.pathname + location.search === {first:?} && document.readyState === 'complete'"
    ));
    browser.press("u");
    browser.wait_for("location.pathname === '/trials' && location.search.includes('status=incorrect')");
    browser.assert_console_is_empty();
}

#[test]
fn deep_link_shows_a_trial_without_running_its_scripts() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    let trials = server.get("/api/v1/trials?limit=1").json();
    let trial = &trials["rows"][0];
    let part = |name: &str| trial[name].as_str().unwrap().to_owned();
    browser.go(&format!(
        "/trials/{}/{}/{}/{}",
        part("eval_id"),
        part("base_task"),
        part("point"),
        trial["index"]
    ));
    let reply = browser.text(".reply pre");
    assert!(reply.starts_with("<script>alert('x')</script>"), "{reply}");
    assert!(SCRIPT.starts_with("<script>"));
    // Reasoning is collapsed by default.
    let is_open = || browser.script("return document.querySelector('.thought details').open");
    assert_eq!(is_open(), false);
    browser.press("r");
    assert_eq!(is_open(), true);
    // An open alert would make every later command fail.
    assert_eq!(browser.script("return document.querySelectorAll('main script, main img').length"), 0);
    browser.assert_console_is_empty();
    is_accessible(&browser, &browser.path());
}

#[test]
fn page_is_accessible() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    is_accessible(&browser, "/trials");
    browser.assert_console_is_empty();
}

#[test]
fn pages_by_keys() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/trials");
    browser.press(key::RIGHT);
    browser.wait_for("location.search.includes('page=2') && document.querySelector('#trials')");
    browser.press(key::LEFT);
    browser.wait_for("!location.search.includes('page=2') && document.querySelector('#trials')");
    browser.assert_console_is_empty();
}
