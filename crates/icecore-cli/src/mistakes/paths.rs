//! Paths and filters in the notation of another language, and arguments in the wrong order.

use crate::report::{Abort, usage_error, usage_text_error};
use icecore::select::Pattern;
use icecore::text::printable;
use std::path::{Path, PathBuf};

/// Returns the path that was probably meant: one without its first dot, or in the notation of jq, JSON pointers or PHP.
fn suggest_path(text: &str) -> Option<String> {
    let mut path = text.replace("->", ".").replace("['", "[\"").replace("']", "\"]").replace("[]", "[*]");
    path = path.replace(".[", "[").trim_end_matches('.').to_owned();
    if let Some(pointer) = path.strip_prefix("#/").or_else(|| path.strip_prefix('/')) {
        path = pointer.replace('/', ".");
    }
    let path = path.strip_prefix(['$', '@']).unwrap_or(&path).to_owned();
    let bracketed_name = path.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let path = match bracketed_name.filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    {
        Some(name) if name.parse::<u64>().is_err() && !name.is_empty() => format!("[\"{name}\"]"),
        // A symbol of Ruby.
        _ if path.starts_with(':') && Pattern::parse(&format!("[{path}]")).is_ok() => format!("[{path}]"),
        _ if path.starts_with(['.', '[']) => path,
        _ => format!(".{path}"),
    };
    (path.len() > 1 && path != text && Pattern::parse(&path).is_ok()).then_some(path)
}

/// Returns the error for a path that an option or argument takes.
pub fn path_error(path: &str, error: icecore::Error) -> Abort {
    match suggest_path(path) {
        Some(suggestion) => {
            let is_name = suggestion.strip_prefix('.') == Some(path) && !path.contains(['.', '[', '"']);
            let search = if is_name { format!(" (or `..{}` at any depth)", printable(path)) } else { String::new() };
            let (path, suggestion) = (printable(path), printable(&suggestion));
            usage_text_error(format!("`{path}` is not a path; did you mean `{suggestion}`?{search}"))
        }
        None => usage_error(error),
    }
}

/// Returns the advice to use the path of a value further inside.
pub fn deeper_path_advice(path: &str) -> String {
    format!("did you mean `{}`?", printable(path))
}

/// Returns the error for an invalid path of `get`, whose arguments may be in the wrong order.
pub fn get_path_error(path: &str, files: &[PathBuf], error: icecore::Error) -> Abort {
    let second_argument = files.first().and_then(|file| file.to_str());
    if Path::new(path).exists() {
        let is_path = |text: &&str| Pattern::parse(text).is_ok();
        let suggested_path = second_argument
            .and_then(|text| Some(text).filter(is_path).map(str::to_owned).or_else(|| suggest_path(text)));
        return usage_text_error(match suggested_path {
            Some(suggested_path) => {
                format!("the path comes first: icecore get '{}' {}", printable(&suggested_path), printable(path))
            }
            None => {
                format!("`{0}` is a file, and the path comes first: icecore get '$.name[0]' {0}", printable(path))
            }
        });
    }
    let is_swapped =
        |text: &&str| text.starts_with(['.', '$']) && Pattern::parse(text).is_ok() && !Path::new(text).exists();
    match second_argument.filter(is_swapped) {
        Some(suggested_path) => usage_text_error(format!(
            "the path comes first: icecore get '{}' {}",
            printable(suggested_path),
            printable(path)
        )),
        None => path_error(path, error),
    }
}

/// Returns a path with the `$` of the root, as the database contains it.
#[cfg(feature = "store")]
pub fn rooted_path(path: &str) -> Result<String, Abort> {
    let full_path = if path.starts_with(['.', '[']) { format!("${path}") } else { path.to_owned() };
    if full_path.starts_with('$') && Pattern::parse(&full_path).is_ok() {
        return Ok(full_path);
    }
    match Pattern::parse(&full_path) {
        Err(error) => Err(path_error(path, error)),
        Ok(_) => {
            Err(usage_text_error(format!("`{}` is not a path: it begins with $, such as $.user.id", printable(path))))
        }
    }
}

/// Returns the error for an invalid filter, such as a file in its place or a name without its dot. `is_filter`
/// returns true for a valid filter.
pub fn filter_error(filter: &str, files: &[PathBuf], mistake: &str, is_filter: impl Fn(&str) -> bool) -> Abort {
    if Path::new(filter).exists() {
        let filter_argument =
            files.first().and_then(|file| file.to_str()).filter(|text| is_filter(text) && !Path::new(text).is_file());
        let suggested_filter = filter_argument.unwrap_or(".");
        return usage_text_error(format!(
            "the filter comes first: icecore query '{}' {}",
            printable(suggested_filter),
            printable(filter)
        ));
    }
    let is_name = filter.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte));
    let with_dot = format!(".{filter}");
    if is_name && !filter.starts_with(['.', '[']) && !mistake.contains("did you mean") && is_filter(&with_dot) {
        return usage_text_error(format!("{mistake}; did you mean `{}`?", printable(&with_dot)));
    }
    match filter_of_path(filter).filter(|suggestion| is_filter(suggestion)) {
        Some(suggestion) => usage_text_error(format!(
            "`{}` is a path, as `icecore get` takes it; the filter is `{}`",
            printable(filter),
            printable(&suggestion)
        )),
        None => usage_text_error(mistake),
    }
}

/// Returns the filter that does what a path does; `None` if the text is not a path.
fn filter_of_path(path: &str) -> Option<String> {
    Pattern::parse(path).ok()?;
    let mut filter = path.strip_prefix('$').unwrap_or(path).replace("[*]", "[]").replace(".*", "[]");
    // The visibility of a property is a part of its name for `get` only.
    for visibility in [":protected", ":private"] {
        while let Some((before, after)) = filter.split_once(visibility) {
            let name_start = before.rsplit_once(['.', '[']).map_or(0, |(start, _)| start.len());
            let end = before[name_start..].find(':').map_or(before.len(), |colon| name_start + colon);
            filter = format!("{}{after}", &before[..end]);
        }
    }
    if let Some((before, name)) = filter.split_once("..").filter(|(_, name)| !name.is_empty()) {
        let start = if before.is_empty() { String::new() } else { format!("{before} | ") };
        filter = format!("{start}.. | .{name}? // empty");
    }
    // A name with a sigil is a key in quotes.
    while let Some((before, after)) = filter.split_once(".@") {
        let len = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        filter = format!("{before}.\"@{}\"{}", &after[..len], &after[len..]);
    }
    (filter != path).then_some(filter)
}

#[cfg(test)]
mod tests {
    use super::suggest_path;

    #[test]
    fn paths_of_other_languages_are_understood() {
        for (text, path) in [
            ("user", Some(".user")),
            ("user.role", Some(".user.role")),
            ("$user", Some(".user")),
            ("[user]", Some("[\"user\"]")),
            ("['user']", Some("[\"user\"]")),
            (".[\"user\"]", Some("[\"user\"]")),
            (".[0]", Some("[0]")),
            (".a[]", Some(".a[*]")),
            (".a.", Some(".a")),
            ("/a/b", Some(".a.b")),
            ("#/a/b", Some(".a.b")),
            ("a->b", Some(".a.b")),
            ("a[", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(suggest_path(text).as_deref(), path, "{text}");
        }
    }
}
