# frozen_string_literal: true

# The policy for classes, and other guarantees beyond Marshal's: classes that were not named are
# never touched; errors contain the reason, the position and the remedy.

require_relative "helper"
require "open3"
require "rbconfig"
require_relative "shape"
require_relative "contract/classes"

if STAND_IN
  Check.skip("contract", "Ruby's Marshal has no policy")
  Check.finish
end

def refused(name, bytes, *classes, path: nil, **options)
  error = nil
  events = Watch.during { error = Check.raises("#{name} is refused", Icecore::ClassError, *classes, "classes:") { IMPL.load(bytes, **options) } }
  Check.equal("#{name}: nothing is touched", [], events)
  return unless error.is_a?(Icecore::ClassError)
  Check.equal("#{name}: kind", :class, error.kind)
  Check.equal("#{name}: names", classes, error.classes.keys)
  Check.equal("#{name}: path", path, error.path) if path
  Check.equal("#{name}: the first path", error.path, error.classes.values.first)
  Check.ok("#{name}: the error is an ArgumentError and an Icecore::Error", error.is_a?(ArgumentError) && error.is_a?(Icecore::Error))
  error
end

def check_loads(name, expected, &block)
  value = block.call
  Check.equal(name, Shape.of(expected), Shape.of(value))
rescue StandardError => error
  Check.failure(name, "#{error.class}: #{error.message}")
end

def employee(name, boss = nil) = Employee.new.tap { |item| item.name, item.boss = name, boss }

# -- Values that are built without a list ----------------------------------------

now = Time.at(1, 5, :nsec, in: "+01:00")
{
  "nil" => nil, "booleans" => [true, false], "integers" => [1, -1, 2**31, 2**70], "floats" => [1.5, -0.0, 1e100, Float::INFINITY], "strings" => ["a", "\xff".b, "a".encode("UTF-16LE")], "symbols" => [:a, :"caf\u00e9"],
  "arrays" => [[], [[]]], "hashes" => { 1 => { "a" => :b } }, "a default" => Hash.new(5), "a hash by identity" => {}.compare_by_identity.merge!("a" => 1), "Time" => [now, Time.at(0).utc, Time.now], "Date" => [Date.new(2001, 2, 3), DateTime.new(2001, 2, 3, 4, 5, 6)],
  "Range" => [1..2, "a"..., nil..nil], "Set" => Set[1, "a", [2]], "Complex and Rational" => [Complex(1, 2.5), Rational(1, 3)], "BigDecimal" => BigDecimal("1.25"), "a string with variables" => (+"a").tap { |text| text.instance_variable_set(:@v, [1]) },
  "links" => (list = [+"s"]; list << list << list[0])
}.each { |name, value| check_loads("plain values need no list: #{name}", Oracle.load(Oracle.dump(value))) { IMPL.load(Oracle.dump(value)) } }

# -- Each use of a class is refused by name, and allowed by name ------------------

fault = Shop::Fault.new("words")
uses = {
  "an object" => [employee("a"), ["Employee"]], "an object in a list" => [[1, [employee("a")]], ["Employee"], "$[1][0]"], "an object as a value" => [{ "staff" => [0, employee("a")] }, ["Employee"], "$.staff[1]"], "an object in an object" => [employee("a", Shop::Item.new), %w[Employee Shop::Item], "$"],
  "a Struct" => [Shop::Pair.new(1, 2), ["Shop::Pair"]], "marshal_load" => [Shop::Given.new, ["Shop::Given"]], "_load" => [Shop::Packed.new("x"), ["Shop::Packed"]], "a subclass of String" => [Shop::Text.new("a"), ["Shop::Text"]], "a subclass of Array" => [Shop::List.new([1]), ["Shop::List"]],
  "a subclass of Hash" => [Shop::Table.new, ["Shop::Table"]], "a subclass of Hash by identity" => [Shop::Table.new.compare_by_identity, ["Shop::Table"]], "a subclass of Regexp" => [Shop::Pattern.new("a"), nil], "a pattern" => [/a/, ["Regexp"]], "a module that extends a string" => [(+"a").extend(Shop::Tagged), ["Shop::Tagged"]],
  "a class" => [Shop::Item, ["Shop::Item"]], "a module" => [Shop::Tagged, ["Shop::Tagged"]], "a class of Ruby" => [String, ["String"]], "an exception" => [fault, ["Shop::Fault"]], "a subclass of Range" => [Shop::Days.new(1, 2), ["Shop::Days"]], "a subclass of Set" => [Shop::Group[1], ["Shop::Group"]],
  "a subclass of Time" => [Shop::Moment.at(0).utc, ["Shop::Moment"]], "Object" => [Object.new, ["Object"]], "OpenStruct" => [OpenStruct.new(a: 1), ["OpenStruct"]], "Encoding" => [Encoding::UTF_8, ["Encoding"]], "Random" => [Random.new(1), ["Random"]],
  "a key of a hash" => [{ employee("a") => 1 }, ["Employee"]], "a default value" => [Hash.new(employee("a")), ["Employee"]], "an item of a Set" => [Set[Shop::Text.new("a")], ["Shop::Text"]], "a variable of a string" => [(+"a").tap { |text| text.instance_variable_set(:@v, employee("b")) }, ["Employee"]]
}
uses.each do |name, (value, classes, path)|
  bytes = Oracle.dump(value)
  classes ||= Icecore.classes(bytes, "marshal").map { |item| item[:class] }
  refused(name, bytes, *classes, path: path)
  refused("#{name} with an empty list", bytes, *classes, classes: [])
  refused("#{name} from an IO", StringIO.new(bytes), *classes)
  check_loads("#{name} is loaded if the list has its name", Oracle.load(bytes)) { IMPL.load(bytes, classes: classes) }
  check_loads("#{name} is loaded if the list has its class", Oracle.load(bytes)) { IMPL.load(bytes, classes: classes.map { |item| Object.const_get(item) }) }
  check_loads("#{name} is loaded with classes: :any", Oracle.load(bytes)) { IMPL.load(bytes, classes: :any) }
  check_loads("#{name} is loaded with the pattern *", Oracle.load(bytes)) { IMPL.load(bytes, classes: "*") }
  Check.equal("report: true names the classes of #{name}", classes, IMPL.load(bytes, report: true))
  Check.equal("report: true names no allowed class of #{name}", [], IMPL.load(bytes, report: true, classes: classes))
  Check.equal("#{name} has the same bytes after being read as records", bytes, IMPL.dump(IMPL.load(bytes, classes: :record)))
end
three_classes = [employee("a"), Shop::Item.new, [Shop::Item.new, Shop::Text.new("x")]]
refused("data with three unlisted classes", Oracle.dump(three_classes), "Employee", "Shop::Item", "Shop::Text", path: "$[0]")
refused("data with one unlisted class of three", Oracle.dump(three_classes), "Shop::Item", path: "$[1]", classes: [Employee, "Shop::Text"])

# -- Lists -------------------------------------------------------------------------

item = Oracle.dump(Shop::Item.new)
{ "its superclass" => [Object], "its name in another case" => ["shop::item", "SHOP::ITEM"], "a part of its name" => %w[Shop Item Shop:: ::Item Shop::Ite], "a pattern with another start" => ["Shops::*", "::*", "S::*"], "a regular expression" => ["Shop::It.m", "Shop::I[t]em", "Shop::Item|x"], "its name with blanks" => [" Shop::Item", "Shop::Item "], "its name with a NUL" => ["Shop::Item\0"], "nil" => nil }
  .each { |name, classes| refused("a class that is listed only by #{name}", item, "Shop::Item", classes: classes) }
refused("a subclass of an allowed class", Oracle.dump(Worker.new), "Worker", classes: [Employee])
[[Shop::Item], Shop::Item, "Shop::Item", ["Shop::Item"], "Shop::*", ["S*m"], ["*"], [Employee, "x", "Shop::*"]].each do |classes|
  Check.equal("classes: #{classes.inspect} allows the class", Shop::Item, IMPL.load(item, classes: classes).class)
end
# Lists of classes are recognized by their classes: each call obeys its own list.
begin
  random = Random.new(Integer(ENV.fetch("ICECORE_SEED", 7)))
  classes_with_names = Array.new(12) { |n| Shop.const_set("Listed#{n}", Class.new) }
  dumps = classes_with_names.to_h { |klass| [klass, Oracle.dump(klass.new)] }
  list = []
  wrong = nil
  3000.times do |round|
    case random.rand(8)
    when 0 then list = classes_with_names.sample(random.rand(0..10), random: random)
    when 1 then list.push(classes_with_names.sample(random: random))
    when 2 then list.pop
    when 3 then list[random.rand(list.size)] = classes_with_names.sample(random: random) unless list.empty?
    when 4 then list.reverse!
    when 5 then list.map! { |item| random.rand(4).zero? ? item.to_s : item }
    when 6
      GC.start if random.rand(20).zero?
      # Another class with another name, perhaps at the address of a freed one.
      index = random.rand(classes_with_names.size)
      dumps.delete(classes_with_names[index])
      list.delete(classes_with_names[index])
      Shop.send(:remove_const, classes_with_names[index].name.delete_prefix("Shop::"))
      classes_with_names[index] = Shop.const_set("Listed#{12 + round}", Class.new)
      dumps[classes_with_names[index]] = Oracle.dump(classes_with_names[index].new)
    end
    klass = classes_with_names.sample(random: random)
    is_expected = list.any? { |item| item.to_s == klass.name }
    is_built = begin
      IMPL.load(dumps[klass], classes: list).instance_of?(klass)
    rescue Icecore::ClassError
      false
    end
    wrong ||= "turn #{round}: #{klass} of #{list.inspect}: #{is_built}" if is_built != is_expected
  end
  Check.ok("each of 3000 calls obeys its own list of classes", wrong.nil?, wrong)
end

Check.raises("classes: refuses a number", TypeError) { IMPL.load(item, classes: 5) }.then { |error| Check.ok("classes: refuses a number with an Icecore::Error", error.is_a?(Icecore::Error)) }
Check.raises("classes: refuses an unknown word", ArgumentError, ":any") { IMPL.load(item, classes: :every) }
Check.raises("classes: refuses an anonymous class", ArgumentError) { IMPL.load(item, classes: [Class.new]) }
Check.raises("classes: refuses nil in a list", TypeError) { IMPL.load(item, classes: [nil]) }

# -- rename -------------------------------------------------------------------------

old = Oracle.dump(employee("a")).sub("\rEmployee", "\rOldNames")
check_loads("rename: accepts a class as the new name", Oracle.load(Oracle.dump(employee("a")))) { IMPL.load(old, rename: { "OldNames" => Employee }) }
check_loads("rename: accepts a string as the new name", Oracle.load(Oracle.dump(employee("a")))) { IMPL.load(old, rename: { "OldNames" => "Employee" }) }
refused("an old name that rename: does not contain", old, "OldNames", rename: { "OldName" => Employee })
Check.raises("an old name without rename: raises like Marshal", ArgumentError, "undefined class/module OldNames") { IMPL.load(old, classes: :any) }
Check.raises("rename: refuses an Array", ::TypeError) { IMPL.load(old, rename: ["OldNames"]) }

# -- Records --------------------------------------------------------------------------

record = IMPL.load(Oracle.dump(employee("a")), classes: :record)
Check.ok("classes: :record builds a Record", record.is_a?(Icecore::Record))
Check.equal("a record knows the name of its class", "Employee", record.class_name)
Check.equal("a record knows its kind", "object", record.kind.to_s)
guarded = "\x04\bo:\x12Shop::Guarded\x06:\x07@ai\x06".b
Check.equal("reading a record runs no method of its class", [], Watch.during { IMPL.dump(IMPL.load(guarded, classes: :record)) })
Check.equal("an object of a missing class is read as a record", guarded.sub("Guarded", "Nothing"), IMPL.dump(IMPL.load(guarded.sub("Guarded", "Nothing"), classes: :record)))
require_relative "damaged/dumps"
Damaged::Dumps.values.each do |name, value|
  bytes = Oracle.dump(value)
  # A loaded key is a separate string, even if a value was a link to it.
  back = name == "keys" ? Oracle.dump(Oracle.load(bytes)) : bytes
  Check.equal("#{name}: the bytes are the same after being read as records", back, IMPL.dump(IMPL.load(bytes, classes: :record)))
end

# -- Hostile data ------------------------------------------------------------------------

%w[Shop::Guarded Shop::GuardedText].each do |name|
  symbol = ":#{(name.size + 5).chr}#{name}"
  { "o" => "o#{symbol}\x00", "S" => "S#{symbol}\x00", "U" => "U#{symbol}i\x06", "u" => "u#{symbol}\x06x", "d" => "d#{symbol}i\x06", "C" => "C#{symbol}\"\x06x", "c" => "c#{symbol[1..]}", "M" => "M#{symbol[1..]}", "in a list" => "[\x08i\x06o#{symbol}\x06:\x07@ai\x06i\x06", "in a hash" => "{\x06o#{symbol}\x00i\x06" }
    .each { |type, body| refused("#{name} by #{type}", "\x04\b#{body}".b, name) }
  Check.equal("report: true runs no method of #{name}", [], Watch.during { IMPL.load("\x04\bo#{symbol}\x00".b, report: true) })
end
hostile = Oracle.dump([1, Shop::Hostile.new])
refused("marshal_load that writes a file", hostile, "Shop::Hostile", path: "$[1]")
refused("_load that writes a file", hostile.sub("U:", "u:").sub(/i\x06\z/n, "\x06x"), "Shop::Hostile")
Check.ok("a refused class has written no file", !File.exist?(Shop::Hostile::FILE))
IMPL.load(hostile, classes: Shop::Hostile)
Check.ok("the hook of an allowed class runs", File.exist?(Shop::Hostile::FILE))

Watch.trap(Object, :TrapClass)
Watch.trap(Shop, :TrapInside)
refused("a class that would be autoloaded", "\x04\bo:\x0eTrapClass\x00".b, "TrapClass")
refused("a class that would be autoloaded in a module", "\x04\b[\x06c\x15Shop::TrapInside".b, "Shop::TrapInside")
Check.equal("report: true triggers no autoload", [], Watch.during { IMPL.load("\x04\bo:\x0eTrapClass\x00".b, report: true) })
Check.equal("classes: :record triggers no autoload", [], Watch.during { IMPL.dump(IMPL.load("\x04\bo:\x0eTrapClass\x00".b, classes: :record)) })
Check.ok("no autoload was triggered", Object.autoload?(:TrapClass) && Shop.autoload?(:TrapInside))
Check.equal("an allowed class is autoloaded", "TrapClass", IMPL.load("\x04\bo:\x0eTrapClass\x00".b, classes: "TrapClass").class.name)

# Well-known chains begin with classes that Ruby has, or loads when their names are looked up.
# Only the names matter here: nothing of it is built.
def symbol(name) = ":#{(name.size + 5).chr}#{name}"
reader = "o#{symbol('Gem::Package::TarReader')}\x06#{symbol('@io')}o#{symbol('Net::BufferedIO')}\x07#{symbol('@io')}o#{symbol('Gem::Package::TarReader::Entry')}\x00#{symbol('@debug_output')}o#{symbol('Net::WriteAdapter')}\x00"
chain = "\x04\b[\bc\x15Gem::SpecFetcherc\x13Gem::InstallerU#{symbol('Gem::Requirement')}[\x06#{reader}".b
pending = %i[SpecFetcher Installer Package RequestSet].select { |name| Gem.autoload?(name) }
refused("a gadget chain of RubyGems", chain, "Gem::SpecFetcher", "Gem::Installer", "Gem::Requirement", "Gem::Package::TarReader", "Net::BufferedIO", "Gem::Package::TarReader::Entry", "Net::WriteAdapter", path: "$[0]")
refused("a gadget chain of RubyGems with one allowed class", chain, "Gem::Installer", "Gem::Requirement", "Gem::Package::TarReader", "Net::BufferedIO", "Gem::Package::TarReader::Entry", "Net::WriteAdapter", classes: ["Gem::SpecFetcher"])
Check.equal("no autoload of RubyGems was triggered", pending, pending.select { |name| Gem.autoload?(name) })

# Ruby's own classes in a form that Ruby doesn't write are not plain values, and a list can't
# allow them, so none is suggested.
{ "Time" => "o:\x09Time\x00", "Set" => "U:\x08Set[\x00", "Complex" => "u:\x0cComplex\x06x", "BigDecimal" => "U:\x0fBigDecimali\x06", "Date" => "o:\x09Date\x00", "DateTime" => "d:\x0dDateTimei\x06", "Range" => "S:\x0aRange\x00" }
  .each do |name, body|
    error = refused("#{name} in another form", "\x04\b#{body}".b, name)
    Check.ok("#{name} in another form: no list is suggested", !error&.message.to_s.include?("['"), error&.message)
    error = refused("#{name} in another form beside a class", "\x04\b[\x07#{body}o:\x12Shop::Guarded\x00".b, name, "Shop::Guarded")
    Check.ok("#{name} in another form: only the class is suggested", error&.message.to_s.end_with?("classes: ['Shop::Guarded']"), error&.message)
  end

# -- Errors ---------------------------------------------------------------------------

def check_error(name, bytes, type, kind, offset = nil, **options)
  error = Check.raises("#{name} raises #{type}", type) { IMPL.load(bytes, **options) } or return
  Check.ok("#{name}: the error is an Icecore::Error", error.is_a?(Icecore::Error), error.class)
  return unless error.is_a?(Icecore::Error)
  Check.equal("#{name}: kind", kind, error.kind)
  Check.equal("#{name}: offset", offset, error.offset) if offset
  Check.ok("#{name}: path", error.path.is_a?(String), error.path.inspect)
end
check_error("a cut dump", "\x04\b[\x07i\x06".b, ArgumentError, :truncated, 6)
check_error("a cut dump from an IO", StringIO.new("\x04\b[\x07i\x06".b), EOFError, :truncated)
check_error("an unknown type", "\x04\b?".b, ArgumentError, :malformed, 2)
check_error("a link to a missing object", "\x04\b[\x06@\x0a".b, ArgumentError, :bad_link)
check_error("a link to a missing symbol", "\x04\b;\x05".b, ArgumentError, :bad_link)
check_error("an unsupported version", "\x04\x09i\x06".b, TypeError, :unsupported)
check_error("data deeper than max_depth", ("\x04\b#{"[\x06" * 20}0").b, ArgumentError, :limit, max_depth: 10)
check_error("data a million levels deep", ("\x04\b#{"[\x06" * 1_000_000}0").b, ArgumentError, :limit)
Check.equal("an error has the path of the damage", "$[1]", (IMPL.load("\x04\b[\x07i\x06[\x06?".b) rescue $!.path)[0, 4])
Check.raises("the error of a limit names the option", ArgumentError, "max_depth") { IMPL.load("\x04\b[\x06[\x06[\x000".b, max_depth: 2) }
Check.raises("dump refuses a Proc", TypeError, "no _dump_data is defined for class Proc") { IMPL.dump([proc {}]) }.then { |error| Check.ok("is ours", error.is_a?(Icecore::Error)) }
Check.raises("dump refuses a value deeper than its limit", ArgumentError, "exceed depth limit") { IMPL.dump([[[]]], 1) }.then { |error| Check.ok("is ours", error.is_a?(Icecore::Error)) }

# -- Symbols and memory --------------------------------------------------------------------

symbol_count = 0
load_symbols = lambda do |body, **options|
  50.times do
    names = Array.new(100) { "fresh_symbol_#{symbol_count += 1}" }
    IMPL.load("\x04\b#{body.call(names)}".b, **options)
  rescue Icecore::Error
    nil
  end
end
{
  "loaded" => [->(names) { "[\x69#{names.map { |name| ":#{(name.size + 5).chr}#{name}" }.join}" }, {}], "of refused objects" => [->(names) { "[\x69#{names.map { |name| "o:\x0dEmployee\x06:#{(name.size + 6).chr}@#{name}i\x06" }.join}" }, {}],
  "of classes that are not there" => [->(names) { "[\x69#{names.map { |name| "o:#{(name.size + 6).chr}X#{name}\x00" }.join}" }, {}], "of records" => [->(names) { "[\x69#{names.map { |name| "o:#{(name.size + 6).chr}X#{name}\x06:#{(name.size + 6).chr}@#{name}i\x06" }.join}" }, { classes: :record }],
  "in damaged data" => [->(names) { "[\x6a#{names.map { |name| ":#{(name.size + 5).chr}#{name}" }.join}?" }, {}]
}.each do |name, (body, options)|
  load_symbols.call(body, **options)
  GC.start
  before = Symbol.all_symbols.size
  3.times { load_symbols.call(body, **options) }
  GC.start
  growth = Symbol.all_symbols.size - before
  Check.ok("symbols #{name} are not kept", growth < 3000, "#{growth} of 15000 symbols are still there")
end

if memory_held
  staff = Oracle.dump(Array.new(20) { |n| employee("name #{n}", Shop::Pair.new(n, Time.at(n))) })
  {
    "load" => -> { IMPL.load(staff, classes: :any) }, "dump" => -> { IMPL.dump([1, "a", { b: 2 }] * 10) }, "refusal" => -> { IMPL.load(staff) rescue nil }, "damage" => -> { IMPL.load(staff.byteslice(0, 200), classes: :any) rescue nil },
    "records" => -> { IMPL.dump(IMPL.load(staff, classes: :record)) }, "report" => -> { IMPL.load(staff, report: true) }, "rename" => -> { IMPL.load(old, rename: { "OldNames" => "Employee" }) }, "what can't be dumped" => -> { IMPL.dump([[1, "a"], proc {}]) rescue nil },
    "an IO" => -> { IMPL.load(StringIO.new(staff), classes: :any) }, "a proc that raises" => -> { IMPL.load(staff, ->(_) { raise "no" }, classes: :any) rescue nil }, "a proc that throws" => -> { catch(:out) { IMPL.load(staff, ->(_) { throw :out }, classes: :any) } }
  }.each do |name, call|
    1000.times { call.call }
    GC.start
    growth = least_growth { 3000.times { call.call } }
    Check.ok("repeated calls keep no memory: #{name}", growth < 6_000_000, "it grew by #{growth} bytes in 3000 calls")
  rescue StandardError => error
    Check.failure("repeated calls keep no memory: #{name}", "#{error.class}: #{error.message}")
  end
end

# -- Settings of the whole process, in a separate process -------------------------------------

def check_in_process(name, program)
  lib = File.expand_path(ENV["ICECORE_RUBY_LIB"] || "../lib", __dir__)
  output, error, status = Open3.capture3(RbConfig.ruby, "-w", "-I", lib, "-e", program)
  Check.ok(name, status.success? && output.strip == "good" && !error.include?("warn"), "#{output}#{error}")
end
check_in_process("Icecore.allow allows classes in all calls", <<~RUBY)
  require "icecore"
  class Employee; end
  class Other; end
  bytes = Marshal.dump([Employee.new, Employee.new])
  Icecore.allow(Employee, "Shop::*")
  raise "not built" unless Icecore::Marshal.load(bytes).map(&:class) == [Employee, Employee]
  begin
    Icecore::Marshal.load(Marshal.dump(Other.new))
    raise "another class was built"
  rescue Icecore::ClassError
    puts "good"
  end
RUBY
# Facts about a class from one call must not be used in another one: names are forgotten when
# there are many, lists belong to a call, constants change.
check_in_process("the answer about a class is not kept for calls with another list", <<~RUBY)
  require "icecore"
  class A1; end
  class B9; end
  class C1; end
  dump = ->(name) { "\\x04\\bo:".b << name.size + 5 << name.b << 0 }
  refused = ->(name) { begin; Icecore::Marshal.load(dump[name]); rescue Icecore::ClassError; true; end }
  Icecore.allow("A*")
  80_000.times do |number|
    begin
      Icecore::Marshal.load(dump["A\#{number + 10}"])
      raise "there is no such class"
    rescue Icecore::ClassError
      raise "an allowed name was refused"
    rescue ArgumentError
    end
    raise "B\#{number} was allowed" if number % 100 == 0 && refused["B\#{number}"] != true
  end
  raise "A1" unless Icecore::Marshal.load(dump["A1"]).is_a?(A1)
  raise "a list of a call was kept" unless Icecore::Marshal.load(dump["B9"], classes: B9).is_a?(B9) && refused["B9"] == true
  Icecore.allow(B9)
  raise "B9" unless Icecore::Marshal.load(dump["B9"]).is_a?(B9) && refused["C1"] == true
  Object.send(:remove_const, :A1)
  gone = begin; Icecore::Marshal.load(dump["A1"]); rescue ArgumentError => error; error.message; end
  raise "a class that is gone" unless gone == "undefined class/module A1"
  class A1; def new? = true; end
  puts "good" if Icecore::Marshal.load(dump["A1"]).new?
RUBY
check_in_process("icecore/replace makes Marshal.load refuse classes", <<~RUBY)
  require "icecore/replace"
  class Employee; end
  bytes = Marshal.dump([1, "a", Employee.new])
  raise "other bytes" unless bytes == "\\x04\\b[\\bi\\x06I\\"\\x06a\\x06:\\x06ETo:\\rEmployee\\x00".b
  begin
    Marshal.load(bytes)
    raise "a class was built"
  rescue Icecore::ClassError
    Icecore.allow(Employee)
    puts "good" if Marshal.load(bytes)[2].is_a?(Employee) && Marshal.restore(bytes)[1] == "a"
  end
RUBY
check_in_process("require 'icecore' defines only the constant Icecore", <<~RUBY)
  before = Object.constants
  require "icecore"
  puts Object.constants - before == [:Icecore] ? "good" : (Object.constants - before).inspect
RUBY
Check.finish
