//! Checks whether a text is well-formed, as far as pages and charts need it.

/// Elements by name, each with its attributes.
pub type Elements = Vec<(String, Vec<(String, String)>)>;

/// Returns all elements in order; an error says what is wrong and where.
pub fn elements(text: &str) -> Result<Elements, String> {
    let mut found = vec![];
    let mut open: Vec<String> = vec![];
    let mut rest = text.strip_prefix("<!DOCTYPE html>").unwrap_or(text);
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at])?;
        let end = rest[at..].find('>').ok_or("a tag without end")? + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            if last.as_deref() != Some(name) {
                return Err(format!("</{name}> closes {last:?}"));
            }
            continue;
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(format!("no name of an element: {name:?}"));
        }
        found.push((name.to_owned(), parse_attributes(attributes)?));
        if !empty {
            open.push(name.to_owned());
        }
        if name == "style" && !empty {
            let end = rest.find("</style>").ok_or("a style without end")?;
            rest = &rest[end..];
        }
    }
    check_text(rest)?;
    if open.is_empty() { Ok(found) } else { Err(format!("not closed: {open:?}")) }
}

fn parse_attributes(mut text: &str) -> Result<Vec<(String, String)>, String> {
    let mut out: Vec<(String, String)> = vec![];
    while !text.trim().is_empty() {
        let (name, after) = text.trim_start().split_once("=\"").ok_or_else(|| format!("no attribute: {text:?}"))?;
        let (value, after) = after.split_once('"').ok_or_else(|| format!("no end of a value: {after:?}"))?;
        check_text(value)?;
        if out.iter().any(|(other, _)| other == name) || name.contains(char::is_whitespace) {
            return Err(format!("{name:?} stands twice, or has no value"));
        }
        out.push((name.to_owned(), value.to_owned()));
        text = after;
    }
    Ok(out)
}

/// Checks text between tags: each & begins an entity of XML, and no character is forbidden.
fn check_text(text: &str) -> Result<(), String> {
    if let Some(c) = text.chars().find(|c| c.is_control() && *c != '\n' || ['<', '>', '\u{ffff}'].contains(c)) {
        return Err(format!("{c:?} in {text:?}"));
    }
    for part in text.split('&').skip(1) {
        if !["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| part.starts_with(name)) {
            return Err(format!("not escaped: &{part:?}"));
        }
    }
    Ok(())
}

#[test]
fn malformed_xml_is_detected() {
    assert_eq!(elements("<p class=\"a\">x &amp; y<br/></p>").map(|e| e.len()), Ok(2));
    for wrong in [
        "<p>",
        "</p>",
        "<p><b></p></b>",
        "<p>a & b</p>",
        "<p class=a></p>",
        "<p a=\"1\" a=\"2\"/>",
        "a > b",
        "<p a=\"<\"/>",
        "<>",
    ] {
        assert!(elements(wrong).is_err(), "{wrong}");
    }
}
