//! Finds the variables of a text and their content, by following the paths in the text.
//!
//! A node of the tape represents two things: a variable, and the value in it. A path may put another value into a
//! variable. It may also make the variable the same as another one.

use super::lex::Lexer;
use super::path::{PathStep, PathSteps};
use crate::document::{KEY_NODE, Kind, NO_KEY, Node, Tape};
use crate::error::{Error, ErrorKind};
use crate::hash::SeededMap;
use crate::limits::Limits;
use std::collections::HashMap;

/// A named value of the text.
#[derive(Clone, Debug)]
pub(super) struct Root<'a> {
    /// `$`, `@`, `%` or `*`; 0 for a value without a name.
    pub(super) sigil: u8,
    pub(super) name: &'a [u8],
    /// The name of a glob as perl prints it.
    pub(super) glob: Vec<u8>,
    pub(super) node: u32,
}

/// A path that was not followed yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingPath {
    /// Its offset in the text.
    pub(super) offset: usize,
    /// The node that was put on the tape in the place of the path. For a statement: the value that the variable gets.
    pub(super) node: u32,
    /// Whether `\` precedes it.
    pub(super) is_referenced: bool,
    /// Whether the path is the left side of a statement. The statement gives the variable a value.
    pub(super) is_statement: bool,
}

/// Content of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// A reference to the array, hash, object, code or regexp at this node.
    Target(u32),
    /// A reference to this variable.
    Scalar(u32),
    /// The leaf at this node.
    Leaf(u32),
}

/// State of a variable that differs from its node.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Override {
    Value(Value),
    /// It is the same variable as this one.
    SameAs(u32),
    /// It gets its content from this path, which was not followed yet.
    Pending(u32),
    /// Its path is being followed.
    InProgress,
    /// Its path did not reach a value. It is followed again at the end, when all statements were applied.
    Unresolved,
}

/// The place that a path has reached so far.
#[derive(Clone, Copy, Debug)]
enum PathPosition {
    Variable(u32),
    /// The array or hash itself, by this sigil.
    Target(u32, u8),
}

/// The reason why a path can't be followed further now.
enum Interrupt {
    /// Another path must be followed first.
    Wait(u32),
    Error(Error),
}

impl From<Error> for Interrupt {
    fn from(error: Error) -> Interrupt {
        Interrupt::Error(error)
    }
}

/// An opening in a path, such as `${`.
#[derive(Clone, Copy)]
struct PathOpening {
    sigil: u8,
    /// Number of `\` after it.
    reference_count: u32,
}

/// A path that is being followed.
struct PathWalk<'a> {
    pending_path: u32,
    steps: PathSteps<'a>,
    position: Option<PathPosition>,
    /// The openings that are not closed yet.
    open: Vec<PathOpening>,
    /// The step that could not be followed yet.
    pending_step: Option<PathStep<'a>>,
}

/// Children of a container that a path entered.
enum Children {
    Array(Vec<u32>),
    Map(HashMap<(Kind, Vec<u8>), u32>),
}

/// A value that a statement added to a container: its key and its variable.
#[derive(Clone, Debug)]
pub(super) struct AddedValue {
    pub(super) key: Option<(Kind, Vec<u8>)>,
    pub(super) variable: u32,
}

pub(super) struct Heap<'a, 't> {
    pub(super) tape: &'t mut Tape,
    lexer: Lexer<'a>,
    limits: &'t Limits,
    pending_paths: &'t [PendingPath],
    /// The roots by sigil and name.
    names: HashMap<(u8, Vec<u8>), u32>,
    roots: Vec<u32>,
    /// The root that has no name, and the name that paths use for it.
    unnamed_root: Option<u32>,
    unnamed_root_name: Option<Vec<u8>>,
    overrides: SeededMap<u32, Override>,
    /// The children of the containers that paths entered, by the node of the container.
    children: SeededMap<u32, Children>,
    pub(super) added: SeededMap<u32, Vec<AddedValue>>,
}

impl<'a, 't> Heap<'a, 't> {
    pub(super) fn new(
        lexer: Lexer<'a>,
        tape: &'t mut Tape,
        limits: &'t Limits,
        roots: &[Root<'a>],
        pending_paths: &'t [PendingPath],
    ) -> Heap<'a, 't> {
        let mut names = HashMap::new();
        for root in roots {
            match root.sigil {
                b'*' => {
                    let node = tape.nodes().get(root.node as usize).copied();
                    names.insert((b'*', join_glob_part(&root.glob, assigned_glob_part(node))), root.node);
                    names.insert((b'&', root.glob.clone()), root.node);
                }
                sigil => {
                    names.insert((sigil, root.name.to_vec()), root.node);
                }
            }
        }
        let pending_override = |(index, pending_path): (usize, &PendingPath)| {
            (!pending_path.is_statement).then_some((pending_path.node, Override::Pending(index as u32)))
        };
        let overrides = pending_paths.iter().enumerate().filter_map(pending_override).collect();
        let (children, added) = (SeededMap::default(), SeededMap::default());
        let unnamed_root = roots.first().filter(|root| root.sigil == 0).map(|root| root.node);
        let roots = roots.iter().map(|root| root.node).collect();
        Heap {
            tape,
            lexer,
            limits,
            pending_paths,
            names,
            roots,
            unnamed_root,
            unnamed_root_name: None,
            overrides,
            children,
            added,
        }
    }

    /// Follows all paths, in the order of the text. A path that does not reach a value is followed again at the end,
    /// when all values are set.
    pub(super) fn follow_all_paths(&mut self) -> Result<(), Error> {
        let mut unresolved = Vec::new();
        for index in 0..self.pending_paths.len() as u32 {
            let pending_path = self.pending_paths[index as usize];
            if pending_path.is_statement {
                self.follow_path(index).map_err(|error| error.on_path("$"))?;
            } else if self.overrides.get(&pending_path.node) == Some(&Override::Pending(index))
                && self.follow_path(index).is_err()
            {
                unresolved.push(index);
            }
        }
        for index in &unresolved {
            self.overrides.insert(self.pending_paths[*index as usize].node, Override::Pending(*index));
        }
        for index in unresolved {
            if self.overrides.get(&self.pending_paths[index as usize].node) == Some(&Override::Pending(index)) {
                self.follow_path(index)
                    .map_err(|error| error.on_path(self.path_to(self.pending_paths[index as usize].node)))?;
            }
        }
        Ok(())
    }

    /// Returns the path to a node in the resulting document.
    fn path_to(&mut self, node: u32) -> String {
        let index = self.roots.partition_point(|root| *root <= node).saturating_sub(1);
        self.tape.root = self.roots.get(index).copied().unwrap_or(0);
        let path = self.tape.path_to(node, self.lexer.input);
        let prefix = if self.roots.len() > 1 { format!("$[{index}]") } else { "$".to_owned() };
        format!("{prefix}{}", path.strip_prefix('$').unwrap_or(&path))
    }

    /// Returns the variable at this node.
    pub(super) fn variable_at(&self, node: u32) -> u32 {
        match self.overrides.get(&node) {
            Some(Override::SameAs(other)) => *other,
            _ => node,
        }
    }

    /// Returns the content of a variable, or `None` if its path did not reach a value.
    pub(super) fn content_of(&self, variable: u32) -> Option<Value> {
        match self.overrides.get(&variable) {
            Some(Override::Value(value)) => Some(*value),
            Some(_) => None,
            None => Some(self.content_of_node(variable)),
        }
    }

    fn content_of_node(&self, node: u32) -> Value {
        match self.kind_at(node) {
            Kind::Array | Kind::Map | Kind::Object | Kind::Code | Kind::Regexp => Value::Target(node),
            // A text that is cut off after `\` has a reference without a target. It is taken as a leaf.
            Kind::Ref if self.tape.index_after(node) > node + 1 => Value::Scalar(node + 1),
            _ => Value::Leaf(node),
        }
    }

    fn kind_at(&self, index: u32) -> Kind {
        self.tape.nodes().get(index as usize).map_or(Kind::Null, |node| node.kind)
    }

    // -- Following ------------------------------------------------------------

    /// Follows a path. If it needs the results of other paths, these are followed first.
    fn follow_path(&mut self, pending_path: u32) -> Result<(), Error> {
        let mut stack = vec![self.start_walk(pending_path)];
        while let Some(walk) = stack.last_mut() {
            crate::steps::count(1);
            let pending_path = walk.pending_path;
            match self.advance(walk).and_then(|place| self.store_result(pending_path, place)) {
                Ok(()) => {
                    stack.pop();
                }
                Err(Interrupt::Wait(other)) => {
                    let next = self.start_walk(other);
                    stack.push(next);
                }
                Err(Interrupt::Error(error)) => {
                    for walk in stack {
                        crate::steps::count(1);
                        let pending_path = self.pending_paths[walk.pending_path as usize];
                        if !pending_path.is_statement {
                            self.overrides.insert(pending_path.node, Override::Unresolved);
                        }
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn start_walk(&mut self, pending_path: u32) -> PathWalk<'a> {
        let position = self.pending_paths[pending_path as usize].offset;
        if !self.pending_paths[pending_path as usize].is_statement {
            self.overrides.insert(self.pending_paths[pending_path as usize].node, Override::InProgress);
        }
        let steps = PathSteps::new(Lexer { position, ..self.lexer });
        PathWalk { pending_path, steps, position: None, open: Vec::new(), pending_step: None }
    }

    /// Continues until the path ends, or needs another one.
    fn advance(&mut self, walk: &mut PathWalk<'a>) -> Result<PathPosition, Interrupt> {
        loop {
            let step = match walk.pending_step.take() {
                Some(step) => step,
                None => match walk.steps.next(self.tape, self.limits)? {
                    Some(step) => step,
                    None => break,
                },
            };
            if let Err(stop) = self.follow_step(walk, &step) {
                walk.pending_step = Some(step);
                return Err(stop);
            }
        }
        walk.position.ok_or_else(|| self.bad_path_error(walk, "a variable", "none").into())
    }

    fn follow_step(&mut self, walk: &mut PathWalk<'a>, step: &PathStep<'a>) -> Result<(), Interrupt> {
        crate::steps::count(1);
        match step {
            PathStep::Open(sigil) => walk.open.push(PathOpening { sigil: *sigil, reference_count: 0 }),
            PathStep::Reference => {
                if let Some(opening) = walk.open.last_mut() {
                    opening.reference_count += 1;
                }
            }
            PathStep::Name(sigil, name) => walk.position = Some(self.resolve_name(walk, *sigil, name)?),
            PathStep::Glob(name, part) => {
                let known = self.names.get(&(b'*', join_glob_part(name, part))).copied();
                let root = known.ok_or_else(|| self.bad_path_error(walk, "a glob that the text has set", "another"))?;
                walk.position = Some(PathPosition::Variable(self.reach_variable(walk, root)?));
            }
            PathStep::Index(_) | PathStep::Key(..) => {
                let target = match walk.position {
                    Some(PathPosition::Target(target, _)) => target,
                    Some(PathPosition::Variable(variable)) => match self.read_variable(walk, variable)? {
                        Value::Target(target) => target,
                        _ => {
                            return Err(self
                                .bad_path_error(walk, "a reference to an array or a hash", "another value")
                                .into());
                        }
                    },
                    None => return Err(self.bad_path_error(walk, "a variable", "none").into()),
                };
                let child = self.find_child(walk, target, step)?;
                walk.position = Some(PathPosition::Variable(self.reach_variable(walk, child)?));
            }
            PathStep::Close => {
                let Some(&PathOpening { sigil, reference_count }) = walk.open.last() else { return Ok(()) };
                if reference_count == 0 {
                    walk.position = Some(self.dereference(walk, sigil)?);
                } else if reference_count > 1 {
                    return Err(self.bad_path_error(walk, "one `\\`", "several").into());
                }
                walk.open.pop();
            }
        }
        Ok(())
    }

    fn resolve_name(&mut self, walk: &PathWalk<'a>, sigil: u8, name: &[u8]) -> Result<PathPosition, Interrupt> {
        let name = match sigil {
            b'&' if name.starts_with(b"::") => [b"main", name].concat(),
            b'&' if !name.windows(2).any(|pair| pair == b"::") => [b"main::", name].concat(),
            _ => name.to_vec(),
        };
        let Some(root) = self.names.get(&(sigil, name.clone())).copied().or_else(|| self.resolve_bare_name(&name))
        else {
            let found = format!("`{}{}`", char::from(sigil), String::from_utf8_lossy(&name));
            return Err(self.bad_path_error(walk, "a variable that the text sets", &found).into());
        };
        let variable = self.reach_variable(walk, root)?;
        if sigil == b'$' {
            return Ok(PathPosition::Variable(variable));
        }
        match self.read_variable(walk, variable)? {
            Value::Target(target) => Ok(PathPosition::Target(target, sigil)),
            _ => Err(self.bad_path_error(walk, "an array or a hash", "another value").into()),
        }
    }

    /// Returns the value without a name, as `Terse` writes it. All paths begin with the name that the value would
    /// have otherwise, so the first path determines this name.
    fn resolve_bare_name(&mut self, name: &[u8]) -> Option<u32> {
        let root = self.unnamed_root?;
        let bare_name = self.unnamed_root_name.get_or_insert_with(|| name.to_vec());
        (bare_name == name).then_some(root)
    }

    /// Follows the reference that the path has reached.
    fn dereference(&self, walk: &PathWalk<'a>, sigil: u8) -> Result<PathPosition, Interrupt> {
        let Some(PathPosition::Variable(variable)) = walk.position else {
            return Err(self.bad_path_error(walk, "a reference", "an array or a hash").into());
        };
        match (self.read_variable(walk, variable)?, sigil) {
            (Value::Scalar(inner), b'$') => Ok(PathPosition::Variable(self.reach_variable(walk, inner)?)),
            (Value::Target(target), b'$') if self.kind_at(self.object_body(target)) == Kind::Ref => {
                Ok(PathPosition::Variable(self.reach_variable(walk, self.object_body(target) + 1)?))
            }
            (Value::Target(target), _) => Ok(PathPosition::Target(target, sigil)),
            _ => Err(self.bad_path_error(walk, "a reference", "another value").into()),
        }
    }

    /// Returns the variable that a path reaches at this node.
    fn reach_variable(&self, walk: &PathWalk<'a>, node: u32) -> Result<u32, Interrupt> {
        match self.overrides.get(&node) {
            Some(Override::Pending(pending_path)) => Err(Interrupt::Wait(*pending_path)),
            Some(Override::InProgress) => {
                Err(self.bad_path_error(walk, "a path to something else", "one that leads to itself").into())
            }
            Some(Override::SameAs(other)) => Ok(*other),
            _ => Ok(node),
        }
    }

    fn read_variable(&self, walk: &PathWalk<'a>, variable: u32) -> Result<Value, Interrupt> {
        self.content_of(variable)
            .ok_or_else(|| self.bad_path_error(walk, "a value", "a path that leads nowhere").into())
    }

    /// Returns the body of an object, otherwise the value itself.
    fn object_body(&self, target: u32) -> u32 {
        if self.kind_at(target) == Kind::Object && self.tape.index_after(target) > target + 1 {
            target + 1
        } else {
            target
        }
    }

    #[cold]
    fn bad_path_error(&self, walk: &PathWalk<'a>, expected: &'static str, found: &str) -> Error {
        let offset = self.pending_paths.get(walk.pending_path as usize).map_or(0, |pending_path| pending_path.offset);
        Error::new(ErrorKind::BadLink).at(offset).expecting(expected).finding(found.to_owned())
    }

    // -- Results --------------------------------------------------------------

    /// Stores the place that a path has reached.
    fn store_result(&mut self, pending_path: u32, place: PathPosition) -> Result<(), Interrupt> {
        let PendingPath { offset, node, is_referenced, is_statement } = self.pending_paths[pending_path as usize];
        let bad_path = |expected: &'static str| {
            let error = Error::new(ErrorKind::BadLink).at(offset).expecting(expected);
            Interrupt::Error(error.finding("a path to something else, or to itself"))
        };
        if is_statement {
            let PathPosition::Variable(variable) = place else { return Err(bad_path("a path to a value")) };
            let Some(value) = self.content_of(self.variable_at(node)) else {
                return Err(bad_path("an existing value"));
            };
            if variable != node {
                self.overrides.insert(variable, Override::Value(value));
            }
            return Ok(());
        }
        let new_state = match place {
            PathPosition::Target(_, b'$') => return Err(bad_path("a reference to a scalar")),
            PathPosition::Target(target, _) => Override::Value(Value::Target(target)),
            PathPosition::Variable(variable) => {
                let Some(value) = self.content_of(variable) else {
                    return Err(bad_path("a path that leads somewhere"));
                };
                let is_inside = matches!(self.lexer.byte_at(offset + 1), Some(b'{' | b'$'));
                match value {
                    // Data::Dumper writes a path to a variable only if the variable does not contain a reference. For
                    // a variable with a reference, the path names the target of this reference.
                    Value::Leaf(_) if is_referenced || is_inside => Override::SameAs(variable),
                    _ => Override::Value(value),
                }
            }
        };
        self.overrides.insert(node, new_state);
        Ok(())
    }

    // -- Children -------------------------------------------------------------

    /// Returns the variable with this index or key; a new one, if a statement sets it.
    fn find_child(&mut self, walk: &PathWalk<'a>, target: u32, step: &PathStep<'a>) -> Result<u32, Interrupt> {
        let body = self.object_body(target);
        if !self.children.contains_key(&body) {
            let Some(children) = self.collect_children(body) else {
                return Err(self.bad_path_error(walk, "a reference to an array or a hash", "another value").into());
            };
            self.children.insert(body, children);
        }
        let pending_path = self.pending_paths[walk.pending_path as usize];
        let is_last = pending_path.is_statement
            && walk.open.is_empty()
            && walk.steps.clone().next(self.tape, self.limits)?.is_none();
        let child = match (self.children.get_mut(&body), step) {
            (Some(Children::Array(items)), PathStep::Index(index)) => {
                let len = items.len() as i64;
                let position = if *index < 0 { index.saturating_add(len) } else { *index };
                let item = usize::try_from(position).ok().and_then(|position| items.get(position).copied());
                if item.is_none() && is_last && position == len {
                    items.push(pending_path.node);
                    self.added.entry(body).or_default().push(AddedValue { key: None, variable: pending_path.node });
                    return Ok(pending_path.node);
                }
                item
            }
            (Some(Children::Map(entries)), PathStep::Key(kind, key)) => {
                let key = (*kind, key.clone());
                let entry = entries.get(&key).copied();
                if entry.is_none() && is_last {
                    entries.insert(key.clone(), pending_path.node);
                    self.added
                        .entry(body)
                        .or_default()
                        .push(AddedValue { key: Some(key), variable: pending_path.node });
                    return Ok(pending_path.node);
                }
                entry
            }
            // `->{0}` is possible only in a hash, and `->[0]` only in an array.
            _ => None,
        };
        child.ok_or_else(|| {
            let description = match step {
                PathStep::Index(index) => format!("the index {index}"),
                PathStep::Key(_, key) => format!("the key '{}'", String::from_utf8_lossy(key)),
                _ => "another step".to_owned(),
            };
            self.bad_path_error(walk, "an existing item", &description).into()
        })
    }

    fn collect_children(&self, body: u32) -> Option<Children> {
        let node = self.tape.nodes().get(body as usize)?;
        let end = self.tape.index_after(body);
        let mut child = body + 1;
        match node.kind {
            Kind::Array => {
                let mut items = Vec::new();
                while child < end {
                    items.push(child);
                    child = self.tape.index_after(child);
                }
                Some(Children::Array(items))
            }
            Kind::Map => {
                let mut entries = HashMap::new();
                while child < end {
                    let key = self.read_entry_key(&mut child);
                    entries.insert(key, child);
                    child = self.tape.index_after(child);
                }
                Some(Children::Map(entries))
            }
            _ => None,
        }
    }

    /// Returns the key of the entry at `child`, and moves `child` to its value.
    fn read_entry_key(&self, child: &mut u32) -> (Kind, Vec<u8>) {
        let node = |index: u32| self.tape.node(index);
        let first = node(*child);
        if first.key == crate::document::IS_KEY {
            *child += 1;
            return (first.kind, self.tape.string_bytes(&first, self.lexer.input).to_vec());
        }
        debug_assert!(first.key != KEY_NODE && first.key != NO_KEY);
        let name = self.tape.keys.get(u32::from(first.key));
        name.map_or((Kind::Bytes, Vec::new()), |name| (name.node.kind, name.bytes.to_vec()))
    }
}

fn join_glob_part(glob: &[u8], part: &[u8]) -> Vec<u8> {
    [glob, b"{", part].concat()
}

/// Returns which part of a glob a value is assigned to.
fn assigned_glob_part(node: Option<Node>) -> &'static [u8] {
    match node.map(|node| node.kind) {
        Some(Kind::Array) => b"ARRAY",
        Some(Kind::Map) => b"HASH",
        Some(Kind::Code) => b"CODE",
        _ => b"SCALAR",
    }
}
