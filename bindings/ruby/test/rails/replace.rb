# frozen_string_literal: true

# Tests of `require "icecore/replace"`, which replaces the methods of ::Marshal by those of Icecore.

require_relative "lib"
require "icecore"

class Money
  attr_reader :cents

  def initialize(cents) = @cents = cents
end

METHOD_BEFORE_REPLACEMENT = Marshal.method(:load)
DUMP_BY_RUBY = Marshal.dump([Money.new(5)])
require "icecore/replace"

same("Marshal.dump writes the same bytes as before", DUMP_BY_RUBY, Marshal.dump([Money.new(5)]))
same("Marshal.load restores plain data", [1, { a: "b" }], Marshal.load(Marshal.dump([1, { a: "b" }])))
same("Marshal.load calls a proc", [2, 4], Marshal.load(Marshal.dump([1, 2]), ->(value) { value.is_a?(Integer) ? value * 2 : value }))
same("Marshal.load with freeze: returns frozen values", true, Marshal.load(Marshal.dump("x"), freeze: true).frozen?)
raises("Marshal.load refuses a class that was never allowed", Icecore::ClassError, "Money") { Marshal.load(DUMP_BY_RUBY) }
raises("Marshal.restore raises an ArgumentError for a refused class", ArgumentError, "Money") { Marshal.restore(DUMP_BY_RUBY) }
same("Original.load is Ruby's own method", 5, Icecore::Marshal::Original.load(DUMP_BY_RUBY)[0].cents)
same("Original.restore is Ruby's own method", 5, Icecore::Marshal::Original.restore(DUMP_BY_RUBY)[0].cents)
same("Original.dump is Ruby's own method", DUMP_BY_RUBY, Icecore::Marshal::Original.dump([Money.new(5)]))
same("a Method object from before the require still calls Ruby's method", 5, METHOD_BEFORE_REPLACEMENT.call(DUMP_BY_RUBY)[0].cents)
same("Marshal.load accepts a list of classes", 5, Marshal.load(DUMP_BY_RUBY, classes: Money)[0].cents)
Icecore.allow("Money")
same("Marshal.load builds a class that Icecore.allow named", 5, Marshal.load(DUMP_BY_RUBY)[0].cents)
same("Marshal.restore builds a class that Icecore.allow named", 5, Marshal.restore(DUMP_BY_RUBY)[0].cents)
require "pstore"
require "tmpdir"
Dir.mktmpdir do |folder|
  store = PStore.new("#{folder}/store")
  store.transaction { store[:a] = Money.new(7) }
  same("PStore uses the replaced Marshal", 7, PStore.new("#{folder}/store").transaction(true) { |reopened| reopened[:a].cents })
end
same("the constants of Marshal stay", [Marshal::MAJOR_VERSION, Marshal::MINOR_VERSION], [4, 8])
