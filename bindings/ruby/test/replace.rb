# frozen_string_literal: true

# Icecore.replace: arguments and reports, text in random values compared with the output of
# Ruby's own Marshal and JSON for the changed value, hostile data, memory.
#
#   ruby replace.rb [--seed N] [--count N] [--from N]

require_relative "helper"
require_relative "chance/dice"
require_relative "replace/plan"
require "json"

if STAND_IN
  Check.skip("replace", "Ruby's Marshal has nothing like it")
  Check.finish
end

options = { seed: 2, count: LONG.zero? ? 400 : LONG * 20_000, from: 0 }
ARGV.each_slice(2) { |name, value| options[name.delete_prefix("--").to_sym] = Integer(value) }

def replace(...) = Icecore.replace(...)

# -- Arguments -----------------------------------------------------------------------

old = Oracle.dump({ "old" => "an old" })
wanted = Oracle.dump({ "old" => "an brand new" })
Check.equal("a text", wanted, replace("old", "brand new", old))
Check.equal("pairs", wanted, replace({ "old" => "brand new", "none" => "x" }, old))
Check.equal("a format", wanted, replace("old", "brand new", old, format: "marshal"))
Check.equal("a format that is a symbol", wanted, replace("old", "brand new", old, format: :marshal))
Check.equal("format: nil", wanted, replace("old", "brand new", old, format: nil))
Check.equal("all at once", "dog cat", replace({ "cat" => "dog", "dog" => "cat" }, "cat dog"))
Check.equal("keys", Oracle.dump({ "x" => "an x" }), replace("old", "x", old, keys: true))
Check.equal("keys: nil", Oracle.dump({ "old" => "an x" }), replace("old", "x", old, keys: nil))
Check.equal("classes", "\x04\bo:\x0aFresh\x06:\a@ai\x06".b, replace("Old", "Fresh", "\x04\bo:\x08Old\x06:\a@ai\x06".b, classes: true))
Check.equal("regex", "joe@new", replace('(\w+)@old', "$1@new", "joe@old", regex: true))
Check.equal("ignore_case", "x x", replace("old", "x", "OLD Old", ignore_case: true))
Check.equal("url", 'http:\/\/new.example\/a', replace("https://old.example", "https://new.example", 'http:\/\/old.example\/a', url: true))
Check.equal("base64", [wanted].pack("m0"), replace("old", "brand new", [old].pack("m0"), base64: true))
Check.equal("no base64", [old].pack("m0"), replace("old", "brand new", [old].pack("m0")))
Check.equal("mend", 'a:1:{i:0;s:9:"brand new";}', replace("old", "brand new", 'a:1:{i:0;s:99:"old";}', mend: true))
Check.equal("empty", "", replace("a", "b", ""))

Check.raises("too few", ::ArgumentError, "given 2, expected 3") { replace("a", "b") }
Check.raises("pairs and NEW", ::ArgumentError, "given 3, expected 2") { replace({ "a" => "b" }, "b", "x") }
Check.raises("nothing", ::ArgumentError) { replace }
Check.raises("nil", ::TypeError, "String") { replace("a", nil, "x") }
Check.raises("a symbol", ::TypeError, "String") { replace(:a, "b", "x") }
Check.raises("a pattern", ::TypeError, "String") { replace(/a/, "b", "x") }
Check.raises("nil in pairs", ::TypeError, "String") { replace({ "a" => nil }, "x") }
Check.raises("data that is none", ::TypeError, "String") { replace("a", "b", ["x"]) }
Check.raises("a keyword that is none", ::ArgumentError, "ignorecase") { replace("a", "b", "x", ignorecase: true) }
Check.raises("no pairs", Icecore::ArgumentError, "nothing to replace") { replace({}, "x") }
Check.raises("an empty text", Icecore::ArgumentError, "an empty OLD is found everywhere") { replace("", "b", "x") }
  .then { |error| Check.equal("its kind", [:usage, nil, ""], [error.kind, error.offset, error.path]) }
Check.raises("no expression", Icecore::ArgumentError, "`(`") { replace("(", "b", "x", regex: true) }
Check.raises("a format that is none", Icecore::ArgumentError, "marshel") { replace("a", "b", "x", format: "marshel") }
Check.raises("another format", Icecore::ArgumentError) { replace("a", "b", "[\"a\"]", format: "marshal") }
deep = ("a:1:{i:0;" * 20) + 's:1:"a";' + ("}" * 20)
Check.raises("max_depth", Icecore::ArgumentError, "max_depth") { replace("a", "b", deep, format: "php", max_depth: 10) }
Check.equal("and the usual one again", deep.sub('"a"', '"b"'), replace("a", "b", deep, format: "php"))
Check.raises("max_depth below 0", Icecore::ArgumentError, "max_depth") { replace("a", "b", "x", max_depth: -1) }

# -- Strings and encodings -------------------------------------------------------------

[Encoding::UTF_8, Encoding::BINARY, Encoding::ISO_8859_1].each do |encoding|
  data = "old".dup.force_encoding(encoding)
  [replace("old", "new", data), replace("none", "new", data)].each do |result|
    Check.equal("the encoding of #{encoding} data", encoding, result.encoding)
    Check.ok("a string of its own", !result.frozen? && !result.equal?(data) && (result << "x"))
  end
  Check.equal("data that stays", "old", data.encode("UTF-8"))
end
Check.equal("frozen arguments", "x", replace("a".freeze, "x".freeze, "a".freeze))
Check.equal("text in bytes", "caf\xc3\xa9s".b, replace("é", "és", "caf\xc3\xa9".b))
Check.equal("bytes in text", "cafe", replace("\xc3\xa9".b, "e", "café"))
Check.raises("another encoding", Encoding::CompatibilityError) { replace("\xe9".dup.force_encoding("ISO-8859-1"), "e", "café") }
Check.raises("two bytes a letter", Encoding::CompatibilityError) { replace("a", "b", "a".encode("UTF-16LE")) }
long = "x" * 100_000
Check.equal("long data that does not change", long, replace("old", "new", long))
Check.equal("a subclass", String, replace("a", "b", Class.new(String).new("a")).class)
texts = Class.new { def to_str = Icecore.replace("y", "a", "y") }.new
Check.equal("to_str", "b", replace(texts, "b", texts))

# -- Reports -----------------------------------------------------------------------------

report = nil
result = replace("old", "new", Oracle.dump(["old old", Oracle.dump(["old"])])) { |found| report = found }
Check.equal("the value is the text", Oracle.dump(["new new", Oracle.dump(["new"])]), result)
Check.equal("counts", [2, 3, 2, 0, nil], report.values_at(:strings, :occurrences, :frozen, :broken, :first_broken))
replace("old", "new", 'a:1:{i:0;s:99:"old";}') { |found| report = found }
Check.ok("a broken text", report[:broken] == 1 && report[:first_broken].start_with?("php at offset "), report.inspect)
replace("old", "new", 'a:2:{i:0;s:5:"Grüße";i:1;s:3:"old";}', mend: true) { |found| report = found }
Check.equal("what was repaired", [1, 0, { "latin1" => 1 }], report.values_at(:mended, :guessed, :explanations))
Check.equal("a block may raise", [:out, "x"], [catch(:out) { replace("old", "x", "old") { throw :out, :out } }, replace("old", "x", "old")])
Check.equal("a block may replace", "b", replace("a", "b", "a") { replace("b", "c", "b") })

# -- Random values ---------------------------------------------------------------------------

PAIRS = [
  { "old" => "new" }, { "old" => "brand new" }, { "old" => "" }, { "old" => "an old one" }, { "ink" => "old", "old" => "ink" },
  { "old" => "x", "older" => "much older", "o" => "0" }, { "old" => "long " * 60 }, { "old" => '"', '"' => "'" }, { "é" => "e", "old" => "é" }
].freeze
# For these JSON has only one notation of the new text.
PLAIN = 7

(options[:from]...options[:from] + options[:count]).each do |number|
  dice = Dice.seeded(options[:seed], number)
  at = dice.below(PAIRS.size)
  pairs = PAIRS[at]
  plan = Plan.new(dice, at < PLAIN)
  change = lambda do |text|
    pattern = Regexp.union(pairs.keys.sort_by { |key| -key.bytesize }.map(&:b))
    text.b.gsub(pattern) { |found| pairs.transform_keys(&:b)[found].b }.force_encoding(text.encoding)
  end
  before, after = plan.render(&:itself), plan.render(&change)
  data, wanted = Oracle.dump(before), Oracle.dump(after)
  again = "--seed #{options[:seed]} --from #{number} --count 1"
  found = nil
  got = replace(pairs, data) { |said| found = said }
  Check.equal("Marshal, #{again}, #{pairs}", wanted, got)
  Check.equal("what is counted, #{again}", data != wanted, found[:strings].positive?)
  Check.equal("Marshal, named, #{again}", wanted, replace(pairs, data, format: "marshal"))
  Check.equal("Marshal in Marshal, #{again}", Oracle.dump([wanted]), replace(pairs, Oracle.dump([data])))
  next unless plan.json?
  Check.equal("JSON, #{again}", JSON.generate([after]), replace(pairs, JSON.generate([before])))
end

# -- Hostile data -----------------------------------------------------------------------------

dice = Dice.seeded(options[:seed], 1)
samples = [Oracle.dump({ "old" => ["an old", 1.5, :old, "old".encode("UTF-16LE")] }), JSON.generate({ "old" => ["old", '["old"]'] }),
           'a:2:{i:0;s:3:"old";i:1;a:1:{i:0;s:3:"old";}}', Icecore.encode(["old", { "old" => "old" }], "storable"), Icecore.encode(["old"], "sereal")]
strange = 0
samples.each do |sample|
  500.times do
    data = sample.b[0, dice.one(2) ? dice.below(sample.bytesize) : sample.bytesize]
    dice.below(4).times { data.setbyte(dice.below(data.bytesize), dice.pick([0, 34, 57, 123, 125, dice.below(256)])) unless data.empty? }
    result = replace({ "old" => "brand new", "an" => "" }, data, keys: dice.one(2), classes: dice.one(2), mend: dice.one(2), base64: dice.one(2))
    strange += 1 unless result.is_a?(String)
  end
end
Check.equal("damaged data is text", 0, strange)
["\x04\b[\x04\xff\xff\xff\x7f".b, "\x04\b#{'[\x06' * 50_000}".b, "\x04\b\"\x04\xff\xff\xff\x7fold".b].each do |data|
  Check.equal("as text: #{data[0, 8].inspect}", data.gsub("old".b, "new".b), replace("old", "new", data))
end

# -- The collector, and memory ---------------------------------------------------------------------

GC.stress = true
begin
  stressed = replace({ "old".dup => "new".dup, "an".dup => "the".dup }, old.dup, format: "marshal".dup) { |said| said.to_a }
ensure
  GC.stress = false
end
Check.equal("with the collector at every allocation", Oracle.dump({ "old" => "the new" }), stressed)
threads = Array.new(4) { |i| Thread.new { Array.new(300) { replace({ "old" => "x#{i}" }, "old") }.uniq } }
Check.equal("threads", Array.new(4) { |i| ["x#{i}"] }, threads.map(&:value))

if memory_held
  { "changed" => -> { replace("old", "new", old) { |said| said } },
    "not changed" => -> { replace("none", "new", old) },
    "other pairs each time" => -> { replace({ "old" => rand.to_s, "x" => "y" }, old) },
    "refused" => -> { replace({ "a" => "b", "" => "c" }, old) rescue nil },
    "wrong data" => -> { replace("a", "b", "[", format: "json") rescue nil } }.each do |name, way|
    2000.times { way.call }
    grown = least_growth { 10_000.times { way.call } }
    Check.ok("no leak: #{name}", grown < 400_000, "#{grown} bytes more")
  end
end
Check.finish
