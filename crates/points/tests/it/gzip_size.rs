//! Compressed sizes against CPython's gzip module.

use reasonscape_points::GzipSizer;

#[test]
fn matches_sizes_of_python_gzip() {
    let mut texts = vec![String::new(), "a".to_owned(), "So it is 42. ".repeat(9_999)];
    let mut state = 1_u32;
    for length in [10, 1_000, 70_000, 300_000] {
        texts.push(
            (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    char::from(b' ' + (state >> 24) as u8 % 64)
                })
                .collect(),
        );
    }
    let mut sizer = GzipSizer::default();
    for text in &texts {
        let script = "import gzip, sys; print(len(gzip.compress(sys.stdin.buffer.read(), 9)))";
        let Some(python_size) = reasonscape_test_support::python(script, text) else { return };
        assert_eq!(sizer.gzip_size(text.as_bytes()).to_string(), python_size.trim(), "{} bytes", text.len());
    }
}
