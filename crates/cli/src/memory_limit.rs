//! The memory limit of the process: `--memory-limit`.

use crate::error::CliError;

/// The default of `--memory-limit`.
const VARIABLE: &str = "REASONSCAPE_MEMORY_LIMIT";
const MIN: u64 = 64 << 20;

/// Sets the limit from the option, or else from the environment.
pub(crate) fn set(option: Option<&str>) -> Result<(), CliError> {
    let (name, size) = match (option, std::env::var(VARIABLE)) {
        (Some(size), _) => ("--memory-limit ", size.to_owned()),
        (None, Ok(size)) if !size.is_empty() => ("REASONSCAPE_MEMORY_LIMIT=", size),
        (None, _) => return Ok(()),
    };
    let bytes = parse(&size).filter(|bytes| *bytes >= MIN).ok_or_else(|| {
        CliError::input(format_args!(
            "invalid memory limit `{name}{size}`; expected a size of at least 64MiB, such as 512MiB or 4GiB"
        ))
    })?;
    reasonscape_limits::set_memory_limit(bytes);
    Ok(())
}

/// Bytes of a size such as `512MiB`, `4G` or `1073741824`.
fn parse(size: &str) -> Option<u64> {
    let digits = size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len());
    let (number, unit) = size.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
