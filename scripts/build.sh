#!/usr/bin/env bash
# Builds the command as it is installed and shipped.
. "$(dirname "$0")/common.sh"

need_rust
cargo build --release --locked -p icecore-cli --bin icecore --features all
