//! Strikes out what stands in brackets, then counts character by character.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let question = &prompt[..prompt.find('?').unwrap()];
    let letters: Vec<&str> = question.split('"').skip(1).step_by(2).collect();
    assert!(prompt.contains("Upper and lower case count alike."));
    let mut total = 0;
    let mut struck_out = false;
    for character in between(prompt, "\n\n", "\n\n").chars() {
        match character {
            '[' => struck_out = true,
            ']' => struck_out = false,
            _ if struck_out => {}
            _ => {
                total += letters
                    .iter()
                    .filter(|letter| letter.eq_ignore_ascii_case(&character.to_string()))
                    .count()
            }
        }
        assert!(!struck_out || prompt.contains("Words in [square brackets] do not count."));
    }
    total.to_string()
}
