# frozen_string_literal: true

# What the runners of Ruby share: the line protocol (../../README.md), the clock,
# the memory steps. A runner is its own part only:
#
#   require File.join(ENV.fetch("LAB_LIB"), "lab")
#
#   Lab.run "Marshal",
#     version: -> { RUBY_VERSION },
#     write: ->(value) { Marshal.dump(value) },
#     read: ->(bytes) { Marshal.load(bytes) }
#
# The garbage collector stays on and is never forced while something is timed: an
# execution pays for what those before it left behind, as it does in a program.

Encoding.default_external = Encoding::UTF_8

module Lab
  # The runner can't carry this data.
  class Cannot < StandardError; end

  @missing = nil

  # A library that the runner needs; without it the answer to `hello` names it.
  def self.needs(library, install:)
    require library
  rescue LoadError
    @missing ||= { missing: "the Ruby library #{library}", install: install }
  end

  # What else is missing: the answer to `hello`.
  def self.lacks(missing)
    @missing ||= missing
  end

  # Lets the script be a runner. The settings:
  #
  #   version     a block that says it; it is called only if nothing is missing
  #   write, read blocks; one that writes several strings gives them as an Array
  #   build       in their place for a floor: a block that gets the value and
  #               gives a block that builds the same (whatever it is called with)
  #   prepare     a block that gets a Load, before anything else is done with it
  #   before      a block that makes ready what the next writing finds, a table without rows
  #               say; it is called before each execution that writes, and is not timed
  #   stored      where writing gives no strings: a block that gives what lies there then
  #   to_json     whether a process of its own can turn the file into JSON, or a block that
  #               makes JSON of the bytes
  #   scenarios   if it belongs to some only
  def self.run(name, **settings)
    require_relative "lab/runner"
    runner = Runner.new(name, settings, @missing)
    return runner.to_json_file(*ARGV.drop(1)) if ARGV.first == "--to-json"

    require_relative "lab/protocol"
    Protocol.new(runner).serve
  end
end
