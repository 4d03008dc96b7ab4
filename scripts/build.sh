#!/usr/bin/env bash
# Builds the command as it is installed and shipped.
. "$(dirname "$0")/common.sh"

have cargo || fail "Rust is missing. Its installer is at https://rustup.rs; \`make test\` can run it for you."
cargo build --release --locked -p icecore-cli --bin icecore
