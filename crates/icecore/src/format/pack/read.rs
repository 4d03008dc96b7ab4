//! Unpacks: a machine runs a template over bytes.

use super::budget::Budget;
use super::checksum::Checksum;
use super::symbol::Count;
use super::template::{ERROR_LETTER, Op, Program};
use super::{FORMAT, Options, usage_error, utf8};
use crate::document::{Kind, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::format::feed::Feed;
use crate::format::flat::convert_list;
use crate::limits::Limits;
use crate::num::numify::{PerlNumber, float_bits};

/// Reads the input with a template.
#[derive(Debug)]
pub(super) struct Unpack<'o>(pub(super) &'o Options);

impl Feed for Unpack<'_> {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        feed_list(input, self.0, limits, sink)
    }
}

/// Feeds a list to the sink. Returns the number of bytes that were read, and the error that stopped reading.
fn feed_list<S: Sink>(input: &[u8], options: &Options, limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let program = &options.program;
    let mut upgraded = Vec::new();
    let is_upgraded = program.needs_utf8 && !options.utf8;
    if is_upgraded {
        utf8::push_latin1_bytes(input, &mut upgraded);
    }
    let data = if is_upgraded { &upgraded } else { input };
    let mut machine = Unpacker::new(program, data, limits, sink);
    machine.copies_strings = is_upgraded;
    machine.has_characters = is_upgraded || options.utf8;
    machine.was_text = options.utf8;
    let mut error = machine.run_template().err();
    let reached = machine.max_position;
    let consumed = match is_upgraded {
        // Each byte of the input is one character here, and each character has one byte that is not a continuation
        // byte.
        true => upgraded[..reached].iter().filter(|byte| !utf8::is_continuation(**byte)).count(),
        false => reached,
    };
    let root = sink.tape().root();
    let count = sink.tape().len() - root - 1;
    sink.tape().close_container(root, count);
    if let Some(detail) = sink.detail() {
        let covered_until = detail.trace.spans.last().map_or(0, |span| span.end as usize);
        let end = if options.exact || error.is_some() { consumed } else { input.len() };
        detail.record_span(covered_until, end, root, "bytes that belong to no value");
        detail.record_end(root, end);
    }
    if error.is_none() {
        error = convert_list(sink.tape(), input, &options.items_as).err();
    }
    (consumed, error)
}

/// A template that is being run over bytes. Perl's function is recursive for groups, and this machine has a stack for
/// them.
pub(super) struct Unpacker<'m, S: Sink> {
    program: &'m Program,
    /// The bytes: the input, or the input with each byte as a character.
    pub(super) data: &'m [u8],
    pub(super) limits: &'m Limits,
    pub(super) sink: &'m mut S,
    /// Whether strings are copied, because the bytes are not the input.
    pub(super) copies_strings: bool,
    /// Whether the bytes are characters in UTF-8.
    pub(super) has_characters: bool,
    /// Whether the bytes were characters in UTF-8 from the start.
    pub(super) was_text: bool,
    /// The current position, and the highest one so far.
    pub(super) position: usize,
    pub(super) max_position: usize,
    /// Whether `/` followed the last letter.
    is_before_slash: bool,
    frames: Vec<UnpackFrame>,
    /// Work that is still allowed.
    budget: Budget,
    max_values: usize,
}

/// The whole template, or a group that is being run.
pub(super) struct UnpackFrame {
    /// Its operations, and the next one.
    start: usize,
    end: usize,
    next: usize,
    /// How many times it is still run, including this time.
    remaining: u64,
    /// Whether it is run until no bytes are left.
    repeats_until_end: bool,
    /// Number of values before it.
    first_value: usize,
    /// The position at which it started.
    pub(super) start_position: usize,
    /// Whether it counts characters now, and whether the outer group did when this one began.
    pub(super) counts_characters: bool,
    outer_counts_characters: bool,
    pub(super) checksum: Checksum,
    /// Whether it ended early.
    is_finished_early: bool,
    /// The letter that must be completed after the inner group.
    pending: PendingOp,
}

/// A letter that is being processed.
#[derive(Clone, Copy)]
struct PendingOp {
    op: usize,
    /// The count in the template. If `/` follows, it is the count of the length, and not of the value after it.
    own_count: Count,
    len: u64,
    /// Whether the count is not from a length before `/`.
    is_explicit: bool,
    /// Whether no bytes were left when it began.
    is_at_end: bool,
}

/// The arguments of a letter.
pub(super) struct UnpackTask<'o> {
    pub(super) op: &'o Op,
    pub(super) is_star: bool,
    pub(super) len: u64,
    pub(super) is_explicit: bool,
}

impl<'m, S: Sink> Unpacker<'m, S> {
    fn new(program: &'m Program, data: &'m [u8], limits: &'m Limits, sink: &'m mut S) -> Unpacker<'m, S> {
        let root = sink.tape().push(Node::open(Kind::Array, 0));
        sink.record_begin(root, 0);
        let size = data.len().saturating_add(program.len);
        Unpacker {
            program,
            data,
            limits,
            sink,
            copies_strings: false,
            has_characters: false,
            was_text: false,
            position: 0,
            max_position: 0,
            is_before_slash: false,
            frames: Vec::new(),
            budget: Budget::new(size, "a template that goes over the input a few times"),
            max_values: usize::try_from(limits.expanded_from(size)).unwrap_or(usize::MAX),
        }
    }

    pub(super) fn current_frame(&mut self) -> &mut UnpackFrame {
        self.frames.last_mut().expect("a frame, while a letter is at work")
    }

    /// Returns the frame that is this many groups further out; `None` beyond the
    /// outermost.
    pub(super) fn outer_frame(&self, groups: u64) -> Option<&UnpackFrame> {
        let back = usize::try_from(groups).ok()?.checked_add(1)?;
        self.frames.len().checked_sub(back).and_then(|index| self.frames.get(index))
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.data.len() - self.position
    }

    pub(super) fn value_count(&self) -> usize {
        self.sink.nodes().len() - 1
    }

    /// Counts work. Too much of it for the size of the input is an error.
    pub(super) fn spend_work(&mut self, work: usize) -> Result<(), Error> {
        self.budget.spend(work)
    }

    /// Checks that this many more values are allowed.
    pub(super) fn check_value_count(&self, additional: usize) -> Result<(), Error> {
        let values = self.value_count().saturating_add(additional);
        if values >= self.limits.nodes as usize {
            return Err(self.limits.too_many_nodes());
        }
        if values > self.max_values.max(self.data.len()) {
            return Err(self.limits.too_expanded(self.max_values as u64));
        }
        Ok(())
    }

    pub(super) fn push_value(&mut self, node: Node) -> Result<(), Error> {
        self.check_value_count(1)?;
        self.sink.tape().push(node);
        Ok(())
    }

    fn run_template(&mut self) -> Result<(), Error> {
        let in_characters = self.has_characters && !self.program.starts_in_u0;
        self.enter_group(0, self.program.top, 1, false, in_characters);
        let result = self.run_frames();
        self.max_position = self.max_position.max(self.position);
        result.map_err(|error| match error.kind() {
            ErrorKind::Usage => error,
            _ if self.copies_strings => error.on_path("$"),
            _ => error.at(self.position.min(self.data.len())),
        })
    }

    fn run_frames(&mut self) -> Result<(), Error> {
        while let Some(frame) = self.frames.last_mut() {
            crate::steps::count(1);
            if frame.next == frame.end || frame.is_finished_early {
                if !std::mem::take(&mut frame.is_finished_early) {
                    self.is_before_slash = false;
                }
                if self.repeat_group() {
                    continue;
                }
                self.frames.pop();
                if let Some(outer) = self.frames.last() {
                    let pending = outer.pending;
                    if let Some(pending) = self.finish_letter(pending)? {
                        self.run_pending(pending)?;
                    }
                }
                continue;
            }
            let op = frame.next;
            frame.next += 1;
            let Op { count, is_before_slash, .. } = self.program.ops[op];
            self.is_before_slash = is_before_slash;
            let len = match count {
                Count::Number(number) => number,
                Count::Star => self.data.len() as u64,
                Count::None | Count::Template(..) => 1,
            };
            self.run_pending(PendingOp { op, own_count: count, len, is_explicit: true, is_at_end: false })?;
        }
        Ok(())
    }

    fn enter_group(&mut self, start: usize, end: usize, remaining: u64, repeats_until_end: bool, in_characters: bool) {
        let pending = PendingOp { op: 0, own_count: Count::None, len: 0, is_explicit: true, is_at_end: false };
        self.frames.push(UnpackFrame {
            start,
            end,
            next: start,
            remaining,
            repeats_until_end,
            first_value: self.value_count(),
            start_position: self.position,
            counts_characters: in_characters,
            outer_counts_characters: in_characters,
            checksum: Checksum::default(),
            is_finished_early: false,
            pending,
        });
    }

    /// Runs the innermost group again, if necessary. If the last time nothing was read and no value was added, the
    /// group ends, because it would otherwise be run forever.
    fn repeat_group(&mut self) -> bool {
        let (position, values, end) = (self.position, self.value_count(), self.data.len());
        self.max_position = self.max_position.max(position);
        let frame = self.current_frame();
        frame.remaining = frame.remaining.saturating_sub(1);
        let has_no_effect = position == frame.start_position && values == frame.first_value;
        if frame.remaining == 0 || frame.repeats_until_end && position == end || has_no_effect {
            return false;
        }
        frame.next = frame.start;
        frame.first_value = values;
        frame.start_position = position;
        frame.counts_characters = frame.outer_counts_characters;
        frame.checksum = Checksum::default();
        true
    }

    fn run_pending(&mut self, mut pending: PendingOp) -> Result<(), Error> {
        while self.start_letter(&mut pending)? {
            match self.finish_letter(pending)? {
                Some(next) => pending = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Starts a letter. Returns `true` if it is complete.
    fn start_letter(&mut self, pending: &mut PendingOp) -> Result<bool, Error> {
        let program = self.program;
        let op = &program.ops[pending.op];
        pending.is_at_end = self.position >= self.data.len();
        self.spend_work(1)?;
        match op.letter {
            ERROR_LETTER => return Err(program.mistake_error(op)),
            b'(' if pending.len == 0 => {}
            b'(' => {
                if !S::DETAIL
                    && pending.is_explicit
                    && let Some(fast) = op.fast
                    && self.read_records(fast, &mut pending.len)
                {
                    self.is_before_slash = false;
                    return Ok(true);
                }
                let pending = *pending;
                let frame = self.current_frame();
                frame.pending = pending;
                let in_characters = frame.counts_characters;
                self.enter_group(op.body.0, op.body.1, pending.len, op.count == Count::Star, in_characters);
                return Ok(false);
            }
            b'%' => {
                let bits = if pending.own_count == Count::None { 16 } else { pending.len };
                self.current_frame().checksum = Checksum::new(bits);
                return Ok(false);
            }
            _ => {
                let (start_position, first) = (self.position, self.value_count());
                let task = UnpackTask {
                    op,
                    is_star: pending.own_count == Count::Star,
                    len: pending.len,
                    is_explicit: pending.is_explicit,
                };
                let read = self.read_letter(&task);
                self.max_position = self.max_position.max(self.position);
                if S::DETAIL {
                    self.record_spans(op, start_position, first);
                }
                read?;
            }
        }
        Ok(true)
    }

    fn read_letter(&mut self, task: &UnpackTask<'_>) -> Result<(), Error> {
        match task.op.letter {
            b'a' | b'A' | b'Z' => self.read_string(task),
            b'b' | b'B' | b'h' | b'H' => self.read_digits(task),
            b'C' | b'c' | b'W' | b'U' => self.read_characters(task),
            b'w' => self.read_compressed(task.len),
            b'u' => self.read_uuencoded(),
            b'x' | b'X' | b'@' | b'.' => self.move_position(task),
            b'/' => Err(self.template_error(task.op, "a number before `/`", "`/` alone")),
            b'p' | b'P' => Err(super::pointer_error(task.op)),
            _ => self.read_numbers(task),
        }
    }

    #[cold]
    pub(super) fn template_error(&self, op: &Op, expected: &'static str, found: &'static str) -> Error {
        usage_error(format!("{expected} at position {} of the template", op.offset)).finding(found)
    }

    /// Completes a letter. Adds its checksum, and applies a `/` after it.
    fn finish_letter(&mut self, pending: PendingOp) -> Result<Option<PendingOp>, Error> {
        let program = self.program;
        let frame = self.current_frame();
        if frame.checksum.is_wanted() {
            let checksum = std::mem::take(&mut frame.checksum);
            let sum = checksum.make_node(program.ops[pending.op].letter)?;
            self.push_value(sum)?;
        }
        if !self.is_before_slash {
            return Ok(None);
        }
        let values = self.value_count();
        let frame = self.current_frame();
        if values <= frame.first_value {
            frame.is_finished_early = true;
            return Ok(None);
        }
        let next = frame.next;
        if next == frame.end {
            return Err(self.template_error(&program.ops[pending.op], "a letter after `/`", "the end"));
        }
        frame.next += 1;
        let op = &program.ops[next];
        self.is_before_slash = op.is_before_slash;
        match op.count {
            _ if op.letter == ERROR_LETTER => return Err(program.mistake_error(op)),
            Count::Number(_) => return Err(self.template_error(op, "no count after `/`", "one")),
            _ if pending.is_at_end => {
                return Err(Error::new(ErrorKind::Truncated).expecting("a length before `/`").finding("the end"));
            }
            _ => {}
        }
        let len = self.pop_length()?;
        Ok(Some(PendingOp { op: next, own_count: pending.own_count, len, is_explicit: false, is_at_end: false }))
    }

    /// Removes the last value and returns it as a length.
    fn pop_length(&mut self) -> Result<u64, Error> {
        let Some(node) = self.sink.tape().nodes.pop() else { return Ok(0) };
        let bits = match node.kind {
            Kind::Int | Kind::Uint => node.payload,
            Kind::Float => float_bits(f64::from_bits(node.payload)),
            Kind::Bytes | Kind::Text => {
                let len = node.aux as usize;
                self.spend_work(len.min(self.data.len()))?;
                let input = if self.copies_strings { &[][..] } else { self.data };
                PerlNumber::from_text(self.sink.tape().string_bytes(&node, input)).to_bits().unwrap_or(u64::MAX)
            }
            _ => 0,
        };
        u64::try_from(bits as i64).map_err(|_| {
            Error::new(ErrorKind::Malformed)
                .expecting("a length of 0 or more before `/`")
                .finding(format!("{}", bits as i64))
        })
    }

    /// Records the spans of the values from `first` on.
    fn record_spans(&mut self, op: &Op, start_position: usize, first: usize) {
        let (end_position, count, is_length, copies_strings) =
            (self.position, self.value_count().saturating_sub(first), self.is_before_slash, self.copies_strings);
        let root = self.sink.tape().root() as usize;
        let Some(detail) = self.sink.detail().filter(|_| !copies_strings) else { return };
        let letter_name = super::describe_letter(op.letter);
        let mut max_position = detail.trace.spans.last().map_or(0, |span| span.end as usize);
        if start_position > max_position {
            detail.record_span(max_position, start_position, root as u32, "bytes that belong to no value");
            max_position = start_position;
        }
        let len = end_position.saturating_sub(start_position);
        let value_len = if count > 0 && len.is_multiple_of(count) { len / count } else { 0 };
        for number in 0..count {
            let start = if value_len > 0 { start_position + number * value_len } else { start_position };
            let end = if value_len > 0 { start + value_len } else { end_position.max(start_position) };
            let node = (root + 1 + first + number) as u32;
            detail.record_begin(node, start.min(end));
            detail.record_end(node, end);
            let node = if is_length { crate::document::NO_NODE } else { node };
            detail.record_span(start.max(max_position), end, node, letter_name);
            max_position = max_position.max(end);
        }
        detail.record_span(max_position, end_position, root as u32, letter_name);
    }
}
