//! What rules for a URL leave: its host without `//`, in capital letters, with entities of HTML, and in Base64.

use aho_corasick::AhoCorasick;
use memchr::memmem;

/// Numbers of places that still have the host of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftoverCounts {
    /// Places with the host as text.
    pub hosts: u64,
    /// Places with the host in Base64.
    pub in_base64: u64,
}

impl LeftoverCounts {
    /// Adds the counts of another text.
    pub fn add(&mut self, other: LeftoverCounts) {
        self.hosts += other.hosts;
        self.in_base64 += other.in_base64;
    }
}

/// The search for the hosts of old URLs in changed text.
#[derive(Debug)]
pub(crate) struct LeftoverSearch {
    hosts: Vec<String>,
    search: AhoCorasick,
    /// The Base64 of the hosts, at each of the three positions that a byte can have in a group.
    encoded: Vec<memmem::Finder<'static>>,
}

impl LeftoverSearch {
    /// Creates the search for these hosts. Returns `None` if there are none.
    pub fn new(hosts: Vec<String>) -> Option<LeftoverSearch> {
        if hosts.is_empty() {
            return None;
        }
        let search = AhoCorasick::builder().ascii_case_insensitive(true).build(&hosts).ok()?;
        let encoded = hosts.iter().flat_map(|host| encode_inner_groups(host.as_bytes()));
        let encoded = encoded.map(|text| memmem::Finder::new(text.as_bytes()).into_owned()).collect();
        Some(LeftoverSearch { hosts, search, encoded })
    }

    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Counts the places in a text. A longer name that ends or begins with the host is not the host.
    pub fn count(&self, text: &[u8]) -> LeftoverCounts {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_host = |start: usize, end: usize| {
            let before = start.checked_sub(1).and_then(|index| text.get(index));
            let mut after = text.get(end..).unwrap_or_default().iter();
            let next = after.next();
            let is_longer_after = next.is_some_and(|byte| is_name(*byte))
                || next == Some(&b'.') && after.next().is_some_and(|byte| is_name(*byte));
            !before.is_some_and(|byte| is_name(*byte) || *byte == b'.') && !is_longer_after
        };
        let hosts = self.search.find_iter(text).filter(|found| is_host(found.start(), found.end())).count();
        let in_base64: usize = self.encoded.iter().map(|finder| finder.find_iter(text).count()).sum();
        LeftoverCounts { hosts: hosts as u64, in_base64: in_base64 as u64 }
    }
}

/// Returns the parts of the Base64 of a text that do not depend on the bytes around it, for each of the three positions
/// in a group of three bytes.
fn encode_inner_groups(text: &[u8]) -> Vec<String> {
    let inner = |skipped: usize| {
        let bytes = text.get(skipped..)?;
        let whole_groups = bytes.get(..bytes.len() / 3 * 3).filter(|groups| groups.len() >= 6)?;
        Some(icecore::text::to_base64(whole_groups))
    };
    (0..3).filter_map(inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_the_host_are_counted() {
        let search = LeftoverSearch::new(vec!["old.example".to_owned()]).unwrap();
        let count = |text: &str| search.count(text.as_bytes());
        let hosts = |hosts: u64| LeftoverCounts { hosts, in_base64: 0 };
        assert_eq!(count("HTTP://OLD.Example/ me@old.example, http:&#x2F;&#x2F;old.example."), hosts(3));
        assert_eq!(count("//www.old.example //old.example.org //my-old.example //old.examples"), hosts(0));
        let base64 = ["x", "xy", "xyz"]
            .map(|before| icecore::text::to_base64(format!("{before}http://old.example/").as_bytes()));
        assert_eq!(count(&base64.join(" ")), LeftoverCounts { hosts: 0, in_base64: 3 });
    }
}
