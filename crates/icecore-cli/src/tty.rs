//! The terminal: its abilities and its size.

/// Returns whether the terminal can only write lines.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// Returns the width and height of the terminal, as it reports them or as the environment says.
pub fn size() -> (usize, usize) {
    const USUAL: (usize, usize) = (80, 24);
    let said = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let said = (said("COLUMNS").unwrap_or(USUAL.0), said("LINES").unwrap_or(USUAL.1));
    let (width, height) = known().unwrap_or(said);
    (width.max(1), height.max(2))
}

/// Returns the width of the terminal, if it reports one.
pub fn width() -> Option<usize> {
    known().map(|(width, _)| width)
}

fn known() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size()?;
    Some((width.0.into(), height.0.into())).filter(|(width, height)| *width > 0 && *height > 0)
}
