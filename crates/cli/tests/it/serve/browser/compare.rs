use super::is_accessible;
use crate::serve::server::Server;
use reasonscape_test_support::webdriver::{Browser, key};

/// The key code of the up arrow in the browser driver.
const UP: &str = "\u{e013}";

#[test]
fn selects_a_pair_by_cell_or_list() {
    let server = Server::start(&[]);
    server.study.add_newcomer();
    server.wait_until("/compare", |reply| reply.body.contains("newcomer"));
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/compare");
    let names = || browser.texts("#matrix tbody th a");
    assert_eq!(names(), ["good <model>", "newcomer", "poor"]);
    assert!(browser.text(".sentence").starts_with("good <model> is better than newcomer"));
    // The first cell of the last row: the worst against the best.
    browser.click("#matrix tbody tr:last-child td.heat a");
    browser.wait_for("location.hash === '#pair' && document.readyState === 'complete'");
    let sentence = browser.text(".sentence");
    assert!(sentence.starts_with("poor is worse than good <model> by"), "{sentence}");
    assert_eq!(browser.texts("#matrix a[aria-current]").len(), 1);
    browser.click(".swap");
    browser.wait_for(
        "document.querySelector('.sentence')?.innerText.startsWith('good <model> is better than poor')",
    );
    browser.choose("#b", "c00003");
    browser.wait_for(
        "document.querySelector('.sentence')?.innerText.startsWith('good <model> is better than newcomer')",
    );
    // Arrow keys move between cells and skip the diagonal.
    browser.script("document.querySelector('#matrix tbody tr:nth-child(2) td.heat a').focus()");
    let against = || browser.script("return document.activeElement.title");
    assert!(against().as_str().unwrap().starts_with("newcomer against good <model>"));
    browser.press(key::RIGHT);
    assert!(against().as_str().unwrap().starts_with("newcomer against poor"));
    browser.press(UP);
    assert!(against().as_str().unwrap().starts_with("good <model> against poor"));
    browser.press(key::LEFT);
    assert!(against().as_str().unwrap().starts_with("good <model> against newcomer"));
    // Deselect one model.
    browser.click("input[value='c00003']");
    browser.click("#choose button.primary");
    browser.wait_for("document.querySelectorAll('#matrix tbody tr').length === 2");
    assert_eq!(names(), ["good <model>", "poor"]);
    browser.assert_console_is_empty();
}

#[test]
fn opens_a_test_and_moves_on_by_keys() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    browser.go("/compare");
    browser.click("#tasks tbody tr:last-child td.number a");
    browser.wait_for("location.pathname === '/compare/tests' && document.querySelector('#tests tbody tr')");
    assert!(browser.texts("#tests tbody td:first-child").iter().all(|task| task == "sort"));
    browser.choose("#task", "add");
    browser.wait_for("location.search.includes('task=add') && document.querySelector('#tests tbody tr')");
    browser.press("jj");
    browser.press(key::ENTER);
    browser.wait_for("location.pathname.startsWith('/compare/tests/') && document.querySelector('.sides')");
    let first = browser.path();
    assert_eq!(browser.texts(".side .who .status"), ["correct", "incorrect"]);
    let is_open =
        || browser.script("return [...document.querySelectorAll('.thought details')].map((d) => d.open)");
    assert_eq!(is_open(), serde_json::json!([false, false]));
    browser.press("r");
    assert_eq!(is_open(), serde_json::json!([true, true]));
    for keys in ["j", "k"] {
        let before = browser.path();
        browser.press(keys);
        browser.wait_for(&format!(
            "location.pathname + location.search !== {before:?} && document.readyState === 'complete'"
        ));
    }
    assert_eq!(browser.path(), first);
    browser.press("u");
    browser.wait_for("location.pathname === '/compare/tests' && location.search.includes('task=add')");
    browser.assert_console_is_empty();
}

#[test]
fn page_is_accessible() {
    let server = Server::shared();
    let Some(browser) = Browser::on(&server.url) else { return };
    let rows = server.get("/api/v1/differences?limit=1").json();
    let row = &rows["rows"][0]["a"];
    let part = |name: &str| row[name].as_str().unwrap().to_owned();
    let test =
        format!("/compare/tests/a00001/b00002/{}/{}/{}", part("base_task"), part("point"), row["index"]);
    for path in ["/compare", "/compare/tests?disagreement=any", &test] {
        is_accessible(&browser, path);
        browser.resize(400, 900);
        browser.go(path);
        let over = browser.script("return document.documentElement.scrollWidth - innerWidth");
        assert!(over.as_i64().unwrap() <= 0, "{path} is {over} too wide");
        browser.resize(1280, 900);
    }
    browser.assert_console_is_empty();
}
