#!/usr/bin/env bash
# Removes the files that `make install` put below PREFIX: uninstall.sh DESTDIR PREFIX
. "$(dirname "$0")/common.sh"

root=$1$2
list=$root/share/doc/$name/installed
[ -f "$list" ] || fail "nothing of $name is installed below $root ($list is missing)."
mapfile -t files <"$list"
for file in "${files[@]}"; do
    case $file in
    /* | *..*) fail "$list names a file outside of $root: $file" ;;
    esac
    rm -f -- "$root/$file"
done
# Folders that only this program used are removed as well.
find "$root/share/doc/$name" -depth -type d -empty -delete 2>/dev/null || true
say "$name is gone from $root"
