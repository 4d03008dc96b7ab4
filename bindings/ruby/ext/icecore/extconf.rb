# frozen_string_literal: true

# Icecore for Ruby: thin C over the engine, which is linked statically.
#
#   ICECORE_LIB=/path/of/libicecore_capi.a ruby extconf.rb
#
# Without ICECORE_LIB cargo builds the engine: that of the checkout, or the one in the gem.

require "mkmf"
require "fileutils"

here = __dir__
gem_root = File.expand_path("../..", here)

# The engine and the pieces that the modules of all languages share are in the gem, or in the
# checkout around bindings/ruby.
in_gem = File.exist?(File.join(gem_root, "engine", "Cargo.toml"))
pieces = in_gem ? gem_root : File.expand_path("..", gem_root)
engine = in_gem ? File.join(gem_root, "engine") : File.expand_path("../..", gem_root)
unless File.exist?(File.join(pieces, "common", "ice_map.h"))
  abort "This gem lacks the engine: make it with scripts/dist-ruby.sh, not with `gem build`."
end

library = ENV["ICECORE_LIB"].to_s
made_here = nil
if library.empty?
  find_executable("cargo") or
    abort "Rust is missing: install Rust 1.88 or later, or name the engine's library with ICECORE_LIB."
  message "building the engine with cargo\n"
  # The output of cargo is large. If this is a gem, only the library is kept, and it is removed
  # after it is linked.
  target = in_gem ? File.expand_path("engine-target") : ENV["CARGO_TARGET_DIR"] || File.join(engine, "target")
  Dir.chdir(engine) do
    system({ "CARGO_TARGET_DIR" => target },
           "cargo", "build", "--quiet", "--locked", "--release", "-p", "icecore-capi") or
      abort "The engine could not be built: install Rust 1.88 or later, or name its library with ICECORE_LIB."
  end
  library = File.join(target, "release", "libicecore_capi.a")
  if in_gem
    made_here = File.expand_path("libicecore_capi.a")
    FileUtils.mv(library, made_here)
    FileUtils.rm_rf(target)
    library = made_here
  end
end
library = File.expand_path(library)
File.exist?(library) or abort "#{library} is missing: build it with `cargo build --release -p icecore-capi`."

# A C file is found by its name alone, so names are unique.
folders = [here, *Dir[File.join(here, "*/")].map { |folder| folder.chomp("/") }.sort]
$srcs = folders.flat_map { |folder| Dir[File.join(folder, "*.c")].sort }
# core/common.c includes the shared pieces.
headers = folders.flat_map { |folder| Dir[File.join(folder, "*.h")].sort } +
          Dir[File.join(pieces, "common", "*.[ch]")].sort +
          Dir[File.join(engine, "crates", "icecore-capi", "include", "*.h")].sort
$VPATH.concat(folders)

$INCFLAGS = [$INCFLAGS, *[here, pieces, File.join(engine, "crates", "icecore-capi", "include")]
  .map { |folder| "-I#{folder.quote}" }].join(" ")

# Ruby finds Init_icecore, because it has RUBY_FUNC_EXPORTED. No other symbol is visible from
# outside.
["-O3", "-fvisibility=hidden"].each do |flag|
  $CFLAGS << " #{flag}" if try_cflags(flag)
end
["-Wl,-Bsymbolic-functions", "-Wl,--gc-sections", "-Wl,--exclude-libs,ALL", "-Wl,--strip-all"].each do |flag|
  $DLDFLAGS << " #{flag}" if try_ldflags(flag)
end
$LOCAL_LIBS << " #{library.quote}"
$libs = append_library($libs, "pthread")
$libs = append_library($libs, "dl") if have_library("dl")
$libs = append_library($libs, "m") if have_library("m")

# Some versions of Ruby export this function, but no header declares it. It saves a method call
# for each hash.
have_func("rb_hash_compare_by_id_p")

create_makefile("icecore/icecore")

File.open("Makefile", "a") do |makefile|
  makefile.puts "", "$(OBJS): #{headers.map(&:quote).join(' ')}"
  if made_here
    # RubyGems keeps this folder, so the library is removed from it after the installation.
    makefile.puts "install: drop-engine", "drop-engine: install-so", "\t-$(Q)$(RM) #{made_here.quote}"
  else
    # The engine is linked statically, so a new engine needs a new link.
    makefile.puts "$(TARGET_SO): #{library.quote}"
  end
end
