# frozen_string_literal: true

# The behaviour list that every language passes: bindings/common/behaviour. A test for each
# line, and then lines that must fail.
#
#   ruby behaviour.rb [--only PART-OF-ID]

require_relative "helper"
require "json"

if STAND_IN
  # The parts of our module that Ruby's Marshal can replace.
  module Icecore
    module Error; end
    class ClassError < ArgumentError; end
    class Record; end
    def self.decode(bytes, _format, **options) = IMPL.load(bytes, **options)
    def self.encode(value, _format) = IMPL.dump(value)
  end
end

require_relative "behaviour/driver"

# Deliberate differences of Ruby, with the reasons.
ACCEPTED = {
  "policy/record to the same bytes, php, custom" => "Ruby has no object that is a string of PHP's: what is read is the string",
  "policy/record to the same bytes, php, protected" => "a variable of Ruby has no visibility: a record of other data has public members"
}.freeze

only = ARGV[0] == "--only" ? ARGV[1] : nil
folder = [File.expand_path("behaviour", __dir__), File.expand_path("../../common/behaviour", __dir__)].find { |path| File.exist?("#{path}/README.md") }
unless folder
  Check.skip("behaviour", "the behaviour list is not here")
  Check.finish
end

counts = Hash.new(0)
seen = {}
Dir["#{folder}/*.jsonl"].sort.each do |file|
  Behaviour::Driver.lines(file).each do |line|
    id = line["id"]
    next if only && !id.include?(only)
    Check.failure("#{id} is the name of two lines") if seen[id]
    seen[id] = true
    # As a stand-in, Ruby's own Marshal has neither decode nor a policy.
    next if STAND_IN && (!id.match?(%r{\A(write|read)-marshal/}) || line["error"])
    verdict, why = Behaviour::Driver.run(line)
    counts[verdict] += 1
    if ACCEPTED.key?(id)
      Check.ok("#{id} is still another", verdict == :failed, why)
      next puts("# known difference: #{id}: #{ACCEPTED[id]}")
    end
    case verdict
    when :other then next
    when :skipped, :open then Check.skip(id, "#{verdict}, #{why}")
    else Check.ok(id, verdict == :passed, why)
    end
  end
end
Check.ok("there are many lines", counts[:passed] > (STAND_IN ? 150 : 1000), counts.inspect) unless only

# Errors of a module are detected: each of these lines must fail, for its reason.
leak = []
Behaviour::Driver.define_method(:do_grow) { |_step| leak << ("x" * 1_000_000) }
json = ->(bytes, value) { { "do" => "read", "format" => "own", "bytes" => { "hex" => IMPL.dump(JSON.parse(bytes)).unpack1("H*") }, "value" => value } }
made = ->(value, description) { { "steps" => [{ "do" => "make", "value" => value }, { "do" => "match", "value" => description }] } }
point = { "object" => "Point", "is" => { "map" => [["x", 1]] } }
{
  "expected the integer 2, found 1" => json["[1]", [2]],
  "expected the string \"1\", found 1" => json["[1]", ["1"]],
  "expected the integer 1, found \"1\"" => json["[\"1\"]", [1]],
  "expected the float 3ff0000000000000, found 1" => json["[1]", [{ "float" => "3ff0000000000000" }]],
  "expected the float 8000000000000000" => json["[0.0]", [{ "float" => "8000000000000000" }]],
  "expected nil, found 0" => json["[0]", [nil]],
  "expected true, found 1" => json["[1]", [true]],
  "expected 1 items, found 2" => json["[0,1]", [0]],
  "expected a list" => json["{\"a\":1}", [1]],
  "expected 1 entries, found 2" => json["{\"a\":1,\"b\":2}", { "map" => [["a", 1]] }],
  "expected the key \"b\", found \"a\"" => json["{\"a\":1,\"b\":2}", { "map" => [["b", 2], ["a", 1]] }],
  "expected the symbol a" => json["[\"a\"]", [{ "symbol" => "a" }]],
  "expected the string \"\\xE9\"" => json["[\"é\"]", [{ "bytes" => "e9" }]],
  "expected the string \"é\" in UTF-8" => made[{ "bytes" => "c3a9" }, { "text" => "é" }],
  "identity true" => made[{ "map" => [] }, { "identity" => { "map" => [] } }],
  "expected an object of Node, found :Point" => made[point, point.merge("object" => "Node")],
  "expected the member @y, found :@x" => made[point, { "object" => "Point", "is" => { "map" => [["y", 1]] } }],
  "expected 0 members" => made[point, { "object" => "Point", "is" => { "map" => [] } }],
  "expected an object of Point, found :Array" => made[[1], point],
  "a record, found Point" => made[point, { "record" => "Point", "is" => { "any" => true } }],
  "the same object as at $[0]" => made[[{ "id" => 1, "is" => "a" }, { "same" => 1 }], ["a", "a"]],
  "expected object 1 again" => made[%w[a a], [{ "id" => 1, "is" => "a" }, { "same" => 1 }]],
  "expected the module Mixed" => made[[1], { "extended" => "Mixed", "is" => [1] }],
  "at $, default" => made[{ "map" => [] }, { "default" => 1, "is" => { "map" => [] } }],
  "level 3, expected a list" => made[[[1]], { "deep" => [3, "list", 1] }],
  "was not refused" => { "do" => "read", "format" => "own", "bytes" => { "hex" => "040830" }, "error" => {} },
  "wrote \"\\x04\\b0\", not \"0\"" => { "do" => "write", "format" => "own", "value" => nil, "out" => "0" },
  "the log has (), not (thaw Notes)" => { "do" => "log", "log" => ["thaw Notes"] },
  "the log has (freeze Notes" => { "steps" => [{ "do" => "write", "format" => "own", "value" => point.merge("object" => "Notes") }, { "do" => "log", "log" => [] }] },
  "expected the integer 1, found 5" => { "steps" => [json["[1]", [1]], { "do" => "set", "path" => [0], "value" => 5 }, { "do" => "get", "path" => [0], "value" => 1 }] },
  "there is no step frobnicate" => { "do" => "frobnicate" },
  "grew by" => { "do" => "memory", "times" => 80, "most" => 1_000_000, "steps" => [{ "do" => "grow" }] }
}.each do |reason, line|
  next if reason == "grew by" && !memory_held
  verdict, why = Behaviour::Driver.run(line)
  Check.ok("fails: #{reason}", verdict == :failed && why.include?(reason), "#{verdict}: #{why}")
end
Check.equal("a line that needs a feature that Ruby lacks is skipped", :skipped, Behaviour::Driver.run({ "do" => "log", "needs" => ["wings"] })[0])
Check.equal("an open line is reported as open", :open, Behaviour::Driver.run({ "do" => "log", "open" => "why" })[0])
Check.finish
