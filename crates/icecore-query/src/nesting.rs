//! Functions that call themselves with filters as arguments: `def f(g): f(g | .); f(.)`.
//!
//! Each such call keeps the filters of the previous call, so endless calls make an endless chain. jaq drops a chain
//! recursively. If the calls are tail calls, the stack does not grow while the chain grows, and it would overflow
//! only when the chain is dropped. So these calls are rewritten to calls that are not tail calls. Then the stack
//! grows with the chain, and the check of the stack stops the filter.
//!
//! Other calls do not make such a chain. A filter that is an argument captures its surroundings, and these contain
//! the same function again only if the function is called inside itself.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::path::{Part, Path};

/// The functions around a place that take filters as arguments. Each entry is a name and a number of arguments.
type EnclosingFunctions<'s> = Vec<(&'s str, usize)>;

/// Rewrites calls of a function inside itself with filters as arguments, so that they are not tail calls. Returns
/// whether there are any.
pub fn rewrite_chained_calls(filter: &mut Term<&str>) -> bool {
    rewrite_term(filter, &mut Vec::new())
}

/// Rewrites a term and the terms in it. Returns true if a call was rewritten.
fn rewrite_term<'s>(current: &mut Term<&'s str>, enclosing_functions: &mut EnclosingFunctions<'s>) -> bool {
    let mut is_found = false;
    let mut visit = |inner: &mut Term<&'s str>| is_found |= rewrite_term(inner, enclosing_functions);
    match current {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None) => {}
        Term::Str(_, parts) => parts.iter_mut().for_each(|part| {
            if let StrPart::Term(inner) = part {
                visit(inner);
            }
        }),
        Term::Arr(Some(inner)) | Term::Neg(inner) | Term::Label(_, inner) => visit(inner),
        Term::Obj(entries) => entries.iter_mut().for_each(|(key, value)| {
            visit(key);
            value.iter_mut().for_each(&mut visit);
        }),
        Term::BinOp(left, operator, right) => {
            visit(left);
            if let BinaryOp::Pipe(Some(names)) = operator {
                visit_pattern_terms(names, &mut visit);
            }
            visit(right);
        }
        Term::Fold(_, source, names, parts) => {
            visit(source);
            visit_pattern_terms(names, &mut visit);
            parts.iter_mut().for_each(visit);
        }
        Term::TryCatch(inner, handler) => {
            visit(inner);
            handler.iter_mut().for_each(|handler| visit(handler));
        }
        Term::IfThenElse(branches, otherwise) => {
            for (condition, then) in branches {
                visit(condition);
                visit(then);
            }
            otherwise.iter_mut().for_each(|otherwise| visit(otherwise));
        }
        Term::Def(definitions, inner) => {
            for definition in definitions {
                is_found |= rewrite_definition(definition, enclosing_functions);
            }
            is_found |= rewrite_term(inner, enclosing_functions);
        }
        Term::Call(_, arguments) => arguments.iter_mut().for_each(visit),
        Term::Path(inner, Path(parts)) => {
            visit(inner);
            for (part, _) in parts {
                match part {
                    Part::Index(index) => visit(index),
                    Part::Range(start, end) => start.iter_mut().chain(end).for_each(&mut visit),
                }
            }
        }
    }
    let is_chain =
        matches!(current, Term::Call(name, arguments) if enclosing_functions.contains(&(*name, arguments.len())));
    if is_chain {
        let call = Box::new(std::mem::take(current));
        *current = Term::BinOp(call, BinaryOp::Pipe(None), Box::new(Term::Id));
    }
    is_found || is_chain
}

fn rewrite_definition<'s>(definition: &mut Def<&'s str>, enclosing_functions: &mut EnclosingFunctions<'s>) -> bool {
    let has_filters = definition.args.iter().any(|argument| !argument.starts_with('$'));
    let count = enclosing_functions.len();
    if has_filters {
        enclosing_functions.push((definition.name, definition.args.len()));
    }
    let is_found = rewrite_term(&mut definition.body, enclosing_functions);
    enclosing_functions.truncate(count);
    is_found
}

fn visit_pattern_terms<'s>(names: &mut Pattern<&'s str>, visit: &mut impl FnMut(&mut Term<&'s str>)) {
    match names {
        Pattern::Var(_) => {}
        Pattern::Arr(items) => items.iter_mut().for_each(|item| visit_pattern_terms(item, visit)),
        Pattern::Obj(entries) => entries.iter_mut().for_each(|(key, value)| {
            visit(key);
            visit_pattern_terms(value, visit);
        }),
    }
}
