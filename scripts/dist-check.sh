#!/usr/bin/env bash
# Tests the output of `make dist` in a folder of its own, away from the sources.
. "$(dirname "$0")/common.sh"

sources=$PWD
(cd dist && sha256sum --quiet -c SHA256SUMS)
new_folder
cp docs/cookbook/samples/session.storable "$folder"
cd "$folder"

# Prints the command that runs a binary of this machine type; nothing if there is none.
runner() { # MACHINE
    if [ "$1" = "$(uname -m)" ]; then
        echo env
    elif have "qemu-$1-static"; then
        echo "env QEMU_LD_PREFIX=/usr/$1-linux-gnu qemu-$1-static"
    fi
}

# Checks that the command and its pages work.
try_command() { # MACHINE BIN SHARE
    local bin=$2 share=$3 page
    local -a run
    read -ra run <<<"$(runner "$1")"
    run+=("$bin")
    [ "$("${run[@]}" --version)" = "$name $version" ] || fail "$bin is not version $version"
    "${run[@]}" detect session.storable | grep -q 'storable.*(sure)' || fail "$bin does not know a Storable file"
    "${run[@]}" convert -q session.storable -o session.json
    grep -q '"name":"Alice"' session.json || fail "$bin does not convert a Storable file"
    "${run[@]}" convert -t storable session.storable -o again.storable
    cmp session.storable again.storable
    for page in man/man1/$name.1 man/man1/$name-convert.1 bash-completion/completions/$name \
        fish/vendor_completions.d/$name.fish doc/$name/README.md; do
        [ -s "$share/$page" ] || [ -s "$share/$page.gz" ] || fail "$share/$page is missing"
    done
    bash -n "$share/bash-completion/completions/$name"
    rm session.json again.storable
}

for tarball in "$sources/dist/$name-$version"-*-linux.tar.gz; do
    top=$(basename "$tarball" .tar.gz)
    machine=${top#"$name-$version-"}
    machine=${machine%-linux}
    if [ -z "$(runner "$machine")" ]; then
        say "$top was not tried: there is no qemu-$machine-static"
        continue
    fi
    tar -xzf "$tarball"
    try_command "$machine" "$PWD/$top/bin/$name" "$PWD/$top/share"
    [ -s "$top/share/doc/$name/LICENSE-MIT" ] || fail "$top has no licence"
    say "$top works"
done

for deb in "$sources/dist/${name}_$version"-1_*.deb; do
    [ -e "$deb" ] || continue
    dpkg-deb --info "$deb" >/dev/null
    rm -rf root control
    dpkg-deb -x "$deb" root
    dpkg-deb -e "$deb" control
    (cd root && md5sum --quiet -c ../control/md5sums)
    machine=$(readelf -h "root/usr/bin/$name" | sed -n 's/.*Machine: *//p')
    case $machine in
    *X86-64*) machine=x86_64 ;;
    AArch64) machine=aarch64 ;;
    esac
    [ -z "$(runner "$machine")" ] || try_command "$machine" "$PWD/root/usr/bin/$name" "$PWD/root/usr/share"
    [ -s "root/usr/share/doc/$name/copyright" ] || fail "$deb has no copyright file"
    say "$(basename "$deb") works"
    if have lintian; then
        lintian --fail-on error "$deb"
    fi
done
