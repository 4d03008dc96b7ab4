# shellcheck shell=bash disable=SC2154
# The Ruby module, for modules.sh, which calls these functions in bindings/ruby.

ruby_missing_headers() {
    say 'the headers of Ruby are missing: ruby-dev'
}

# Compiled files stay in build/; the module is in lib/, so `ruby -I bindings/ruby/lib` finds it.
ruby_build() {
    local files made_for
    # A Makefile is valid only for the Ruby, the library and the list of files that it was made for.
    files=$(find ext ../common -maxdepth 3 -name '*.[ch]' ! -path '../common/*/*' | LC_ALL=C sort)
    made_for="$(ruby -e 'print RUBY_DESCRIPTION') $library $files"
    if [ ! -e build/Makefile ] || [ ext/icecore/extconf.rb -nt build/Makefile ] || [ "$(cat build/.made-for 2>/dev/null)" != "$made_for" ]; then
        ruby_clean
        mkdir build
        (cd build && ICECORE_LIB=$library ruby ../ext/icecore/extconf.rb) >"$folder/configure" 2>&1 || {
            tail -n 20 "$folder/configure" >&2
            fail 'The Ruby module could not be configured.'
        }
        echo "$made_for" >build/.made-for
    fi
    make -C build -j"$(nproc 2>/dev/null || echo 1)" >"$folder/make" || {
        cat "$folder/make" >&2
        fail 'The Ruby module could not be built.'
    }
    # The module is written to a new file, because a running Ruby may have the old one open.
    install -m 755 "build/icecore.$(ruby_suffix)" "$folder/"
    mv -f "$folder/icecore.$(ruby_suffix)" lib/icecore/
}

# Prints the file extension of a module.
ruby_suffix() {
    ruby -e 'print RbConfig::CONFIG["DLEXT"]'
}

ruby_clean() {
    rm -rf build lib/icecore/*.so lib/icecore/*.bundle
}

ruby_test() {
    local exported test status=0
    check_order build/*.o
    exported=$(nm -D --defined-only "lib/icecore/icecore.$(ruby_suffix)" | awk '{ print $NF }')
    [ "$exported" = Init_icecore ] || fail "The module must export Init_icecore only, and exports: $exported"
    [ ! -x test/run.sh ] || test/run.sh || status=1
    for test in test/rails/[!l]*.rb examples/check.rb; do
        ruby -w -I lib "$test" || status=1
    done
    ruby_signatures || status=1
    return "$status"
}

# Checks the signatures with rbs, if it is installed.
ruby_signatures() {
    if ! ruby -e 'require "rbs"' 2>/dev/null; then
        say '# left out: the signatures need rbs'
        return
    fi
    ruby -e 'load Gem.bin_path("rbs", "rbs")' -- -I sig validate >"$folder/rbs" 2>&1 || {
        cat "$folder/rbs" >&2
        fail 'The signatures in sig/ are wrong.'
    }
    say '1 passed, 0 failed'
}

# Installs the module into Ruby's folders for additional libraries: sitelibdir and sitearchdir.
ruby_install() {
    local lib arch file
    lib=${DESTDIR:-}$(ruby -e 'print RbConfig::CONFIG["sitelibdir"]')
    arch=${DESTDIR:-}$(ruby -e 'print RbConfig::CONFIG["sitearchdir"]')
    find lib -name '*.rb' | while IFS= read -r file; do
        install -D -m 644 "$file" "$lib/${file#lib/}"
    done
    install -D -m 755 "lib/icecore/icecore.$(ruby_suffix)" "$arch/icecore/icecore.$(ruby_suffix)"
    say "$lib/icecore.rb and $arch/icecore/icecore.$(ruby_suffix)"
}

# No test of this module needs a server.
ruby_test_servers() {
    :
}
