#!/usr/bin/env bash
# Makes dist/icecore-VERSION.gem, which installs without the checkout and without the network:
# Ruby's headers, a C compiler and Rust are all it needs.
#
#   scripts/dist-ruby.sh [--check]    --check: install it into a folder of its own and try it
. "$(dirname "$0")/common.sh"
if ! have gem; then
    say 'no gem is made: ruby is missing'
    exit 0
fi
new_folder
version=$(sed -n 's/^  VERSION = "\(.*\)"$/\1/p' bindings/ruby/lib/icecore/version.rb)
name=icecore-$version
stage=$folder/$name
mkdir -p "$stage/docs"

# Copies what git knows of, and leaves out the first part of the names.
copy() { # FROM TO PATHSPEC…
    local from=$1 to=$2 file
    shift 2
    git ls-files -z "$@" | while IFS= read -r -d '' file; do
        mkdir -p "$(dirname "$to/${file#"$from"}")"
        cp -p "$file" "$to/${file#"$from"}"
    done
}
copy bindings/ruby/ "$stage" bindings/ruby ':!bindings/ruby/.gitignore' ':!bindings/ruby/test' ':!bindings/ruby/bench'
cp LICENSE* "$stage/"
# What the modules of all languages share, without its tests and its example.
copy bindings/ "$stage" 'bindings/common/*.[ch]' ':!bindings/common/*/*'
# Its page comes along, and is linked where it stands now.
sed 's,\.\./bindings/ruby,..,g' docs/ruby.md >"$stage/docs/ruby.md"
sed -i 's,\.\./\.\./docs/,docs/,g' "$stage/README.md"
stage_engine "$stage/engine"

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
    # What was needed to build only is gone.
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
