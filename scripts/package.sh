# shellcheck shell=bash disable=SC2034
# What the packages of the modules begin with; dist-LANGUAGE.sh sources it.
. "$(dirname "$0")/common.sh"

# Copies what git knows of, and leaves out the first part of the names.
copy() { # FROM TO PATHSPEC…
    local from=$1 to=$2 file
    shift 2
    git ls-files -z "$@" | while IFS= read -r -d '' file; do
        mkdir -p "$(dirname "$to/${file#"$from"}")"
        cp -p "$file" "$to/${file#"$from"}"
    done
}

# Makes a folder, $stage, with what the package $name has: the files of the module, and what
# builds it without the checkout. PATHSPECs leave files of the module out.
stage_module() { # LANGUAGE NAME PATHSPEC…
    local language=$1
    name=$2
    shift 2
    new_folder
    stage=$folder/$name
    mkdir "$stage"
    copy "bindings/$language/" "$stage" "bindings/$language" ":!bindings/$language/.gitignore" "$@"
    cp LICENSE* "$stage/"
    # What the modules of all languages share, without its tests and its example.
    copy bindings/ "$stage" 'bindings/common/*.[ch]' ':!bindings/common/*/*'
    stage_engine "$stage/engine"
    # A page of the module comes along, and is linked where it stands then.
    if [ -e "docs/$language.md" ]; then
        mkdir "$stage/docs"
        sed "s,\.\./bindings/$language,..,g" "docs/$language.md" >"$stage/docs/$language.md"
        sed -i 's,\.\./\.\./docs/,docs/,g' "$stage/README.md"
    fi
}

# The list that the module's tests run, without what makes it, as FOLDER/behaviour.
stage_behaviour() { # FOLDER
    copy bindings/common/ "$1" bindings/common/behaviour ':!bindings/common/behaviour/make'
}
