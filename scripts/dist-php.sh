#!/usr/bin/env bash
# Makes dist/icecore-VERSION.tgz, a PECL package, which builds without the checkout and without the network: it
# needs only PHP's headers, a C compiler and Rust.
#
#   scripts/dist-php.sh [--check]    --check: also unpack, build and try it
. "$(dirname "$0")/package.sh"
version=$(sed -n 's/^#define PHP_ICECORE_VERSION "\(.*\)"$/\1/p' bindings/php/php_icecore.h)
stage_module php "icecore-$version" ':!bindings/php/package.xml.in'
stage_behaviour "$stage/tests"

# -- package.xml -------------------------------------------------------------

# Prints the role of a file in the package.
file_role() { # FILE
    case $1 in
    tests/*) echo test ;;
    Icecore/*) echo php ;;
    README.md | docs/* | examples/* | LICENSE*) echo doc ;;
    *) echo src ;;
    esac
}
# Escapes text for XML.
escape_xml() {
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/"/\&quot;/g'
}
stamp=$(git log -1 --format=%cd --date=format:%Y-%m-%d)
# PECL itself would skip a file that is not listed here.
(cd "$stage" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort) >"$folder/files"
while IFS= read -r file; do
    printf '   <file name="%s" role="%s"/>\n' "$(escape_xml <<<"$file")" "$(file_role "$file")"
done <"$folder/files" >"$folder/contents"
# The format of the file requires these names; nothing is fetched from there.
site=php.net
sed -e "s,@CHANNEL@,pecl.$site," -e "s,@DTD@,http://pear.$site/dtd,g" -e "s/@VERSION@/$version/g" -e "s/@DATE@/$stamp/" -e "/@CONTENTS@/{
r $folder/contents
d
}" bindings/php/package.xml.in >"$folder/package.xml"

mkdir -p dist
tar -C "$folder" -czf "dist/$name.tgz" package.xml "$name"
say "dist/$name.tgz: $(du -h "dist/$name.tgz" | cut -f1)"

if [ "${1:-}" = --check ]; then
    if ! has_php_headers; then
        say 'the package was not tried: the headers of PHP are missing: php-dev'
        exit 0
    fi
    # shellcheck disable=SC2016
    php -r '$package = simplexml_load_file($argv[1]) or exit(1);
        foreach ($package->xpath("//*[local-name()=\"file\"]") as $file) is_file("$argv[2]/$file[name]") or exit("$file[name] is missing\n");' \
        "$folder/package.xml" "$stage"
    mkdir "$folder/check"
    tar -C "$folder/check" -xzf "dist/$name.tgz"
    cd "$folder/check/$name"
    unset ICECORE_LIB CARGO_TARGET_DIR
    {
        phpize
        ./configure
        make -j"$(nproc 2>/dev/null || echo 1)"
    } >"$folder/log" 2>&1 || {
        tail -n 30 "$folder/log" >&2
        fail 'The package does not build.'
    }
    for example in examples/*.php; do
        [ -e "${example%.php}.out" ] || continue
        php -d extension="$PWD/modules/icecore.so" "$example" | diff "${example%.php}.out" - || fail "$example says something else."
    done
    php -d extension="$PWD/modules/icecore.so" -r '
        Icecore\unserialize(Icecore\serialize([1, "two", ["three" => 4.5]])) === [1, "two", ["three" => 4.5]] or exit(1);
        try { Icecore\unserialize("O:11:\"ArrayObject\":0:{}"); exit(1); } catch (Icecore\ClassException) {}' ||
        fail 'The extension of the package does not work.'
    # shellcheck disable=SC2016
    php -d extension="$PWD/modules/icecore.so" -r 'require "Icecore/Client.php";
        try { (new Icecore\Client("http://127.0.0.1:1", patience: 0))->push("q", 1); exit(1); } catch (Icecore\ClientException $e) { $e->kind === "away" or exit(1); }' ||
        fail 'The client of the package does not work.'
    say 'the package builds, and its examples run'
fi
