# shellcheck shell=bash disable=SC2034
# The common first steps of the packages of the modules; dist-LANGUAGE.sh sources it.
. "$(dirname "$0")/common.sh"

# Copies files known to git, and removes FROM from the start of their names.
copy_files() { # FROM TO PATHSPEC…
    local from=$1 to=$2 file
    shift 2
    git ls-files -z "$@" | while IFS= read -r -d '' file; do
        mkdir -p "$(dirname "$to/${file#"$from"}")"
        cp -p "$file" "$to/${file#"$from"}"
    done
}

# Makes a folder, $stage, with the contents of the package $name: the files of the module, and everything that is
# needed to build it without the checkout. PATHSPECs exclude files of the module.
stage_module() { # LANGUAGE NAME PATHSPEC…
    local language=$1
    name=$2
    shift 2
    new_folder
    stage=$folder/$name
    mkdir "$stage"
    copy_files "bindings/$language/" "$stage" "bindings/$language" ":!bindings/$language/.gitignore" "$@"
    cp LICENSE* "$stage/"
    # The pieces that the modules of all languages share, without tests and example.
    copy_files bindings/ "$stage" 'bindings/common/*.[ch]' ':!bindings/common/*/*'
    stage_engine "$stage/engine"
    # The module's page is included, and its links are adapted to the new place.
    if [ -e "docs/$language.md" ]; then
        mkdir "$stage/docs"
        sed "s,\.\./bindings/$language,..,g" "docs/$language.md" >"$stage/docs/$language.md"
        sed -i 's,\.\./\.\./docs/,docs/,g' "$stage/README.md"
    fi
}

# Copies the list that the module's tests run, without the programs that make it, as FOLDER/behaviour.
stage_behaviour() { # FOLDER
    copy_files bindings/common/ "$1" bindings/common/behaviour ':!bindings/common/behaviour/make'
}
