# frozen_string_literal: true

# Tests of `require "icecore/replace"`, which replaces the methods of ::Marshal by those of Icecore.

require_relative "lib"
require "icecore"

class Money
  attr_reader :cents

  def initialize(cents) = @cents = cents
end

EARLIER = Marshal.method(:load)
DUMPED = Marshal.dump([Money.new(5)])
require "icecore/replace"

same("dump", DUMPED, Marshal.dump([Money.new(5)]))
same("plain", [1, { a: "b" }], Marshal.load(Marshal.dump([1, { a: "b" }])))
same("with a proc", [2, 4], Marshal.load(Marshal.dump([1, 2]), ->(x) { x.is_a?(Integer) ? x * 2 : x }))
same("frozen", true, Marshal.load(Marshal.dump("x"), freeze: true).frozen?)
raises("a class that nobody allowed", Icecore::ClassError, "Money") { Marshal.load(DUMPED) }
raises("an ArgumentError, as Marshal's", ArgumentError, "Money") { Marshal.restore(DUMPED) }
same("the original", 5, Icecore::Marshal::Original.load(DUMPED)[0].cents)
same("the original, restore", 5, Icecore::Marshal::Original.restore(DUMPED)[0].cents)
same("the original, dump", DUMPED, Icecore::Marshal::Original.dump([Money.new(5)]))
same("a method that was taken earlier is Ruby's", 5, EARLIER.call(DUMPED)[0].cents)
same("a list for one call", 5, Marshal.load(DUMPED, classes: Money)[0].cents)
Icecore.allow("Money")
same("the list of the process", 5, Marshal.load(DUMPED)[0].cents)
same("restore", 5, Marshal.restore(DUMPED)[0].cents)
require "pstore"
require "tmpdir"
Dir.mktmpdir do |folder|
  store = PStore.new("#{folder}/store")
  store.transaction { store[:a] = Money.new(7) }
  same("a library of Ruby's", 7, PStore.new("#{folder}/store").transaction(true) { |s| s[:a].cents })
end
same("constants stay", [Marshal::MAJOR_VERSION, Marshal::MINOR_VERSION], [4, 8])
