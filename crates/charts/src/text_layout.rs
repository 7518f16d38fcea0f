//! Text widths, shortening, wrapping and escaping.

use std::borrow::Cow;

/// Font size: 9 points.
pub(crate) const FONT_SIZE: f64 = 12.0;
/// Advance widths of the printable ASCII characters of Ubuntu Light, in thousandths of the size.
const WIDTHS: [u16; 95] = [
    228, 274, 392, 653, 564, 831, 648, 240, 310, 310, 472, 564, 246, 282, 246, 359, 564, 564, 564, 564, 564,
    564, 564, 564, 564, 564, 246, 246, 564, 564, 564, 380, 940, 641, 630, 609, 702, 555, 520, 658, 692, 248,
    487, 599, 502, 865, 709, 774, 592, 774, 618, 517, 548, 680, 624, 921, 608, 569, 560, 310, 359, 310, 564,
    490, 376, 509, 583, 460, 583, 548, 376, 573, 569, 237, 237, 495, 255, 863, 569, 582, 583, 583, 374, 428,
    387, 569, 480, 775, 499, 474, 455, 319, 262, 319, 564,
];

/// Headroom, since a reader's sans-serif font may be wider.
const WIDTH_ALLOWANCE: f64 = 1.06;

fn advance(character: char) -> f64 {
    let code = character as u32;
    match code {
        32..=126 => f64::from(WIDTHS[(code - 32) as usize]),
        // Combining marks and joiners have no width.
        0x300..=0x36f | 0x200b..=0x200d => 0.0,
        // Ideographs and other wide characters.
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xff00..=0xff60
        | 0x1f000.. => 1000.0,
        0x2026 => 996.0,
        _ => 620.0,
    }
}

/// The approximate width of a text in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size / 1000.0 * WIDTH_ALLOWANCE
}

/// The text, shortened in the middle if necessary, since model names differ at both ends.
pub(crate) fn shorten(text: &str, size: f64, room: f64) -> Cow<'_, str> {
    if width(text, size) <= room {
        return Cow::Borrowed(text);
    }
    let characters: Vec<char> = text.chars().collect();
    // Binary search: removing more characters never makes the rest wider.
    let cut = |kept: usize| -> String {
        let head = kept.div_ceil(2);
        let tail = characters.len() - (kept - head);
        characters[..head].iter().chain(['…'].iter()).chain(&characters[tail..]).collect()
    };
    let (mut fits, mut too_wide) = (0, characters.len());
    while too_wide - fits > 1 {
        let middle = usize::midpoint(fits, too_wide);
        if width(&cut(middle), size) <= room {
            fits = middle;
        } else {
            too_wide = middle;
        }
    }
    Cow::Owned(cut(fits))
}

/// Wraps the text at spaces; a word that is too long is shortened.
pub(crate) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shorten(word, size, room);
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(&word, size) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word.into_owned()),
        }
    }
    lines
}

/// Escapes a text for XML and HTML elements and attributes. Characters that are invalid in XML become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{escape, shorten, width, wrap};

    #[test]
    fn shorten_keeps_both_ends_of_a_name() {
        let name = "meta-llama/Llama-3.3-70B-Instruct-Turbo";
        let short = shorten(name, 12.0, 120.0);
        assert!(short.starts_with("meta-") && short.ends_with("Turbo"), "{short}");
        assert!(width(&short, 12.0) <= 120.0);
        assert_eq!(shorten("short", 12.0, 120.0), "short");
        assert_eq!(shorten("anything", 12.0, 1.0), "…");
    }

    #[test]
    fn shorten_keeps_as_much_as_fits() {
        // The same by trying every length.
        let longest = |name: &str, room: f64| {
            let characters: Vec<char> = name.chars().collect();
            let cut = |kept: usize| -> String {
                let tail = characters.len() - kept / 2;
                characters[..kept.div_ceil(2)].iter().chain(['…'].iter()).chain(&characters[tail..]).collect()
            };
            (0..characters.len()).rev().map(cut).find(|shown| width(shown, 12.0) <= room)
        };
        let names = [
            "meta-llama/Llama-3.3-70B-Instruct-Turbo",
            "iiiiiiiWWWWWWWWiiiiiiii",
            "ab",
            "模型-e\u{301}e\u{301}-x",
        ];
        for name in names {
            for room in 1..200 {
                let room = f64::from(room);
                let expected =
                    if width(name, 12.0) <= room { Some(name.to_owned()) } else { longest(name, room) };
                assert_eq!(shorten(name, 12.0, room), expected.unwrap_or_else(|| "…".to_owned()), "{room}");
            }
        }
        // Trying every length of this one would take minutes.
        assert!(width(&shorten(&"modèle-".repeat(100_000), 12.0, 150.0), 12.0) <= 150.0);
    }

    #[test]
    fn wrap_fits_width_and_keeps_every_word() {
        let text = "Shaded are 95% intervals by Wilson; truncated replies count as censored";
        let lines = wrap(text, 12.0, 150.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 12.0) <= 150.0));
        assert_eq!(lines.join(" "), text);
        assert!(wrap("", 12.0, 150.0).is_empty());
    }

    #[test]
    fn escape_neutralizes_markup_and_control_characters() {
        assert_eq!(escape("</a>&\"'\u{1}\n"), "&lt;/a&gt;&amp;&quot;&#39;\u{fffd} ");
    }
}
