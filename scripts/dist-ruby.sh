#!/usr/bin/env bash
# Makes dist/icecore-VERSION.gem, which installs without the checkout and without the network: it needs only
# Ruby's headers, a C compiler and Rust.
#
#   scripts/dist-ruby.sh [--check]    --check: also install it into a folder of its own and try it
. "$(dirname "$0")/package.sh"
if ! have gem; then
    say 'no gem is made: ruby is missing'
    exit 0
fi
version=$(sed -n 's/^  VERSION = "\(.*\)"$/\1/p' bindings/ruby/lib/icecore/version.rb)
stage_module ruby "icecore-$version" ':!bindings/ruby/test' ':!bindings/ruby/bench'

mkdir -p dist
(cd "$stage" && gem build --quiet icecore.gemspec --output "$folder/$name.gem") >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    fail 'The gem could not be made.'
}
mv "$folder/$name.gem" dist/
say "dist/$name.gem: $(du -h "dist/$name.gem" | cut -f1)"

if [ "${1:-}" = --check ]; then
    if ! has_ruby_headers; then
        say 'the gem was not tried: the headers of Ruby are missing: ruby-dev'
        exit 0
    fi
    gem=$PWD/dist/$name.gem
    unset ICECORE_LIB CARGO_TARGET_DIR RUBYOPT RUBYLIB GEM_PATH
    export GEM_HOME=$folder/gems
    cd "$folder"
    CARGO_NET_OFFLINE=true gem install --local --no-document "$gem" >"$folder/log" 2>&1 || {
        cat "$folder/log" "$folder"/gems/extensions/*/*/"$name"/gem_make.out >&2 || true
        fail 'The gem does not install.'
    }
    # Files that only the build needs are removed.
    large=$(find "$folder/gems" -name '*.a' -o -name engine-target)
    [ -z "$large" ] || fail "The gem leaves what it was built with: $large"
    ruby -r icecore "$folder/gems/gems/$name/examples/check.rb" || fail 'An example says something else.'
    ruby -r icecore -e '
        value = [1, "two", { three: 4.5 }]
        Icecore::Marshal.load(Icecore::Marshal.dump(value)) == value or exit 1
        begin
          Icecore::Marshal.load("\x04\bo:\vObject\0")
          exit 1
        rescue Icecore::ClassError
        end' || fail 'The module of the gem does not work.'
    say 'the gem installs, and its examples run'
fi
