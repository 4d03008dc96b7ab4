//! An HTTP/1.1 client that keeps its connection. It accepts only answers with a length. Any other answer is an error,
//! so that its time is not recorded.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Maximum length of a line in a head.
const MAX_LINE_LEN: u64 = 8 << 10;

/// Maximum number of lines in a head.
const MAX_HEAD_LINES: usize = 100;

/// Maximum length of a body.
const MAX_BODY_LEN: u64 = 1 << 20;

/// An answer of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    /// Whether the connection can be used again.
    pub keeps_connection: bool,
}

/// A connection.
pub(crate) struct Client {
    address: SocketAddr,
    timeout: Duration,
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, timeout: Duration) -> Result<Client, Error> {
        Ok(Client { address, timeout, stream: open_stream(address, timeout)? })
    }

    /// Requests a path, and waits for the answer.
    pub(crate) fn get(&mut self, path: &str) -> Result<Reply, Error> {
        self.send_request(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
    }

    /// Sends JSON to a path with this method, and waits for the answer.
    pub(crate) fn send_json(&mut self, method: &str, path: &str, json: &[u8]) -> Result<Reply, Error> {
        // Head and body are written by one call, so that a small request is one packet.
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            json.len()
        )
        .into_bytes();
        request.extend_from_slice(json);
        self.send_request(&request)
    }

    fn send_request(&mut self, request: &[u8]) -> Result<Reply, Error> {
        self.stream.get_mut().write_all(request)?;
        let reply = read_reply(&mut self.stream)?;
        if !reply.keeps_connection {
            self.stream = open_stream(self.address, self.timeout)?;
        }
        Ok(reply)
    }
}

fn open_stream(address: SocketAddr, timeout: Duration) -> Result<BufReader<TcpStream>, Error> {
    let stream = TcpStream::connect_timeout(&address, timeout)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    Ok(BufReader::new(stream))
}

fn invalid_data(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, message.into())
}

/// Reads one answer.
pub(crate) fn read_reply(input: &mut impl BufRead) -> Result<Reply, Error> {
    let first = read_line(input)?;
    let status = first
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3).filter(|_| matches!(rest.as_bytes().get(3), None | Some(b' '))))
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| invalid_data(format!("not a first line of HTTP/1.1: {first:?}")))?;
    if !(200..300).contains(&status) {
        // The body of an error is not needed. It is not read, so the connection can't be used again.
        return Ok(Reply { status, body: Vec::new(), keeps_connection: false });
    }
    let (length, keep) = read_head(input)?;
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        return Err(Error::new(ErrorKind::UnexpectedEof, format!("{} bytes of a body of {length}", body.len())));
    }
    Ok(Reply { status, body, keeps_connection: keep })
}

/// Reads the head. Returns the length of the body, and whether the connection stays open.
fn read_head(input: &mut impl BufRead) -> Result<(u64, bool), Error> {
    let mut length = None;
    let mut keep = true;
    for _ in 0..MAX_HEAD_LINES {
        let line = read_line(input)?;
        if line.is_empty() {
            let length = length.ok_or_else(|| invalid_data("the answer does not say how long it is"))?;
            return Ok((length, keep));
        }
        let (name, value) =
            line.split_once(':').ok_or_else(|| invalid_data(format!("not a field of a head: {line:?}")))?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" if length.is_some() => return Err(invalid_data("two lengths")),
            "content-length" => length = Some(parse_length(value)?),
            "transfer-encoding" => return Err(invalid_data(format!("the answer is {value}, which is not supported"))),
            "connection" => keep = !value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    Err(invalid_data(format!("a head of more than {MAX_HEAD_LINES} lines")))
}

fn parse_length(digits: &str) -> Result<u64, Error> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number);
    number
        .filter(|length| *length <= MAX_BODY_LEN)
        .ok_or_else(|| invalid_data(format!("not the length of a body: {digits:?}")))
}

fn read_line(input: &mut impl BufRead) -> Result<String, Error> {
    let mut line = Vec::new();
    input.take(MAX_LINE_LEN).read_until(b'\n', &mut line)?;
    match line.strip_suffix(b"\r\n") {
        Some(line) => String::from_utf8(line.to_vec()).map_err(|_| invalid_data("a head that is not text")),
        None if line.is_empty() => Err(Error::new(ErrorKind::UnexpectedEof, "the server closed the connection")),
        None => Err(invalid_data("a line of the head without an end")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Result<(Reply, usize), String> {
        let reply = read_reply(&mut bytes).map_err(|error| error.to_string())?;
        Ok((reply, bytes.len()))
    }

    #[test]
    fn answers_end_after_their_content_length() {
        let text = b"HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length:  5 \r\n\r\nhelloHTTP/1.1 404";
        let (reply, rest) = read(text).expect("it is an answer");
        assert_eq!(reply, Reply { status: 200, body: b"hello".to_vec(), keeps_connection: true });
        assert_eq!(rest, 12);
        let (reply, _) = read(b"HTTP/1.1 200\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n").expect("an answer");
        assert_eq!(reply, Reply { status: 200, body: Vec::new(), keeps_connection: false });
        let (reply, _) = read(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}").expect("an answer");
        assert_eq!(reply, Reply { status: 201, body: b"{}".to_vec(), keeps_connection: true });
        let (reply, _) = read(b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n").expect("an answer");
        assert_eq!(reply, Reply { status: 500, body: Vec::new(), keeps_connection: false });
    }

    #[test]
    fn unexpected_answers_are_errors() {
        let long = [b"HTTP/1.1 200 OK\r\nA: ".as_slice(), &vec![b'a'; 10_000], b"\r\n\r\n"].concat();
        let many = [b"HTTP/1.1 200 OK\r\n".to_vec(), b"A: b\r\n".repeat(200)].concat();
        let cases: [(&[u8], &str); 14] = [
            (b"", "closed"),
            (b"HTTP/1.0 200 OK\r\n\r\n", "first line"),
            (b"HTTP/1.1 +20 OK\r\n\r\n", "first line"),
            (b"HTTP/1.1 2000 OK\r\n\r\n", "first line"),
            (b"HTTP/1.1 200 OK\n", "without an end"),
            (b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "how long"),
            (b"HTTP/1.1 200 OK\r\nA: b\r\n", "closed"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", "length"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "length"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "two lengths"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "4 bytes of a body of 5"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "chunked"),
            (&long, "without an end"),
            (&many, "more than 100 lines"),
        ];
        for (bytes, expected) in cases {
            let error = read(bytes).expect_err("it is not an answer");
            assert!(error.contains(expected), "{error}, expected {expected}");
        }
    }
}
