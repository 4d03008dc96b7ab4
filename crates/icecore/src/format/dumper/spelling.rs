//! The settings of a text, as notes in `Spelling::header`. Single values have no notes.
//!
//! The reader records a setting if the text shows it and it is not the default.

/// `Indent`: 0 to 3. Always recorded, unless nothing is nested.
pub(super) const INDENT: u16 = 1;
/// `Terse`: 1 if the value has no name.
pub(super) const TERSE: u16 = 2;
/// `Useqq`: 1 if strings that need no double quotes have them.
pub(super) const USEQQ: u16 = 3;
/// `Quotekeys`: 0 if keys have no quotes.
pub(super) const QUOTEKEYS: u16 = 4;
/// `Trailingcomma`: 1.
pub(super) const TRAILINGCOMMA: u16 = 5;
/// `Purity`: 1 if statements after the values repair the structure.
pub(super) const PURITY: u16 = 6;
/// `Pad`: bytes that are kept.
pub(super) const PAD: u16 = 7;
/// `Pair` with its blanks: bytes that are kept.
pub(super) const PAIR: u16 = 8;
/// `Bless`: bytes that are kept.
pub(super) const BLESS: u16 = 9;
/// The name of a value with its sigil, `$VAR1` or `%config`: bytes that are kept. Once for
/// each value, in their order.
pub(super) const NAME: u16 = 10;
/// 1 if the items of the array at the root were separate values.
pub(super) const LIST: u16 = 11;
/// `result`: 1 if the name of the value follows the last statement, so that evaluating the text returns it.
pub(super) const RESULT: u16 = 12;
