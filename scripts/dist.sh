#!/usr/bin/env bash
# Makes dist/icecore-VERSION-ARCH-linux.tar.gz and dist/icecore_VERSION-1_ARCH.deb.
#
# The same sources give the same files: times are those of the last commit, or
# SOURCE_DATE_EPOCH.
here=$(dirname "$0")
"$here/build.sh"
. "$here/common.sh"

binary=$target/release/$name
machine=$(uname -m)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
new_folder

# The binary needs libc and nothing else (libm and the unwinder come with it).
libraries=$(readelf -d "$binary" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
for library in $libraries; do
    case $library in
    libc.so.* | libm.so.* | libgcc_s.so.* | ld-linux*) ;;
    *) fail "$binary needs $library, which not every Linux has." ;;
    esac
done

lay_out() { # DESTDIR PREFIX
    "$here/stage.sh" "$1" "$2"
    strip --strip-unneeded "$1$2/bin/$name"
}

# -- The tarball -------------------------------------------------------------

top=$name-$version-$machine-linux
lay_out "$folder/$top" ''
mkdir -p dist
tarball=dist/$top.tar.gz
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    -C "$folder" -cf - "$top" | gzip -9n >"$tarball"
say "$tarball"

# -- The package -------------------------------------------------------------

if ! have dpkg-deb; then
    say 'No .deb: dpkg-deb is missing.'
    exit 0
fi
maintainer=${DEB_MAINTAINER:-The Icecore developers <developers@icecore.invalid>}
architecture=$(dpkg --print-architecture)
package=$folder/package
doc=usr/share/doc/$name
lay_out "$package" /usr
cd "$package"

# As Debian has it: one copyright file, compressed pages and changelogs, and
# zsh's completions at the place for packages.
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
    sed -n '/^Permission/,$p' "$OLDPWD/LICENSE-MIT" | sed 's/^$/./; s/^/ /'
    cat <<'END'

License: Apache-2.0
 On Debian systems the text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
} >"$doc/copyright"
gzip -9n "$doc/changelog" "$doc/changelog.Debian" usr/share/man/man1/*.1

# The newest version of libc that a symbol asks for.
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
Description: look into and convert data that Perl froze
 Icecore reads and writes what Perl's Storable and Sereal freeze, byte for
 byte as the originals do. It tells what a file is, shows what is in it,
 lists its classes, and converts it to JSON and back. It never runs anything
 that the data names.
END
find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums
find . -type d -exec chmod 755 {} +
cd "$OLDPWD"
deb=dist/${name}_$version-1_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$package" "$deb" >/dev/null
say "$deb"
