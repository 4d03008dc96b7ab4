# frozen_string_literal: true

# The data for `_load`, `marshal_load` and `_load_data` may be Marshal data itself, and some
# classes pass it to Ruby's own Marshal.load. Its classes are checked against the list of the
# call, before any hook runs.

require_relative "helper"
require "drb"
require "open3"
require "rbconfig"
require "rubygems"

if STAND_IN
  Check.skip("payloads", "Ruby's Marshal has no policy")
  Check.finish
end

EVENTS = []

# A class that an attacker wants to run.
class Gadget
  def marshal_dump = 1
  def marshal_load(_data) = EVENTS << "Gadget#marshal_load"
end

class OtherGadget
  def _dump(_level) = "x"

  def self._load(_data)
    EVENTS << "OtherGadget._load"
    new
  end
end

# Passes its bytes to Ruby's own reader.
class Handing
  attr_reader :data

  def initialize(data) = @data = data
  def _dump(_level) = @data

  def self._load(data)
    EVENTS << "Handing._load"
    Oracle.load(data)
  end
end

class Rereading
  def initialize(data) = @data = data
  def marshal_dump = @data

  def marshal_load(data)
    EVENTS << "Rereading#marshal_load"
    @data = Oracle.load(data)
  end
end

class Bytes
  attr_reader :data

  def initialize(data) = @data = data
  def _dump(_level) = @data
  def self._load(data) = new(data)
end

module Mixin; end
Couple = Struct.new(:left, :right)

class Words < String; end

def length(number)
  return (number + 5).chr if number < 123
  bytes = [number].pack("V").sub(/\0+\z/n, "")
  bytes.bytesize.chr + bytes
end

# `u`: the data for _load of a class.
def dump_of(name, bytes) = "\x04\bu:".b << length(name.bytesize) << name.b << length(bytes.bytesize) << bytes.b

def body(dump) = dump.byteslice(2..)

# Ruby's own classes with a `_load` that unmarshals, and one of a program.
def refused(name, bytes, *classes, **options)
  EVENTS.clear
  error = Check.raises("#{name} is refused", Icecore::ClassError) { IMPL.load(bytes, **options) }
  Check.equal("#{name}: the error has the names", classes, error.classes.keys) if error.is_a?(Icecore::ClassError)
  Check.equal("#{name}: nothing runs", [], EVENTS)
  Check.equal("#{name}: report: true names the classes", classes, IMPL.load(bytes, report: true, **options))
  error
end

def malformed(name, bytes, **options)
  EVENTS.clear
  error = Check.raises("#{name} can't be read", Icecore::Error) { IMPL.load(bytes, **options) }
  Check.equal("#{name}: kind", :malformed, error.kind) if error.is_a?(Icecore::Error)
  Check.equal("#{name}: nothing runs", [], EVENTS)
end

gadget = Oracle.dump(Gadget.new)

# -- A payload is checked against the same list --------------------------------------------

["Date", "DateTime", "DRb::DRbObject", "DRb::DRbUnknown", "DRb::DRbArray", "Gem::Specification", "Handing"].each do |name|
  [[name], [name, "Dat*"], ["#{name[0..-2]}*"], [name, Symbol]].each do |classes|
    refused("#{name} by #{classes.inspect}", dump_of(name, gadget), "Gadget", classes: classes)
  end
  error = refused("#{name} in an array", "\x04\b[\x07i\x06".b << body(dump_of(name, gadget)), "Gadget", classes: [name])
  # In the notation of `icecore classes --deep`.
  Check.equal("#{name} in an array: path", "$[1]#0", error.path) if error.is_a?(Icecore::ClassError)
  refused("#{name} in a payload", dump_of("Handing", dump_of(name, gadget)), "Gadget", classes: [name, Handing])
  refused("#{name} deep in a payload", dump_of("Handing", "\x04\b[\x06{\x06i\x00".b << body(dump_of(name, gadget))), "Gadget", classes: [name, Handing])
  refused("#{name} with records", dump_of(name, gadget), "Gadget", classes: [:record, name])
  cut = Check.raises("#{name} with damage", Icecore::Error) { IMPL.load(dump_of(name, gadget[0..-2]), classes: [name, Gadget]) }
  Check.equal("#{name} with damage: path", "$#0", cut.path) if cut.is_a?(Icecore::Error)
end
EVENTS.clear
Check.equal("a payload is loaded if its classes are listed", Gadget, IMPL.load(dump_of("Handing", gadget), classes: [Handing, Gadget]).class)
Check.equal("both hooks ran", ["Handing._load", "Gadget#marshal_load"], EVENTS)
EVENTS.clear
Check.raises("a payload of Date that is another object is refused, whatever is listed", Icecore::Error) { IMPL.load(dump_of("Date", gadget), classes: :any) }
Check.equal("a refused payload of Date runs nothing", [], EVENTS)

# -- All kinds in which a payload names a class --------------------------------------------

{
  "o" => ["o:\x0bGadget\x00", "Gadget"], "S" => ["S:\x0bCouple\x00", "Couple"], "U" => ["U:\x0bGadgeti\x06", "Gadget"], "u" => ["u:\x10OtherGadget\x06x", "OtherGadget"], "d" => ["d:\x0bGadgeti\x06", "Gadget"],
  "C" => ["C:\x0aWords\"\x06x", "Words"], "e" => ["e:\x0aMixin\"\x06x", "Mixin"], "c" => ["c\x0bGadget", "Gadget"], "m" => ["m\x0aMixin", "Mixin"], "M" => ["M\x0aMixin", "Mixin"], "a regexp" => ["I/\x06a\x00\x06:\x06EF", "Regexp"],
  "a link to the name" => ["[\x07:\x0bGadgeto;\x00\x00", "Gadget"], "a key" => ["{\x06o:\x0bGadget\x00i\x06", "Gadget"], "a default" => ["}\x00o:\x0bGadget\x00", "Gadget"], "a variable" => ["I\"\x06x\x07:\x06ET:\x07@ao:\x0bGadget\x00", "Gadget"],
  "a name in UTF-8" => ["oI:\x0bGadget\x06:\x06ET\x00", "Gadget"]
}.each { |name, (bytes, klass)| refused("a class in a payload: #{name}", dump_of("Handing", "\x04\b#{bytes}".b), klass, classes: [Handing]) }

# -- All ways in which the bytes are passed ---------------------------------------------------

tagged = gadget.dup
tagged.instance_variable_set(:@tag, 1)
sub = Words.new(gadget)
{
  "with variables" => Handing.new(tagged), "as UTF-16" => Handing.new(gadget.dup.force_encoding("UTF-16LE")), "as UTF-8" => Handing.new(gadget.dup.force_encoding("UTF-8")),
  "behind another" => [Handing.new("\x04\b0"), Handing.new(gadget)], "behind a document" => Handing.new("\x04\b0".b + gadget), "in a variable" => (+"a").tap { |text| text.instance_variable_set(:@v, Handing.new(gadget)) },
  "with a module" => Handing.new(gadget).tap { |value| value.singleton_class.undef_method(:extended) rescue value }, "in a key" => { Handing.new(gadget) => 1 }
}.each { |name, value| refused("a class in a payload #{name}", Oracle.dump(value), "Gadget", classes: [Handing]) }
refused("a class in the data of marshal_load", Oracle.dump(Rereading.new(gadget)), "Gadget", classes: [Rereading])
refused("a class in the data of marshal_load, which is a link", Oracle.dump([gadget, Rereading.new(gadget)]), "Gadget", classes: [Rereading])
refused("a class in the data of marshal_load, which is a subclass of String", Oracle.dump(Rereading.new(sub)), "Gadget", classes: [Rereading, Words])
refused("a class in the data of _load_data", "\x04\bd:\x0cHanding\"".b << length(gadget.bytesize) << gadget, "Gadget", classes: [Handing])
(0..7).each { |minor| refused("a class in a payload of version 4.#{minor}", dump_of("Handing", gadget.sub("\b", minor.chr)), "Gadget", classes: [Handing]) }
renamed = gadget.sub("Gadget", "Gadgex")
refused("a renamed class in a payload", dump_of("Handing", renamed), "Gadgex", rename: { "Gadgex" => Gadget }, classes: [Handing])
nested = gadget
8.times { nested = dump_of("Handing", nested) }
refused("a class in 8 nested payloads", nested, "Gadget", classes: [Handing])
30.times { nested = dump_of("Handing", nested) }
malformed("data with 38 nested payloads", nested, classes: [Handing])
malformed("data with 38 nested payloads, with all classes allowed", nested, classes: :any)

# One payload for many hooks is read once: otherwise each level would multiply the work.
class Keeping
  def marshal_load(data) = @data = data
end
many = "\x04\b0".b
12.times { many = "\x04\b[".b << length(101) << "\"" << length(many.bytesize) << many << "U:\x0cKeeping@\x06" << "U;\x00@\x06" * 99 }
Check.equal("one payload for many hooks is read once", 101, IMPL.load(many, classes: [Keeping]).size)

# -- The same in another format ----------------------------------------------------------------

typed = Icecore.convert(dump_of("Handing", gadget), "marshal", "json:typed")
Check.equal("json:typed: report: true names the class in a payload", ["Gadget"], Icecore.decode(typed, "json:typed", classes: [Handing], report: true))
EVENTS.clear
Check.raises("json:typed: a class in a payload is refused", Icecore::ClassError, "Gadget") { Icecore.decode(typed, "json:typed", classes: [Handing]) }
Check.equal("json:typed: nothing runs", [], EVENTS)
plain = [Date.new(2001, 2, 3), DateTime.new(2001, 2, 3), Time.at(0).utc, BigDecimal("1.5"), Rational(1, 2), Complex(1, 2)]
Check.equal("json:typed: Ruby's own values need no list", plain, Icecore.decode(Icecore.convert(Oracle.dump(plain), "marshal", "json:typed"), "json:typed"))

# -- Unreadable data reaches no hook -----------------------------------------------------------

{ "an empty payload" => "", "a payload that is cut" => "o:\x0bGad", "a payload of an unknown type" => "?", "a payload with a link to a missing object" => "@\x06", "a payload with a link to a missing symbol" => "o;\x06\x00", "a payload with a string that is cut" => "\"\x0axx" }
  .each { |name, bytes| malformed(name, dump_of("Handing", "\x04\b#{bytes}".b), classes: [Handing]) }

# -- Bytes in a format of the class's own ------------------------------------------------------

["", "\x04", "x\x04\b", "\x04\t0", "\x03\bo:\x0bGadget\x00", [4].pack("V"), [0x00_01_04].pack("V"), "\x00#{gadget}", [gadget].pack("m0")].each do |bytes|
  Check.equal("_load gets the bytes #{bytes.inspect} unchanged", bytes.b, IMPL.load(dump_of("Bytes", bytes), classes: [Bytes]).data.b)
end

# -- Dates are built from bytes that were read here ---------------------------------------------------

Day = Class.new(Date)

# Both warn of an invalid calendar.
def without_warnings
  verbose, $VERBOSE = $VERBOSE, nil
  yield
ensure
  $VERBOSE = verbose
end

def check_same_date(name, bytes, **options)
  expected = without_warnings { Outcome.of { Oracle.load(bytes) } }
  actual = without_warnings { Outcome.of { IMPL.load(bytes, **options) } }
  if expected.error?
    Check.ok("#{name}: no date", actual.error.is_a?(Icecore::Error) || actual.error.instance_of?(expected.error.class), -> { "#{expected}\n#{actual}" })
  else
    value = expected.value
    # Some dates that Ruby makes can't be inspected.
    plain = lambda do |date|
      [date.class, date.frozen?] + %i[jd ajd offset start marshal_dump].map { |name| Outcome.of { date.send(name).then { |parts| [*parts].map { |value| [value.class, value.to_s] } } }.then { |parts| parts.value || parts.error.class } }
    end
    Check.ok("#{name}: the same date", !actual.error? && plain[value] == plain[actual.value], -> { "#{plain[value]}\n#{actual.error? ? actual : plain[actual.value]}" })
  end
end

# A Rational as Ruby 1.8 wrote it: an object.
def old_rational(top, bottom) = "o:\x0dRational\x07:\x0f@numerator".b << body(Oracle.dump(top)) << ":\x11@denominator" << body(Oracle.dump(bottom))

random = Random.new(Integer(ENV.fetch("ICECORE_SEED", 7)))
numbers = lambda do
  case random.rand(9)
  when 0 then 0
  when 1 then random.rand(-5_000_000..5_000_000)
  when 2 then Rational(random.rand(-9_000_000..9_000_000), random.rand(1..86_400_000))
  when 3 then random.rand * 5_000_000
  when 4 then [2_299_161, 2_299_161.0, Float::INFINITY, -Float::INFINITY].sample(random: random)
  when 5 then 2**random.rand(20..80)
  when 6 then [true, false, nil].sample(random: random)
  when 7 then Rational(random.rand(-24..24), 24)
  else random.rand(0..86_400)
  end
end
dates = [Date.new(2001, 2, 3), DateTime.new(2001, 2, 3, 4, 5, 6.5r, "+1"), Date.new(-4712, 1, 1), Date.new(10**9, 1, 1), Date.new(1500, 1, 1, Date::JULIAN), Date.new(1500, 1, 1, Date::GREGORIAN), DateTime.new(1999, 12, 31, 23, 59, 59.999_999_999r)]
fields = dates.map(&:marshal_dump) + dates.map { |date| [date.ajd, date.is_a?(DateTime) ? date.offset : 0, date.start] } + dates.map { |date| [date.ajd, date.start] }
fields += [[], 5, nil, "x", [1], [1, 2, 3, 4], [nil] * 6, [1] * 7, ["a", 1], [Complex(1, 2), 1], [[1, 2], 3], { 1 => 2 }, [1e300, 1], [Float::NAN, 0, 1], [0, 2**40, 0, 0, 0, 1]]
fields += Array.new(400 * (1 + LONG)) { Array.new([2, 3, 6].sample(random: random)) { numbers.call } }
fields += Array.new(300 * (1 + LONG)) { [random.rand(-9..9), random.rand(0..71_149_239), random.rand(-90_000..90_000), [random.rand(0..999_999_999), Rational(1, 3)].sample(random: random), random.rand(-90_000..90_000), [2_299_161.0, 0, Float::INFINITY, nil].sample(random: random)] }
%w[Date DateTime].each do |name|
  fields.each do |list|
    check_same_date("#{name} of #{list.inspect}", dump_of(name, Oracle.dump(list)))
  end
  bytes = dump_of(name, Oracle.dump(dates[0].marshal_dump))
  check_same_date("#{name}, listed", bytes, classes: [name])
  check_same_date("#{name}, another listed", bytes, classes: ["Other"])
  check_same_date("#{name}, records", bytes, classes: :record)
  check_same_date("#{name}, version 4.5", dump_of(name, Oracle.dump(dates[0].marshal_dump).sub("\b", "\x05")))
  check_same_date("#{name}, and more bytes", dump_of(name, Oracle.dump(dates[0].marshal_dump) + "more"))
  check_same_date("#{name} of Ruby 1.8", dump_of(name, "\x04\b[\x08".b << old_rational(4_903_887, 2) << old_rational(1, 24).sub(":\x0dRational", ";\x00").sub(":\x0f@numerator", ";\x06").sub(":\x11@denominator", ";\x07") << "i\x03\x19\x15\x23"))
  check_same_date("#{name} of Ruby 1.8, a link", dump_of(name, "\x04\b[\x08".b << old_rational(4_903_887, 2) << "@\x06i\x03\x19\x15\x23"))
  check_same_date("#{name} with variables", "\x04\bI".b << body(bytes) << "\x07:\x06ET:\x07@ai\x06")
  Check.equal("#{name}: two links lead to one date", true, IMPL.load("\x04\b[\x07".b << body(bytes) << "@\x06").then { |list| list[0].equal?(list[1]) })
  Check.equal("#{name}: freeze: true freezes the date as Marshal does", Oracle.load(bytes, freeze: true).frozen?, IMPL.load(bytes, freeze: true).frozen?)
  values = []
  IMPL.load(bytes, ->(value) { values << value.class.name; value })
  Check.equal("#{name}: a proc gets only the date", [name], values)
  # A list does not make Icecore call Date._load.
  Date.singleton_class.alias_method(:own_load, :_load)
  without_warnings { Date.define_singleton_method(:_load) { |_bytes| EVENTS << "Date._load" } }
  EVENTS.clear
  IMPL.load(bytes, classes: [name])
  IMPL.load("\x04\b[\x08".b << body(bytes) << "c#{length(name.bytesize)}#{name}" << body(bytes), classes: [name])
  IMPL.load("\x04\b[\x08e:\x0aMixin#{body(bytes)}i\x06".b << body(bytes), classes: [name, "Mixin"]) rescue nil
  Check.equal("#{name}: its _load is not called", [], EVENTS)
  without_warnings { Date.singleton_class.alias_method(:_load, :own_load) }
end
{ "Rational" => "\x04\b".b << old_rational(7, 2), "Complex" => "\x04\bo:\x0cComplex\x07:\x0a@reali\x06:\x0b@imagei\x07".b, "Rational and a link" => "\x04\b[\x07".b << old_rational(7, 2) << "@\x06" }
  .each { |name, bytes| Check.equal("#{name} of Ruby 1.8: the same value", Oracle.load(bytes), IMPL.load(bytes)) }
{ "Rational, a proc" => "\x04\b[\x07".b << old_rational(7, -2) << "@\x06", "Rational in a hash" => "\x04\b{\x06".b << old_rational(6, 4) << "i\x06" }.each do |name, bytes|
  results = [Oracle, IMPL].map { |side| [].tap { |values| values << side.load(bytes, ->(value) { values << value; value }) << side.load(bytes, freeze: true) } }
  Check.equal("#{name} of Ruby 1.8: the same values", *results)
end
Check.raises("a Rational of Ruby 1.8 with the denominator 0 raises", ZeroDivisionError) { IMPL.load("\x04\b".b << old_rational(7, 0)) }
refused("a subclass of Date", dump_of("Day", gadget), "Day")
refused("a subclass of Date, listed", dump_of("Day", gadget), "Gadget", classes: [Day])
check_same_date("a subclass of Date, listed", dump_of("Day", Oracle.dump(dates[0].marshal_dump)), classes: [Day])

# -- Under icecore/replace, a hook's own Marshal.load has the list of the process -----------------------

program = <<~RUBY
  require "icecore/replace"
  class Gadget; end
  class Handing
    def self._load(data) = Marshal.load(data)
  end
  bytes = "\\x04\\bu:\\x0cHanding\\x10\\x04\\bo:\\x0bGadget\\x00".b
  bytes.setbyte(bytes.index("Handing") + 7, Marshal.dump(Gadget.new).bytesize + 5)
  refused = ->(**options) { begin; Icecore::Marshal.load(bytes, **options); rescue Icecore::ClassError => error; error.classes.keys; end }
  raise "a payload was not asked for" unless refused.(classes: "Handing") == ["Gadget"]
  # The list of the call allows the payload; the hook's own call has no list.
  raise "the list of a call holds for another call" unless refused.(classes: %w[Handing Gadget]) == ["Gadget"]
  Icecore.allow("Gadget")
  puts "good" if refused.(classes: "Handing").is_a?(Gadget)
RUBY
output, error, status = Open3.capture3(RbConfig.ruby, "-w", "-I", File.expand_path(ENV["ICECORE_RUBY_LIB"] || "../lib", __dir__), "-e", program)
Check.ok("under icecore/replace", status.success? && output.strip == "good" && error.empty?, "#{output}#{error}")

Check.finish
