#!/usr/bin/env bash
# Installs the programs that the tests need, or lists them.
#
# On a terminal it asks first; with ASSUME_YES=1, or without a terminal, it doesn't ask. If it may not install
# programs, it lists the missing ones and succeeds. The tests then run as far as possible.
. "$(dirname "$0")/common.sh"

has_perl_module() {
    have perl && perl -M"$1" -e 1 2>/dev/null
}

has_php_extension() {
    have php && php -m | grep -x "$1" >/dev/null
}

has_apcu_header() {
    have php-config && [ -e "$(php-config --include-dir)/ext/apcu/apc_serializer.h" ]
}

has_ruby_library() {
    have ruby && ruby -e "require '$1'" 2>/dev/null
}

has_python_venv() {
    have python3 && python3 -c 'import venv, ensurepip' 2>/dev/null
}

has_php_fpm() {
    compgen -G '/usr/sbin/php-fpm*' >/dev/null
}

# -- Packages ----------------------------------------------------------------

packages=()
# Adds the package to the missing ones, unless the command succeeds.
need() { # PACKAGE COMMAND…
    local package=$1
    shift
    "$@" || packages+=("$package")
}
need gcc have cc
need libc6-dev test -e /usr/include/stdio.h
need perl have prove
need libsereal-encoder-perl has_perl_module Sereal::Encoder
need libsereal-decoder-perl has_perl_module Sereal::Decoder
need libjson-xs-perl has_perl_module JSON::XS
need libcpanel-json-xs-perl has_perl_module Cpanel::JSON::XS
need libcbor-xs-perl has_perl_module CBOR::XS
need libdata-messagepack-perl has_perl_module Data::MessagePack
need libchi-perl has_perl_module CHI
need libcgi-session-perl has_perl_module CGI::Session
need libplack-middleware-session-perl has_perl_module Plack::Middleware::Session::Cookie
need libdbi-perl has_perl_module DBI
need libdbd-sqlite3-perl has_perl_module DBD::SQLite
need libdbd-pg-perl has_perl_module DBD::Pg
need libev-perl has_perl_module EV
need libperl-dev has_perl_headers
need sqlite3 have sqlite3
need php-cli have php
need php-igbinary has_php_extension igbinary
need php-symfony-cache test -e /usr/share/php/Symfony/Component/Cache/autoload.php
need php-msgpack has_php_extension msgpack
need php-dev has_php_headers
need php-apcu has_php_extension apcu
need php-apcu-all-dev has_apcu_header
need ruby have ruby
need ruby-oj has_ruby_library oj
need ruby-msgpack has_ruby_library msgpack
need ruby-rack has_ruby_library rack
need ruby-dev has_ruby_headers
need ruby-activesupport has_ruby_library active_support
need ruby-fugit has_ruby_library fugit
need ruby-activerecord has_ruby_library active_record
need ruby-sqlite3 has_ruby_library sqlite3
need faketime have faketime
need ruby-pg has_ruby_library pg
need ruby-mysql2 has_ruby_library mysql2
need ruby-mongo has_ruby_library mongo
need php-sqlite3 has_php_extension pdo_sqlite
need php-pgsql has_php_extension pdo_pgsql
need php-mysql has_php_extension pdo_mysql
need make have make
need curl have curl
need python3 have python3
need python3-venv has_python_venv
need shellcheck have shellcheck
# Servers start by themselves after their installation, and a browser is large, so only `make test-servers`
# needs these. scripts/servers.sh installs the databases.
if [ -n "${PREPARE_SERVERS:-}" ]; then
    need nginx-light test -x /usr/sbin/nginx
    need php-fpm has_php_fpm
    need chromium have chromium
    need valgrind have valgrind
    need fonts-dejavu-core test -d /usr/share/fonts/truetype/dejavu
fi
if ! have cargo; then
    need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
fi

if [ ${#packages[@]} -gt 0 ]; then
    say "The tests need ${packages[*]}."
    install_packages "${packages[@]}" || say "Not installed: ${packages[*]}. What needs them is left out."
fi

# -- Rust --------------------------------------------------------------------

oldest_rust=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
is_new_enough() {
    local installed
    installed=$(cargo --version 2>/dev/null | sed -n 's/^cargo \([0-9.]*\).*/\1/p')
    [ -n "$installed" ] && [ "$(printf '%s\n' "$oldest_rust" "$installed" | sort -V | head -n 1)" = "$oldest_rust" ]
}

install_rust() {
    local installer
    have curl || return 1
    confirm 'Install Rust by its installer (https://sh.rustup.rs), for this user?' || return 1
    new_folder
    installer=$folder/rustup-init.sh
    # The second address is where the first one gets the script, and everything that it installs.
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs -o "$installer" 2>/dev/null ||
        curl --proto '=https' --tlsv1.2 -sSf https://static.rust-lang.org/rustup/rustup-init.sh -o "$installer" ||
        return 1
    sh "$installer" -y --quiet --profile minimal --component clippy,rustfmt --no-modify-path || return 1
    # The new Rust comes before an older one of the system.
    PATH="$HOME/.cargo/bin:$PATH"
}

if ! is_new_enough; then
    say "The tests need Rust $oldest_rust or newer."
    if have rustup && confirm 'Update Rust by rustup?'; then
        rustup toolchain install stable --profile minimal --component clippy,rustfmt || true
        rustup default stable || true
    else
        install_rust || true
    fi
    is_new_enough || fail "Rust $oldest_rust or newer is missing. Its installer is at https://rustup.rs."
fi
have cc || fail 'A C compiler and linker is missing: install gcc and libc6-dev, or what your system calls them.'

for tool in clippy rustfmt; do
    if ! cargo "${tool/rust/}" --version >/dev/null 2>&1 && have rustup; then
        rustup component add "$tool" || true
    fi
done

# The engine is also built for a machine without an operating system.
if have rustup && ! rustup target list --installed 2>/dev/null | grep -qx wasm32-unknown-unknown &&
    confirm 'Add the target wasm32-unknown-unknown by rustup?'; then
    rustup target add wasm32-unknown-unknown || true
fi
