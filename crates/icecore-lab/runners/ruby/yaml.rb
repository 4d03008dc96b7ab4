#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")
require "yaml"

# Thirty times slower than Marshal: beyond this much of Marshal's bytes it is left out, or
# the others would wait for it.
MOST = 250_000
SAFE = { permitted_classes: [Symbol], aliases: true }.freeze
HOW = { safe: true }

# Classes are only asked for by name where the data has some.
def prepare(load)
  raise Lab::Cannot, "it takes thirty times as long as Marshal, with more than 250 kB that is too long" if File.size(load.file) > MOST

  return HOW[:safe] = false if load.code

  YAML.safe_load(YAML.dump(load.value), **SAFE)
rescue Psych::DisallowedClass
  HOW[:safe] = false
end

Lab.run "YAML",
        version: -> { Psych::VERSION },
        prepare: method(:prepare),
        write: ->(value) { YAML.dump(value) },
        read: ->(bytes) { HOW[:safe] ? YAML.safe_load(bytes, **SAFE) : YAML.unsafe_load(bytes) }
