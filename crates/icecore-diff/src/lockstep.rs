//! Both tapes side by side, node by node, as far as they say the same.
//!
//! Most of two documents is nearly always written alike: the same nodes one behind the other, with
//! other offsets. That is seen without a tree, a number or an allocation. What this does not find
//! to be the same may be it all the same; [`Walk`](crate::walk::Walk) looks.
//!
//! The stretch that was compared last is kept. A value in it is the same if it ends in it, and is
//! not if the stretch breaks off in it; so on the way down to where two values
//! differ nothing is compared twice, however deep that is.

use crate::pairs::Sides;
use crate::rules::Rules;
use crate::tree;
use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Node, flag};
use icecore::{Document, Kind};

pub(crate) struct Lockstep<'s, 'd> {
    pub(crate) sides: Sides<'s, 'd>,
    /// Otherwise nothing is the same here: so the readable twin of all this looks at every value by itself.
    pub(crate) is_on: bool,
    rules: Rules,
    /// Flags that count on every value.
    flags: u8,
    keys: Ids,
    classes: Ids,
    stretch: Stretch,
    /// Values in the stretch that links name: in both documents.
    named: Vec<(u32, u32)>,
    /// What links name, and stands beside what.
    pub(crate) beside: Beside,
}

/// So many nodes from these on are the same.
#[derive(Clone, Copy, Default)]
struct Stretch {
    left: u32,
    right: u32,
    len: u32,
}

impl Stretch {
    fn has(self, left: u32, right: u32) -> bool {
        let at = left.wrapping_sub(self.left);
        at < self.len && right.wrapping_sub(self.right) == at
    }
}

impl<'s, 'd> Lockstep<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>, is_on: bool) -> Lockstep<'s, 'd> {
        Lockstep {
            sides,
            is_on,
            rules: sides.left.rules,
            flags: if sides.left.rules.is_exact() { flag::WEAK | flag::OVERLOAD } else { 0 },
            keys: Ids::default(),
            classes: Ids::default(),
            stretch: Stretch::default(),
            named: Vec::new(),
            beside: Beside::new(sides.left.document),
        }
    }

    /// Whether these values are the same, node by node. Then what links name in them stands beside
    /// each other.
    pub(crate) fn same(&mut self, left: u32, right: u32) -> bool {
        let is_same = self.looks_same(left, right);
        if is_same && !self.named.is_empty() {
            let end = tree::next(self.sides.left.document, left);
            let from = self.named.partition_point(|(named, _)| *named < left);
            for (named, other) in self.named[from..].iter().take_while(|(named, _)| *named < end) {
                self.beside.put(*named, *other);
            }
        }
        is_same
    }

    /// As [`Lockstep::same`] of values that may not belong together.
    pub(crate) fn looks_same(&mut self, left: u32, right: u32) -> bool {
        if !self.is_on {
            return false;
        }
        let end = tree::next(self.sides.left.document, left);
        if !self.stretch.has(left, right) {
            self.follow(left, right, end);
        }
        end <= self.stretch.left + self.stretch.len
    }

    /// Compares from here on.
    fn follow(&mut self, left: u32, right: u32, end: u32) {
        self.stretch = Stretch { left, right, len: 0 };
        self.named.clear();
        let (document, other) = (self.sides.left.document, self.sides.right.document);
        let xs = document.nodes().get(left as usize..end as usize).unwrap_or(&[]);
        let ys = other.nodes().get(right as usize..).unwrap_or(&[]);
        for (x, y) in xs.iter().zip(ys) {
            if !self.pair(document, other, x, y) {
                break;
            }
            self.stretch.len += 1;
        }
    }

    #[inline(always)]
    fn pair(&mut self, document: &'d Document<'d>, other: &'d Document<'d>, x: &Node, y: &Node) -> bool {
        if (x.flags ^ y.flags) & self.flags != 0 || !self.keys.same(x.key, y.key) && !self.learn_key(x.key, y.key) {
            return false;
        }
        if x.key == IS_KEY && !self.are_keys(x, y) {
            return false;
        }
        if x.has(flag::TARGET) {
            self.named.push((self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len));
        }
        if x.kind.is_container() {
            return self.containers(x, y);
        }
        match x.kind {
            Kind::Null | Kind::Bool | Kind::Int | Kind::Uint if x.kind == y.kind => x.payload == y.payload,
            Kind::Bytes | Kind::Text if x.kind == y.kind && x.encoding() == 0 && y.encoding() == 0 => {
                x.aux == y.aux && document.bytes(x) == other.bytes(y)
            }
            _ => self.leaves(document, other, x, y),
        }
    }

    fn containers(&mut self, x: &Node, y: &Node) -> bool {
        let Stretch { left, right, len } = self.stretch;
        // One that is open has no end: the document broke off.
        let is_alike = x.kind == y.kind
            && x.aux == y.aux
            && x.end() != 0
            && x.end().wrapping_sub(left + len) == y.end().wrapping_sub(right + len)
            && self.rules.flags(x) == self.rules.flags(y);
        if !is_alike || matches!(x.kind, Kind::Array | Kind::Map) {
            return is_alike;
        }
        x.form() == y.form()
            && (!x.kind.has_class()
                || self.classes.same(x.class() as u16, y.class() as u16)
                || self.learn_class(x.class() as u16, y.class() as u16))
    }

    fn leaves(&self, document: &Document<'_>, other: &Document<'_>, x: &Node, y: &Node) -> bool {
        if y.kind.is_container() {
            return false;
        }
        if !x.kind.is_again() && !y.kind.is_again() {
            return self.rules.leaf(document, x) == self.rules.leaf(other, y);
        }
        // Links are the same if they name what stands beside each other: in the stretch or before.
        let at = (self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len);
        let target = |document: &Document<'_>, at: u32| document.at(at).map_or(at, |here| here.target().index());
        let (to, other_to) = (target(document, at.0), target(other, at.1));
        x.kind == y.kind && (self.stretch.has(to, other_to) || self.beside.has(to, other_to))
    }

    /// Whether what counts of keys beside what they say is the same.
    fn are_keys(&self, x: &Node, y: &Node) -> bool {
        const OF_KEYS: u8 = flag::LOCKED | flag::PLACEHOLDER;
        let counts = if self.rules.is_exact() { x.flags ^ y.flags } else { (x.flags | y.flags) & flag::PLACEHOLDER };
        counts & OF_KEYS == 0
    }

    #[cold]
    fn learn_key(&mut self, x: u16, y: u16) -> bool {
        let (document, other, rules) = (self.sides.left.document, self.sides.right.document, self.rules);
        let names = (document.tape().keys().get(u32::from(x)), other.tape().keys().get(u32::from(y)));
        let (Some(a), Some(b)) = names else { return false };
        // As the key of any map, and as that of a field.
        let is_same = self.are_keys(&a.node, &b.node)
            && [false, true].into_iter().all(|is_field| {
                rules.key(document, &a.node, a.bytes, is_field) == rules.key(other, &b.node, b.bytes, is_field)
            });
        if is_same {
            self.keys.learn(x, y);
        }
        is_same
    }

    #[cold]
    fn learn_class(&mut self, x: u16, y: u16) -> bool {
        let at = (self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len);
        let (object, other) = (self.sides.left.document.at(at.0), self.sides.right.document.at(at.1));
        let (Some(object), Some(other)) = (object, other) else { return false };
        let is_same = self.rules.class(object.class()) == self.rules.class(other.class());
        if is_same {
            self.classes.learn(x, y);
        }
        is_same
    }
}

/// Names of the first document: which of the second's is the same, as far as that is known.
#[derive(Default)]
struct Ids(Vec<u16>);

impl Ids {
    /// Whether two ids are known to be the same. What stands for none has no entry here.
    #[inline(always)]
    fn same(&self, x: u16, y: u16) -> bool {
        match self.0.get(usize::from(x)) {
            Some(known) if *known != 0 => *known == y,
            _ => x == y && matches!(x, NO_KEY | KEY_NODE | IS_KEY),
        }
    }

    fn learn(&mut self, x: u16, y: u16) {
        if self.0.len() <= usize::from(x) {
            self.0.resize(usize::from(x) + 1, 0);
        }
        self.0[usize::from(x)] = y;
    }
}

/// Values of the first document that links name, and the ones of the second that stand beside
/// them: a place for each node, from the first such value on.
pub(crate) struct Beside {
    count: usize,
    places: Vec<u32>,
}

impl Beside {
    fn new(document: &Document<'_>) -> Beside {
        Beside { count: document.nodes().len(), places: Vec::new() }
    }

    pub(crate) fn put(&mut self, left: u32, right: u32) {
        if self.places.is_empty() {
            self.places = vec![0; self.count];
        }
        if let Some(place) = self.places.get_mut(left as usize) {
            // 0 is none.
            *place = right.wrapping_add(1);
        }
    }

    pub(crate) fn has(&self, left: u32, right: u32) -> bool {
        self.places.get(left as usize).is_some_and(|place| *place == right.wrapping_add(1))
    }
}
