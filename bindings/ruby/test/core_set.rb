# frozen_string_literal: true

# Sets where Set is a class of Ruby's core, as in Ruby 4.0. On older Rubies a small extension defines such a class
# before Icecore is loaded, so that Ruby's own Marshal writes and reads what Ruby 4.0 does.

require "fileutils"
require "rbconfig"
require "tmpdir"

# Compiles core_set.c. Returns false, after a note, if this Ruby has no compiler or headers.
def load_core_set
  Dir.mktmpdir do |folder|
    FileUtils.cp(File.join(__dir__, "core_set", "core_set.c"), folder)
    File.write(File.join(folder, "extconf.rb"), "require 'mkmf'; create_makefile('core_set')")
    built = system(RbConfig.ruby, "extconf.rb", chdir: folder, out: File::NULL, err: File::NULL) &&
            system("make", chdir: folder, out: File::NULL, err: File::NULL)
    next puts("# left out: core_set.rb needs a compiler and the headers of Ruby") unless built
    require File.join(folder, "core_set.#{RbConfig::CONFIG['DLEXT']}")
    $LOADED_FEATURES << "set.rb"
    true
  end
end

exit unless RUBY_VERSION >= "4" || load_core_set
# Its other tests use methods of Set that this class does not have, so only parts of helper.rb are used.
ICECORE_FOLDER = File.expand_path(ENV["ICECORE_RUBY_LIB"] || File.expand_path("../lib", __dir__))
$LOAD_PATH.unshift(ICECORE_FOLDER) if File.directory?(ICECORE_FOLDER)
require "icecore"

$passed = $failed = 0

def check(name, ok, detail = nil)
  ok ? $passed += 1 : ($failed += 1) && puts("not ok: #{name} #{detail}")
end

def load_ours(bytes, **options) = Icecore::Marshal.load(bytes, classes: :any, **options)

# The place of the first difference of two dumps.
def difference(theirs, ours)
  at = (0...theirs.bytesize).find { |index| theirs.getbyte(index) != ours.getbyte(index) } || theirs.bytesize
  "at #{at}: #{theirs.byteslice([at - 40, 0].max, 60).inspect}, ours #{ours.byteslice([at - 40, 0].max, 60).inspect}"
end

# What both Marshals make of a dump, as a comparable value.
def outcome
  describe(yield)
rescue StandardError => error
  [error.class.ancestors.find { |ancestor| !ancestor.name.start_with?("Icecore") }.name, error.message[0, 30]]
end

def describe(value, seen = {}.compare_by_identity)
  return value if value.nil? || value == true || value == false || value.is_a?(Numeric) || value.is_a?(Symbol)
  # Equal keys are one object here, so strings differ in identity, and in what freeze: leaves unfrozen (docs/ruby.md).
  return [value, value.encoding] if value.instance_of?(String)
  return [:same, seen[value]] if seen.key?(value)
  seen[value] = seen.size
  content =
    case value
    when Array then value.map { |item| describe(item, seen) }
    when Hash then value.map { |pair| pair.map { |item| describe(item, seen) } }
    when Set then [value.compare_by_identity?, value.to_a.map { |item| describe(item, seen) }]
    end
  [value.class, value.frozen?, content, value.instance_variables.map { |name| [name, describe(value.instance_variable_get(name), seen)] }]
end

class SubSet < Set
end

class Item
  attr_reader :id
  def initialize(id) = @id = id
  def hash = @id.hash
  def eql?(other) = other.is_a?(Item) && other.id == @id
end

module Mixed
end

# Random values that contain sets.
class SetMaker
  def initialize(seed) = @random = Random.new(seed)

  def value(depth = 0)
    kinds = depth > 3 ? %i[leaf] : %i[leaf set set subset array hash again identity variables mixed]
    made = send(kinds.sample(random: @random), depth)
    (@made ||= []) << made unless made.nil?
    made
  end

  private

  def items(depth) = Array.new(@random.rand(5)) { value(depth + 1) }
  def leaf(_) = [1, -5, 2**40, 2**70, 1.5, nil, true, :sym, :other, "text", "é", Item.new(3)].sample(random: @random)
  def array(depth) = items(depth)
  def hash(depth) = items(depth).to_h { |item| [item, value(depth + 1)] }
  def again(depth) = (@made || []).sample(random: @random) || leaf(depth)
  def fill(set, depth) = set.merge(items(depth))
  def set(depth) = fill(Set.allocate, depth)
  def subset(depth) = fill(SubSet.allocate, depth)
  def identity(depth) = fill(set(depth + 1).class.allocate.compare_by_identity, depth)
  def mixed(depth) = set(depth).extend(Mixed)

  def variables(depth)
    made = @random.rand(2).zero? ? set(depth) : subset(depth)
    @random.rand(1..3).times { |number| made.instance_variable_set(:"@v#{number}", value(depth + 1)) }
    made << made if @random.rand(8).zero?
    made
  end
end

count = (ENV["CORE_SETS"] || 500).to_i
seed = (ENV["ICECORE_SEED"] || 4).to_i
count.times do |number|
  value = SetMaker.new(seed * 1_000_000 + number).value
  theirs = Marshal.dump(value)
  ours = Icecore::Marshal.dump(value)
  check("dump of seed #{number}", ours == theirs, difference(theirs, ours))
  [{}, { freeze: true }].each do |options|
    check("load of seed #{number} #{options}", describe(load_ours(theirs, **options)) == describe(Marshal.load(theirs, **options)), theirs[0, 200].inspect)
  end
  calls = [[], []]
  Marshal.load(theirs, ->(object) { calls[0] << object.class; object })
  Icecore::Marshal.load(theirs, ->(object) { calls[1] << object.class; object }, classes: :any)
  check("proc of seed #{number}", calls[0] == calls[1], theirs[0, 200].inspect) unless theirs.include?("\x06:\x06ET") || theirs.include?("@")
end

# What Ruby 3 writes: further variables in the same list. Ruby 4.0 drops them; here they are kept.
old = load_ours("\x04\bo:\bSet\a:\n@hash}\ai\x06Ti\aTF:\a@xi\n".b)
check("variables of Ruby 3 are kept", [old.class, old.to_a, old.instance_variables, old.instance_variable_get(:@x)] == [Set, [1, 2], [:@x], 5])
check("a set without @hash is empty or refused", outcome { load_ours("\x04\bo:\bSet\0".b) }[0] == outcome { Marshal.load("\x04\bo:\bSet\0".b) }[0])

{
  "no variable" => "o:\bSet\0", "not a Hash" => "o:\bSet\x06:\n@hashi\x06", "nil" => "o:\bSet\x06:\n@hash0", "another value" => "o:\bSet\x06:\n@hash{\x06i\x06i\x06",
  "no default" => "o:\bSet\x06:\n@hash{\x06i\x06T", "itself" => "o:\bSet\x06:\n@hash}\x06@\x00TF", "twice" => "o:\bSet\a:\n@hash{\0;\x06{\x06i\x06T",
  "two links" => "[\x07o:\bSet\x06:\n@hash}\x06i\x06TF@\x06", "wrapper" => "Io:\bSet\x06:\n@hash}\x06i\x06TF\x06:\a@xi\n", "subclass" => "o:\x0bSubSet\x06:\n@hash}\x06i\x06TF"
}.each do |name, dump|
  bytes = "\x04\b#{dump}".b
  check("#{name} as in Marshal", outcome { load_ours(bytes) } == outcome { Marshal.load(bytes) }, "#{outcome { load_ours(bytes) }} #{outcome { Marshal.load(bytes) }}")
end

refused = begin
  Icecore::Marshal.load(Marshal.dump(SubSet.allocate))
rescue Icecore::ClassError => error
  error.classes.keys
end
check("a subclass must be allowed", refused == ["SubSet"])
check("Set itself need not be", Icecore::Marshal.load(Marshal.dump(Set.allocate << 1)).to_a == [1])

# Items are found by their methods, which may call Icecore themselves, or raise.
class Nested < Item
  def hash = Icecore::Marshal.load(Icecore::Marshal.dump([@id]))[0].hash
end
nested = Set.allocate.merge([Nested.new(1), Nested.new(2)])
check("items whose hash calls Icecore", load_ours(Icecore::Marshal.dump(nested)).to_a.map(&:id) == [1, 2])
class Raising < Item
  class << self
    attr_accessor :raises
  end
  def hash = Raising.raises ? raise("no") : 1
end
raising = Set.allocate << Raising.new(1)
bytes = Marshal.dump(raising)
Raising.raises = true
check("an error of an item's hash, dump", (Icecore::Marshal.dump(raising) rescue $!.message) == "no")
check("an error of an item's hash, load", (load_ours(bytes) rescue $!.message) == "no")
GC.stress = true
check("under GC.stress", load_ours(Icecore::Marshal.dump([old, old])).map(&:to_a) == [[1, 2], [1, 2]])
GC.stress = false

puts "#{$passed} passed, #{$failed} failed"
exit $failed.zero?
