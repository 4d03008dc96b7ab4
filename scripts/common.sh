# shellcheck shell=bash disable=SC2034
# Functions that the scripts share. Each script sources this file.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The Rust installer puts cargo into this folder. A shell that was opened before that does not have it in its PATH.
if [ -d "$HOME/.cargo/bin" ]; then
    PATH="$PATH:$HOME/.cargo/bin"
fi

target=${CARGO_TARGET_DIR:-target}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name=icecore

# Tests build everything once: all crates with these features, in the profile `dev`. Another set of features
# or another profile would build the engine again.
all_features=(--workspace --features 'icecore-cli/all,icecore-cli/toy,icecore/serde')
test_library=$(realpath -m "$target")/debug/libicecore_capi.a
test_command=$(realpath -m "$target")/debug/icecore
# Names of tests that need php-fpm or a browser: `make test-servers` runs them.
skip_servers=(--skip over_fpm:: --skip in_browser::)

# Ends a script or a step that can't run here, with the exit code for that.
exit_skipped() { # REASON
    printf '%s\n' "$*"
    exit 75
}

# Succeeds if there is such a program.
have() { # PROGRAM
    command -v "$1" >/dev/null 2>&1
}

# These succeed if the headers are there with which a C module is built.
has_perl_headers() {
    have perl && [ -e "$(perl -MConfig -e 'print $Config{archlibexp}')/CORE/perl.h" ]
}

has_php_headers() {
    have phpize && have php-config && [ -e "$(php-config --include-dir)/main/php.h" ]
}

has_ruby_headers() {
    have ruby && [ -e "$(ruby -e 'print RbConfig::CONFIG["rubyhdrdir"]')/ruby.h" ]
}

# Prints a line.
say() { # TEXT
    printf '%s\n' "$*"
}

# Prints an error, and ends the script.
fail() { # TEXT
    printf '%s\n' "$*" >&2
    exit 1
}

need_rust() {
    have cargo || fail "Rust is missing. Its installer is at https://rustup.rs; \`make test\` can run it for you."
}

# Asks on a terminal, and succeeds if the answer is yes. With ASSUME_YES=1, or without a terminal, it does not ask and
# succeeds.
confirm() { # QUESTION
    [ "${ASSUME_YES:-}" != 1 ] && [ -t 0 ] && [ -t 1 ] || return 0
    read -r -p "$1 [Y/n] " answer
    case $answer in
    '' | [Yy]*) return 0 ;;
    *) return 1 ;;
    esac
}

# Installs packages of the system, if that is possible and the user agrees.
install_packages() { # PACKAGE…
    local as_root=()
    have apt-get || return 1
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || return 1
        sudo -n true 2>/dev/null || [ -t 0 ] || return 1
        as_root=(sudo)
    fi
    confirm "Install $* by apt-get?" || return 1
    export DEBIAN_FRONTEND=noninteractive
    "${as_root[@]}" apt-get update -qq || true
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Makes a folder, $folder, that is removed when the script ends.
new_folder() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
}

# Copies the engine with its C interface, as it is in the package of a module: it builds without the checkout
# and without the network.
stage_engine() { # FOLDER
    local crate file copy
    for crate in icecore icecore-replace icecore-capi; do
        mkdir -p "$1/crates/$crate"
        git ls-files -z "crates/$crate/Cargo.toml" "crates/$crate/src" "crates/$crate/include" | while IFS= read -r -d '' file; do
            copy=$1/$file
            mkdir -p "$(dirname "$copy")"
            cp -p "$file" "$copy"
        done
        # Parts that only the tests and benchmarks of the checkout need are left out.
        awk '/^\[/ { skip = ($0 == "[dev-dependencies]" || $0 == "[[bench]]") } !skip' "crates/$crate/Cargo.toml" \
            >"$1/crates/$crate/Cargo.toml"
    done
    sed -e 's/^members = .*/members = ["crates\/icecore", "crates\/icecore-replace", "crates\/icecore-capi"]/' Cargo.toml >"$1/Cargo.toml"
    cp Cargo.lock README.md "$1/"
    mkdir -p "$1/.cargo"
    (cd "$1" && cargo vendor --quiet vendor >.cargo/config.toml)
}
