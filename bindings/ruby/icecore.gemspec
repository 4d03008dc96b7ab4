# frozen_string_literal: true

require_relative "lib/icecore/version"

# scripts/dist-ruby.sh puts the gem's files in a folder (with the engine and its crates, so that it
# builds without the network), and calls `gem build` there. In a checkout, Bundler can use this file
# directly: gem "icecore", path: "…/bindings/ruby", after `make modules`.
Gem::Specification.new do |spec|
  spec.name = "icecore"
  spec.version = Icecore::VERSION
  spec.summary = "Marshal: faster, and only the classes that were named"
  spec.description = "Reads and writes what Ruby's Marshal does, byte for byte, and builds only the classes that a " \
                     "program named. Coders for the caches of Rails, objects in database columns, and the frozen data " \
                     "of Perl and PHP."
  spec.authors = ["The Icecore developers"]
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  folders = %w[lib ext sig examples docs common engine]
  spec.files = Dir.chdir(__dir__) do
    Dir.glob("{#{folders.join(',')}}/**/*", File::FNM_DOTMATCH).select { |file| File.file?(file) }.sort +
      Dir["README.md", "LICENSE*"].sort
  end.grep_v(/\.(so|bundle|o)\z|\/(Makefile|mkmf\.log)\z|\Aengine\/target\//)
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/icecore/extconf.rb"]
end
