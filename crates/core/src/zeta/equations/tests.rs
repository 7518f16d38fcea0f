use super::*;

#[test]
#[ignore = "prints"]
fn show() {
    let corpus = include_str!("../../../tests/fixtures/reasoning-steps.tsv");
    for line in corpus.lines() {
        let (label, text) = line.split_once('\t').unwrap();
        let steps = check_steps(text);
        let said = if steps.iter().any(|step| !step.holds) {
            "wrong"
        } else if steps.is_empty() {
            "none"
        } else {
            "right"
        };
        if said != label {
            println!(
                "{label:6} said {said:6} {text}   {:?}",
                steps.iter().map(|s| (s.text, s.holds)).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
#[ignore = "prints"]
fn scan() {
    let (mut all, mut bytes) = (0, 0);
    let started = std::time::Instant::now();
    let list = std::fs::read_to_string("/tmp/zc-data/list").unwrap_or_default();
    for path in list.lines() {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        bytes += text.len();
        for step in check_steps(&text) {
            all += 1;
            if !step.holds {
                let line = text.lines().nth(step.line - 1).unwrap();
                println!(
                    "{path}:{}: [{}] in {}",
                    step.line,
                    step.text,
                    line.chars().take(300).collect::<String>()
                );
            }
        }
    }
    println!("{all} steps in {bytes} bytes, {:?}", started.elapsed());
}
