#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")
require File.join(ENV.fetch("LAB_LIB"), "literals")

# The values without any bytes: objects of a scenario by their constructors (its code has
# a module LabScenario then), plain data as a program has it in its source.
def builder(value)
  build = defined?(LabScenario) ? LabScenario.builder(value) : Literals.builder(value)
  built = build.call(nil)
  # Plain data may have the same string in two places; then only its content is equal.
  return build if built.eql?(value) || Marshal.dump(built) == Marshal.dump(value)

  raise Lab::Cannot, "what it builds is not the data"
rescue SystemStackError
  raise Lab::Cannot, "the data is too deep for a source file"
end

Lab.run "building the values",
        version: -> { RUBY_VERSION },
        build: method(:builder)
