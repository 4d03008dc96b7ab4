//! Writes scalars.

use super::default_tags::{bool_tag, float_tag, integer_tag, string_tag, whole};
use super::spelling::value as code;
use super::tag;
use super::write::{Also, Writer};
use crate::document::{Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::num::general::perl_text;
use crate::num::{bigint, float128};
use crate::output::LossKind;

impl Writer<'_> {
    pub(super) fn scalar(&mut self, at: u32, node: &Node, also: Also, buf: &mut Vec<u8>) -> Result<(), Error> {
        match node.kind {
            Kind::Tied => return self.tied_scalar(at, node, also, buf),
            Kind::VString => return self.vstring(at, node, also, buf),
            _ => {}
        }
        self.number_variable(at, node, also);
        if node.kind == Kind::Regexp {
            return self.regexp(at, buf);
        }
        self.leaf(at, node, buf)
    }

    /// Writes a scalar that already has its number.
    pub(super) fn leaf(&mut self, at: u32, node: &Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        let document = self.document;
        match node.kind {
            Kind::Int => {
                let value = node.payload as i64;
                self.integer(at, value, buf)
            }
            Kind::Bytes | Kind::Text => self.string(at, node.kind, document.bytes(node), buf),
            Kind::Float | Kind::Float32 => {
                let value = match node.kind {
                    Kind::Float => f64::from_bits(node.payload),
                    _ => f64::from(f32::from_bits(node.payload as u32)),
                };
                self.float(at, value, buf)
            }
            Kind::Null => {
                let default = match (node.has(flag::OWN), node.has(flag::ITEM)) {
                    (false, _) => tag::UNDEF,
                    (true, false) => tag::SV_UNDEF,
                    (true, true) => tag::SVUNDEF_ELEM,
                };
                buf.push(self.tag(at, default));
                Ok(())
            }
            Kind::Hole => {
                buf.push(self.tag(at, tag::SV_UNDEF));
                Ok(())
            }
            Kind::Bool => {
                buf.push(self.tag(at, bool_tag(node.payload != 0, self.image.minor >= 12 || node.has(flag::VARIABLE))));
                Ok(())
            }
            Kind::Uint => {
                self.lose(LossKind::Quoted, at);
                self.string(at, Kind::Bytes, node.payload.to_string().as_bytes(), buf)
            }
            Kind::BigInt => {
                let magnitude = document.bytes(node);
                if bigint::exceeds(magnitude, self.limits.digits) {
                    return Err(self.limits.too_many_digits().on_path(document.path(at)));
                }
                let mut text = Vec::new();
                bigint::push_decimal(node.has(flag::NEGATIVE), magnitude, &mut text);
                self.lose(LossKind::BigInt, at);
                self.string(at, Kind::Bytes, &text, buf)
            }
            Kind::Float128 => self.float128(at, document.bytes(node), buf),
            Kind::Encoded => {
                self.lose(LossKind::Encoding, at);
                self.string(at, Kind::Bytes, document.bytes(node), buf)
            }
            Kind::Symbol | Kind::Module | Kind::EnumCase => {
                self.lose(if node.kind == Kind::Symbol { LossKind::Symbol } else { LossKind::Name }, at);
                let bytes = document.bytes(node);
                let kind =
                    if !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() { Kind::Text } else { Kind::Bytes };
                self.string(at, kind, bytes, buf)
            }
            _ => Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(document.path(at))
                .expecting("a scalar")
                .finding(format!("{:?}", node.kind))),
        }
    }

    pub(super) fn integer(&mut self, at: u32, value: i64, buf: &mut Vec<u8>) -> Result<(), Error> {
        let default = if self.image.iv == 4 && i32::try_from(value).is_err() && !self.image.netorder {
            tag::SCALAR
        } else {
            integer_tag(value, self.image.netorder)
        };
        match self.tag(at, default) {
            tag::BYTE if (-128..=127).contains(&value) => buf.extend_from_slice(&[tag::BYTE, (value + 128) as u8]),
            tag::NETINT if i32::try_from(value).is_ok() => {
                buf.push(tag::NETINT);
                buf.extend_from_slice(&(value as i32).to_be_bytes());
            }
            tag::INTEGER => {
                buf.push(tag::INTEGER);
                self.image.integer(value, buf);
            }
            _ => {
                self.lose(LossKind::Quoted, at);
                return self.string(at, Kind::Bytes, value.to_string().as_bytes(), buf);
            }
        }
        Ok(())
    }

    fn float(&mut self, at: u32, value: f64, buf: &mut Vec<u8>) -> Result<(), Error> {
        if self.kept_float(at, buf) {
            return Ok(());
        }
        self.float_as(at, value, true, buf)
    }

    /// Writes a float. `is_exact`: it is the value itself, not only the nearest float.
    fn float_as(&mut self, at: u32, value: f64, is_exact: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        if !is_exact {
            self.lose(LossKind::Precision, at);
        }
        let is_live = self.document.tape().by_hand;
        let default = match whole(value) {
            Some(whole) if is_live => integer_tag(whole, self.image.netorder),
            _ => float_tag(&Node::float(value), self.image.netorder),
        };
        match (self.tag(at, default), whole(value)) {
            (tag::DOUBLE, _) => {
                buf.push(tag::DOUBLE);
                self.image.float(value, buf);
                Ok(())
            }
            (wished, Some(whole)) => {
                if wished != tag::SCALAR && !is_live {
                    self.lose(LossKind::Integral, at);
                }
                self.integer(at, whole, buf)
            }
            _ => {
                self.lose(LossKind::Quoted, at);
                let text = perl_text(value);
                if is_exact
                    && text.parse::<f64>().is_ok_and(|back| back.to_bits() != value.to_bits() && !value.is_nan())
                {
                    self.lose(LossKind::Precision, at);
                }
                self.string(at, Kind::Bytes, text.as_bytes(), buf)
            }
        }
    }

    /// Writes the float as it was read, if that was not the default form.
    pub(super) fn kept_float(&self, at: u32, buf: &mut Vec<u8>) -> bool {
        let Some(known) = &self.spelling else { return false };
        let Some(kept) = known.kept(at, code::FLOAT) else { return false };
        let fits = kept.len() == usize::from(self.image.nv) && !self.image.netorder;
        let as_read = known.spelling.get(super::spelling::header::NETORDER) == Some(u64::from(self.image.netorder));
        if fits || as_read {
            buf.push(tag::DOUBLE);
            buf.extend_from_slice(kept);
        }
        fits || as_read
    }

    pub(super) fn float128(&mut self, at: u32, bytes: &[u8], buf: &mut Vec<u8>) -> Result<(), Error> {
        if self.kept_float(at, buf) {
            return Ok(());
        }
        let wide = bytes.try_into().unwrap_or([0; 16]);
        let exact = float128::to_f64_exact(&wide);
        self.float_as(at, exact.unwrap_or_else(|| float128::to_f64(&wide)), exact.is_some(), buf)
    }

    pub(super) fn string(&mut self, at: u32, kind: Kind, bytes: &[u8], buf: &mut Vec<u8>) -> Result<(), Error> {
        let default = string_tag(kind, bytes.len() as u64);
        let wished = self.tag(at, default);
        let wished =
            if matches!(wished, tag::SCALAR | tag::LSCALAR | tag::UTF8STR | tag::LUTF8STR) { wished } else { default };
        self.tagged_string(at, wished, bytes, buf)
    }

    pub(super) fn tagged_string(&mut self, at: u32, wished: u8, bytes: &[u8], buf: &mut Vec<u8>) -> Result<(), Error> {
        if self.note(at, code::LARGE).is_some() && matches!(wished, tag::LSCALAR | tag::LUTF8STR) {
            buf.extend_from_slice(&[tag::LOBJECT, wished]);
            buf.extend_from_slice(&self.image.n64(bytes.len() as u64));
            buf.extend_from_slice(bytes);
            return Ok(());
        }
        // An edited string may be too long for its tag.
        let wished = match wished {
            tag::SCALAR if bytes.len() > 0xFF => tag::LSCALAR,
            tag::UTF8STR if bytes.len() > 0xFF => tag::LUTF8STR,
            wished => wished,
        };
        buf.push(wished);
        self.short_or_long(bytes.len(), matches!(wished, tag::LSCALAR | tag::LUTF8STR), buf)?;
        buf.extend_from_slice(bytes);
        Ok(())
    }
}
