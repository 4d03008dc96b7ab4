//! Exports by the rules of phpMyAdmin, which escapes in PHP; older versions double the quotes.

use std::fmt::Write;

use super::generate::{Table, Type, hex};
use super::mysql::quoted;

/// Escapes as older versions do: `''`, and `"` unchanged.
fn doubled(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in value {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\'' => out.extend_from_slice(b"''"),
            0 => out.extend_from_slice(b"\\0"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x1a => out.extend_from_slice(b"\\Z"),
            other => out.push(other),
        }
    }
    out
}

/// Escapes as newer versions do: `\'` and `\"`.
fn escaped(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in value {
        match byte {
            b'\\' | b'\'' | b'"' => out.extend_from_slice(&[b'\\', byte]),
            0 => out.extend_from_slice(b"\\0"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x1a => out.extend_from_slice(b"\\Z"),
            other => out.push(other),
        }
    }
    out
}

/// Exports the tables as older and as newer versions do.
pub fn dumps(tables: &[Table]) -> Vec<Vec<u8>> {
    vec![dump(tables, doubled), dump(tables, escaped)]
}

fn dump(tables: &[Table], escape: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut out = b"-- phpMyAdmin SQL Dump\n-- version 5.2.1\n-- https://www.phpmyadmin.net/\n--\n-- Host: it's\n\n\
        SET SQL_MODE = \"NO_AUTO_VALUE_ON_ZERO\";\nSTART TRANSACTION;\nSET time_zone = \"+00:00\";\n\n\
        /*!40101 SET NAMES utf8mb4 */;\n"
        .to_vec();
    for table in tables {
        let name = quoted(&table.name);
        let comment = table.name.replace('\n', " ");
        let mut head = format!(
            "\n-- --------\n\n--\n-- Table structure for table `{comment}`\n--\n\nCREATE TABLE {name} (\n  `id` int(11) NOT NULL"
        );
        for (column, kind) in &table.columns {
            let _ = write!(
                head,
                ",\n  {} {} DEFAULT NULL",
                quoted(column),
                if *kind == Type::Text { "longtext" } else { "longblob" }
            );
        }
        head.push_str("\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n\n");
        out.extend_from_slice(head.as_bytes());
        let columns: String = table.columns.iter().map(|(column, _)| format!(", {}", quoted(column))).collect();
        for (number, row) in table.rows.iter().enumerate() {
            // A statement for some rows, as their size determines.
            if number % 3 == 0 {
                out.extend_from_slice(format!("INSERT INTO {name} (`id`{columns}) VALUES\n").as_bytes());
            }
            out.extend_from_slice(format!("({}", number + 1).as_bytes());
            for (value, (_, kind)) in row.iter().zip(&table.columns) {
                out.extend_from_slice(b", ");
                match (value, kind) {
                    (None, _) => out.extend_from_slice(b"NULL"),
                    (Some(value), Type::Bytes) if !value.is_empty() => {
                        out.extend_from_slice(format!("0x{}", hex(value)).as_bytes())
                    }
                    (Some(value), _) => {
                        out.push(b'\'');
                        out.extend_from_slice(&escape(value));
                        out.push(b'\'');
                    }
                }
            }
            out.extend_from_slice(if number % 3 == 2 || number + 1 == table.rows.len() { b");\n" } else { b"),\n" });
        }
        let add =
            format!("\n--\n-- Indexes for table `{comment}`\n--\nALTER TABLE {name}\n  ADD PRIMARY KEY (`id`);\n");
        out.extend_from_slice(add.as_bytes());
    }
    out.extend_from_slice(b"COMMIT;\n");
    out
}
