# shellcheck shell=bash disable=SC2154
# The Perl module, for modules.sh, which calls these functions in bindings/perl.

perl_missing_headers() {
    say 'the headers of perl are missing: libperl-dev'
}

perl_build() {
    local files made_for
    # A Makefile is valid only for the perl, the library and the list of files that it was made for.
    files=$(find ./*/ ../common/ -type f ! -path './blib/*' \( -name '*.[ch]' -o -name '*.xsh' -o -path './lib/*' \) | LC_ALL=C sort)
    made_for="$(perl -e 'print "$^X $]"') $library $files"
    if [ ! -e Makefile ] || [ Makefile.PL -nt Makefile ] || [ "$(cat .made-for 2>/dev/null)" != "$made_for" ]; then
        [ ! -e Makefile ] || make --quiet clean >/dev/null 2>&1 || true
        ICECORE_LIB=$library perl Makefile.PL >/dev/null
        echo "$made_for" >.made-for
    fi
    # The engine is linked statically, so a new engine means linking again.
    if [ "$library" -nt blib/arch/auto/Icecore/Icecore.so ]; then
        rm -f blib/arch/auto/Icecore/Icecore.so
    fi
    make --quiet
}

perl_test() {
    check_order Icecore.o ./*/*.o
    prove --blib --quiet t/
}

# DESTDIR is an argument, because the Makefile would override an environment variable.
perl_install() {
    make --quiet install "DESTDIR=${DESTDIR:-}"
}

perl_clean() {
    [ ! -e Makefile ] || make --quiet realclean
    rm -f .made-for
}

# No test of this module needs a server.
perl_test_servers() {
    :
}
