//! The terminal: its abilities and its size.

/// Returns true if the terminal can only print lines: it has no colours and can't move the cursor.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// Returns the width and height of the terminal. If it does not report them, the environment or a default decides.
pub fn screen_size() -> (usize, usize) {
    const DEFAULT_SIZE: (usize, usize) = (80, 24);
    let read_variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let from_environment =
        (read_variable("COLUMNS").unwrap_or(DEFAULT_SIZE.0), read_variable("LINES").unwrap_or(DEFAULT_SIZE.1));
    let (width, height) = reported_size().unwrap_or(from_environment);
    (width.max(1), height.max(2))
}

/// Returns the width of the terminal to which the standard output goes, if it reports one.
pub fn stdout_width() -> Option<usize> {
    use std::io::IsTerminal;
    std::io::stdout().is_terminal().then(reported_width).flatten()
}

/// Returns the width of the terminal, if it reports one.
pub fn reported_width() -> Option<usize> {
    reported_size().map(|(width, _)| width)
}

fn reported_size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size()?;
    Some((width.0.into(), height.0.into())).filter(|(width, height)| *width > 0 && *height > 0)
}
