//! A connection to an untrusted server. The size of answers, and the time for which the server may be silent, are
//! limited.

use super::server_address::{Host, ServerAddress};
use crate::error::{Error, ErrorKind, Result};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Maximum length of a line in bytes. This is enough, because a memcached key has at most 250 bytes, and a Redis
/// error is one sentence.
const MAX_LINE_LEN: usize = 16 << 10;
/// Maximum timeout for connecting, even if the address has a longer one.
const MAX_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Size of the read buffer.
const READ_BUFFER_LEN: usize = 64 << 10;

/// The stream below a connection.
trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

pub(super) struct ServerConnection {
    stream: BufReader<Box<dyn Stream>>,
    /// Bytes that are to be sent.
    pub(super) out: Vec<u8>,
    display_address: String,
    patience: Duration,
}

impl ServerConnection {
    pub(super) fn open(server: &ServerAddress) -> Result<ServerConnection> {
        let away_error = |error: io::Error| {
            Error::new(
                ErrorKind::Away,
                format!("{}: {}", server.display_address, icecore::text::printable(&error.to_string())),
            )
        };
        let stream = connect_stream(server).map_err(away_error)?;
        Ok(ServerConnection {
            stream: BufReader::with_capacity(READ_BUFFER_LEN, stream),
            out: Vec::new(),
            display_address: server.display_address.clone(),
            patience: server.patience,
        })
    }

    /// Sends the bytes in `out`.
    pub(super) fn send_request(&mut self) -> Result<()> {
        let stream = self.stream.get_mut();
        let sent = stream.write_all(&self.out).and_then(|()| stream.flush());
        self.out.clear();
        sent.map_err(|error| self.connection_lost_error(&error))
    }

    /// Reads a line into `out` without its line ending. Previous content is dropped.
    pub(super) fn read_line(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        loop {
            let buffered = fill_buffer(&mut self.stream)
                .map_err(|error| connection_lost_error(&self.display_address, self.patience, &error))?;
            let end = buffered.iter().position(|byte| *byte == b'\n').map(|index| index + 1);
            let consumed = end.unwrap_or(buffered.len());
            if out.len() + consumed > MAX_LINE_LEN {
                return Err(self.protocol_error("a line without an end"));
            }
            out.extend_from_slice(&buffered[..consumed]);
            self.stream.consume(consumed);
            if end.is_some() {
                // memcached ends the lines of its key list with and without a carriage return.
                let line = out.strip_suffix(b"\n").unwrap_or(out);
                out.truncate(line.strip_suffix(b"\r").unwrap_or(line).len());
                return Ok(());
            }
        }
    }

    /// Appends this many bytes, and reads the line ending after them. Memory grows with the received data, not with the
    /// announced length.
    pub(super) fn read_bytes(&mut self, count: u64, out: &mut Vec<u8>) -> Result<()> {
        let mut remaining = count;
        while remaining > 0 {
            let buffered = fill_buffer(&mut self.stream)
                .map_err(|error| connection_lost_error(&self.display_address, self.patience, &error))?;
            let consumed = usize::try_from(remaining).unwrap_or(usize::MAX).min(buffered.len());
            out.extend_from_slice(&buffered[..consumed]);
            self.stream.consume(consumed);
            remaining -= consumed as u64;
        }
        let mut end = [0; 2];
        self.stream.read_exact(&mut end).map_err(|error| self.connection_lost_error(&error))?;
        if end == *b"\r\n" {
            Ok(())
        } else {
            Err(self.protocol_error("a value whose length differs from the announced one"))
        }
    }

    /// Returns the error for an answer that violates the protocol.
    pub(super) fn protocol_error(&self, description: &str) -> Error {
        Error::new(ErrorKind::Database, format!("{}: the server sent {description}", self.display_address))
    }

    /// Returns the error that the server sent instead of an answer.
    pub(super) fn server_error(&self, message: &[u8]) -> Error {
        Error::new(ErrorKind::Database, format!("{}: {}", self.display_address, super::quote_message(message)))
    }

    /// Returns the error for a value that is too long, or for another answer if `key` is empty.
    pub(super) fn too_long_error(&self, key: &[u8], max_value_len: u64) -> Error {
        let subject = match key {
            [] => "an answer has".to_owned(),
            key => format!("under the key `{}` is", super::quote_message(super::spell_key(key).as_bytes())),
        };
        Error::new(
            ErrorKind::Input,
            format!("{}: {subject} more than the {max_value_len} bytes that are allowed", self.display_address),
        )
    }

    fn connection_lost_error(&self, error: &io::Error) -> Error {
        connection_lost_error(&self.display_address, self.patience, error)
    }
}

/// Returns buffered bytes, at least one.
fn fill_buffer(stream: &mut BufReader<Box<dyn Stream>>) -> io::Result<&[u8]> {
    loop {
        match stream.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
            Ok([]) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => break,
        }
    }
    // The borrow checker does not let the loop return the slice of its call. This second call only returns the
    // buffer.
    stream.fill_buf()
}

fn connection_lost_error(display_address: &str, patience: Duration, error: &io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("no answer for {} s (?timeout=SECONDS in the address sets how long to wait)", patience.as_secs())
        }
        io::ErrorKind::UnexpectedEof => "the server closed the connection in the middle of an answer".to_owned(),
        _ => icecore::text::printable(&error.to_string()).into_owned(),
    };
    Error::new(ErrorKind::Away, format!("{display_address}: {reason}"))
}

fn connect_stream(server: &ServerAddress) -> io::Result<Box<dyn Stream>> {
    match &server.host {
        Host::Tcp(host, port) => {
            let stream = connect_tcp(host, *port, server.patience.min(MAX_CONNECT_TIMEOUT))?;
            stream.set_read_timeout(Some(server.patience))?;
            stream.set_write_timeout(Some(server.patience))?;
            stream.set_nodelay(true)?;
            encrypt_stream(server, host, stream)
        }
        #[cfg(unix)]
        Host::Unix(path) => {
            let stream = std::os::unix::net::UnixStream::connect(path)?;
            stream.set_read_timeout(Some(server.patience))?;
            stream.set_write_timeout(Some(server.patience))?;
            Ok(Box::new(stream))
        }
        #[cfg(not(unix))]
        Host::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Connects to the first address of the host that answers.
fn connect_tcp(host: &str, port: u16, patience: Duration) -> io::Result<TcpStream> {
    let mut last_error = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => return Ok(stream),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

#[cfg(all(feature = "redis", feature = "tls"))]
fn encrypt_stream(server: &ServerAddress, host: &str, stream: TcpStream) -> io::Result<Box<dyn Stream>> {
    use rustls::pki_types::ServerName;
    let Some(tls) = &server.tls else { return Ok(Box::new(stream)) };
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let config = crate::driver::tls::client_config(tls).map_err(io::Error::other)?;
    let connection = rustls::ClientConnection::new(std::sync::Arc::new(config), name).map_err(io::Error::other)?;
    Ok(Box::new(rustls::StreamOwned::new(connection, stream)))
}

#[cfg(not(all(feature = "redis", feature = "tls")))]
fn encrypt_stream(_: &ServerAddress, _: &str, stream: TcpStream) -> io::Result<Box<dyn Stream>> {
    Ok(Box::new(stream))
}
