#!/usr/bin/env bash
# Tests the Perl, PHP and Ruby modules on the versions of Debian 13 (trixie): perl 5.40, PHP 8.4 and Ruby 3.3. The tests
# run in a chroot, which the script creates.
#
#   scripts/trixie.sh [FOLDER [LANGUAGE…]]    creates the chroot in FOLDER, and reuses it if it exists
#
# Without FOLDER, the chroot is temporary. The script needs root, debootstrap and the network, and exits with 75 if it
# can't run. ICECORE_LIB may name a built libicecore_capi.a; otherwise the script builds it.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" -eq 0 ] || exit_skipped 'a Debian 13 can only be made by root'
have debootstrap || exit_skipped 'debootstrap is missing'

if [ $# -gt 0 ]; then
    tree=$1
    shift
else
    new_folder
    tree=$folder/trixie
fi
packages=(gcc libc6-dev make perl libperl-dev libsereal-encoder-perl libsereal-decoder-perl
    php-cli php-dev php-igbinary php-apcu php-apcu-all-dev
    ruby ruby-dev ruby-activesupport ruby-activerecord ruby-sqlite3)
if [ ! -e "$tree/usr/bin/perl" ] || [ ! -e "$tree/usr/bin/gcc" ] || [ ! -e "$tree/usr/bin/phpize" ] || [ ! -e "$tree/usr/bin/ruby" ]; then
    say "making a Debian 13"
    [ -e "$tree/usr/bin/apt-get" ] || debootstrap --variant=minbase trixie "$tree" >/dev/null 2>&1 || exit_skipped 'debootstrap could not make a Debian 13: is there a network?'
    if [ -e /etc/apt/apt.conf.d/proxy.conf ]; then
        cp /etc/apt/apt.conf.d/proxy.conf "$tree/etc/apt/apt.conf.d/"
    fi
    DEBIAN_FRONTEND=noninteractive chroot "$tree" apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null 2>&1 ||
        exit_skipped "Debian 13's packages could not be installed"
fi

library=${ICECORE_LIB:-}
if [ -z "$library" ]; then
    have cargo || fail 'Rust is missing: make test installs it.'
    cargo build --quiet --locked --release -p icecore-capi
    library=$target/release/libicecore_capi.a
fi
rm -rf "$tree/icecore"
mkdir -p "$tree/icecore/crates/icecore-capi"
cp -R crates/icecore-capi/include "$tree/icecore/crates/icecore-capi/"
cp "$library" "$tree/icecore/libicecore_capi.a"
git ls-files -z bindings scripts Cargo.toml docs/cookbook/samples docs/php.md docs/ruby.md | while IFS= read -r -d '' file; do
    mkdir -p "$tree/icecore/$(dirname "$file")"
    cp -p "$file" "$tree/icecore/$file"
done
# shellcheck disable=SC2016
chroot "$tree" sh -c '
    set -e
    cd /icecore
    perl -e "print qq(perl \$^V, Storable \$Storable::VERSION, Sereal \$Sereal::Encoder::VERSION\n)" -MStorable -MSereal::Encoder
    php -r "echo \"PHP \", PHP_VERSION, \"\n\";"
    ruby -W0 -r active_support -e "puts %(Ruby #{RUBY_VERSION}, ActiveSupport #{ActiveSupport::VERSION::STRING})"
    ICECORE_LIB=/icecore/libicecore_capi.a scripts/modules.sh test "$@"
' sh "$@"
