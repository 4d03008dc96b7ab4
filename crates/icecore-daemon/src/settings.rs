//! Settings of the daemon.

use icecore_store::{Address, Backend, Reopener, Runner, Scheme, Stop};
use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Opens the database. Each thread calls this once, and again after its connection was lost.
pub type Opener = Arc<dyn Fn() -> icecore_store::Result<Box<dyn Backend>> + Send + Sync>;

/// Request rate allowed for an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Requests per second, on average.
    pub per_second: f64,
    /// Requests at once after a pause.
    pub burst: f64,
}

/// A network, such as `10.0.0.0/8` or `2001:db8::/32`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Returns whether an address belongs to the network.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                // With 0 bits, the shift would be as long as the number: `checked_shr` then returns `None`.
                let difference = network.to_bits() ^ address.to_bits();
                difference.checked_shr(32 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let difference = network.to_bits() ^ address.to_bits();
                difference.checked_shr(128 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// Error for a text that is not a network.
#[derive(Debug)]
pub struct InvalidNetwork(String);

impl fmt::Display for InvalidNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a network; use 10.0.0.0/8, 2001:db8::/32 or an address", self.0)
    }
}

impl std::error::Error for InvalidNetwork {}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Network, InvalidNetwork> {
        let invalid = || InvalidNetwork(text.to_owned());
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let max_bits = if address.is_ipv4() { 32 } else { 128 };
        let bits: u8 = match bits {
            None => max_bits,
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => bits.parse().map_err(|_| invalid())?,
            Some(_) => return Err(invalid()),
        };
        if bits > max_bits {
            return Err(invalid());
        }
        // An IPv4 address written as an IPv6 address.
        let is_mapped = address.is_ipv6() && address.to_canonical().is_ipv4();
        Ok(match bits.checked_sub(96) {
            Some(bits) if is_mapped => Network { address: address.to_canonical(), bits },
            _ => Network { address, bits },
        })
    }
}

/// Settings of the daemon.
#[derive(Clone)]
pub struct Settings {
    /// Opens the database.
    pub open: Opener,
    /// Whether the database allows one writer at a time, like SQLite. Then the threads take turns, so that none of
    /// them has to sleep and retry.
    pub one_writer: bool,
    /// Address to listen on: `127.0.0.1:7340`. With port 0, the system chooses a port.
    pub listen: String,
    /// Token that clients must send, as `Authorization: Bearer TOKEN`. Without a token, the daemon listens on
    /// loopback addresses only.
    pub token: Option<String>,
    /// Commands for jobs that run immediately, per queue.
    pub commands: HashMap<String, Arc<dyn Runner>>,
    /// Ends running commands when the daemon ends. The commands must have a clone of it.
    pub stop: Stop,
    /// Disables the request log on the standard error output.
    pub quiet: bool,
    /// Whether each line of the request log is a JSON object.
    pub json_journal: bool,
    /// Maximum length of a body in bytes.
    pub max_body_len: usize,
    /// Maximum number of bytes of bodies in memory, for all requests.
    pub max_body_memory: usize,
    /// Maximum number of known connections. A few more are accepted, for `/healthz` and for clients that have not
    /// sent a request yet.
    pub max_connections: usize,
    /// Maximum number of connections of an address that have not sent a complete request, or none with the token. For
    /// IPv6, a /64 counts as one address.
    pub max_connections_per_address: usize,
    /// Proxies that are exempt from this limit, because they have the connections of many clients.
    pub trusted_proxies: Vec<Network>,
    /// Request rate allowed for an address. `None` means no limit.
    pub rate: Option<Rate>,
    /// How long a client may take for the head of a request, or leave a connection unused.
    pub head_timeout: Duration,
    /// How long a client may take to send the body, and how long it may read nothing of an answer.
    pub body_timeout: Duration,
    /// How long the database may take for an answer.
    pub database_timeout: Duration,
    /// How long running requests get when the daemon ends.
    pub grace: Duration,
    /// Number of threads that use the database, in addition to those that store and record.
    pub database_threads: usize,
    /// Maximum number of requests that wait for the database. Further requests are refused, and the client is asked
    /// to try again.
    pub max_waiting_requests: usize,
    /// Maximum number of commands that run at the same time for `run=now`.
    pub max_commands: usize,
    /// Length of a lease for `run=now`.
    pub lease: Duration,
    /// How long done and dead jobs are kept. `None` means forever.
    pub keep_jobs: Option<Duration>,
    /// Called with the address when the daemon listens.
    pub ready: Option<Arc<dyn Fn(SocketAddr) + Send + Sync>>,
}

impl Settings {
    /// Creates default settings for this database.
    pub fn new(address: Address) -> Settings {
        let one_writer = address.scheme() == Scheme::Sqlite;
        let database = Reopener::new(address);
        let mut settings = Settings::with_opener(Arc::new(move || database.open()));
        settings.one_writer = one_writer;
        settings
    }

    /// Creates default settings for a database that is opened by this function.
    pub fn with_opener(open: Opener) -> Settings {
        Settings {
            open,
            one_writer: false,
            listen: "127.0.0.1:7340".to_owned(),
            token: None,
            commands: HashMap::new(),
            stop: Stop::new(),
            quiet: false,
            json_journal: false,
            max_body_len: 16 << 20,
            max_body_memory: 256 << 20,
            max_connections: 1024,
            max_connections_per_address: 256,
            trusted_proxies: Vec::new(),
            rate: None,
            head_timeout: Duration::from_secs(20),
            body_timeout: Duration::from_secs(60),
            database_timeout: Duration::from_secs(20),
            grace: Duration::from_secs(7),
            database_threads: 4,
            max_waiting_requests: 4096,
            max_commands: 32,
            lease: Duration::from_secs(60),
            keep_jobs: None,
            ready: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Contains neither the token nor the address of the database.
        f.debug_struct("Settings").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// Why the daemon can't start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The address can be reached from other machines, and there is no token.
    NoToken(SocketAddr),
    /// The address can't be listened on.
    Listen(String, std::io::Error),
    /// The system can't start threads.
    Threads(std::io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NoToken(address) => {
                write!(f, "{address} can be reached from other machines, which needs a token; or listen on 127.0.0.1")
            }
            StartError::Listen(address, error) if error.kind() == std::io::ErrorKind::InvalidInput => {
                write!(f, "{address} is not an address to listen on; use HOST:PORT, such as 127.0.0.1:7340")
            }
            StartError::Listen(address, error) => write!(f, "can't listen on {address}: {error}"),
            StartError::Threads(error) => write!(f, "can't start threads: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::NoToken(_) => None,
            StartError::Listen(_, error) | StartError::Threads(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_addresses() {
        for (network, inside, outside) in [
            (
                "10.0.0.0/8",
                &["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"][..],
                &["11.0.0.0", "9.255.255.255", "::1"][..],
            ),
            ("10.1.2.3", &["10.1.2.3"], &["10.1.2.2", "10.1.2.4"]),
            ("10.1.2.3/31", &["10.1.2.2", "10.1.2.3"], &["10.1.2.1", "10.1.2.4"]),
            ("0.0.0.0/0", &["0.0.0.0", "255.255.255.255"], &["::1"]),
            ("2001:db8::/32", &["2001:db8::", "2001:db8:ffff::1"], &["2001:db9::", "10.0.0.1"]),
            ("::1", &["::1"], &["::2", "127.0.0.1"]),
            ("::/0", &["::", "ffff::"], &["10.0.0.1", "::ffff:10.0.0.1"]),
            ("::ffff:10.0.0.0/104", &["10.1.2.3", "::ffff:10.1.2.3"], &["11.0.0.0"]),
        ] {
            let parsed: Network = network.parse().expect("a network");
            for (addresses, is_inside) in [(inside, true), (outside, false)] {
                for address in addresses {
                    let address = address.parse().expect("an address");
                    assert_eq!(parsed.contains(address), is_inside, "{network} {address}");
                }
            }
        }
        for none in [
            "",
            "/",
            "/8",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.0.0.0/-1",
            "10.0.0.0/8/8",
            "10.0.0/8",
            "10/8",
            "::/129",
            "::1%lo",
            "[::1]",
            "localhost",
            " 10.0.0.1",
            "10.0.0.1:80",
            "10.0.0.0/256",
            "10.0.0.0/255.0.0.0",
        ] {
            assert!(none.parse::<Network>().is_err(), "{none}");
        }
    }
}
