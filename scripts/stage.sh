#!/usr/bin/env bash
# Lays out the installed files: stage.sh DESTDIR PREFIX [--manifest]
#
# With --manifest it also writes a list of these files, for uninstall.sh. INSTALLED names the command to install, if it
# is not the one that was built for this machine.
. "$(dirname "$0")/common.sh"

root=$1$2
binary=$target/release/$name
[ -x "$binary" ] || fail "$binary is missing: run \`make build\`."
doc=share/doc/$name
files=()

# Installs a file below the prefix.
install_file() { # MODE FROM TO
    install -D -m "$1" "$2" "$root/$3"
    files+=("$3")
}

new_folder
"$binary" man --out-dir "$folder/man"
"$binary" completions bash >"$folder/bash"
"$binary" completions zsh >"$folder/zsh"
"$binary" completions fish >"$folder/fish"

install_file 755 "${INSTALLED:-$binary}" "bin/$name"
for page in "$folder"/man/*.1; do
    install_file 644 "$page" "share/man/man1/$(basename "$page")"
done
install_file 644 "$folder/bash" "share/bash-completion/completions/$name"
install_file 644 "$folder/zsh" "share/zsh/site-functions/_$name"
install_file 644 "$folder/fish" "share/fish/vendor_completions.d/$name.fish"
for page in README.md CHANGELOG.md SECURITY.md LICENSE-MIT LICENSE-APACHE; do
    install_file 644 "$page" "$doc/$page"
done
for page in docs/*.md docs/cookbook/*.md; do
    install_file 644 "$page" "$doc/$page"
done

if [ "${3:-}" = --manifest ]; then
    printf '%s\n' "${files[@]}" "$doc/installed" >"$folder/installed"
    install_file 644 "$folder/installed" "$doc/installed"
    say "$name $version is in $root/bin"
fi
