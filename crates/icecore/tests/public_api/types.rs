//! Types and signatures as Rust writes them; paths are cut to their last name.

use serde_json::Value;

pub(crate) fn name_of(item: &Value) -> &str {
    item["name"].as_str().unwrap_or("_")
}

fn list(values: &Value, each: impl Fn(&Value) -> String, between: &str) -> String {
    let parts: Vec<_> = values.as_array().into_iter().flatten().map(each).filter(|part| !part.is_empty()).collect();
    parts.join(between)
}

fn path(resolved: &Value) -> String {
    let name = resolved["path"].as_str().unwrap_or("?");
    let name = name.rsplit("::").next().unwrap_or(name);
    format!("{name}{}", arguments(&resolved["args"]))
}

fn arguments(args: &Value) -> String {
    if let Some(call) = args.get("parenthesized") {
        return format!("({}){}", list(&call["inputs"], type_of, ", "), returns(&call["output"]));
    }
    let angle = &args["angle_bracketed"];
    let mut parts = list(
        &angle["args"],
        |arg| match arg.get("lifetime").and_then(Value::as_str) {
            Some(lifetime) => lifetime.to_owned(),
            None if arg.get("type").is_some() => type_of(&arg["type"]),
            None => arg["const"]["expr"].as_str().unwrap_or("_").to_owned(),
        },
        ", ",
    );
    let constraints = list(
        &angle["constraints"],
        |one| {
            let equality = &one["binding"]["equality"]["type"];
            if equality.is_null() {
                format!("{}: {}", name_of(one), bounds(&one["binding"]["constraint"]))
            } else {
                format!("{} = {}", name_of(one), type_of(equality))
            }
        },
        ", ",
    );
    if !parts.is_empty() && !constraints.is_empty() {
        parts += ", ";
    }
    parts += &constraints;
    if parts.is_empty() { parts } else { format!("<{parts}>") }
}

fn returns(output: &Value) -> String {
    if output.is_null() { String::new() } else { format!(" -> {}", type_of(output)) }
}

fn lifetime_before(lifetime: &Value) -> String {
    lifetime.as_str().map_or(String::new(), |lifetime| format!("{lifetime} "))
}

pub(crate) fn type_of(ty: &Value) -> String {
    let Some((kind, inner)) = ty.as_object().and_then(|ty| ty.iter().next()) else {
        return ty.as_str().unwrap_or("_").to_owned();
    };
    match kind.as_str() {
        "resolved_path" => path(inner),
        "generic" | "primitive" => inner.as_str().unwrap_or("?").to_owned(),
        "slice" => format!("[{}]", type_of(inner)),
        "array" => format!("[{}; {}]", type_of(&inner["type"]), inner["len"].as_str().unwrap_or("_")),
        "tuple" => format!("({})", list(inner, type_of, ", ")),
        "borrowed_ref" => {
            let mutable = if inner["is_mutable"] == true { "mut " } else { "" };
            format!("&{}{mutable}{}", lifetime_before(&inner["lifetime"]), type_of(&inner["type"]))
        }
        "raw_pointer" => {
            let kind = if inner["is_mutable"] == true { "mut" } else { "const" };
            format!("*{kind} {}", type_of(&inner["type"]))
        }
        "impl_trait" => format!("impl {}", bounds(inner)),
        "dyn_trait" => {
            let traits = list(&inner["traits"], |one| quantified(&one["generic_params"]) + &path(&one["trait"]), " + ");
            let lifetime = inner["lifetime"].as_str().map_or(String::new(), |lifetime| format!(" + {lifetime}"));
            format!("dyn {traits}{lifetime}")
        }
        "function_pointer" => {
            format!("{}fn{}", quantified(&inner["generic_params"]), signature(&inner["sig"], false))
        }
        "qualified_path" => {
            let of = path(&inner["trait"]);
            if of.is_empty() || of == "?" {
                format!("{}::{}", type_of(&inner["self_type"]), name_of(inner))
            } else {
                format!("<{} as {of}>::{}", type_of(&inner["self_type"]), name_of(inner))
            }
        }
        other => format!("<{other}>"),
    }
}

fn quantified(params: &Value) -> String {
    let names = list(params, |param| name_of(param).to_owned(), ", ");
    if names.is_empty() { names } else { format!("for<{names}> ") }
}

/// Returns the bounds that follow a colon.
pub(crate) fn bounds(all: &Value) -> String {
    let one = |bound: &Value| {
        if let Some(lifetime) = bound["outlives"].as_str() {
            return lifetime.to_owned();
        }
        let inner = &bound["trait_bound"];
        if inner.is_null() {
            return String::new();
        }
        let modifier = if inner["modifier"] == "maybe" { "?" } else { "" };
        format!("{modifier}{}{}", quantified(&inner["generic_params"]), path(&inner["trait"]))
    };
    list(all, one, " + ")
}

/// Returns the parameters in angle brackets, and the where clause.
pub(crate) fn generics(generics: &Value) -> (String, String) {
    let named = |param: &Value| {
        let kind = &param["kind"];
        let name = name_of(param);
        if kind["type"]["is_synthetic"] == true {
            return String::new();
        }
        if !kind["const"].is_null() {
            return format!("const {name}: {}", type_of(&kind["const"]["type"]));
        }
        let needs = bounds(&kind["type"]["bounds"]);
        if needs.is_empty() { name.to_owned() } else { format!("{name}: {needs}") }
    };
    let params = list(&generics["params"], named, ", ");
    let params = if params.is_empty() { params } else { format!("<{params}>") };
    let predicate = |one: &Value| {
        let bound = &one["bound_predicate"];
        if bound.is_null() {
            let outlives = &one["lifetime_predicate"];
            return format!("{}: {}", outlives["lifetime"].as_str().unwrap_or("_"), outlives["outlives"]);
        }
        format!("{}: {}", type_of(&bound["type"]), bounds(&bound["bounds"]))
    };
    let wheres = list(&generics["where_predicates"], predicate, ", ");
    let wheres = if wheres.is_empty() { wheres } else { format!(" where {wheres}") };
    (params, wheres)
}

fn signature(sig: &Value, with_names: bool) -> String {
    let input = |input: &Value| {
        let (name, ty) = (input[0].as_str().unwrap_or("_"), type_of(&input[1]));
        match (name, ty.as_str()) {
            ("self", "Self") => "self".to_owned(),
            ("self", "&Self") => "&self".to_owned(),
            ("self", "&mut Self") => "&mut self".to_owned(),
            _ if with_names => format!("{name}: {ty}"),
            _ => ty,
        }
    };
    format!("({}){}", list(&sig["inputs"], input, ", "), returns(&sig["output"]))
}

/// Returns a function with this path, beginning with `fn` or the words before it.
pub(crate) fn function(inner: &Value, path: &str) -> String {
    let (params, wheres) = generics(&inner["generics"]);
    let word = |name: &str, word: &'static str| if inner["header"][name] == true { word } else { "" };
    let words = [word("is_const", "const "), word("is_async", "async "), word("is_unsafe", "unsafe ")].concat();
    format!("{words}fn {path}{params}{}{wheres}", signature(&inner["sig"], true))
}
