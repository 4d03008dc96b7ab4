#!/usr/bin/env bash
# Makes dist/Icecore-VERSION.tar.gz, which builds and tests without the checkout
# and without the network: perl, a C compiler and Rust are all it needs.
#
#   scripts/dist-perl.sh [--check]    --check: unpack, build and test it as well
. "$(dirname "$0")/common.sh"
new_folder
version=$(sed -n "s/^our \$VERSION = '\(.*\)';$/\1/p" bindings/perl/lib/Icecore.pm)
name=Icecore-$version
stage=$folder/$name
mkdir -p "$stage"

git ls-files -z bindings/perl | while IFS= read -r -d '' file; do
    to=$stage/${file#bindings/perl/}
    mkdir -p "$(dirname "$to")"
    cp -p "$file" "$to"
done
rm -f "$stage/.gitignore"
# The list that t/behaviour.t runs, without what makes it.
mkdir -p "$stage/t/behaviour"
git ls-files -z bindings/common/behaviour | grep -zv /make/ | xargs -0 cp -p -t "$stage/t/behaviour"
cp LICENSE* "$stage/" 2>/dev/null || true
# What the modules of all languages share, without its tests and its example.
git ls-files -z 'bindings/common/*.[ch]' ':!bindings/common/*/*' | while IFS= read -r -d '' file; do
    to=$stage/${file#bindings/}
    mkdir -p "$(dirname "$to")"
    cp -p "$file" "$to"
done
stage_engine "$stage/engine"
(cd "$stage" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort >MANIFEST)
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
