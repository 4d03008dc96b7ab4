//! Running a filter over documents.

use crate::answer::Answer;
use crate::memory::{self, Charge};
use crate::query_thread::{self, Abort, Stop};
use crate::value::{OpenDocument, Value};
use crate::{Failure, Input, Query};
use jaq_core::data::{DataT, HasLut};
use jaq_core::{Ctx, Lut, Vars};
use jaq_std::input::{HasInputs, Inputs, RcIter};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// The types of the values of filters.
pub struct FilterTypes;

impl DataT for FilterTypes {
    type V<'a> = Value;
    type Data<'a> = Data<'a>;
}

/// Data that functions can access while a filter runs.
pub struct Data<'a> {
    lut: &'a Lut<FilterTypes>,
    inputs: Inputs<'a, Value>,
    state: &'a RunState<'a>,
    _charge: Charge,
}

struct RunState<'a> {
    name: RefCell<Option<String>>,
    say: &'a dyn Fn(&str),
}

/// Estimated number of bytes of a filter that waits for its next result. They are its context, its iterators, and an
/// entry of a list.
const CONTEXT_SIZE: usize = 160;

/// Each filter that waits for its next result has a copy of the data. Each copy has a charge, so the sum of the
/// charges is the memory of the waiting filters.
impl Clone for Data<'_> {
    fn clone(&self) -> Self {
        Data { lut: self.lut, inputs: self.inputs, state: self.state, _charge: Charge::new(CONTEXT_SIZE) }
    }
}

impl<'a> HasLut<'a, FilterTypes> for Data<'a> {
    /// jaq calls this for each term that it evaluates. So this is the place where work is counted and the stack is
    /// checked.
    fn lut(&self) -> &'a Lut<FilterTypes> {
        query_thread::count_step();
        self.lut
    }
}

impl<'a> HasInputs<'a, Value> for Data<'a> {
    fn inputs(&self) -> Inputs<'a, Value> {
        self.inputs
    }
}

impl Data<'_> {
    /// Returns the name of the last input.
    pub fn input_name(&self) -> Value {
        self.state.name.borrow().as_ref().map_or(Value::Null, Value::from_text)
    }

    /// Passes on a message of `debug` or `stderr`.
    pub fn pass_message(&self, text: &str) {
        (self.state.say)(text);
    }
}

/// Options of a run.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Running<'r> {
    /// Whether the filter runs only once, with null as its input. It gets the inputs by `input` and `inputs`.
    pub null_input: bool,
    /// Maximum number of steps of a run. A step is the evaluation of a term, or a part of the work of a function. The
    /// default is [`Running::STEPS`].
    pub steps: u64,
    /// Maximum number of bytes that the values of a run may hold at a time. The default is [`Running::MEMORY`].
    pub memory: u64,
    /// Returns the bytes that this thread uses, if the program has a counting allocator. Without one, memory of the
    /// language itself is only estimated. A filter that calls itself with filters as arguments may then use several
    /// times its limit.
    pub allocated_bytes: Option<fn() -> i64>,
    /// When set from outside, ends the run.
    pub interrupt: Option<&'static AtomicBool>,
    /// Receives the messages of `debug` and `stderr`.
    pub on_message: &'r dyn Fn(&str),
}

impl Running<'_> {
    /// Default number of steps of a run. They take one to two minutes. Each value of an input adds
    /// [`Running::STEPS_OF_A_VALUE`].
    pub const STEPS: u64 = 1 << 30;
    /// Default number of bytes that a run may hold. Each value of an input adds [`Running::MEMORY_OF_A_VALUE`].
    pub const MEMORY: u64 = 1 << 30;
    /// Number of steps that each value of an input adds.
    pub const STEPS_OF_A_VALUE: u64 = 256;
    /// Number of bytes that each value of an input adds.
    pub const MEMORY_OF_A_VALUE: u64 = 256;
}

impl Default for Running<'_> {
    fn default() -> Self {
        Running {
            null_input: false,
            steps: Running::STEPS,
            memory: Running::MEMORY,
            allocated_bytes: None,
            interrupt: None,
            on_message: &|_| {},
        }
    }
}

/// How the runs ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// All inputs were processed.
    Done,
    /// The receiver of the results requested no more.
    Enough,
    /// `halt` was called with this exit code.
    Halted(i32),
    /// It was interrupted.
    Interrupted,
}

impl Query {
    /// Runs the filter over documents and passes each result to `on_result`. A failure ends the run for its input.
    /// The filter then runs for the next input.
    ///
    /// Must be called on a [query thread](crate::on_query_thread). A caller that is already on one can pass borrowed
    /// data.
    pub fn run(
        &self,
        inputs: &mut dyn Iterator<Item = Input>,
        options: &Running<'_>,
        on_result: &mut dyn FnMut(Result<Answer, Failure>) -> ControlFlow<()>,
    ) -> RunEnd {
        let state = RunState { name: RefCell::new(None), say: options.on_message };
        // At most one document is open at a time, because the next one replaces it here.
        let mut open_document: Option<OpenDocument> = None;
        // The steps and bytes that the current input adds to the limits of the run that takes it.
        let input_allowance = Cell::new((0, 0));
        let is_running = Cell::new(false);
        let inputs = std::iter::from_fn(|| memory::run_uncharged(|| inputs.next()));
        let values = inputs.map(|input| {
            *state.name.borrow_mut() = Some(input.name);
            let count = input.document.nodes().len() as u64;
            // Strings are copied when a filter takes them, and again when its results are written. The factor 4
            // leaves room for both.
            let text = (input.document.input().len() + input.document.tape().arena().len()) as u64;
            let bytes = count.saturating_mul(Running::MEMORY_OF_A_VALUE).saturating_add(text.saturating_mul(4));
            input_allowance.set((count.saturating_mul(Running::STEPS_OF_A_VALUE), bytes));
            // If a run requests further inputs by `input`, each of them raises its limits.
            if is_running.get() {
                let (steps, bytes) = input_allowance.take();
                query_thread::raise_step_limit(steps);
                memory::raise_memory_limit(bytes);
            }
            Ok(open_document.insert(OpenDocument::new(input.document)).root_value())
        });
        let values = RcIter::new(values);
        let values: Inputs<'_, Value> = &values;
        let data = Data { lut: &self.filter.lut, inputs: values, state: &state, _charge: Charge::default() };
        let name = || state.name.borrow().clone();
        let mut is_first = true;
        loop {
            let mut inputs = values;
            let next = if options.null_input { is_first.then_some(Ok(Value::Null)) } else { inputs.next() };
            is_first = false;
            let value = match next {
                None => return RunEnd::Done,
                Some(Ok(value)) => value,
                Some(Err(message)) => match on_result(Err(Failure { name: name(), message, stop: None })) {
                    ControlFlow::Continue(()) => continue,
                    ControlFlow::Break(()) => return RunEnd::Enough,
                },
            };
            let (steps, bytes) = input_allowance.take();
            query_thread::start_run(options.steps.saturating_add(steps), options.interrupt);
            memory::start_metering(options.memory.saturating_add(bytes), options.allocated_bytes);
            is_running.set(true);
            let outcome = query_thread::catch_stop(|| {
                let ctx = Ctx::<FilterTypes>::new(data.clone(), Vars::new(self.variable_values()));
                for result in self.filter.id.run((ctx, value)) {
                    let flow = match result.map_err(jaq_core::Exn::get_err) {
                        Ok(value) => on_result(Ok(Answer::new(value))),
                        Err(Ok(error)) => {
                            let message = error.into_val().to_message();
                            return on_result(Err(Failure { name: name(), message, stop: None }))
                                .map_break(|()| RunEnd::Enough);
                        }
                        Err(Err(other)) => {
                            return match other.get_halt() {
                                Ok(code) => ControlFlow::Break(RunEnd::Halted(code)),
                                Err(_) => ControlFlow::Continue(()),
                            };
                        }
                    };
                    if flow.is_break() {
                        return ControlFlow::Break(RunEnd::Enough);
                    }
                }
                ControlFlow::Continue(())
            });
            is_running.set(false);
            let failure = match outcome {
                Ok(ControlFlow::Continue(())) => continue,
                Ok(ControlFlow::Break(end)) => return end,
                Err(Abort::Stopped(Stop::Interrupt)) => return RunEnd::Interrupted,
                Err(Abort::Stopped(stop)) => Failure { name: name(), message: stop.to_string(), stop: Some(stop) },
                Err(Abort::Panicked(text)) => {
                    let message = format!("the filter stopped because of a bug in its library: {text}");
                    Failure { name: name(), message, stop: None }
                }
            };
            // The receiver of the failure is not a part of the run, so it has no limits.
            query_thread::start_run(u64::MAX, None);
            memory::start_metering(u64::MAX, None);
            if on_result(Err(failure)).is_break() {
                return RunEnd::Enough;
            }
        }
    }
}
