//! Functions that call themselves with filters as arguments: `def f(g): f(g | .); f(.)`.
//!
//! Each such call keeps the filters of the previous call, so endless calls make an endless chain. jaq drops chains
//! recursively, and if the call is a tail call, nothing else grows: the stack would overflow when the chain is dropped.
//! So these calls are rewritten so that they are not tail calls. Then the stack grows with the chain, and the check of
//! the stack stops the filter.
//!
//! No other call makes such a chain: a filter that is an argument captures its surroundings, and these contain the same
//! function again only if the function is called inside itself.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::path::{Part, Path};

/// The functions around a place to which a filter can be an argument: names and numbers of arguments.
type Around<'s> = Vec<(&'s str, usize)>;

/// Rewrites such calls so that they are not tail calls. Returns whether there are any.
pub fn unchain(filter: &mut Term<&str>) -> bool {
    term(filter, &mut Vec::new())
}

fn term<'s>(here: &mut Term<&'s str>, around: &mut Around<'s>) -> bool {
    let mut is_found = false;
    let mut of = |term_in: &mut Term<&'s str>| is_found |= term(term_in, around);
    match here {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None) => {}
        Term::Str(_, parts) => parts.iter_mut().for_each(|part| {
            if let StrPart::Term(inner) = part {
                of(inner);
            }
        }),
        Term::Arr(Some(inner)) | Term::Neg(inner) | Term::Label(_, inner) => of(inner),
        Term::Obj(entries) => entries.iter_mut().for_each(|(key, value)| {
            of(key);
            value.iter_mut().for_each(&mut of);
        }),
        Term::BinOp(left, operator, right) => {
            of(left);
            if let BinaryOp::Pipe(Some(names)) = operator {
                pattern(names, &mut of);
            }
            of(right);
        }
        Term::Fold(_, source, names, parts) => {
            of(source);
            pattern(names, &mut of);
            parts.iter_mut().for_each(of);
        }
        Term::TryCatch(inner, other) => {
            of(inner);
            other.iter_mut().for_each(|other| of(other));
        }
        Term::IfThenElse(branches, otherwise) => {
            for (condition, then) in branches {
                of(condition);
                of(then);
            }
            otherwise.iter_mut().for_each(|otherwise| of(otherwise));
        }
        Term::Def(definitions, inner) => {
            for definition in definitions {
                is_found |= function(definition, around);
            }
            is_found |= term(inner, around);
        }
        Term::Call(_, arguments) => arguments.iter_mut().for_each(of),
        Term::Path(inner, Path(parts)) => {
            of(inner);
            for (part, _) in parts {
                match part {
                    Part::Index(at) => of(at),
                    Part::Range(from, to) => from.iter_mut().chain(to).for_each(&mut of),
                }
            }
        }
    }
    let is_chain = matches!(here, Term::Call(name, arguments) if around.contains(&(*name, arguments.len())));
    if is_chain {
        let call = Box::new(std::mem::take(here));
        *here = Term::BinOp(call, BinaryOp::Pipe(None), Box::new(Term::Id));
    }
    is_found || is_chain
}

fn function<'s>(definition: &mut Def<&'s str>, around: &mut Around<'s>) -> bool {
    let has_filters = definition.args.iter().any(|argument| !argument.starts_with('$'));
    let count = around.len();
    if has_filters {
        around.push((definition.name, definition.args.len()));
    }
    let is_found = term(&mut definition.body, around);
    around.truncate(count);
    is_found
}

fn pattern<'s>(names: &mut Pattern<&'s str>, of: &mut impl FnMut(&mut Term<&'s str>)) {
    match names {
        Pattern::Var(_) => {}
        Pattern::Arr(items) => items.iter_mut().for_each(|item| pattern(item, of)),
        Pattern::Obj(entries) => entries.iter_mut().for_each(|(key, value)| {
            of(key);
            pattern(value, of);
        }),
    }
}
