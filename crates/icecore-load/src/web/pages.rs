//! The competitors of the web scenario: each is a page that loads the frozen value in its own way.

/// A pool of PHP processes. Pools differ in their opcache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    /// No opcache.
    Off,
    /// opcache with default settings.
    Default,
    /// opcache with sufficiently large limits.
    Large,
}

impl Pool {
    pub(super) const ALL: [Pool; 3] = [Pool::Off, Pool::Default, Pool::Large];

    /// Returns the first part of the path of its pages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Pool::Off => "off",
            Pool::Default => "default",
            Pool::Large => "large",
        }
    }

    /// Returns settings that only the main process of a pool can have. The file update protection of opcache is off,
    /// because it would exclude values that the run has just written.
    pub(super) fn settings(self) -> &'static [&'static str] {
        match self {
            Pool::Off => &["opcache.enable=0"],
            Pool::Default => &["opcache.enable=1", "opcache.file_update_protection=0"],
            Pool::Large => &[
                "opcache.enable=1",
                "opcache.file_update_protection=0",
                "opcache.memory_consumption=1024",
                "opcache.interned_strings_buffer=64",
                "opcache.max_accelerated_files=100000",
            ],
        }
    }
}

/// A way of loading the value.
#[derive(Debug)]
pub(super) struct Page {
    /// The id, such as `php/igbinary`. The command-line runner that does the same has the same id.
    pub id: &'static str,
    /// The display name.
    pub name: &'static str,
    pub pool: Pool,
    /// The variant of the classes.
    variant: &'static str,
    /// PHP code that converts `$value` to text.
    write: &'static str,
    /// PHP code that loads the value from the file `$path`.
    read: &'static str,
    /// PHP code that returns one of the value's lists.
    list: &'static str,
    /// The required extension.
    pub extension: Option<&'static str>,
}

const SERIALIZE: Page = Page {
    id: "php/serialize",
    name: "unserialize",
    pool: Pool::Default,
    variant: "typed",
    write: "serialize($value)",
    read: "unserialize(file_get_contents($path))",
    list: "$value->list",
    extension: None,
};

const VAR_EXPORT: Page = Page {
    id: "php/var-export-constructor",
    name: "require without opcache",
    pool: Pool::Off,
    variant: "constructor",
    write: "'<?php return ' . var_export($value, true) . ';'",
    read: "require $path",
    ..SERIALIZE
};

pub(super) const PAGES: [Page; 10] = [
    SERIALIZE,
    Page {
        id: "php/unserialize-classes",
        name: "unserialize (list of classes)",
        read: "unserialize(file_get_contents($path), ['allowed_classes' => ['Tree', 'Deep', 'Leaf']])",
        ..SERIALIZE
    },
    Page { id: "php/unserialize-manual", name: "unserialize (manual hooks)", variant: "manual", ..SERIALIZE },
    Page { id: "php/unserialize-untyped", name: "unserialize (untyped classes)", variant: "untyped", ..SERIALIZE },
    VAR_EXPORT,
    Page { id: "php/var-export-constructor-opcache", name: "require from opcache", pool: Pool::Default, ..VAR_EXPORT },
    Page {
        id: "php/var-export-constructor-opcache-large",
        name: "require from a large opcache",
        pool: Pool::Large,
        ..VAR_EXPORT
    },
    Page {
        id: "php/igbinary",
        name: "igbinary",
        write: "igbinary_serialize($value)",
        read: "igbinary_unserialize(file_get_contents($path))",
        extension: Some("igbinary"),
        ..SERIALIZE
    },
    Page {
        id: "php/icecore",
        name: "Icecore\\unserialize (list of classes)",
        write: "Icecore\\serialize($value)",
        read: "Icecore\\unserialize(file_get_contents($path), ['allowed_classes' => ['Tree', 'Deep', 'Leaf']])",
        extension: Some("icecore"),
        ..SERIALIZE
    },
    Page {
        id: "php/json",
        name: "json_decode",
        write: "json_encode($value, JSON_THROW_ON_ERROR, 0x7ffffffe)",
        read: "json_decode(file_get_contents($path), true, 0x7ffffffe, JSON_THROW_ON_ERROR)",
        list: "$value['list']",
        ..SERIALIZE
    },
];

impl Page {
    /// Returns the name of its file, without the extension.
    pub(super) fn file_stem(&self) -> &'static str {
        self.id.trim_start_matches("php/")
    }

    /// Returns the name of the file with the frozen value.
    pub(super) fn frozen_file_name(&self) -> String {
        format!("{}.frozen", self.file_stem())
    }

    /// Returns its path on the server.
    pub(super) fn url_path(&self, action: &str) -> String {
        format!("/{}/{}.php?do={action}", self.pool.name(), self.file_stem())
    }

    /// Returns true if the frozen value is a PHP program that opcache may cache.
    pub(super) fn is_program(&self) -> bool {
        self.read == VAR_EXPORT.read && self.pool != Pool::Off
    }

    /// Returns the PHP source of the page.
    pub(super) fn render_source(&self) -> String {
        include_str!("php/page.php")
            .replace("{variant}", self.variant)
            .replace("{name}", self.file_stem())
            .replace("{write}", self.write)
            .replace("{read}", self.read)
            .replace("{list}", self.list)
    }
}

/// A page that loses a leaf, and one that ends with an error.
#[cfg(test)]
pub(super) const WRONG: [Page; 2] = [
    Page {
        id: "php/forgetful",
        read: "(function ($path) { $tree = unserialize(file_get_contents($path)); \
               $tree->list[0] = $tree->leaf; return $tree; })($path)",
        ..SERIALIZE
    },
    Page { id: "php/broken", read: "no_such_function($path)", ..SERIALIZE },
];
