//! Strikes out what stands in brackets, then counts character by character.

use super::between;

pub(crate) fn solve(prompt: &str) -> String {
    let letters: Vec<&str> = between(prompt, "How many times", "?").split('"').skip(1).step_by(2).collect();
    assert!(prompt.contains("Upper and lower case count alike."));
    let mut total = 0;
    let mut struck_out = false;
    for character in between(prompt, "\n\n", "\n\n").chars() {
        struck_out = character == '[' || (struck_out && character != ']');
        assert!(!struck_out || prompt.contains("Words in [square brackets] do not count."));
        let is_asked = letters.iter().any(|letter| letter.eq_ignore_ascii_case(&character.to_string()));
        total += usize::from(is_asked && !struck_out);
    }
    total.to_string()
}
