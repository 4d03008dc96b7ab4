//! All commands that are sent. None of them writes.

/// A Redis command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Auth,
    Select,
    Scan,
    Type,
    Pttl,
    Strlen,
    Get,
    Hscan,
    Hget,
    Lrange,
    Lindex,
    Sscan,
    Zscan,
    Xrange,
}

impl Command {
    fn word(self) -> &'static str {
        match self {
            Command::Auth => "AUTH",
            Command::Select => "SELECT",
            Command::Scan => "SCAN",
            Command::Type => "TYPE",
            Command::Pttl => "PTTL",
            Command::Strlen => "STRLEN",
            Command::Get => "GET",
            Command::Hscan => "HSCAN",
            Command::Hget => "HGET",
            Command::Lrange => "LRANGE",
            Command::Lindex => "LINDEX",
            Command::Sscan => "SSCAN",
            Command::Zscan => "ZSCAN",
            Command::Xrange => "XRANGE",
        }
    }

    /// Appends the command with its arguments.
    pub(super) fn put(self, arguments: &[&[u8]], out: &mut Vec<u8>) {
        out.extend_from_slice(format!("*{}\r\n", arguments.len() + 1).as_bytes());
        for part in std::iter::once(self.word().as_bytes()).chain(arguments.iter().copied()) {
            out.extend_from_slice(format!("${}\r\n", part.len()).as_bytes());
            out.extend_from_slice(part);
            out.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn a_command_is_an_array_of_strings() {
        let mut out = Vec::new();
        Command::Get.put(&[b"a\r\n"], &mut out);
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$3\r\na\r\n\r\n");
    }
}
