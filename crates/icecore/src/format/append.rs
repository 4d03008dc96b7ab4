//! Appending short strings to a buffer.

/// Appends `base[start..start + len]`. A short one is copied as 16 bytes, of
/// which the surplus is cut off again: that takes no call and no loop.
#[inline(always)]
pub(crate) fn append(buf: &mut Vec<u8>, base: &[u8], start: usize, len: usize) {
    if len <= 16
        && let Some(window) = base.get(start..).and_then(|rest| rest.first_chunk::<16>())
    {
        let end = buf.len() + len;
        buf.extend_from_slice(window);
        buf.truncate(end);
    } else if let Some(bytes) = base.get(start..start + len) {
        buf.extend_from_slice(bytes);
    }
}
