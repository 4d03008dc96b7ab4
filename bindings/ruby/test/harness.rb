# frozen_string_literal: true

# Tests of the tests: implementations with one fault, each of which must be detected.

require_relative "helper"
require_relative "chance/trial"

# Marshal with one fault.
class Faulty
  def initialize(load: nil, dump: nil)
    @load = load
    @dump = dump
  end

  def load(source, *rest, **options) = @load ? @load.call(source, *rest, **options) : Oracle.load(source, *rest, **options)
  def dump(value, *rest) = @dump ? @dump.call(value, *rest) : Oracle.dump(value, *rest)
end

def load_with_change(&change) = Faulty.new(load: ->(*args, **options) { Oracle.load(*args, **options).then { |value| change.call(value) || value } })

def check_detects(name, value, extra, side, number = 0)
  trial = Chance::Trial.new(value, extra, number, side).run
  Check.ok("a fault is detected: #{name}", !trial.failures.empty?)
  right = Chance::Trial.new(value, extra, number, Oracle).run
  Check.ok("no fault is reported for Marshal itself: #{name}", right.failures.empty?, -> { right.failures.inspect })
end

item = Chance::Plain.new
item.instance_variable_set(:@a, 1)
item.instance_variable_set(:@b, 2)
text = +"text"
check_detects("a dump with other bytes", 1.5, :plain, Faulty.new(dump: ->(*args) { Oracle.dump(*args).sub("1.5", "1.50") }))
check_detects("a dump in another encoding", 1, :plain, Faulty.new(dump: ->(*args) { Oracle.dump(*args).force_encoding("UTF-8") }))
check_detects("a string in another encoding", ["a"], :plain, load_with_change { |value| [value[0].b] })
check_detects("a string that is frozen although it should not be", ["a"], :plain, load_with_change { |value| value[0].freeze && nil })
check_detects("freeze: true that freezes nothing", ["a"], :frozen, Faulty.new(load: ->(*args, **) { Oracle.load(*args) }))
check_detects("one object that becomes two", [text, text], :plain, load_with_change { |value| [value[0], value[1].dup] })
check_detects("two objects that become one", ["a".dup, "a".dup], :plain, load_with_change { |value| [value[0], value[0]] })
check_detects("one Float object that becomes two", [f = 1e100, f], :plain, load_with_change { |value| [value[0], 1e99 * 10.000000000000001].tap { |list| list[1] = [list[0]].pack("G").unpack1("G") } })
check_detects("a value of another class", Chance::Arr[1], :plain, load_with_change { |value| [*value] })
# Before Ruby 3.2 the class keeps the order of variables.
check_detects("instance variables in another order", item, :plain, load_with_change { |value| Chance::Plain.new.tap { |item| %i[@b @a].each { |name| item.instance_variable_set(name, value.instance_variable_get(name)) } } }) if RUBY_VERSION >= "3.2"
check_detects("a missing instance variable", item, :plain, load_with_change { |value| value.remove_instance_variable(:@b) && nil })
check_detects("a missing instance variable of a string", (+"a").tap { |item| item.instance_variable_set(:@v, 1) }, :plain, load_with_change { |value| value.b.force_encoding(value.encoding) })
check_detects("a missing module", [].extend(Chance::Ma), :plain, load_with_change(&:dup))
check_detects("modules in another order", [].extend(Chance::Ma).extend(Chance::Mb), :plain, load_with_change { |_| [].extend(Chance::Mb).extend(Chance::Ma) })
check_detects("entries in another order", { 1 => 2, 3 => 4 }, :plain, load_with_change { |value| value.to_a.reverse.to_h })
check_detects("a missing default", Hash.new(5), :plain, load_with_change { |_| {} })
check_detects("a hash that no longer compares by identity", {}.compare_by_identity, :plain, load_with_change { |_| {} })
check_detects("a missing flag of ruby2_keywords", Hash.ruby2_keywords_hash({ a: 1 }), :plain, load_with_change { |value| value.to_a.to_h })
check_detects("0.0 instead of -0.0", -0.0, :plain, load_with_change { |_| 0.0 })
check_detects("a time in another zone", Time.at(0, in: "+01:00"), :plain, load_with_change(&:getutc))
check_detects("a rounded part of a second", Time.at(Rational(1, 3)).utc, :plain, load_with_change { |value| value.round(9) })
check_detects("a date in another calendar", Date.new(2001, 2, 3), :plain, load_with_change(&:julian))
check_detects("missing flags of a Regexp", /a/i, :plain, load_with_change { |_| /a/ })
check_detects("a range with another end", 1...3, :plain, load_with_change { |_| 1..3 })
check_detects("a proc that is not called", [1, 2], :traced, Faulty.new(load: ->(source, _proc = nil, **options) { Oracle.load(source, **options) }))
check_detects("a proc that is called in another order", [1, 2], :traced, Faulty.new(load: ->(source, call = nil, **options) { Oracle.load(source, **options).tap { |value| value.reverse.each(&call) && call&.call(value) } }))
check_detects("a proc whose result is ignored", [1, 2], :replaced, Faulty.new(load: ->(source, call = nil, **options) { Oracle.load(source, call && ->(value) { call.call(value).then { value } }, **options) }))
check_detects("a hook that runs twice in a dump", Chance::Dumped.new(1), :plain, Faulty.new(dump: ->(*args) { Oracle.dump(*args).then { Oracle.dump(*args) } }))
check_detects("a hook that runs twice in a load", Chance::Dumped.new(1), :plain, Faulty.new(load: ->(*args, **options) { Oracle.load(*args, **options).then { Oracle.load(*args, **options) } }))
check_detects("an exception of another class", proc {}, :plain, Faulty.new(dump: ->(*) { raise ArgumentError, "no _dump_data is defined for class Proc" }))
check_detects("an exception with another message", proc {}, :plain, Faulty.new(dump: ->(*) { raise TypeError, "can't dump a Proc" }))
check_detects("a missing exception", proc {}, :plain, Faulty.new(dump: ->(*) { "\x04\b0".b }))
check_detects("a limit that is ignored", [[1]], :limited, Faulty.new(dump: ->(value, *_) { Oracle.dump(value) }), 2)
check_detects("a byte too many read from an IO", [1], :through_io, Faulty.new(load: ->(io, *rest, **options) { Oracle.load(io, *rest, **options).tap { io.getbyte if io.is_a?(StringIO) } }))
check_detects("a byte too many read from a pipe", [1], :through_pipe, Faulty.new(load: ->(io, *rest, **options) { Oracle.load(io, *rest, **options).tap { io.getbyte if io.is_a?(IO) } }))
check_detects("a dump into an IO that returns nil", [1], :through_io, Faulty.new(dump: ->(value, *rest) { Oracle.dump(value, *rest).then { |result| rest[0].is_a?(StringIO) ? nil : result } }))

# A case is made as short as it can be.

Check.equal("a case is made shorter", [0, 5], Dice.shorten([3, 9, 8, 40, 2, 7, 1, 5]) { |choices| choices[1..].to_a.any? { |choice| choice >= 5 } })
Check.equal("recorded choices are replayed, then filled with 0", [3, 4, 0], Dice.replay([3, 9]).then { |dice| [dice.below(5), dice.below(5), dice.below(5)] })
Check.equal("a seed determines all choices", *2.times.map { Dice.seeded(1, 2).then { |item| Array.new(20) { item.below(1000) } } })
Check.finish
