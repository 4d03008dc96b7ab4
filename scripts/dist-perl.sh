#!/usr/bin/env bash
# Makes dist/Icecore-VERSION.tar.gz, which builds and tests without the checkout and without the network: it
# needs only perl, a C compiler and Rust.
#
#   scripts/dist-perl.sh [--check]    --check: also unpack, build and test it
. "$(dirname "$0")/package.sh"
version=$(sed -n "s/^our \$VERSION = '\(.*\)';$/\1/p" bindings/perl/lib/Icecore.pm)
stage_module perl "Icecore-$version"
stage_behaviour "$stage/t"
(cd "$stage" && touch MANIFEST && find . -type f | sed 's,^\./,,' | LC_ALL=C sort >MANIFEST)
mkdir -p dist
tar -C "$folder" -czf "dist/$name.tar.gz" "$name"
say "dist/$name.tar.gz: $(du -h "dist/$name.tar.gz" | cut -f1)"

if [ "${1:-}" = --check ]; then
    mkdir "$folder/check"
    tar -C "$folder/check" -xzf "dist/$name.tar.gz"
    cd "$folder/check/$name"
    unset ICECORE_LIB CARGO_TARGET_DIR
    perl Makefile.PL >/dev/null
    make --quiet
    prove --blib --quiet t/
    say 'the tarball builds and passes its tests'
fi
