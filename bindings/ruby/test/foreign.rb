# frozen_string_literal: true

# Data of other languages and formats: which of its classes are checked, and by which names;
# reports, records and presets; and values that a format can't express.

require_relative "helper"
require_relative "shape"

if STAND_IN
  Check.skip("foreign", "Ruby's Marshal knows no other formats")
  Check.finish
end

module App
  class User
    attr_accessor :name
  end

  class Other < User; end
end

module ActiveSupport
  class SafeBuffer < String; end
end

USER = %q(O:8:"App\User":1:{s:4:"name";s:5:"alice";})
STORABLE = %w[storable sereal].map { |format| Icecore.encode(App::User.new.tap { |user| user.name = "alice" }, format) }.freeze

def refused(name, *classes, path: "$", bytes: USER, format: nil, **options)
  error = Check.raises("#{name} is refused", Icecore::ClassError, *classes) { Icecore.decode(bytes, format, **options) }
  return unless error.is_a?(Icecore::ClassError)
  Check.equal("#{name}: names", classes, error.classes.keys)
  Check.equal("#{name}: path", path, error.path)
  Check.equal("#{name}: kind", :class, error.kind)
end

# Returns the warnings during the block, as lines.
def warnings
  old = $stderr
  $stderr = StringIO.new
  yield
  $stderr.string.lines
ensure
  $stderr = old
end

# -- Classes of other languages ------------------------------------------------------

refused("a class without a list", "App\\User")
refused("a class with an empty list", "App\\User", classes: [])
refused("a class that is not in the list", "App\\User", classes: [App::Other])
refused("a class of which only the last part of the name is listed", "App\\User", classes: ["User"])
refused("a class inside of arrays", "App\\User", path: "$.staff[0]", bytes: "a:1:{s:5:\"staff\";a:1:{i:0;#{USER}}}")
refused("a class in a member of an allowed object", "Bar", path: "$[0].a", bytes: 'a:1:{i:0;O:3:"Foo":1:{s:1:"a";O:3:"Bar":0:{}}}', classes: ["Foo"])
refused("an object with serialized text of its own", "Foo", bytes: 'C:3:"Foo":3:{abc}')
refused("an enum", "Suit", bytes: 'E:9:"Suit:Club";')
STORABLE.each { |bytes| refused("a class in data of Perl", "App::User", bytes: bytes) }
[App::User, "App::User", "App\\User", "App::*", "App\\*", ["x", "App\\User"], { "App\\User" => true }, { App::User => true }, :any, "*"].each do |classes|
  [USER, *STORABLE].each do |bytes|
    user = Icecore.decode(bytes, classes: classes)
    Check.equal("classes: #{classes.inspect} allows the class", [App::User, "alice"], [user.class, user.instance_variable_get(:@name)])
  end
end
["App\\User", "App::User"].each do |old|
  Check.equal("rename: finds the class by the name #{old}", App::Other, Icecore.decode(USER, rename: { old => App::Other }).class)
end
Check.equal("an allowed enum becomes a string", "Suit:Club", Icecore.decode('E:9:"Suit:Club";', classes: "Suit"))
Check.equal("a stdClass of PHP becomes a Hash and needs no list", { "a" => 1 }, Icecore.decode('O:8:"stdClass":1:{s:1:"a";i:1;}'))
Check.equal("values without classes need no list", [1, "a", { "b" => nil }], Icecore.decode('a:3:{i:0;i:1;i:1;s:1:"a";i:2;a:1:{s:1:"b";N;}}'))
pattern = Icecore.encode([/a+/i], "storable")
refused("a pattern of Perl", "Regexp", path: "$[0]", bytes: pattern)
Check.equal("an allowed pattern of Perl becomes a Regexp", [/a+/i], Icecore.decode(pattern, classes: Regexp))
nothing = Watcher = Class.new { def self.const_missing(name) = raise("looked for #{name}") }
Object.const_set(:Untouched, nothing)
refused("a class whose constant must not be looked up", "Untouched\\Inner", bytes: 'O:15:"Untouched\Inner":0:{}')

# -- report --------------------------------------------------------------------------

two = "a:2:{i:0;#{USER}i:1;O:9:\"App\\Other\":0:{}}"
Check.equal("report: true lists the classes of PHP's data", ["App\\User", "App\\Other"], Icecore.decode(two, report: true))
Check.equal("report: true leaves out an allowed class", ["App\\Other"], Icecore.decode(two, report: true, classes: App::User))
Check.equal("report: true lists nothing if all classes are allowed", [], Icecore.decode(two, report: true, classes: "App::*"))
own = Oracle.dump([App::User.new, App::User, App::Other.new, /a/])
Check.equal("report: true lists the classes of Ruby's data", %w[App::User App::Other Regexp], Icecore.decode(own, report: true))
Check.equal("load with report: true lists the classes", %w[App::User App::Other Regexp], IMPL.load(own, report: true))
Check.equal("load with report: false builds the values", 4, IMPL.load(own, report: false, classes: :any).size)
Check.equal("decode with report: false builds the values", 4, Icecore.decode(own, report: false, classes: :any).size)

{ "load" => -> { IMPL.load(own, classes: :report) }, "decode" => -> { Icecore.decode(two, classes: :report) } }.each do |name, call|
  error = nil
  warnings_text = warnings { 2.times { error = Check.raises("#{name} with classes: :report refuses the data", Icecore::ClassError) { call.call } } }
  all = name == "load" ? %w[App::User App::Other Regexp] : ["App\\User", "App\\Other"]
  Check.equal("#{name} with classes: :report names all refused classes", all, error.classes.keys)
  Check.equal("#{name} with classes: :report warns once for each class", all.size, warnings_text.size)
  Check.ok("#{name} with classes: :report: each warning says how to allow the class", warnings_text.all? { |line| line.include?("Icecore.allow") }, warnings_text.inspect)
end
warnings_text = warnings { Check.equal("a list with :report allows the class in the list", App::User, IMPL.load(Oracle.dump(App::User.new), classes: [App::User, :report]).class) }
Check.equal("no warning is given for an allowed class", [], warnings_text)

# -- Presets and records -----------------------------------------------------------------

safe = Oracle.dump(ActiveSupport::SafeBuffer.new("a"))
Check.equal(":rails allows a SafeBuffer", ActiveSupport::SafeBuffer, IMPL.load(safe, classes: :rails).class)
Check.equal(":rails in a list allows a SafeBuffer", ActiveSupport::SafeBuffer, IMPL.load(Oracle.dump([ActiveSupport::SafeBuffer.new("a"), App::User.new]), classes: [:rails, App::User])[0].class)
Check.raises(":rails allows no entry, which reads a dump later", Icecore::ClassError, "ActiveSupport::Cache::Entry") { IMPL.load("\x04\bo:\x20ActiveSupport::Cache::Entry\x00".b, classes: :rails) }
Check.raises(":rails allows no other class", Icecore::ClassError, "App::User") { IMPL.load(Oracle.dump(App::User.new), classes: :rails) }

record = Icecore.decode(USER, classes: :record)
Check.equal("a record of PHP's data has a kind, a class name and members", [:object, "App::User", "alice"], [record.kind, record.class_name, record[:name]])
Check.equal("a record is encoded as the same bytes of PHP", USER, Icecore.encode(record, "php"))
user = App::User.new.tap { |one| one.name = "bob" }
record = IMPL.load(Oracle.dump(user), classes: :record)
Check.equal("a record finds a member by each form of its name", %w[bob bob bob], [record[:@name], record["@name"], record[:name]])
Check.equal("a member that does not exist is nil", nil, record[:none])
Check.equal("to_h returns all members of a record", { "@name": "bob" }, record.to_h)
Check.ok("records are equal if their data is equal", record == IMPL.load(Oracle.dump(user), classes: :record) && record != IMPL.load(Oracle.dump(App::User.new), classes: :record))
Check.ok("a copy of a record is equal to it", record == record.dup && !record.equal?(record.dup))
Check.equal("inspect shows the kind, the class and the members", '#<Icecore::Record :object "App::User" {:@name=>"bob"}>', record.inspect.sub('{"@name": ', "{:@name=>").sub("{@name: ", "{:@name=>"))
record.value[:@name] = "carol"
Check.equal("a changed record is dumped with the change", "carol", Oracle.load(IMPL.dump(record)).name)
round = App::User.new.tap { |one| one.name = one }
Check.ok("inspect of a record that contains itself ends", IMPL.load(Oracle.dump(round), classes: :record).inspect.end_with?("...>}>"))
Check.raises("to_h of a record of a class raises", Icecore::TypeError, ":class") { IMPL.load(Oracle.dump(App::User), classes: :record).to_h }
["\x04\bo:\x06A\b:\n@kindi\x06:\tkindi\a:\v@valuei\b", "\x04\bIU:\x06Ai\x06\a:\n@kindi\x06:\b@zzi\a", "\x04\bIo:\x06A\x06:\tkindi\x06\x06:\n@kindi\x06"].each do |bytes|
  bytes = bytes.b
  Check.equal("a record keeps variables of any name", bytes, IMPL.dump(IMPL.load(bytes, classes: :record))) if bytes[2, 2] != "Io"
  Check.equal("#{bytes.inspect} is read as records", Outcome.of { IMPL.load(bytes, classes: :record) }.error?, false)
end
Check.raises("data can't create a Record", ::ArgumentError) { IMPL.load("\x04\bo:\x14Icecore::Record\x00".b, classes: :any) }
Check.raises("Ruby's Marshal does not dump a Record", ::TypeError) { Oracle.dump(record) }

# -- encode, convert, detect ---------------------------------------------------------------

Check.equal("encode writes the format", 'a:2:{s:2:"id";i:7;s:4:"tags";a:1:{i:0;N;}}', Icecore.encode({ "id" => 7, tags: [nil] }, "php"))
Check.equal("encode accepts a symbol as format", "[1]", Icecore.encode([1], :json))
Check.equal("encode wraps the data as the format says", [1], Icecore.decode(Icecore.encode([1], "gzip/base64/marshal")))
# A value becomes the nearest form of the format, as in the other languages.
{ 2**80 => "1208925819614629174706176", :a => '"a"', /a/ => '"(?^:a)"', 1..2 => '"1..2"', user => '{"name":"bob"}', { [1] => 2 } => '{"[1]":2}' }.each do |value, text|
  Check.equal("encode writes the nearest JSON for a value of #{value.class}", text, Icecore.encode(value, "json"))
end
# What a format can't express is reported as the keyword says.
{ "encode" => ->(value, **options) { Icecore.encode(value, "json", **options) }, "convert" => ->(value, **options) { Icecore.convert(Oracle.dump(value), "marshal", "json", **options) } }.each do |method, call|
  losses = ["kept"]
  Check.equal("#{method} with a list of losses returns the text", '{"a":"(?^:x)","b":1}', call.call({ "a" => /x/, b: 1 }, losses: losses))
  Check.equal("#{method}: the losses", ["kept", ["symbol", 1, "$.b", "1 symbol written as a string, first at $.b"], ["regexp", 1, "$.a", "1 regular expression written as a string, first at $.a"]].sort_by(&:to_s), losses.map { |loss| loss.is_a?(Icecore::Loss) ? loss.to_a : loss }.sort_by(&:to_s))
  Check.equal("#{method}: a loss is a text", "1 symbol written as a string, first at $[0]", [].tap { |list| call.call([:a], losses: list) }.join)
  Check.equal("#{method} warns of losses", [true, true, false], warnings { call.call({ "a" => /x/, b: 1 }) }.join.then { |text| [text.include?("Icecore: lost in json: 1 regular expression"), text.include?(__FILE__), text.include?("symbol")] })
  Check.equal("#{method} with :warn warns of symbols too", 2, warnings { call.call({ "a" => /x/, b: 1 }, losses: :warn) }.size)
  Check.equal("#{method} with :ignore is silent", [], warnings { call.call([/x/], losses: :ignore) })
  Check.equal("#{method} without losses is silent", [[], []], [[].tap { |list| call.call([1, "a"], losses: list) }, warnings { call.call([1, "a"], losses: :raise) }])
  Check.raises("#{method} with :raise raises", Icecore::ArgumentError, "something is lost", "regular expression") { call.call({ "a" => /x/ }, losses: :raise) }.then { |error| Check.equal("#{method}: kind and path of the error", [:unrepresentable, "$.a"], [error.kind, error.path]) }
  [5, :other, {}].each { |losses_given| Check.raises("#{method} refuses #{losses_given.inspect} as losses", Icecore::ArgumentError, "losses:") { call.call(1, losses: losses_given) } }
  Check.raises("#{method} refuses other keywords", ::ArgumentError, "unknown keyword") { call.call(1, loss: 1) }
  Check.raises("#{method} raises for a frozen list", ::FrozenError) { call.call([:a], losses: [].freeze) }
end
Check.raises("encode to marshal checks losses:", Icecore::ArgumentError, "losses:") { Icecore.encode(1, "marshal", losses: 5) }
# Values of Ruby's own classes with variables, and of subclasses: their meaning, and what is lost.
class OwnTime < Time; end
class OwnSet < Set; end
class Flags
  def initialize = @hash = Hash.new(false).update("a" => true)
  def name=(name)
    @name = name
  end
end
with_variable = ->(value) { value.tap { value.instance_variable_set(:@note, [1]) } }
{ "a Time with a variable" => [with_variable.call(Time.at(0, in: "UTC")), '"1970-01-01T00:00:00Z"', %w[attributes time]],
  "a Time of a subclass" => [OwnTime.at(0, in: "+01:00"), '"1970-01-01T01:00:00+01:00"', %w[class time]],
  "one with a variable" => [with_variable.call(OwnTime.at(0, in: "UTC")), '"1970-01-01T00:00:00Z"', %w[attributes class time]],
  "a Date with a variable" => [with_variable.call(Date.new(2026, 1, 2)), '"2026-01-02"', %w[attributes time]],
  "a Set with a variable" => [with_variable.call(Set[1, "b"]), '[1,"b"]', %w[attributes set]],
  "a Set of a subclass" => [OwnSet[1, [2]], "[1,[2]]", %w[class set]],
  "one of a subclass with a variable" => [with_variable.call(OwnSet["a"]), '{"hash":{"a":true},"note":[1]}', nil],
  "an object with further variables" => [Flags.new.tap { |flags| flags.name = "n" }, '{"hash":{"a":true},"name":"n"}', nil] }.each do |name, (value, text, kinds)|
  losses = []
  Check.equal("JSON of #{name}", text, Icecore.encode(value, "json", losses: losses))
  Check.equal("losses of #{name}", kinds, losses.map(&:kind).sort) if kinds && RUBY_VERSION < "4"
end
Check.raises("encode refuses a key that PHP does not have", Icecore::ArgumentError, "php") { Icecore.encode({ [1] => 2 }, "php") }.then { |error| Check.equal("a key that PHP does not have: kind", :unrepresentable, error.kind) }
Check.raises("encode refuses an array that contains itself for JSON", Icecore::ArgumentError, "cycles=null") { Icecore.encode([].tap { |list| list << list }, "json") }.then { |error| Check.equal("an array that contains itself for JSON: kind", :unrepresentable, error.kind) }
Check.raises("encode refuses an unknown format", Icecore::ArgumentError, "nope") { Icecore.encode(1, "nope") }
Check.raises("encode refuses nil as format", ::TypeError) { Icecore.encode(1, nil) }
Check.raises("convert refuses nil as target format", ::TypeError) { Icecore.convert("i:1;", nil, nil) }
Check.equal("convert detects the source format", '[1,"two","three"]', Icecore.convert(Oracle.dump([1, "two", :three]), nil, "json"))
Check.equal("convert accepts symbols as formats", "[1]", Icecore.convert("a:1:{i:0;i:1;}", :php, :json))
Check.equal("convert builds no object", '{"a":1}', Icecore.convert("\x04\bo:\x13NoSuch::Class1\x06:\x07@ai\x06".b.sub("\x13", "\x13"), "marshal", "json"))
Check.raises("convert refuses data of no format", Icecore::ArgumentError) { Icecore.convert("\x04\b[".b, nil, "json") }
{ "marshal" => Oracle.dump([1]), "php" => "a:0:{}", "base64/marshal" => [Oracle.dump([1])].pack("m0"), nil => "no format" }.each { |format, bytes| Check.equal("detect recognizes #{format || 'no format'}", format, Icecore.detect(bytes)) }
Check.raises("decode refuses data of no format", Icecore::ArgumentError, "name the format") { Icecore.decode("no format") }
Check.raises("decode refuses data deeper than max_depth", Icecore::ArgumentError, "max_depth") { Icecore.decode("a:1:{i:0;a:1:{i:0;a:0:{}}}", max_depth: 2) }
Check.ok("decode with freeze: true freezes all values", Icecore.decode('a:1:{i:0;s:1:"a";}', freeze: true).then { |list| list.frozen? && list[0].frozen? })

# A warning may run any code, for example a program that reads or changes the bytes.
bytes = +"\x04\b[\x07o:\x0fApp::Third\x00i\x06".b
App.const_set(:Third, Class.new)
class << Warning
  attr_accessor :hook

  def warn(message, **options) = hook ? hook.call : super
end
begin
  Warning.hook = -> { bytes.replace("x" * 5000) && Icecore.decode("i:1;") && GC.start }
  Check.equal("a warning that changes the bytes does not change the result", 1, IMPL.load(bytes, classes: :"any,report")[1])
ensure
  Warning.hook = nil
end
Check.finish
