//! Perl expressions for values that were written: `$VAR1->{'a'}[0]`, `${$VAR1->[1]}`. Data::Dumper writes such a path
//! for a value that occurs again.
//!
//! A path is stored as its last step and the path of its parent, so all paths together use no more memory than the
//! document.

/// Index of a path in [`Paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path(u32);

#[derive(Clone, Copy)]
struct PathPiece {
    parent: Path,
    step: Step,
    /// Whether the path begins with a sigil and a brace, such as `${` or `@{`.
    has_brace: bool,
    /// Whether the path contains a line break. The pattern that decides about arrows in Data::Dumper's Perl code does
    /// not match such a name.
    has_line_break: bool,
}

#[derive(Clone, Copy)]
enum Step {
    /// The root variable: the bytes of its name in `text`.
    Root {
        start: usize,
        end: usize,
    },
    Item {
        index: u32,
        has_arrow: bool,
    },
    Key {
        start: usize,
        end: usize,
        has_arrow: bool,
    },
    /// The referenced value: `${…}`, `*{…}`.
    Dereference {
        sigil: u8,
    },
}

pub(super) struct Paths {
    pieces: Vec<PathPiece>,
    text: Vec<u8>,
    /// Whether arrows are placed as in Data::Dumper's Perl code (its option `Useperl`), not as in its C code.
    useperl: bool,
    /// Reused by `write_path`, to avoid an allocation per path.
    steps: Vec<Step>,
}

impl Paths {
    pub(super) fn new(useperl: bool) -> Paths {
        Paths { pieces: Vec::new(), text: Vec::new(), useperl, steps: Vec::new() }
    }

    fn add_piece(&mut self, piece: PathPiece) -> Path {
        let path = Path(u32::try_from(self.pieces.len()).unwrap_or(u32::MAX));
        self.pieces.push(piece);
        path
    }

    fn keep_text(&mut self, text: &[u8]) -> (usize, usize) {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        (start, self.text.len())
    }

    /// Adds and returns the path of a root variable with this name, for example `$VAR1`.
    pub(super) fn add_root(&mut self, name: &[u8]) -> Path {
        let (start, end) = self.keep_text(name);
        let parent = Path(u32::MAX);
        let has_brace = name.get(1) == Some(&b'{');
        let has_line_break = name.get(2..).is_some_and(|rest| rest.contains(&b'\n'));
        self.add_piece(PathPiece { parent, step: Step::Root { start, end }, has_brace, has_line_break })
    }

    pub(super) fn add_item(&mut self, array: Path, index: u32) -> Path {
        let has_arrow = self.needs_arrow(array);
        let piece = self.piece_at(array);
        self.add_piece(PathPiece { parent: array, step: Step::Item { index, has_arrow }, ..piece })
    }

    /// Adds and returns the path of an entry; `key` is in its written form, with quotes.
    pub(super) fn add_key(&mut self, hash: Path, key: &[u8]) -> Path {
        let has_arrow = self.needs_arrow(hash);
        let piece = self.piece_at(hash);
        let (start, end) = self.keep_text(key);
        let has_line_break = piece.has_line_break || key.contains(&b'\n');
        self.add_piece(PathPiece { parent: hash, step: Step::Key { start, end, has_arrow }, has_line_break, ..piece })
    }

    /// Adds and returns the path of the target of a reference.
    pub(super) fn add_dereference(&mut self, reference: Path, sigil: u8) -> Path {
        let piece = self.piece_at(reference);
        self.add_piece(PathPiece { parent: reference, step: Step::Dereference { sigil }, has_brace: true, ..piece })
    }

    fn piece_at(&self, path: Path) -> PathPiece {
        let step = Step::Root { start: 0, end: 0 };
        let missing_piece = PathPiece { parent: path, step, has_brace: false, has_line_break: false };
        self.pieces.get(path.0 as usize).copied().unwrap_or(missing_piece)
    }

    /// Returns `true` if an arrow is needed between this path and an index or key.
    fn needs_arrow(&self, path: Path) -> bool {
        let piece = self.piece_at(path);
        let (start, end) = match piece.step {
            Step::Root { start, end } => (start, end),
            // The C code puts an arrow after a braced name only if it has more than four bytes, so `${$}` gets none.
            Step::Dereference { .. } if !self.useperl && self.root_text(piece.parent).len() == 1 => return false,
            _ => return piece.has_brace || self.useperl && piece.has_line_break,
        };
        let name = self.text.get(start..end).unwrap_or(&[]);
        let ends_without_bracket = !matches!(name.last(), Some(b']' | b'}'));
        match name.first() {
            Some(b'@' | b'%') => false,
            _ if self.useperl => ends_without_bracket || piece.has_brace || piece.has_line_break,
            // `${a}` has four bytes too.
            _ => ends_without_bracket || piece.has_brace && name.len() > 4,
        }
    }

    /// Returns the name of a root variable; empty if the path is not a root.
    pub(super) fn root_text(&self, path: Path) -> &[u8] {
        match self.piece_at(path).step {
            Step::Root { start, end } => self.text.get(start..end).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// Writes a path.
    pub(super) fn write_path(&mut self, path: Path, buf: &mut Vec<u8>) {
        let mut steps = std::mem::take(&mut self.steps);
        let mut current = path;
        let root = loop {
            let piece = self.piece_at(current);
            if let Step::Root { start, end } = piece.step {
                break self.text.get(start..end).unwrap_or(&[]);
            }
            if let Step::Dereference { sigil } = piece.step {
                buf.extend_from_slice(&[sigil, b'{']);
            }
            steps.push(piece.step);
            current = piece.parent;
        };
        match (root, steps.is_empty()) {
            ([b'@' | b'%', name @ ..], false) => {
                buf.push(b'$');
                buf.extend_from_slice(name);
            }
            _ => buf.extend_from_slice(root),
        }
        while let Some(step) = steps.pop() {
            match step {
                Step::Item { has_arrow, .. } | Step::Key { has_arrow, .. } if has_arrow => buf.extend_from_slice(b"->"),
                _ => {}
            }
            match step {
                Step::Item { index, .. } => {
                    buf.push(b'[');
                    buf.extend_from_slice(itoa::Buffer::new().format(index).as_bytes());
                    buf.push(b']');
                }
                Step::Key { start, end, .. } => {
                    buf.push(b'{');
                    buf.extend_from_slice(self.text.get(start..end).unwrap_or(&[]));
                    buf.push(b'}');
                }
                _ => buf.push(b'}'),
            }
        }
        self.steps = steps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_paths(root: &str, useperl: bool) -> [String; 4] {
        let mut paths = Paths::new(useperl);
        let root = paths.add_root(root.as_bytes());
        let key = paths.add_key(root, b"'a'");
        let item = paths.add_item(key, 7);
        let dereferenced = paths.add_dereference(item, b'$');
        let last = paths.add_item(dereferenced, 0);
        [root, key, item, last].map(|path| {
            let mut buf = Vec::new();
            paths.write_path(path, &mut buf);
            String::from_utf8(buf).unwrap()
        })
    }

    #[test]
    fn paths_are_those_of_data_dumper() {
        assert_eq!(
            write_paths("$VAR1", false),
            ["$VAR1", "$VAR1->{'a'}", "$VAR1->{'a'}[7]", "${$VAR1->{'a'}[7]}->[0]"]
        );
        assert_eq!(write_paths("%h", false), ["%h", "$h{'a'}", "$h{'a'}[7]", "${$h{'a'}[7]}->[0]"]);
        assert_eq!(write_paths("${a}", false)[..3], ["${a}", "${a}{'a'}", "${a}{'a'}->[7]"]);
        assert_eq!(write_paths("${a}", true)[..3], ["${a}", "${a}->{'a'}", "${a}->{'a'}->[7]"]);
    }
}
