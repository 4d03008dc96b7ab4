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
expected = Oracle.dump({ "old" => "an brand new" })
Check.equal("a text is replaced", expected, replace("old", "brand new", old))
Check.equal("pairs are replaced", expected, replace({ "old" => "brand new", "none" => "x" }, old))
Check.equal("a format may be named", expected, replace("old", "brand new", old, format: "marshal"))
Check.equal("a format may be a symbol", expected, replace("old", "brand new", old, format: :marshal))
Check.equal("format: nil detects the format", expected, replace("old", "brand new", old, format: nil))
Check.equal("all pairs apply at once", "dog cat", replace({ "cat" => "dog", "dog" => "cat" }, "cat dog"))
Check.equal("keys: true changes keys", Oracle.dump({ "x" => "an x" }), replace("old", "x", old, keys: true))
Check.equal("keys: nil leaves keys", Oracle.dump({ "old" => "an x" }), replace("old", "x", old, keys: nil))
Check.equal("classes: true changes class names", "\x04\bo:\x0aFresh\x06:\a@ai\x06".b, replace("Old", "Fresh", "\x04\bo:\x08Old\x06:\a@ai\x06".b, classes: true))
Check.equal("regex: true takes an expression", "joe@new", replace('(\w+)@old', "$1@new", "joe@old", regex: true))
Check.equal("ignore_case: true ignores case", "x x", replace("old", "x", "OLD Old", ignore_case: true))
Check.equal("url: true finds escaped addresses", 'http:\/\/new.example\/a', replace("https://old.example", "https://new.example", 'http:\/\/old.example\/a', url: true))
Check.equal("base64: true changes data in Base64", [expected].pack("m0"), replace("old", "brand new", [old].pack("m0"), base64: true))
Check.equal("without base64: data in Base64 stays", [old].pack("m0"), replace("old", "brand new", [old].pack("m0")))
Check.equal("mend: true repairs a wrong length", 'a:1:{i:0;s:9:"brand new";}', replace("old", "brand new", 'a:1:{i:0;s:99:"old";}', mend: true))
Check.equal("empty data stays empty", "", replace("a", "b", ""))

Check.raises("two arguments are too few", ::ArgumentError, "given 2, expected 3") { replace("a", "b") }
Check.raises("pairs and NEW are too many arguments", ::ArgumentError, "given 3, expected 2") { replace({ "a" => "b" }, "b", "x") }
Check.raises("no argument is an error", ::ArgumentError) { replace }
Check.raises("nil is not a text", ::TypeError, "String") { replace("a", nil, "x") }
Check.raises("a symbol is not a text", ::TypeError, "String") { replace(:a, "b", "x") }
Check.raises("a Regexp is not a text", ::TypeError, "String") { replace(/a/, "b", "x") }
Check.raises("nil in pairs is not a text", ::TypeError, "String") { replace({ "a" => nil }, "x") }
Check.raises("an Array is not data", ::TypeError, "String") { replace("a", "b", ["x"]) }
Check.raises("an unknown keyword is an error", ::ArgumentError, "ignorecase") { replace("a", "b", "x", ignorecase: true) }
Check.raises("empty pairs are an error", Icecore::ArgumentError, "nothing to replace") { replace({}, "x") }
Check.raises("an empty OLD is an error", Icecore::ArgumentError, "an empty OLD is found everywhere") { replace("", "b", "x") }
  .then { |error| Check.equal("an empty OLD is an error of usage", [:usage, nil, ""], [error.kind, error.offset, error.path]) }
Check.raises("an invalid expression is an error", Icecore::ArgumentError, "`(`") { replace("(", "b", "x", regex: true) }
Check.raises("an unknown format is an error", Icecore::ArgumentError, "marshel") { replace("a", "b", "x", format: "marshel") }
Check.raises("data that is not of the named format is an error", Icecore::ArgumentError) { replace("a", "b", "[\"a\"]", format: "marshal") }
deep = ("a:1:{i:0;" * 20) + 's:1:"a";' + ("}" * 20)
Check.raises("data deeper than max_depth is an error", Icecore::ArgumentError, "max_depth") { replace("a", "b", deep, format: "php", max_depth: 10) }
Check.equal("the next call has the default depth again", deep.sub('"a"', '"b"'), replace("a", "b", deep, format: "php"))
Check.raises("a negative max_depth is an error", Icecore::ArgumentError, "max_depth") { replace("a", "b", "x", max_depth: -1) }

# -- Strings and encodings -------------------------------------------------------------

[Encoding::UTF_8, Encoding::BINARY, Encoding::ISO_8859_1].each do |encoding|
  data = "old".dup.force_encoding(encoding)
  [replace("old", "new", data), replace("none", "new", data)].each do |result|
    Check.equal("the encoding of #{encoding} data", encoding, result.encoding)
    Check.ok("the result is a new string that can be changed", !result.frozen? && !result.equal?(data) && (result << "x"))
  end
  Check.equal("the data itself is not changed", "old", data.encode("UTF-8"))
end
Check.equal("arguments may be frozen", "x", replace("a".freeze, "x".freeze, "a".freeze))
Check.equal("text is found in binary data", "caf\xc3\xa9s".b, replace("é", "és", "caf\xc3\xa9".b))
Check.equal("bytes are found in text", "cafe", replace("\xc3\xa9".b, "e", "café"))
Check.raises("texts in another encoding are an error", Encoding::CompatibilityError) { replace("\xe9".dup.force_encoding("ISO-8859-1"), "e", "café") }
Check.raises("data in UTF-16 is an error", Encoding::CompatibilityError) { replace("a", "b", "a".encode("UTF-16LE")) }
long = "x" * 100_000
Check.equal("long data without a match stays", long, replace("old", "new", long))
Check.equal("the result for a subclass is a String", String, replace("a", "b", Class.new(String).new("a")).class)
texts = Class.new { def to_str = Icecore.replace("y", "a", "y") }.new
Check.equal("arguments may have to_str, which may call replace", "b", replace(texts, "b", texts))

# -- Reports -----------------------------------------------------------------------------

report = nil
result = replace("old", "new", Oracle.dump(["old old", Oracle.dump(["old"])])) { |counts| report = counts }
Check.equal("replace with a block returns the text", Oracle.dump(["new new", Oracle.dump(["new"])]), result)
Check.equal("the report counts strings and occurrences", [2, 3, 2, 0, nil], report.values_at(:strings, :occurrences, :frozen, :broken, :first_broken))
replace("old", "new", 'a:1:{i:0;s:99:"old";}') { |counts| report = counts }
Check.ok("the report names broken data", report[:broken] == 1 && report[:first_broken].start_with?("php at offset "), report.inspect)
replace("old", "new", 'a:2:{i:0;s:5:"Grüße";i:1;s:3:"old";}', mend: true) { |counts| report = counts }
Check.equal("the report counts repairs with their causes", [1, 0, { "latin1" => 1 }], report.values_at(:mended, :guessed, :explanations))
Check.equal("a block may raise", [:out, "x"], [catch(:out) { replace("old", "x", "old") { throw :out, :out } }, replace("old", "x", "old")])
Check.equal("the block may call replace", "b", replace("a", "b", "a") { replace("b", "c", "b") })

# -- Random values ---------------------------------------------------------------------------

PAIRS = [
  { "old" => "new" }, { "old" => "brand new" }, { "old" => "" }, { "old" => "an old one" }, { "ink" => "old", "old" => "ink" },
  { "old" => "x", "older" => "much older", "o" => "0" }, { "old" => "long " * 60 }, { "old" => '"', '"' => "'" }, { "é" => "e", "old" => "é" }
].freeze
# JSON has only one notation for the new texts of the first pairs, up to this index.
PLAIN_PAIRS = 7

(options[:from]...options[:from] + options[:count]).each do |number|
  dice = Dice.seeded(options[:seed], number)
  pair_index = dice.below(PAIRS.size)
  pairs = PAIRS[pair_index]
  plan = Plan.new(dice, pair_index < PLAIN_PAIRS)
  change = lambda do |text|
    pattern = Regexp.union(pairs.keys.sort_by { |key| -key.bytesize }.map(&:b))
    text.b.gsub(pattern) { |found| pairs.transform_keys(&:b)[found].b }.force_encoding(text.encoding)
  end
  before, after = plan.render(&:itself), plan.render(&change)
  data, expected = Oracle.dump(before), Oracle.dump(after)
  arguments = "--seed #{options[:seed]} --from #{number} --count 1"
  counts = nil
  actual = replace(pairs, data) { |report| counts = report }
  Check.equal("Marshal, #{arguments}, #{pairs}", expected, actual)
  Check.equal("the report counts changed strings, #{arguments}", data != expected, counts[:strings].positive?)
  Check.equal("Marshal, named, #{arguments}", expected, replace(pairs, data, format: "marshal"))
  Check.equal("Marshal in Marshal, #{arguments}", Oracle.dump([expected]), replace(pairs, Oracle.dump([data])))
  next unless plan.json?
  Check.equal("JSON, #{arguments}", JSON.generate([after]), replace(pairs, JSON.generate([before])))
end

# -- Hostile data -----------------------------------------------------------------------------

dice = Dice.seeded(options[:seed], 1)
samples = [Oracle.dump({ "old" => ["an old", 1.5, :old, "old".encode("UTF-16LE")] }), JSON.generate({ "old" => ["old", '["old"]'] }),
           'a:2:{i:0;s:3:"old";i:1;a:1:{i:0;s:3:"old";}}', Icecore.encode(["old", { "old" => "old" }], "storable", losses: :ignore), Icecore.encode(["old"], "sereal")]
strange = 0
samples.each do |sample|
  500.times do
    data = sample.b[0, dice.one_in(2) ? dice.below(sample.bytesize) : sample.bytesize]
    dice.below(4).times { data.setbyte(dice.below(data.bytesize), dice.pick([0, 34, 57, 123, 125, dice.below(256)])) unless data.empty? }
    result = replace({ "old" => "brand new", "an" => "" }, data, keys: dice.one_in(2), classes: dice.one_in(2), mend: dice.one_in(2), base64: dice.one_in(2))
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
  stressed = replace({ "old".dup => "new".dup, "an".dup => "the".dup }, old.dup, format: "marshal".dup) { |report| report.to_a }
ensure
  GC.stress = false
end
Check.equal("with the collector at every allocation", Oracle.dump({ "old" => "the new" }), stressed)
threads = Array.new(4) { |i| Thread.new { Array.new(300) { replace({ "old" => "x#{i}" }, "old") }.uniq } }
Check.equal("threads", Array.new(4) { |i| ["x#{i}"] }, threads.map(&:value))

if memory_held
  { "changed" => -> { replace("old", "new", old) { |report| report } },
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
