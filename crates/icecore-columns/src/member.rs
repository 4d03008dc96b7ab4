//! Names of members of objects, in programs and in columns.

/// Returns the name of a member without PHP's class and visibility marks.
pub(crate) fn strip_php_marks(name: &[u8]) -> &[u8] {
    split_mangled_name(name).map_or(name, |(_, member)| member)
}

/// Returns the name with its class: `Class::member` for a private member, `*::member` for a protected one. This name
/// is used if another member has the same bare name. Returns `None` for a name without marks.
pub(crate) fn qualify_name(name: &[u8]) -> Option<Vec<u8>> {
    split_mangled_name(name).map(|(class, member)| [class, b"::", member].concat())
}

fn split_mangled_name(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = name.strip_prefix(b"\0")?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some((&rest[..end], &rest[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{qualify_name, strip_php_marks};

    #[test]
    fn php_marks_of_members_are_stripped() {
        assert_eq!(
            (
                strip_php_marks(b"\0App\\C\0x"),
                strip_php_marks(b"\0*\0x"),
                strip_php_marks(b"x"),
                strip_php_marks(b"\0x")
            ),
            (&b"x"[..], &b"x"[..], &b"x"[..], &b"\0x"[..])
        );
        assert_eq!(qualify_name(b"\0App\\C\0x").as_deref(), Some(&b"App\\C::x"[..]));
        assert_eq!(qualify_name(b"x"), None);
    }
}
