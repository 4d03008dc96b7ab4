//! Ids of objects and jobs.

use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// Id of an object or a job: a UUID of version 7, so that ids sort by creation time. The client creates it before the
/// object is stored.
///
/// ```
/// use icecore_store::Id;
/// let (first, second) = (Id::new(), Id::new());
/// assert!(first < second && first.to_string().len() == 36);
/// assert_eq!(first.to_string().parse(), Ok(first));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(uuid::Uuid);

impl Id {
    /// Creates a new id.
    #[expect(clippy::new_without_default, reason = "each call returns another id")]
    pub fn new() -> Id {
        Id(uuid::Uuid::now_v7())
    }

    /// Returns the id for this time, in milliseconds since 1970, and this text. The same arguments always give the same
    /// id.
    pub(crate) fn from_time_and_text(millis: i64, text: &str) -> Id {
        let mut bytes = [0; 10];
        bytes.copy_from_slice(&Sha256::digest(format!("{millis} {text}"))[..10]);
        let millis = u64::try_from(millis).unwrap_or(0);
        Id(uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid())
    }

    /// Returns whether `text` is the canonical spelling of this id.
    pub(crate) fn is_canonical_text(self, text: &str) -> bool {
        self.0.as_hyphenated().encode_lower(&mut [0; 36]) == text
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error for a text that is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id has 36 characters, such as 01890a5d-ac96-774b-bcce-b302099a8057")
    }
}

impl std::error::Error for InvalidId {}

impl FromStr for Id {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Id, InvalidId> {
        let id = (text.len() == 36).then(|| uuid::Uuid::try_parse(text).ok()).flatten();
        id.map(Id).ok_or(InvalidId)
    }
}
