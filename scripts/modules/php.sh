# shellcheck shell=bash disable=SC2154
# The PHP extension, for modules.sh, which calls these functions in bindings/php.

php_missing_headers() {
    say 'the headers of PHP are missing: php-dev'
}

php_build() {
    local files made_for
    files=$(find ../common/ core formats registration ./icecore*.[ch] ./php_icecore.h -name '*.[ch]' | LC_ALL=C sort)
    made_for="$(php-config --version) $(php-config --extension-dir) $(php-config --configure-options | cksum)"
    # APCu's header decides if there is a serializer for it.
    made_for+=" $(find "$(php-config --include-dir)/ext/apcu" -name apc_serializer.h 2>/dev/null) $library $files"
    if [ ! -e Makefile ] || [ config.m4 -nt Makefile ] || [ "$(cat .made-for 2>/dev/null)" != "$made_for" ]; then
        php_clean
        if ! { phpize && ICECORE_LIB=$library ./configure; } >"$folder/configure" 2>&1; then
            tail -n 20 "$folder/configure" >&2
            fail 'The PHP extension could not be configured.'
        fi
        echo "$made_for" >.made-for
    fi
    # libtool prints a lot; its output is shown after a failure, and warnings of the compiler always.
    make -j"$(nproc 2>/dev/null || echo 1)" >"$folder/make" 2>"$folder/warnings" || {
        cat "$folder/make" "$folder/warnings" >&2
        fail 'The PHP extension could not be built.'
    }
    grep -v "^libtool: " "$folder/warnings" >&2 || true
}

# Installs the client, which is written in PHP.
php_client() {
    local library_folder file
    library_folder=$(php -r 'echo PEAR_INSTALL_DIR;')
    if [ -z "$library_folder" ]; then
        say 'This PHP has no folder for libraries: require Icecore/Client.php from where it is.'
        return
    fi
    library_folder=${DESTDIR:-}$library_folder
    find Icecore -name '*.php' | while IFS= read -r file; do
        install -D -m 644 "$file" "$library_folder/$file"
    done
}

# Removes the files of phpize, configure and make. `phpize --clean` would also remove programs in tests/.
php_clean() {
    find . \( -name '*.lo' -o -name '*.o' -o -name '*.dep' -o -name '*.la' \) -delete
    rm -rf .made-for .libs ./*/.libs autom4te.cache build include modules \
        Makefile Makefile.fragments Makefile.global Makefile.objects acinclude.m4 aclocal.m4 config.guess config.h config.h.in \
        config.log config.nice config.status config.sub configure configure.ac configure.in install-sh libtool ltmain.sh \
        missing mkinstalldirs run-tests.php confdefs.h 'config.h.in~' 'configure~'
}

php_test() {
    local module=$PWD/modules/icecore.so test status
    # This does not use <(…), because a chroot may have no /dev/fd.
    mapfile -t objects <<<"$(find . -path '*/.libs/*.o')"
    check_order "${objects[@]}"
    php make-arginfo.php --check
    status=0
    for test in stub examples; do
        ICECORE_SO=$module php -d "extension=$module" "tests/$test.php" || status=1
    done
    tests/registration/run.sh "$module" php replace apcu sessions || status=1
    [ ! -x tests/run.sh ] || tests/run.sh "$module" || status=1
    return "$status"
}

# Tests that need nginx and php-fpm.
php_test_servers() {
    tests/registration/run.sh "$PWD/modules/icecore.so" php fpm
}

# Debian keeps the ini files of extensions in one folder, and a script links them for each way to run PHP;
# elsewhere there is a folder that PHP scans.
php_install() {
    local modules ini scanned
    modules=${DESTDIR:-}$(php-config --extension-dir)
    install -d "$modules"
    install -m 644 modules/icecore.so "$modules/"
    # The client is written in PHP: `require 'Icecore/Client.php'` finds it there.
    php_client
    ini=/etc/php/$(php-config --version | cut -d. -f1,2)/mods-available
    if [ ! -d "$ini" ]; then
        scanned=$(php -r 'echo PHP_CONFIG_FILE_SCAN_DIR;')
        ini=${scanned%%:*}
    fi
    if [ -z "$ini" ]; then
        say 'This PHP scans no folder for ini files: write extension=icecore into its php.ini.'
        return
    fi
    install -d "${DESTDIR:-}$ini"
    # Changes by an administrator are kept.
    if [ ! -e "${DESTDIR:-}$ini/icecore.ini" ]; then
        install -m 644 icecore.ini "${DESTDIR:-}$ini/"
    fi
    if [ -z "${DESTDIR:-}" ] && [ "${ini##*/}" = mods-available ] && have phpenmod; then
        phpenmod icecore
    fi
    say "$modules/icecore.so and ${DESTDIR:-}$ini/icecore.ini"
}
