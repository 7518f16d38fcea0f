//! Times as text.

/// Milliseconds since 1970 as an RFC 3339 time in UTC, to the second: `2023-11-14T22:13:20Z`.
/// A time outside of the calendar's range is returned as a number.
pub fn utc(ms: i64) -> String {
    chrono::DateTime::from_timestamp_millis(ms)
        .map_or_else(|| ms.to_string(), |time| time.format("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_gregorian_calendar() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59Z");
        assert_eq!(utc(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_709_251_199_999), "2024-02-29T23:59:59Z");
        assert_eq!(utc(4_107_542_400_000), "2100-03-01T00:00:00Z");
        utc(i64::MAX);
        utc(i64::MIN);
    }
}
