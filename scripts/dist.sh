#!/usr/bin/env bash
# Makes dist/icecore-VERSION-MACHINE-linux.tar.gz and dist/icecore_VERSION-1_ARCH.deb for this machine, and for arm64
# if Rust's target and a cross compiler are installed. Then makes dist/SHA256SUMS of all files.
#
#   rustup target add aarch64-unknown-linux-gnu; apt install gcc-aarch64-linux-gnu
#
# The same sources give the same files, because all times in them are that of the last commit, or SOURCE_DATE_EPOCH.
here=$(cd "$(dirname "$0")" && pwd)
"$here/build.sh"
. "$here/common.sh"

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
maintainer=${DEB_MAINTAINER:-The Icecore developers <developers@icecore.invalid>}
sources=$PWD
new_folder
mkdir -p dist

# Lays out the installed files, with a stripped command.
lay_out() { # DESTDIR PREFIX
    INSTALLED=$binary "$here/stage.sh" "$1" "$2"
    "${tools}strip" --strip-unneeded "$1$2/bin/$name"
}

# Checks that the binary needs only libc and the libraries that always come with it.
check_libraries() {
    libraries=$(readelf -d "$binary" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
    for library in $libraries; do
        case $library in
        libc.so.* | libm.so.* | libgcc_s.so.* | ld-linux*) ;;
        *) fail "$binary needs $library, which not every Linux has." ;;
        esac
    done
}

make_tarball() {
    local top=$name-$version-$machine-linux
    lay_out "$folder/$top" ''
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -C "$folder" -cf - "$top" | gzip -9n >"dist/$top.tar.gz"
    say "dist/$top.tar.gz"
}

make_package() {
    local package=$folder/$architecture doc=usr/share/doc/$name libc depends
    lay_out "$package" /usr
    cd "$package"

    # As in Debian: one copyright file, compressed pages and changelogs, and zsh's completions at the place for
    # packages.
    rm "$doc"/LICENSE-*
    mkdir -p usr/share/zsh/vendor-completions
    mv usr/share/zsh/site-functions/_"$name" usr/share/zsh/vendor-completions/
    rmdir usr/share/zsh/site-functions
    mv "$doc/CHANGELOG.md" "$doc/changelog"
    cat >"$doc/changelog.Debian" <<END
$name ($version-1) unstable; urgency=medium

  * Built from the sources of version $version.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
    {
        cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: $name

Files: *
Copyright: 2026 The Icecore developers
License: Expat or Apache-2.0

License: Expat
END
        sed -n '/^Permission/,$p' "$sources/LICENSE-MIT" | sed 's/^$/./; s/^/ /'
        cat <<'END'

License: Apache-2.0
 On Debian systems the text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
    } >"$doc/copyright"
    gzip -9n "$doc/changelog" "$doc/changelog.Debian" usr/share/man/man1/*.1

    # The newest version of libc that a symbol needs.
    libc=$(readelf -W --dyn-syms "usr/bin/$name" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1)
    depends="libc6 (>= $libc)"
    case $libraries in
    *libgcc_s*) depends="$depends, libgcc-s1" ;;
    esac
    mkdir DEBIAN
    cat >DEBIAN/control <<END
Package: $name
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s usr | cut -f1)
Depends: $depends
Section: utils
Priority: optional
Description: look into and convert data that Perl, PHP and Ruby froze
 Icecore reads and writes Storable, Sereal, Data::Dumper, PHP's serialize,
 sessions, var_export and igbinary, and Ruby's Marshal, byte for byte as the
 originals do. It tells what a file is, shows what is in it, lists its
 classes, and converts any of it into any other, or into JSON and back. It
 never runs anything that the data names.
END
    find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums
    find . -type d -exec chmod 755 {} +
    cd "$sources"
    local deb=dist/${name}_$version-1_$architecture.deb
    dpkg-deb --root-owner-group -Zxz --build "$package" "$deb" >/dev/null
    say "$deb"
}

make_both() { # MACHINE ARCHITECTURE BINARY TOOLS
    machine=$1 architecture=$2 binary=$3 tools=$4
    check_libraries
    make_tarball
    if have dpkg-deb; then
        make_package
    else
        say 'No .deb: dpkg-deb is missing.'
    fi
}

rm -f "dist/$name"[-_]*
make_both "$(uname -m)" "$(dpkg --print-architecture 2>/dev/null || uname -m)" "$target/release/$name" ''

cross=aarch64-unknown-linux-gnu
if [ "$(uname -m)" = aarch64 ] || ! have aarch64-linux-gnu-gcc || ! rustc --print target-libdir --target $cross 2>/dev/null | xargs test -d; then
    say "None for arm64: that needs rustup's target $cross and gcc-aarch64-linux-gnu."
else
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
        cargo build --release --locked -p icecore-cli --bin icecore --features all --target $cross
    make_both aarch64 arm64 "$target/$cross/release/$name" aarch64-linux-gnu-
fi
(cd dist && sha256sum "$name"[-_]* >SHA256SUMS)
say dist/SHA256SUMS
