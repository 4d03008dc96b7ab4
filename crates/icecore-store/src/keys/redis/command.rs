//! All commands that are sent. None of them writes.

/// A Redis command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedisCommand {
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

impl RedisCommand {
    fn name(self) -> &'static str {
        match self {
            RedisCommand::Auth => "AUTH",
            RedisCommand::Select => "SELECT",
            RedisCommand::Scan => "SCAN",
            RedisCommand::Type => "TYPE",
            RedisCommand::Pttl => "PTTL",
            RedisCommand::Strlen => "STRLEN",
            RedisCommand::Get => "GET",
            RedisCommand::Hscan => "HSCAN",
            RedisCommand::Hget => "HGET",
            RedisCommand::Lrange => "LRANGE",
            RedisCommand::Lindex => "LINDEX",
            RedisCommand::Sscan => "SSCAN",
            RedisCommand::Zscan => "ZSCAN",
            RedisCommand::Xrange => "XRANGE",
        }
    }

    /// Appends the command with its arguments.
    pub(super) fn write_request(self, arguments: &[&[u8]], out: &mut Vec<u8>) {
        out.extend_from_slice(format!("*{}\r\n", arguments.len() + 1).as_bytes());
        for part in std::iter::once(self.name().as_bytes()).chain(arguments.iter().copied()) {
            out.extend_from_slice(format!("${}\r\n", part.len()).as_bytes());
            out.extend_from_slice(part);
            out.extend_from_slice(b"\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RedisCommand;

    #[test]
    fn commands_are_sent_as_arrays_of_strings() {
        let mut out = Vec::new();
        RedisCommand::Get.write_request(&[b"a\r\n"], &mut out);
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$3\r\na\r\n\r\n");
    }
}
