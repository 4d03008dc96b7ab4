//! Writes values: references, and what they refer to.

use super::frames::{WriteFrame, WrittenContainer};
use super::paths::Path;
use super::quote;
use super::referent::{Leaf, ReferenceResolver, Referent, ReferentType, ValueId, VariableContent, is_reference};
use super::safe;
use super::{SeenForm, SeenValue, Writer};
use crate::document::{Kind, flag};
use crate::error::Error;
use crate::format::scan::utf8;
use crate::output::LossKind;

impl Writer<'_> {
    /// Writes a leaf completely, or the beginning of a container.
    pub(super) fn write_value(&mut self, index: u32, column: usize, buf: &mut Vec<u8>) -> Result<(), Error> {
        let node = self.node(index);
        if matches!(node.kind, Kind::Array | Kind::Map) && node.flags & !flag::REF == 0 {
            let kind = if node.kind == Kind::Array { ReferentType::Array } else { ReferentType::Hash };
            let id = ValueId::Container(index);
            let referent = Referent { node: index, kind, id, object: None, is_target: false, is_again: false };
            return self.write_reference(index, &referent, column, buf);
        }
        let (document, max_steps) = (self.document, self.max_steps());
        let losses = &mut self.losses;
        let report_loss = |kind, index| losses.add(kind, || document.path(index));
        match ReferenceResolver::new(document, max_steps, report_loss).resolve_variable(index)? {
            VariableContent::Leaf(leaf) => self.write_scalar(index, &leaf, buf),
            VariableContent::Reference(referent) => {
                // Data::Dumper recognizes a variable again only if it does not contain a reference. A variable that
                // refers to itself is written like one that refers to another variable of this kind.
                if node.kind == Kind::Alias || referent.id == ValueId::Variable(index) {
                    self.record_loss(LossKind::Sharing, index);
                }
                self.write_reference(index, &referent, column, buf)
            }
        }
    }

    /// Reports that the variable at `index` is written as a path to a value elsewhere. When perl evaluates the text,
    /// it copies this value, or finds nothing yet. Only the references that `Purity` restores are shared. If the
    /// document was read from such a text, the path is kept, and this is not a loss.
    fn record_lost_sharing(&mut self, index: u32) {
        if self.document.spelling_of(super::FORMAT.name).is_none() {
            self.record_loss(LossKind::Sharing, index);
        }
    }

    /// Counts the nodes that are written a second time, because their number is limited.
    fn count_repeated_nodes(&mut self, index: u32) -> Result<(), Error> {
        if self.style.options.deepcopy {
            self.record_loss(LossKind::Sharing, index);
        }
        let node = self.node(index);
        let nodes = if node.kind.is_container() {
            u64::from(self.document.tape().index_after(index).saturating_sub(index))
        } else {
            1 + u64::from(if node.kind.has_bytes() { node.aux } else { 0 }) / 64
        };
        self.repeated_nodes = self.repeated_nodes.saturating_add(nodes);
        if self.repeated_nodes > self.max_repeated_nodes {
            return Err(self.limits.too_expanded(self.max_repeated_nodes).on_path(self.document.path(index)));
        }
        Ok(())
    }

    // -- Names -----------------------------------------------------------------------

    /// Returns the path of the value that is being written.
    fn current_path(&mut self) -> Path {
        let root = match self.root {
            Some(root) => root,
            None => self.paths.add_root(&self.name),
        };
        self.root = Some(root);
        let first_known_level = self.stack.iter().rposition(|frame| frame.path.is_some());
        for level in first_known_level.unwrap_or(0)..self.stack.len() {
            let path = match level.checked_sub(1) {
                Some(outer) => self.child_path(outer),
                None => Some(root),
            };
            let frame = &mut self.stack[level];
            frame.path = frame.path.or(path);
        }
        let outer = self.stack.len().checked_sub(1);
        outer.and_then(|outer| self.child_path(outer)).unwrap_or(root)
    }

    /// Returns the path of the child that is being written in the frame at `level`.
    fn child_path(&mut self, level: usize) -> Option<Path> {
        let frame = self.stack.get(level)?;
        let path = frame.path?;
        Some(match frame.container {
            WrittenContainer::Array => {
                let index = frame.count.saturating_sub(1);
                self.paths.add_item(path, index)
            }
            WrittenContainer::Scalar => self.paths.add_dereference(path, b'$'),
            WrittenContainer::Glob => self.paths.add_dereference(path, b'*'),
            WrittenContainer::Hash | WrittenContainer::Sorted => {
                let key = frame.key?;
                let mut text = std::mem::take(&mut self.scratch);
                text.clear();
                self.push_key(key, &mut text);
                let path = self.paths.add_key(path, &text);
                self.scratch = text;
                path
            }
        })
    }

    /// Remembers a value that was met in the variable at `variable`.
    fn remember(&mut self, id: ValueId, variable: u32, form: SeenForm) {
        let path = self.current_path();
        self.seen_values.insert(id, SeenValue { path, variable, form, is_written: false });
    }

    /// Reports a loss if the name of a reference's target does not name the variable at `index`. The reference is
    /// written with the name of the target, and this name means the variable only if the target was first found in
    /// it.
    fn check_target_variable(&mut self, index: u32) {
        if !is_reference(&self.node(index)) && self.node(index).kind != Kind::Link {
            return;
        }
        let found = ReferenceResolver::new(self.document, self.max_steps(), |_, _| ()).resolve_variable(index);
        let Ok(VariableContent::Reference(referent)) = found else { return };
        let seen_value = self.seen_values.get(&referent.id);
        if self.style.options.purity || seen_value.is_none_or(|seen_value| seen_value.variable != index) {
            self.record_loss(LossKind::Sharing, index);
        }
    }

    /// Marks a value as written. After this, another occurrence is written as its name.
    pub(super) fn mark_written(&mut self, id: ValueId) {
        if self.style.options.deepcopy {
            self.seen_values.remove(&id);
        } else if let Some(seen_value) = self.seen_values.get_mut(&id) {
            seen_value.is_written = true;
        }
    }

    // -- Scalars ---------------------------------------------------------------------

    /// Writes a scalar that is not a reference.
    fn write_scalar(&mut self, index: u32, leaf: &Leaf, buf: &mut Vec<u8>) -> Result<(), Error> {
        let id = ValueId::Variable(leaf.node);
        let node = self.node(leaf.node);
        let mut is_known = false;
        if !leaf.is_copy {
            match self.seen_values.get(&id).copied() {
                Some(seen_value) if seen_value.is_written => {
                    self.record_lost_sharing(index);
                    buf.extend_from_slice(b"${");
                    self.push_seen(&seen_value, buf)?;
                    buf.push(b'}');
                    return Ok(());
                }
                Some(_) => is_known = true,
                None if leaf.is_target && self.is_remembered(leaf) => {
                    self.remember(id, leaf.node, SeenForm::Backslash);
                    is_known = true;
                }
                None if leaf.is_again && self.style.options.sparseseen => {
                    self.record_loss(LossKind::Sharing, leaf.node)
                }
                None => {}
            }
        }
        if leaf.is_again {
            self.count_repeated_nodes(leaf.node)?;
        }
        self.write_leaf(leaf.node, &node, buf)?;
        if is_known {
            self.mark_written(id);
        }
        Ok(())
    }

    /// Returns `true` if Data::Dumper remembers this scalar. It does not remember perl's own undef. With `sparseseen`
    /// it remembers only scalars to which several references refer.
    fn is_remembered(&self, leaf: &Leaf) -> bool {
        let options = self.style.options;
        let node = self.node(leaf.node);
        if options.useperl {
            return true;
        }
        if node.kind == Kind::Hole || node.kind == Kind::Null && node.has(flag::OWN) {
            return false;
        }
        // Data::Dumper reads the reference count. The surrounding reference counts as one, unless it is weak.
        let parent = leaf.node.checked_sub(1).map(|before| self.node(before));
        let is_weak = parent.is_some_and(|parent| parent.kind == Kind::Ref && parent.has(flag::WEAK));
        let others = self.holders.get(&leaf.node).copied().unwrap_or(0);
        !options.sparseseen || others > u32::from(is_weak)
    }

    // -- References ------------------------------------------------------------------

    /// Writes the variable at `index`, which refers to this.
    fn write_reference(
        &mut self,
        index: u32,
        referent: &Referent,
        column: usize,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if referent.is_target || self.remembers_all || !self.seen_values.is_empty() {
            if let Some(seen_value) = self.seen_values.get(&referent.id).copied() {
                if !self.style.options.purity {
                    self.record_lost_sharing(index);
                }
                return self.write_seen_reference(&seen_value, referent, buf);
            }
            if referent.is_target || self.remembers_all {
                self.remember(referent.id, index, self.seen_form(referent));
            }
        }
        let options = self.style.options;
        let level = self.stack.len();
        if !options.purity && options.maxdepth > 0 && level >= options.maxdepth as usize {
            self.write_address(referent, buf);
            return Ok(());
        }
        if referent.is_again {
            self.count_repeated_nodes(referent.node)?;
            if referent.kind == ReferentType::Scalar {
                self.check_target_variable(referent.node);
            }
        }
        let mut column = column;
        let blessed = self.blessed_object(referent);
        if blessed.is_some() {
            buf.extend_from_slice(options.bless.as_bytes());
            buf.extend_from_slice(b"( ");
            if self.style.indents_to_column {
                // Data::Dumper's Perl code always adds the width of `bless( `, whatever the function's name is.
                column += if options.useperl { 7 } else { options.bless.len() + 2 };
            }
        }
        let container = match referent.kind {
            ReferentType::Regexp => {
                self.write_regexp(referent.node, buf);
                return self.end_reference(referent, blessed, buf);
            }
            // The flag `HINT` means that the node has the source of the code, and not a text in its place.
            ReferentType::Code if self.node(referent.node).has(flag::HINT) && options.trusted => {
                self.write_code(referent.node, column, level, buf);
                return self.end_reference(referent, blessed, buf);
            }
            ReferentType::Code => {
                self.record_loss(LossKind::Code, referent.node);
                buf.extend_from_slice(b"sub { \"DUMMY\" }");
                return self.end_reference(referent, blessed, buf);
            }
            ReferentType::Array => WrittenContainer::Array,
            ReferentType::Hash => WrittenContainer::Hash,
            ReferentType::Scalar => WrittenContainer::Scalar,
            ReferentType::Glob => WrittenContainer::Glob,
        };
        self.open_container(referent, container, blessed, column, buf)
    }

    /// Writes the text of a sub, with its lines aligned.
    fn write_code(&mut self, index: u32, column: usize, level: usize, buf: &mut Vec<u8>) {
        buf.extend_from_slice(b"sub ");
        let document = self.document;
        let text = document.nodes().get(index as usize + 1).filter(|text| text.kind.has_bytes());
        let text = text.map_or(&[][..], |text| document.bytes(text));
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            if number > 0 {
                self.start_line(column, level, buf);
            }
            buf.extend_from_slice(line);
        }
    }

    /// Returns the object as which the value is blessed. A regexp has the class `Regexp` without this, so that class
    /// is left out.
    fn blessed_object(&self, referent: &Referent) -> Option<u32> {
        let object = referent.object?;
        (referent.kind != ReferentType::Regexp || self.class_name(object) != b"Regexp").then_some(object)
    }

    fn class_name(&self, object: u32) -> &[u8] {
        self.document.class_name(self.node(object).class()).map_or(&b""[..], |name| name.bytes)
    }

    fn end_reference(&mut self, referent: &Referent, blessed: Option<u32>, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.write_bless_end(blessed, buf);
        self.mark_written(referent.id);
        Ok(())
    }

    /// Writes the class after a blessed value.
    pub(super) fn write_bless_end(&mut self, blessed: Option<u32>, buf: &mut Vec<u8>) {
        let Some(object) = blessed else { return };
        let options = self.style.options;
        buf.extend_from_slice(b", ");
        let mut name = Vec::new();
        self.push_name(self.class_name(object), &mut name);
        // After a line break, the rest of the name would be on a line of its own and get the pad. In double quotes
        // the line break is escaped.
        if safe::has_visible_pad(options) && name.contains(&b'\n') {
            quote::push_double(&name, false, true, buf);
        } else {
            quote::push_single(&name, buf);
        }
        buf.extend_from_slice(b" )");
        if let Some(method) = &options.toaster {
            buf.extend_from_slice(b"->");
            buf.extend_from_slice(method.as_bytes());
            buf.extend_from_slice(b"()");
        }
    }

    /// Writes a name. Data::Dumper's C code writes its bytes, and the Perl code writes its characters.
    fn push_name(&self, name: &[u8], buf: &mut Vec<u8>) {
        if self.style.options.useperl && !name.is_ascii() {
            return quote::push_chars(name, utf8::is_valid_text(name), self.style.writes_utf8, buf);
        }
        buf.extend_from_slice(name);
    }

    fn seen_form(&self, referent: &Referent) -> SeenForm {
        match self.own_sigil() {
            Some(b'@' | b'%') => SeenForm::Backslash,
            Some(b'*') if referent.kind == ReferentType::Code => SeenForm::Code,
            _ => SeenForm::Plain,
        }
    }

    /// Writes a reference to a value that was written before.
    fn write_seen_reference(
        &mut self,
        seen_value: &SeenValue,
        referent: &Referent,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if self.style.options.purity && !self.stack.is_empty() {
            buf.extend_from_slice(match referent.kind {
                ReferentType::Hash => b"{}",
                ReferentType::Array => b"[]",
                _ => b"do{my $o}",
            });
            let path = self.current_path();
            self.final_statements.push((path, *seen_value));
            return Ok(());
        }
        let Some(sigil) = self.own_sigil().filter(|sigil| matches!(sigil, b'@' | b'%')) else {
            return self.push_seen(seen_value, buf);
        };
        let start = buf.len();
        self.push_seen(seen_value, buf)?;
        if buf.get(start..).is_some_and(|text| text.starts_with(&[b'\\', sigil])) {
            buf.remove(start);
        } else {
            buf.splice(start..start, [sigil, b'{']);
            buf.push(b'}');
        }
        Ok(())
    }

    /// Writes a reference as perl converts it to a string. The node index replaces the
    /// address, because addresses only matter for equality.
    fn write_address(&mut self, referent: &Referent, buf: &mut Vec<u8>) {
        let mut text = Vec::new();
        self.push_address(referent, &mut text);
        let options = self.style.options;
        match options.trusted {
            // Data::Dumper does not escape quotes in this text.
            true => buf.extend_from_slice(&[b"'", &text[..], b"'"].concat()),
            false if options.useqq => quote::push_double(&text, false, true, buf),
            false => quote::push_single(&text, buf),
        }
    }

    fn push_address(&mut self, referent: &Referent, text: &mut Vec<u8>) {
        let word = match referent.kind {
            ReferentType::Regexp => {
                let mut pattern = Vec::new();
                self.write_regexp_string(referent.node, &mut pattern);
                return self.push_name(&pattern, text);
            }
            ReferentType::Array => "ARRAY",
            ReferentType::Hash => "HASH",
            ReferentType::Code => "CODE",
            ReferentType::Glob => "GLOB",
            ReferentType::Scalar => {
                let found =
                    ReferenceResolver::new(self.document, self.max_steps(), |_, _| ()).resolve_variable(referent.node);
                match found {
                    Ok(VariableContent::Reference(_)) => "REF",
                    Ok(VariableContent::Leaf(leaf)) if self.node(leaf.node).kind == Kind::VString => "VSTRING",
                    _ => "SCALAR",
                }
            }
        };
        if let Some(object) = referent.object {
            self.push_name(self.class_name(object), text);
            text.push(b'=');
        }
        text.extend_from_slice(format!("{word}(0x{:x})", (u64::from(referent.node) + 1) * 16).as_bytes());
    }

    /// Writes the opening of a container or of a reference to a scalar.
    fn open_container(
        &mut self,
        referent: &Referent,
        container: WrittenContainer,
        blessed: Option<u32>,
        column: usize,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().on_path(self.document.path(referent.node)));
        }
        let sigil = self.own_sigil();
        let brackets: &'static [u8] = match container {
            WrittenContainer::Array if sigil == Some(b'@') => b"()",
            WrittenContainer::Hash | WrittenContainer::Sorted if sigil == Some(b'%') => b"()",
            WrittenContainer::Array => b"[]",
            WrittenContainer::Hash | WrittenContainer::Sorted => b"{}",
            WrittenContainer::Scalar if blessed.is_some() => b"do{\\(my $o = )}",
            WrittenContainer::Scalar | WrittenContainer::Glob => b"\\",
        };
        let (opening, closing) = match container {
            WrittenContainer::Scalar if blessed.is_some() => brackets.split_at(brackets.len() - 2),
            _ => brackets.split_at(1),
        };
        buf.extend_from_slice(opening);
        let (first, end) = match container {
            WrittenContainer::Scalar | WrittenContainer::Glob => (referent.node, referent.node + 1),
            _ => (referent.node + 1, self.document.tape().index_after(referent.node)),
        };
        let mut frame = WriteFrame {
            container,
            next: first,
            end,
            count: 0,
            column,
            path: None,
            key: None,
            id: referent.id,
            blessed,
            closing,
        };
        if container == WrittenContainer::Hash && self.style.options.sortkeys {
            frame.container = WrittenContainer::Sorted;
            frame.end = u32::try_from(self.sorted.len()).unwrap_or(u32::MAX);
            self.sort_entries(first, end);
        }
        self.stack.push(frame);
        Ok(())
    }
}
