//! Runs in a real browser: from the form to the results, with live progress.

use serde_json::json;

use super::is_accessible;
use crate::serve::runs::RunsEnv;
use reasonscape_test_support::webdriver::Browser;

#[test]
fn creates_starts_and_follows_a_run_to_its_results() {
    let env = RunsEnv::with("kinds=slow,slow-ms=40", None, &[]);
    let Some(browser) = Browser::on(&env.server.url) else { return };
    // A study without trials redirects here.
    browser.go("/");
    browser.wait_for("location.pathname === '/runs'");
    browser.click("a.button.primary");
    browser.wait_for("location.pathname === '/runs/new'");
    // Only the fields of the selected source are shown.
    let is_seen = |selector: &str| {
        browser.script(&format!("return document.querySelector('{selector}').checkVisibility()")) == true
    };
    assert!(is_seen("#suite") && is_seen("#models") && !is_seen("#dataset"));
    browser.click("#source-dataset");
    assert!(!is_seen("#suite") && is_seen("#dataset") && is_seen("#file") && !is_seen("#count"));
    browser.click("#source-study");
    assert!(is_seen("input[name=evals]") && !is_seen("#models"));
    browser.click("#source-suite");
    browser.choose("#suite", "study");
    browser.fill("#models", "sim-p0.9\nsim-cheap");
    browser.fill("#base_url", &env.models.base_url());
    browser.fill("#count", "16");
    browser.click("#new-run button.primary");
    browser.wait_for("location.pathname === '/runs/small-1'");
    assert_eq!(browser.text(".figures b"), "64");
    browser.click(".start button.primary");
    // The page updates without a reload.
    browser.wait_for("document.querySelector('#live')");
    browser.script("window.loadedOnce = true");
    browser.wait_for("document.querySelector('#whole')?.value > 3");
    assert_eq!(browser.script("return window.loadedOnce"), true);
    assert!(browser.text("#progress").ends_with(" of 64"), "{}", browser.text("#progress"));
    browser.wait_for("document.querySelector('#state')?.textContent === 'complete'");
    browser.click("a.button.primary");
    browser.wait_for("location.pathname === '/runs/small-1/view/'");
    assert_eq!(browser.texts("tbody th.name > a").len(), 2);
    assert!(browser.text(".study").ends_with("run small-1"), "{}", browser.text(".study"));
    browser.click(".top nav a:last-child");
    browser.wait_for("location.pathname === '/runs'");
    assert_eq!(browser.text("#runs tbody .state"), "complete");
    browser.assert_console_is_empty();
}

#[test]
fn cancels_and_deletes_a_run() {
    let env = RunsEnv::with("kinds=slow,slow-ms=200", None, &[]);
    let Some(browser) = Browser::on(&env.server.url) else { return };
    let name = env.create(&env.own_run_request(&json!({ "concurrency": 1 })));
    browser.go(&format!("/runs/{name}"));
    browser.click(".start button.primary");
    browser.wait_for("document.querySelector('#whole')?.value > 0");
    browser.click("#cancel");
    browser.wait_for("document.querySelector('#state')?.textContent === 'cancelled'");
    assert!(browser.text("#reason").contains("resuming sends the remaining requests"));
    browser.click("a[href$='/delete']");
    browser.wait_for("location.pathname.endsWith('/delete')");
    browser.click("button.danger");
    browser.wait_for("location.pathname === '/runs'");
    assert!(browser.text("main").contains("Create the first run"));
    browser.assert_console_is_empty();
}

#[test]
fn uploads_a_dataset_file() {
    let env = RunsEnv::new();
    let Some(browser) = Browser::on(&env.server.url) else { return };
    browser.go("/runs/new?source=dataset");
    let choose = |name: &str, text: &str| {
        browser.script(&format!(
            "const files = new DataTransfer();
             files.items.add(new File([{text:?}], {name:?}));
             const field = document.querySelector('#file');
             field.files = files.files;
             field.dispatchEvent(new Event('change'));"
        ));
        browser.wait_for("document.querySelector('#uploaded').textContent.match(/uploaded:|not uploaded/)");
        browser.text("#uploaded")
    };
    let said = choose("Mine.csv", "input,target\nWhat is 1 + 1?,2\n");
    assert!(said.contains("mine.csv uploaded: 1 rows; columns: input, target"), "{said}");
    assert_eq!(browser.script("return document.querySelector('#dataset').value"), "mine.csv");
    browser.go("/runs/new?source=dataset");
    assert!(browser.text(".datasets").contains("mine.csv"));
    let said = choose("<b>bad.jsonl", "{\n<script>alert(1)</script>\n");
    assert!(said.contains("not uploaded") && said.contains("line 2"), "{said}");
    assert_eq!(
        browser.script("return document.querySelector('#uploaded b, #uploaded script') === null"),
        true
    );
}

#[test]
fn page_is_accessible() {
    let env = RunsEnv::new();
    let Some(browser) = Browser::on(&env.server.url) else { return };
    is_accessible(&browser, "/runs");
    is_accessible(&browser, "/runs/new?source=suite");
    is_accessible(&browser, "/runs/new?source=dataset");
    is_accessible(&browser, "/runs/new?source=study");
    let [planned, name] = [1, 2].map(|_| env.create_study_run(&json!({ "count": 2 })));
    is_accessible(&browser, &format!("/runs/{planned}"));
    env.run_to_end(&name);
    is_accessible(&browser, &format!("/runs/{name}"));
    is_accessible(&browser, &format!("/runs/{name}/delete"));
    is_accessible(&browser, "/runs");
    // On a phone only tables are wider than the screen, and they scroll.
    browser.resize(400, 800);
    for path in ["/runs", "/runs/new", &format!("/runs/{name}")] {
        browser.go(path);
        let over = browser.script("return document.documentElement.scrollWidth - innerWidth");
        assert!(over.as_f64().unwrap() <= 0.0, "{path} hangs over by {over}");
    }
}
