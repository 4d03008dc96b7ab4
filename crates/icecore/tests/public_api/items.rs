//! Lists the items of a crate, one per line.

use super::types::{bounds, function, generics, name_of, type_of};
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns all public items, sorted by path.
pub(crate) fn list(description: &Value) -> Vec<String> {
    let mut collector = ItemCollector { index: &description["index"], lines: BTreeSet::new(), listed: BTreeSet::new() };
    let root = collector.item(&description["root"]);
    collector.module(root, "icecore");
    collector.lines.into_iter().map(|(_, _, line)| line).collect()
}

struct ItemCollector<'d> {
    index: &'d Value,
    /// Lines in order: by path, and a declaration before its traits.
    lines: BTreeSet<(String, bool, String)>,
    /// Items that are already listed in full; in a second place they are a `use`.
    listed: BTreeSet<String>,
}

impl<'d> ItemCollector<'d> {
    fn item(&self, id: &Value) -> &'d Value {
        &self.index[id.to_string()]
    }

    fn add(&mut self, path: &str, line: String) {
        self.lines.insert((path.to_owned(), line.starts_with("impl"), line));
    }

    fn module(&mut self, module: &Value, path: &str) {
        for id in each(&module["inner"]["module"]["items"]) {
            let item = self.item(id);
            let reexport = &item["inner"]["use"];
            if reexport.is_null() {
                self.public(item, path, name_of(item));
            } else if reexport["is_glob"] == true {
                let module = self.item(&reexport["id"]);
                self.module(module, path);
            } else {
                let target = self.item(&reexport["id"]);
                self.public(target, path, reexport["name"].as_str().unwrap_or("?"));
            }
        }
    }

    fn public(&mut self, item: &Value, parent: &str, name: &str) {
        if item["visibility"] != "public" {
            return;
        }
        let path = format!("{parent}::{name}");
        if !self.listed.insert(item["id"].to_string()) {
            self.add(&path, format!("pub use {path}"));
            return;
        }
        let Some((kind, inner)) = item["inner"].as_object().and_then(|inner| inner.iter().next()) else { return };
        let (params, wheres) = generics(&inner["generics"]);
        match kind.as_str() {
            "module" => {
                self.add(&path, format!("pub mod {path}"));
                self.module(item, &path);
            }
            "function" => self.add(&path, format!("pub {}", function(inner, &path))),
            "constant" => {
                let value = inner["const"]["value"].as_str().or(inner["const"]["expr"].as_str()).unwrap_or("_");
                self.add(&path, format!("pub const {path}: {} = {value}", type_of(&inner["type"])));
            }
            "static" => self.add(&path, format!("pub static {path}: {}", type_of(&inner["type"]))),
            "type_alias" => self.add(&path, format!("pub type {path}{params} = {}{wheres}", type_of(&inner["type"]))),
            "struct" => {
                self.add(&path, format!("{}pub struct {path}{params}{wheres}", attributes(item)));
                self.fields(&inner["kind"]["plain"]["fields"], &path);
                self.fields(&inner["kind"]["tuple"], &path);
                self.impls(&inner["impls"], &path);
            }
            "enum" => {
                self.add(&path, format!("{}pub enum {path}{params}{wheres}", attributes(item)));
                for id in each(&inner["variants"]) {
                    self.variant(self.item(id), &path);
                }
                self.impls(&inner["impls"], &path);
            }
            "trait" => {
                let needs = bounds(&inner["bounds"]);
                let needs = if needs.is_empty() { needs } else { format!(": {needs}") };
                self.add(&path, format!("pub trait {path}{params}{needs}{wheres}"));
                for id in each(&inner["items"]) {
                    self.associated(self.item(id), &path);
                }
                for id in each(&inner["implementations"]) {
                    self.implementation(self.item(id), &path);
                }
            }
            other => self.add(&path, format!("pub {other} {path}")),
        }
    }

    fn fields(&mut self, fields: &Value, path: &str) {
        for id in each(fields) {
            let field = self.item(id);
            if field["visibility"] != "public" {
                continue;
            }
            let path = format!("{path}::{}", name_of(field));
            self.add(&path, format!("pub {path}: {}", type_of(&field["inner"]["struct_field"])));
        }
    }

    fn variant(&mut self, variant: &Value, path: &str) {
        let path = format!("{path}::{}", name_of(variant));
        let inner = &variant["inner"]["variant"];
        let parts = |ids: &Value, named: bool| -> String {
            let parts: Vec<_> = each(ids)
                .map(|id| self.item(id))
                .map(|field| {
                    let ty = type_of(&field["inner"]["struct_field"]);
                    if named { format!("{}: {ty}", name_of(field)) } else { ty }
                })
                .collect();
            parts.join(", ")
        };
        let mut line = path.clone();
        if inner["kind"]["tuple"].is_array() {
            line += &format!("({})", parts(&inner["kind"]["tuple"], false));
        } else if inner["kind"]["struct"].is_object() {
            line += &format!(" {{ {} }}", parts(&inner["kind"]["struct"]["fields"], true));
        }
        if let Some(value) = inner["discriminant"]["value"].as_str() {
            line += &format!(" = {value}");
        }
        self.add(&path, line);
    }

    /// Adds the methods and traits of a type. Traits that every type has, and those that the
    /// compiler derives by itself, are left out.
    fn impls(&mut self, impls: &Value, path: &str) {
        for id in each(impls) {
            let item = self.item(id);
            let inner = &item["inner"]["impl"];
            if !inner["trait"].is_null() {
                self.implementation(item, path);
                continue;
            }
            for id in each(&inner["items"]) {
                let item = self.item(id);
                if item["visibility"] == "public" {
                    self.associated(item, path);
                }
            }
        }
    }

    fn implementation(&mut self, item: &Value, path: &str) {
        let inner = &item["inner"]["impl"];
        let is_own = inner["blanket_impl"].is_null() && inner["is_synthetic"] != true;
        let is_inside = inner["trait"]["path"].as_str().is_some_and(|path| path.contains("StructuralPartialEq"));
        if is_own && !is_inside {
            let (params, wheres) = generics(&inner["generics"]);
            let of = bounds(&serde_json::json!([{ "trait_bound": { "trait": inner["trait"] } }]));
            self.add(path, format!("impl{params} {of} for {}{wheres}", type_of(&inner["for"])));
        }
    }

    fn associated(&mut self, item: &Value, path: &str) {
        let path = format!("{path}::{}", name_of(item));
        let Some((kind, inner)) = item["inner"].as_object().and_then(|inner| inner.iter().next()) else { return };
        match kind.as_str() {
            "function" => self.add(&path, format!("pub {}", function(inner, &path))),
            "assoc_const" => self.add(&path, format!("pub const {path}: {}", type_of(&inner["type"]))),
            _ => self.add(&path, format!("pub type {path}")),
        }
    }
}

/// Returns the attributes that change what a user may do.
fn attributes(item: &Value) -> String {
    let text = item["attrs"].to_string();
    let mut out = String::new();
    if text.contains("non_exhaustive") {
        out.push_str("#[non_exhaustive] ");
    }
    if let Some(repr) = each(&item["attrs"]).map(|attr| &attr["repr"]).find(|repr| !repr.is_null()) {
        let kind = repr["kind"].as_str().filter(|kind| *kind != "rust");
        let int = repr["int"].as_str();
        let words: Vec<_> = kind.into_iter().map(|kind| kind.to_uppercase()).chain(int.map(str::to_owned)).collect();
        out.push_str(&format!("#[repr({})] ", words.join(", ")));
    }
    out
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
