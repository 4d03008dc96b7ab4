//! Decides which connections are kept when many are open.
//!
//! Opening a connection and sending half of a request costs a client nothing. So a connection counts as a stranger
//! until it has sent an authorized request. This is a request with the token or, if the daemon has no token, any
//! complete request. Known connections may use all places except a few that are reserved for strangers. Strangers use
//! the remaining places, and the oldest stranger is closed for the next one. So a client that sends a complete
//! request is answered, even if there are many strangers.

use crate::limits::client_network;
use crate::settings::{Network, Settings};
use crate::shutdown::select_first;
use crate::threads::lock_ignoring_poison;
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};

/// Minimum number of places for strangers, for `/healthz` and for clients that are about to
/// send their token. There are fewer if the system allows few files.
const STRANGER_PLACES: usize = 128;
/// How long a new stranger is not closed. A client can send a request in this time.
const GRACE_PERIOD: Duration = Duration::from_millis(500);
/// Number of files that the daemon needs in addition to connections.
const OTHER_FILES: usize = 128;

/// The open connections.
pub struct Connections {
    max_known: usize,
    stranger_places: usize,
    max_strangers_per_network: usize,
    trusted: Vec<Network>,
    table: Mutex<ConnectionTable>,
    /// Notified when a connection ends.
    place_freed: Notify,
}

#[derive(Default)]
struct ConnectionTable {
    /// Id of the next connection.
    next_id: u64,
    open: HashMap<u64, OpenConnection>,
    /// Number of known connections.
    known_count: usize,
}

struct OpenConnection {
    /// Network of the client.
    network: IpAddr,
    is_trusted: bool,
    is_known: bool,
    /// Whether a request is being answered.
    is_busy: bool,
    /// When the connection was opened, or its last request was answered.
    since: Instant,
    /// Makes the task of the connection close it.
    closer: oneshot::Sender<()>,
}

impl ConnectionTable {
    /// Returns the connection to close first. This is the oldest of the connections with the lowest rank. Connections
    /// without a rank are not closed.
    fn find_lowest_ranked<K: Ord>(&self, rank: impl Fn(&OpenConnection) -> Option<K>) -> Option<(u64, Instant)> {
        let ranked = self.open.iter().filter_map(|(id, entry)| Some((rank(entry)?, entry.since, *id)));
        ranked.min().map(|(_, since, id)| (id, since))
    }

    /// Returns the stranger to close first. Strangers that come through a trusted proxy have a higher rank, because
    /// `true` is more than `false`, so they are closed last.
    fn find_oldest_stranger(&self) -> Option<(u64, Instant)> {
        self.find_lowest_ranked(|entry| (!entry.is_known).then_some(entry.is_trusted))
    }

    fn find_oldest_idle(&self) -> Option<(u64, Instant)> {
        self.find_lowest_ranked(|entry| (entry.is_known && !entry.is_busy).then_some(()))
    }

    fn remove(&mut self, id: u64) -> Option<OpenConnection> {
        let entry = self.open.remove(&id)?;
        self.known_count -= usize::from(entry.is_known);
        Some(entry)
    }

    /// Closes a connection. It no longer counts.
    fn close(&mut self, id: u64) {
        if let Some(entry) = self.remove(id) {
            let _ = entry.closer.send(());
        }
    }
}

impl Connections {
    pub fn new(settings: &Settings) -> Connections {
        let files = max_open_files();
        // If the system allows few files, half of them are for connections.
        let places = files - OTHER_FILES.min(files / 2);
        let stranger_places = STRANGER_PLACES.min(places / 4);
        let max_known = settings.max_connections.clamp(1, (places - stranger_places).max(1));
        Connections {
            max_known,
            stranger_places,
            max_strangers_per_network: settings.max_connections_per_address.max(1),
            trusted: settings.trusted_proxies.clone(),
            table: Mutex::default(),
            place_freed: Notify::new(),
        }
    }

    /// Returns the maximum number of known connections: the configured number, or fewer if the system allows fewer
    /// files.
    pub fn max_known(&self) -> usize {
        self.max_known
    }

    /// Waits for a free place. If there is none, closes the oldest stranger after its grace period.
    pub async fn wait_for_place(&self) {
        loop {
            let mut freed = pin!(self.place_freed.notified());
            // From here on a notification is kept. So a connection that ends after the check below, but before the
            // wait, is not missed.
            freed.as_mut().enable();
            let wait = {
                let mut table = lock_ignoring_poison(&self.table);
                if table.open.len() < self.max_known + self.stranger_places {
                    return;
                }
                match table.find_oldest_stranger() {
                    Some((id, since)) if since.elapsed() >= GRACE_PERIOD => {
                        table.close(id);
                        return;
                    }
                    Some((_, since)) => GRACE_PERIOD.saturating_sub(since.elapsed()),
                    None => GRACE_PERIOD,
                }
            };
            select_first(freed, tokio::time::sleep(wait)).await;
        }
    }

    /// Registers a connection.
    pub fn register_connection(self: &Arc<Self>, client_address: IpAddr) -> ConnectionSlot {
        let (closer, closed) = oneshot::channel();
        let is_trusted = self.trusted.iter().any(|trusted| trusted.contains(client_address));
        let entry = OpenConnection {
            network: client_network(client_address),
            is_trusted,
            is_known: false,
            is_busy: false,
            since: Instant::now(),
            closer,
        };
        let mut table = lock_ignoring_poison(&self.table);
        let id = table.next_id;
        table.next_id += 1;
        table.open.insert(id, entry);
        ConnectionSlot { connection: ConnectionHandle { id, connections: Arc::clone(self) }, closed }
    }

    /// Closes the oldest strangers of an address that exceed its limit. Proxies are exempt, because they have the
    /// connections of many clients.
    fn close_excess_strangers(&self, id: u64) {
        let mut table = lock_ignoring_poison(&self.table);
        let Some(entry) = table.open.get(&id) else { return };
        let (network, is_trusted) = (entry.network, entry.is_trusted);
        if is_trusted {
            return;
        }
        let is_stranger_of_network =
            |entry: &OpenConnection| !entry.is_known && !entry.is_trusted && entry.network == network;
        let excess = table
            .open
            .values()
            .filter(|entry| is_stranger_of_network(entry))
            .count()
            .saturating_sub(self.max_strangers_per_network);
        for _ in 0..excess {
            match table.find_lowest_ranked(|entry| is_stranger_of_network(entry).then_some(())) {
                Some((id, since)) if since.elapsed() >= GRACE_PERIOD => table.close(id),
                _ => return,
            }
        }
    }

    /// Closes one connection, because no more files can be opened.
    pub fn close_one_connection(&self) {
        let mut table = lock_ignoring_poison(&self.table);
        if let Some((id, _)) = table.find_oldest_stranger().or_else(|| table.find_oldest_idle()) {
            table.close(id);
        }
    }
}

/// Returns how many files the process may have open.
fn max_open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// An open connection. It has its place until this slot is dropped.
pub struct ConnectionSlot {
    pub connection: ConnectionHandle,
    closed: oneshot::Receiver<()>,
}

impl ConnectionSlot {
    /// Waits until the connection has to be closed.
    pub async fn wait_for_eviction(&mut self) {
        if let crate::shutdown::Either::Right(()) =
            select_first(&mut self.closed, tokio::time::sleep(GRACE_PERIOD)).await
        {
            self.connection.connections.close_excess_strangers(self.connection.id);
            let _ = (&mut self.closed).await;
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        lock_ignoring_poison(&self.connection.connections.table).remove(self.connection.id);
        self.connection.connections.place_freed.notify_one();
    }
}

/// Handle with which requests report the state of their connection.
#[derive(Clone)]
pub struct ConnectionHandle {
    id: u64,
    connections: Arc<Connections>,
}

impl ConnectionHandle {
    fn update_entry(&self, change: impl FnOnce(&mut OpenConnection)) {
        if let Some(entry) = lock_ignoring_poison(&self.connections.table).open.get_mut(&self.id) {
            change(entry);
        }
    }

    /// Records that the head of a request was received.
    pub fn begin_request(&self) {
        self.update_entry(|entry| entry.is_busy = true);
    }

    /// Records that the request was answered.
    pub fn end_request(&self) {
        self.update_entry(|entry| (entry.is_busy, entry.since) = (false, Instant::now()));
    }

    /// Returns whether the connection can be closed without loss. This is so if it is a stranger without a
    /// request that is being answered. It is also so if the connection is closed already.
    pub fn is_idle_stranger(&self) -> bool {
        let table = lock_ignoring_poison(&self.connections.table);
        table.open.get(&self.id).is_none_or(|entry| !entry.is_known && !entry.is_busy)
    }

    /// Marks the connection as known. If there are too many known connections, closes the one that has been idle for
    /// the longest time. Returns `false` if all of them have requests, or if this connection was closed in the
    /// meantime.
    #[must_use]
    pub fn mark_known(&self) -> bool {
        let mut table = lock_ignoring_poison(&self.connections.table);
        match table.open.get(&self.id) {
            Some(entry) if entry.is_known => return true,
            Some(_) => {}
            None => return false,
        }
        if table.known_count >= self.connections.max_known {
            let Some((idle, _)) = table.find_oldest_idle() else { return false };
            table.close(idle);
        }
        table.known_count += 1;
        if let Some(entry) = table.open.get_mut(&self.id) {
            entry.is_known = true;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icecore_store::Address;

    fn connections(max_known: usize, max_per_address: usize, proxies: &[&str]) -> Arc<Connections> {
        let address: Address = "sqlite:unused.db".parse().expect("an address");
        let mut settings = Settings::new(address);
        (settings.max_connections, settings.max_connections_per_address) = (max_known, max_per_address);
        settings.trusted_proxies = proxies.iter().map(|network| network.parse().expect("a network")).collect();
        Arc::new(Connections::new(&settings))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Makes all connections older than the grace period.
    fn make_all_old(connections: &Connections) {
        for entry in lock_ignoring_poison(&connections.table).open.values_mut() {
            entry.since = entry.since.checked_sub(GRACE_PERIOD).expect("a time");
        }
    }

    fn is_open(slot: &ConnectionSlot) -> bool {
        lock_ignoring_poison(&slot.connection.connections.table).open.contains_key(&slot.connection.id)
    }

    #[test]
    fn unknown_connections_do_not_displace_known_ones() {
        let connections = connections(2, 1_000, &[]);
        let known: Vec<ConnectionSlot> = (0..2).map(|_| connections.register_connection(ip("10.0.0.1"))).collect();
        assert!(known.iter().all(|slot| slot.connection.mark_known()));
        let strangers: Vec<ConnectionSlot> =
            (0..connections.stranger_places).map(|_| connections.register_connection(ip("10.0.0.2"))).collect();
        make_all_old(&connections);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(connections.wait_for_place());
        let newcomer = connections.register_connection(ip("10.0.0.3"));
        assert_eq!(strangers.iter().filter(|slot| !is_open(slot)).count(), 1);
        assert!(known.iter().all(is_open) && is_open(&newcomer));
        // A third known connection replaces an idle one, but not one with a request.
        known[0].connection.begin_request();
        assert!(newcomer.connection.mark_known());
        assert_eq!((is_open(&known[0]), is_open(&known[1])), (true, false));
        newcomer.connection.begin_request();
        let other = connections.register_connection(ip("10.0.0.3"));
        assert!(!other.connection.mark_known());
        known[0].connection.end_request();
        assert!(other.connection.mark_known());
        drop((known, strangers, newcomer, other));
        let table = lock_ignoring_poison(&connections.table);
        assert_eq!((table.open.len(), table.known_count), (0, 0));
    }

    #[test]
    fn unknown_connections_of_an_address_are_limited() {
        let connections = connections(1_000, 3, &["10.9.0.0/16", "2001:db8:9::/48"]);
        let register_six = |address: &dyn Fn(u16) -> String| -> Vec<ConnectionSlot> {
            (0..6).map(|number| connections.register_connection(ip(&address(number)))).collect()
        };
        let one = register_six(&|_| "10.0.0.1".to_owned());
        let mapped = register_six(&|_| "::ffff:10.0.0.2".to_owned());
        let subnet = register_six(&|number| format!("2001:db8::{number}"));
        let subnets = register_six(&|number| format!("2001:db8:1:{number}::1"));
        let proxy = register_six(&|_| "10.9.0.1".to_owned());
        let mapped_proxy = register_six(&|_| "::ffff:10.9.0.1".to_owned());
        let known = register_six(&|_| "10.0.0.3".to_owned());
        assert!(known.iter().all(|slot| slot.connection.mark_known()));
        let close_excess = || {
            let ids: Vec<u64> = lock_ignoring_poison(&connections.table).open.keys().copied().collect();
            ids.into_iter().for_each(|id| connections.close_excess_strangers(id));
        };
        // They stay during their grace period.
        close_excess();
        assert_eq!(lock_ignoring_poison(&connections.table).open.len(), 7 * 6);
        make_all_old(&connections);
        close_excess();
        for (slots, left) in
            [(one, 3), (mapped, 3), (subnet, 3), (subnets, 6), (proxy, 6), (mapped_proxy, 6), (known, 6)]
        {
            let open: Vec<bool> = slots.iter().map(is_open).collect();
            assert_eq!(open.iter().filter(|open| **open).count(), left, "{open:?}");
            // The oldest was closed.
            assert!(open.is_sorted());
        }
    }

    #[test]
    fn connections_of_proxies_are_closed_last() {
        let connections = connections(1, 1_000, &["10.9.0.1"]);
        let proxy = connections.register_connection(ip("10.9.0.1"));
        let strangers: Vec<ConnectionSlot> = (0..3).map(|_| connections.register_connection(ip("10.0.0.1"))).collect();
        for left in (0..3).rev() {
            connections.close_one_connection();
            assert_eq!(strangers.iter().filter(|slot| is_open(slot)).count(), left);
            assert!(is_open(&proxy));
        }
        connections.close_one_connection();
        assert!(!is_open(&proxy));
    }
}
