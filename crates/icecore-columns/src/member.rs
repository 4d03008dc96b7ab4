//! Names of members, in languages and in columns.

/// Returns the name of a member without PHP's class and visibility marks.
pub(crate) fn bare(name: &[u8]) -> &[u8] {
    split(name).map_or(name, |(_, member)| member)
}

/// Returns the name with its class, `Class::member` for a private one or `*::member` for a protected one; for members
/// whose bare name is also the name of another member.
pub(crate) fn qualified(name: &[u8]) -> Option<Vec<u8>> {
    split(name).map(|(class, member)| [class, b"::", member].concat())
}

fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = name.strip_prefix(b"\0")?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some((&rest[..end], &rest[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{bare, qualified};

    #[test]
    fn marks_of_php() {
        assert_eq!(
            (bare(b"\0App\\C\0x"), bare(b"\0*\0x"), bare(b"x"), bare(b"\0x")),
            (&b"x"[..], &b"x"[..], &b"x"[..], &b"\0x"[..])
        );
        assert_eq!(qualified(b"\0App\\C\0x").as_deref(), Some(&b"App\\C::x"[..]));
        assert_eq!(qualified(b"x"), None);
    }
}
