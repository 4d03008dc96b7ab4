#!/usr/bin/env bash
# Tries what `make dist` made in a folder of its own, far from the sources.
. "$(dirname "$0")/common.sh"

machine=$(uname -m)
sources=$PWD
tarball=$sources/dist/$name-$version-$machine-linux.tar.gz
new_folder
cp docs/cookbook/samples/session.storable "$folder"
cd "$folder"

try() { # BIN SHARE: the command and the pages work
    local bin=$1 share=$2 page
    [ "$("$bin" --version)" = "$name $version" ] || fail "$bin is not version $version"
    "$bin" detect session.storable | grep -q 'storable.*(sure)' || fail "$bin does not know a Storable file"
    "$bin" convert -q session.storable -o session.json
    grep -q '"name":"Alice"' session.json || fail "$bin does not convert a Storable file"
    "$bin" convert -t storable session.storable -o again.storable
    cmp session.storable again.storable
    for page in man/man1/$name.1 man/man1/$name-convert.1 bash-completion/completions/$name \
        fish/vendor_completions.d/$name.fish doc/$name/README.md; do
        [ -s "$share/$page" ] || [ -s "$share/$page.gz" ] || fail "$share/$page is missing"
    done
    bash -n "$share/bash-completion/completions/$name"
    rm session.json again.storable
}

tar -xzf "$tarball"
top=$(basename "$tarball" .tar.gz)
try "$PWD/$top/bin/$name" "$PWD/$top/share"
[ -s "$top/share/doc/$name/LICENSE-MIT" ] || fail "the tarball has no licence"
say "the tarball works"

if have dpkg-deb; then
    deb=$sources/dist/${name}_$version-1_$(dpkg --print-architecture).deb
    dpkg-deb --info "$deb" >/dev/null
    dpkg-deb -x "$deb" root
    dpkg-deb -e "$deb" control
    (cd root && md5sum --quiet -c ../control/md5sums)
    try "$PWD/root/usr/bin/$name" "$PWD/root/usr/share"
    [ -s "root/usr/share/doc/$name/copyright" ] || fail "the package has no copyright file"
    say "the package works"
    if have lintian; then
        lintian --fail-on error "$deb"
    fi
fi
