//! Writes scalars.

use super::default_tags::{bool_tag, exact_integer, float_tag, integer_tag, string_tag};
use super::spelling::value as code;
use super::tag;
use super::write::{NumberSharers, Writer};
use crate::document::{Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::num::general::float_to_perl_text;
use crate::num::{bigint, float128};
use crate::output::LossKind;

impl Writer<'_> {
    pub(super) fn write_scalar(
        &mut self,
        index: u32,
        node: &Node,
        sharers: NumberSharers,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match node.kind {
            Kind::Tied => return self.write_tied_scalar(index, node, sharers, buf),
            Kind::VString => return self.write_v_string(index, node, sharers, buf),
            _ => {}
        }
        self.number_variable(index, node, sharers);
        if node.kind == Kind::Regexp {
            return self.write_regexp(index, buf);
        }
        self.write_leaf(index, node, buf)
    }

    /// Writes a scalar that already has its number.
    pub(super) fn write_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        let document = self.document;
        match node.kind {
            Kind::Int => {
                let value = node.payload as i64;
                self.write_integer(index, value, buf)
            }
            Kind::Bytes | Kind::Text => self.write_string(index, node.kind, document.bytes(node), buf),
            Kind::Float | Kind::Float32 => {
                let value = match node.kind {
                    Kind::Float => f64::from_bits(node.payload),
                    _ => f64::from(f32::from_bits(node.payload as u32)),
                };
                self.write_float(index, value, buf)
            }
            Kind::Null => {
                let default = match (node.has(flag::OWN), node.has(flag::ITEM)) {
                    (false, _) => tag::UNDEF,
                    (true, false) => tag::SV_UNDEF,
                    (true, true) => tag::SVUNDEF_ELEM,
                };
                buf.push(self.spelled_tag(index, default));
                Ok(())
            }
            Kind::Hole => {
                buf.push(self.spelled_tag(index, tag::SV_UNDEF));
                Ok(())
            }
            Kind::Bool => {
                buf.push(self.spelled_tag(
                    index,
                    bool_tag(node.payload != 0, self.image.minor >= 12 || node.has(flag::VARIABLE)),
                ));
                Ok(())
            }
            Kind::Uint => {
                self.record_loss(LossKind::Quoted, index);
                self.write_string(index, Kind::Bytes, node.payload.to_string().as_bytes(), buf)
            }
            Kind::BigInt => {
                let magnitude = document.bytes(node);
                if bigint::exceeds(magnitude, self.limits.digits) {
                    return Err(self.limits.too_many_digits().on_path(document.path(index)));
                }
                let mut text = Vec::new();
                bigint::push_decimal(node.has(flag::NEGATIVE), magnitude, &mut text);
                self.record_loss(LossKind::BigInt, index);
                self.write_string(index, Kind::Bytes, &text, buf)
            }
            Kind::Float128 => self.write_float128(index, document.bytes(node), buf),
            Kind::Encoded => {
                self.record_loss(LossKind::Encoding, index);
                self.write_string(index, Kind::Bytes, document.bytes(node), buf)
            }
            Kind::Symbol | Kind::Module | Kind::EnumCase => {
                self.record_loss(if node.kind == Kind::Symbol { LossKind::Symbol } else { LossKind::Name }, index);
                let bytes = document.bytes(node);
                let kind =
                    if !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() { Kind::Text } else { Kind::Bytes };
                self.write_string(index, kind, bytes, buf)
            }
            _ => Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(document.path(index))
                .expecting("a scalar")
                .finding(format!("{:?}", node.kind))),
        }
    }

    pub(super) fn write_integer(&mut self, index: u32, value: i64, buf: &mut Vec<u8>) -> Result<(), Error> {
        let default = if self.image.iv_size == 4 && i32::try_from(value).is_err() && !self.image.netorder {
            tag::SCALAR
        } else {
            integer_tag(value, self.image.netorder)
        };
        match self.spelled_tag(index, default) {
            tag::BYTE if (-128..=127).contains(&value) => buf.extend_from_slice(&[tag::BYTE, (value + 128) as u8]),
            tag::NETINT if i32::try_from(value).is_ok() => {
                buf.push(tag::NETINT);
                buf.extend_from_slice(&(value as i32).to_be_bytes());
            }
            tag::INTEGER => {
                buf.push(tag::INTEGER);
                self.image.push_integer(value, buf);
            }
            _ => {
                self.record_loss(LossKind::Quoted, index);
                return self.write_string(index, Kind::Bytes, value.to_string().as_bytes(), buf);
            }
        }
        Ok(())
    }

    fn write_float(&mut self, index: u32, value: f64, buf: &mut Vec<u8>) -> Result<(), Error> {
        if self.write_kept_float(index, buf) {
            return Ok(());
        }
        self.write_float_as(index, value, true, buf)
    }

    /// Writes a float. `is_exact` states whether it is the value itself, not only the nearest float.
    fn write_float_as(&mut self, index: u32, value: f64, is_exact: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        if !is_exact {
            self.record_loss(LossKind::Precision, index);
        }
        let is_live = self.document.tape().has_live_values();
        let default = match exact_integer(value) {
            Some(integer) if is_live => integer_tag(integer, self.image.netorder),
            _ => float_tag(&Node::float(value), self.image.netorder),
        };
        match (self.spelled_tag(index, default), exact_integer(value)) {
            (tag::DOUBLE, _) => {
                buf.push(tag::DOUBLE);
                self.image.push_float(value, buf);
                Ok(())
            }
            (chosen_tag, Some(integer)) => {
                if chosen_tag != tag::SCALAR && !is_live {
                    self.record_loss(LossKind::Integral, index);
                }
                self.write_integer(index, integer, buf)
            }
            _ => {
                self.record_loss(LossKind::Quoted, index);
                let text = float_to_perl_text(value);
                if is_exact
                    && text.parse::<f64>().is_ok_and(|back| back.to_bits() != value.to_bits() && !value.is_nan())
                {
                    self.record_loss(LossKind::Precision, index);
                }
                self.write_string(index, Kind::Bytes, text.as_bytes(), buf)
            }
        }
    }

    /// Writes the float as it was read, if that was not the default form.
    pub(super) fn write_kept_float(&self, index: u32, buf: &mut Vec<u8>) -> bool {
        let Some(known) = &self.spelling else { return false };
        let Some(kept) = known.stored_bytes(index, code::FLOAT) else { return false };
        let fits = kept.len() == usize::from(self.image.nv_size) && !self.image.netorder;
        let as_read = known.spelling.get(super::spelling::header::NETORDER) == Some(u64::from(self.image.netorder));
        if fits || as_read {
            buf.push(tag::DOUBLE);
            buf.extend_from_slice(kept);
        }
        fits || as_read
    }

    pub(super) fn write_float128(&mut self, index: u32, bytes: &[u8], buf: &mut Vec<u8>) -> Result<(), Error> {
        if self.write_kept_float(index, buf) {
            return Ok(());
        }
        let wide = bytes.try_into().unwrap_or([0; 16]);
        let exact = float128::to_f64_exact(&wide);
        self.write_float_as(index, exact.unwrap_or_else(|| float128::to_f64(&wide)), exact.is_some(), buf)
    }

    pub(super) fn write_string(
        &mut self,
        index: u32,
        kind: Kind,
        bytes: &[u8],
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let default = string_tag(kind, bytes.len() as u64);
        let noted_tag = self.spelled_tag(index, default);
        let chosen_tag = if matches!(noted_tag, tag::SCALAR | tag::LSCALAR | tag::UTF8STR | tag::LUTF8STR) {
            noted_tag
        } else {
            default
        };
        self.write_tagged_string(index, chosen_tag, bytes, buf)
    }

    pub(super) fn write_tagged_string(
        &mut self,
        index: u32,
        chosen_tag: u8,
        bytes: &[u8],
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if self.note(index, code::LARGE).is_some() && matches!(chosen_tag, tag::LSCALAR | tag::LUTF8STR) {
            buf.extend_from_slice(&[tag::LOBJECT, chosen_tag]);
            buf.extend_from_slice(&self.image.encode_u64(bytes.len() as u64));
            buf.extend_from_slice(bytes);
            return Ok(());
        }
        // An edited string may be too long for its tag.
        let fitting_tag = match chosen_tag {
            tag::SCALAR if bytes.len() > 0xFF => tag::LSCALAR,
            tag::UTF8STR if bytes.len() > 0xFF => tag::LUTF8STR,
            wished => wished,
        };
        buf.push(fitting_tag);
        self.push_length(bytes.len(), matches!(fitting_tag, tag::LSCALAR | tag::LUTF8STR), buf)?;
        buf.extend_from_slice(bytes);
        Ok(())
    }
}
