//! Digests of signed messages, as OpenSSL's HMAC makes them.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

/// An algorithm for digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digest {
    Sha1,
    Sha256,
    Sha512,
}

impl Digest {
    /// Returns the digest with this name in options.
    pub(super) fn from_name(name: Option<&str>) -> Digest {
        match name {
            Some("sha256") => Digest::Sha256,
            Some("sha512") => Digest::Sha512,
            _ => Digest::Sha1,
        }
    }

    /// Returns the digest with this number of bytes.
    pub(super) fn from_length(len: usize) -> Option<Digest> {
        match len {
            20 => Some(Digest::Sha1),
            32 => Some(Digest::Sha256),
            64 => Some(Digest::Sha512),
            _ => None,
        }
    }

    /// Returns the digest of a message.
    pub(super) fn digest_message(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        match self {
            Digest::Sha1 => compute_hmac::<Hmac<Sha1>>(key, message),
            Digest::Sha256 => compute_hmac::<Hmac<Sha256>>(key, message),
            Digest::Sha512 => compute_hmac::<Hmac<Sha512>>(key, message),
        }
    }

    /// Derives a key of 64 bytes from a secret, like `ActiveSupport::KeyGenerator`.
    pub(super) fn derive_key(self, secret: &[u8], salt: &[u8], iterations: u32) -> Vec<u8> {
        let mut key = vec![0; 64];
        match self {
            Digest::Sha1 => pbkdf2::pbkdf2_hmac::<Sha1>(secret, salt, iterations, &mut key),
            Digest::Sha256 => pbkdf2::pbkdf2_hmac::<Sha256>(secret, salt, iterations, &mut key),
            Digest::Sha512 => pbkdf2::pbkdf2_hmac::<Sha512>(secret, salt, iterations, &mut key),
        }
        key
    }
}

/// Appends a digest in hex digits.
pub(super) fn push_hex_digits(digest: &[u8], out: &mut Vec<u8>) {
    out.extend(digest.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
}

fn compute_hmac<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
    // A key may have any length.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return Vec::new() };
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

/// Compares in constant time, so that the time does not reveal where they differ.
pub(super) fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
