# frozen_string_literal: true

# Dumps are changed at random and read under lists. Every class here records each of its hooks
# that runs; no hook of an unlisted class may run, whatever the data is.
#
#   hooks.rb [--seed N] [--count N] [--from N]

require_relative "helper"
require "optparse"
require "tmpdir"

if STAND_IN
  Check.skip("hooks", "Ruby's Marshal has no policy")
  Check.finish
end

module HookLog
  EVENTS = []

  def self.event(owner, hook) = EVENTS << [owner, hook]

  NAME = Module.instance_method(:name)
  CLASS = Kernel.instance_method(:class)

  CLASS_HOOKS = %i[allocate new _load respond_to? respond_to_missing? method_missing inherited const_missing name === instance_method method_defined? const_get members json_create _dump].freeze
  HOOKS = %i[
    marshal_load _load_data init_with initialize initialize_copy initialize_dup initialize_clone respond_to? respond_to_missing? method_missing instance_variable_set instance_variables
    hash eql? == != equal? <=> === =~ coerce to_s to_str to_sym to_ary to_a to_hash to_h to_int to_i to_f to_r to_c to_proc inspect freeze frozen? dup clone extended class is_a? kind_of? instance_of?
    [] []= each push replace append_features extend_object call succ + - * / % < > <= >= -@ nil? ! begin end first last size length encoding force_encoding bytes set_backtrace message exception full_message
  ].freeze

  # Class methods that a use of the class calls.
  module Class
    CLASS_HOOKS.each do |name|
      define_method(name) do |*args, &block|
        HookLog.event(NAME.bind_call(self), name)
        super(*args, &block)
      end
    end
  end

  # Methods of its objects.
  module Object
    HOOKS.each do |name|
      define_method(name) do |*args, &block|
        HookLog.event(NAME.bind_call(CLASS.bind_call(self)), name)
        super(*args, &block)
      end
    end
  end

  # Methods of a module that mixing it in calls.
  module Mixed
    %i[extended included prepended extend_object append_features prepend_features respond_to? method_missing const_missing].each do |name|
      define_method(name) do |*args, &block|
        HookLog.event(NAME.bind_call(self), name)
        super(*args, &block)
      end
    end
  end

  # Requests for missing constants.
  module Missing
    def const_missing(name)
      HookLog.event(name.to_s, :const_missing)
      super
    end
  end
end
Module.prepend(HookLog::Missing)

# The methods of the listed classes (A) and the others (B). Names differ in one letter, so that
# a changed byte leads from one to the other.
module Kinds
  MAKE = {
    "a" => -> { Class.new { def self._load(data) = Oracle.load(data) } },
    "b" => -> { Class.new { def marshal_load(data) = @data = data } },
    "c" => -> { Class.new { def marshal_load(data) = @data = Oracle.load(data) } },
    "d" => -> { Class.new },
    "e" => -> { Struct.new(:x, :y) },
    "f" => -> { Class.new(String) },
    "g" => -> { Module.new },
    "h" => -> { Class.new(Array) },
    "i" => -> { Class.new(Hash) },
    "j" => -> { Class.new(Date) },
    "k" => -> { Class.new(Range) },
    "l" => -> { Class.new(StandardError) },
    "m" => -> { Class.new(Time) },
    "n" => -> { Class.new(Set) },
    "o" => -> { Class.new(DateTime) { def self._load(data) = Oracle.load(data) } },
    "p" => -> { Class.new { def self._load(data) = (io = StringIO.new(data)) && [Oracle.load(io), Oracle.load(io)] } },
    # The letters q to t are names of files that must not be loaded, or unused.
    "u" => -> { Class.new { include Comparable; def <=>(_other) = 0 } },
    "v" => -> { Struct.new(:x, :y, keyword_init: true) },
    "w" => -> { Class.new(Regexp) },
    "x" => -> { Class.new { def hash = 1; def eql?(_other) = true } },
    "y" => -> { Class.new(Numeric) { def coerce(other) = [other, 1] } },
    "z" => -> { defined?(::Data.define) ? ::Data.define(:x, :y) : Class.new(Struct.new(:x, :y)) }
  }.freeze
  LISTED = MAKE.keys.map { |letter| "A#{letter}" }.freeze
  OTHERS = MAKE.keys.map { |letter| "B#{letter}" }.freeze
  ALL = (LISTED + OTHERS).freeze
end
%w[A B].each do |first|
  Kinds::MAKE.each do |letter, make|
    definition = Object.const_set("#{first}#{letter}", make.call)
    next definition.singleton_class.prepend(HookLog::Mixed) unless definition.is_a?(Class)
    definition.prepend(HookLog::Object)
    definition.singleton_class.prepend(HookLog::Class)
  end
end
FOLDER = Dir.mktmpdir("icecore")
at_exit { FileUtils.remove_entry(FOLDER) if File.directory?(FOLDER) }
%w[Bq Br Bs].each do |name|
  File.write("#{FOLDER}/#{name}.rb", "HookLog.event('#{name}', :autoload)\nclass #{name}; end\n")
  Object.autoload(name.to_sym, "#{FOLDER}/#{name}.rb")
end

# Handmade dumps: any class in any form.
class Maker
  def initialize(random) = @random = random

  def dump(level = 3) = "\x04\b".b << value(level)

  def value(level)
    return leaf if level.zero?
    case @random.rand(27)
    when 0, 1 then leaf
    when 2 then count = @random.rand(4) and "[".b << length(count) << Array.new(count) { value(level - 1) }.join
    when 3 then count = @random.rand(3) and "{".b << length(count) << Array.new(count) { value(level - 1) << value(level - 1) }.join
    when 4 then "}".b << length(1) << value(level - 1) << leaf << value(level - 1)
    when 5, 6 then "o".b << name << variables(level)
    when 7 then "S".b << name << length(2) << symbol("x") << value(level - 1) << symbol("y") << value(level - 1)
    when 8, 9, 10 then "u".b << name << payload(level)
    when 11, 12 then "U".b << name << value(level - 1)
    when 13 then "U".b << name << "\"" << payload(level)
    when 14 then "d".b << name << value(level - 1)
    when 15 then "C".b << name << ["\"\x06x", "[\x00", "{\x00", "/\x06a\x00"].sample(random: @random).b
    when 16 then "e".b << name << value(level - 1)
    when 22 then "o".b << symbol("Range") << length(3) << symbol("excl") << "F".b << symbol("begin") << value(level - 1) << symbol("end") << value(level - 1)
    when 23 then key = "o".b << symbol("Ax") << "\x00" and "{".b << length(2) << key << value(level - 1) << ["@\x06".b, key].sample(random: @random) << value(level - 1)
    when 24 then "e".b << symbol("Ag") << "e".b << name << value(level - 1)
    when 25 then "C".b << symbol(["Aw", "Bw"].sample(random: @random)) << "I/\x06a\x00\x06:\x06EF".b
    when 26 then "IU".b << name << value(level - 1) << length(2) << symbol("@v") << value(level - 1) << symbol("E") << "T"
    when 17 then %w[c m M].sample(random: @random).b << bytes(any_name)
    when 18 then "I".b << value(level - 1) << length(1) << symbol("@v") << value(level - 1)
    when 19 then "u".b << symbol(%w[Date DateTime].sample(random: @random)) << (@random.rand(2).zero? ? bytes(Oracle.dump([@random.rand(5_000_000), 0, 2_299_161])) : payload(level))
    when 20 then "U".b << symbol(%w[Date DateTime Rational Complex].sample(random: @random)) << ["[\x07i\x06i\x07".b, "[\x08i\x06#{value(level - 1)}i\x06".b, value(level - 1)].sample(random: @random)
    else "o".b << symbol(%w[Range Set Rational Complex].sample(random: @random)) << variables(level)
    end
  end

  private

  def payload(level)
    return bytes("\x04#{(@random.rand(4).zero? ? @random.rand(10) : 8).chr}".b << value(level - 1) << (@random.rand(3).zero? ? dump(level - 1) : "")) if @random.rand(5).positive?
    bytes(["", "x", "\x04\b", Oracle.dump([1, 2])].sample(random: @random))
  end

  def leaf
    case @random.rand(40)
    when 0 then "@".b << length(@random.rand(6))
    when 1 then ";".b << length(@random.rand(4))
    when 2 then "I/\x06a\x00\x06:\x06EF".b
    when 3..8 then "i".b << length(@random.rand(-3..300))
    when 9..12 then symbol(%w[a @v begin end excl @hash E encoding @numerator].sample(random: @random))
    when 13..20 then "I\"\x06x\x06:\x06ET".b
    when 21..24 then "\"".b << payload(1)
    when 25..28 then "f\x081.5".b
    else %w[0 T F].sample(random: @random).b
    end
  end

  def variables(level)
    names = %w[@a @v @hash begin end excl @numerator @denominator mesg bt].sample(@random.rand(3), random: @random)
    length(names.size) << names.map { |name| symbol(name) << value(level - 1) }.join
  end

  def any_name
    return Kinds::LISTED.sample(random: @random) if @random.rand(12).positive?
    (Kinds::OTHERS + %w[Bq Br Bs Bt Zz Aa::Ba Object::Bd]).sample(random: @random)
  end

  def name = symbol(any_name)

  def symbol(text) = @random.rand(12).zero? ? "I:".b << bytes(text) << "\x06:\x06ET".b : ":".b << bytes(text)

  def bytes(text) = length(text.bytesize) << text.b

  def length(number)
    return "\x00".b if number.zero?
    return (number + 5).chr.b if number.between?(1, 122)
    return (number - 5 & 255).chr.b if number.between?(-123, -1)
    plain = [number].pack("V").sub(/\0+\z/n, "")
    plain.bytesize.chr.b << plain
  end
end

# The same bytes with a change.
module Changes
  TYPES = "0TFi:;@IeclfumM\"/[{}SoUdC"

  def self.change(bytes, random)
    bytes = bytes.dup
    [0, 0, 1, 1, 2, 3].sample(random: random).times do
      index = random.rand(bytes.bytesize)
      case random.rand(8)
      when 0 then bytes.setbyte(index, random.rand(256))
      when 1 then bytes.setbyte(index, bytes.getbyte(index) ^ (1 << random.rand(8)))
      when 2 then bytes.setbyte(index, TYPES.getbyte(random.rand(TYPES.size)))
      when 3 then bytes[index, 0] = bytes.byteslice(random.rand(bytes.bytesize), random.rand(12))
      when 4 then bytes[index, random.rand(4)] = ""
      when 5 then bytes = bytes.byteslice(0, index + 1)
      else
        # From a class to another one with a name of the same length.
        class_offsets = (0...bytes.bytesize - 1).select { |from| Kinds::ALL.include?(bytes.byteslice(from, 2)) }
        bytes[class_offsets.sample(random: random), 2] = Kinds::ALL.sample(random: random) unless class_offsets.empty?
      end
      return "\x04\b0".b if bytes.empty?
    end
    bytes
  end
end

def options_of(random)
  listed = Kinds::LISTED.reject { random.rand(6).zero? }
  classes = case random.rand(8)
            when 0 then "A*"
            when 1 then [:record, *listed]
            when 2 then listed.map { |name| Object.const_get(name) }
            when 3 then listed.to_h { |name| [name, true] }
            when 4 then [*listed, "Date", "DateTime"]
            else listed
            end
  # A class that is only named: it has hooks.
  names = classes == "A*" ? Kinds::LISTED.dup : listed
  options = { classes: classes }
  if random.rand(6).zero?
    new_name = Kinds::LISTED.sample(random: random)
    options[:rename] = { Kinds::OTHERS.sample(random: random) => new_name }
    names |= [new_name]
  end
  options[:freeze] = true if random.rand(6).zero?
  [options, names]
end

# Another program that froze such a document. A form without such a value is not a test.
def in_another_format(bytes, random)
  format = ["sereal", "storable", "php", "igbinary", "json:typed", "gzip/marshal"].sample(random: random)
  [Changes.change(Icecore.convert(bytes, "marshal", format), random), format]
rescue Icecore::Error
  [bytes, "marshal"]
end

def read(bytes, options, random)
  case random.rand(6)
  when 0 then Icecore.decode(bytes, "marshal", **options)
  when 1 then IMPL.load(StringIO.new(bytes), **options)
  when 2 then IMPL.load(bytes, ->(value) { value }, **options)
  when 3 then IMPL.load(bytes, report: true, **options)
  when 4 then Icecore.decode(*in_another_format(bytes, random), **options)
  else IMPL.load(bytes, **options)
  end
end

seed, count, from = Integer(ENV["ICECORE_SEED"] || 2), 4000 * (1 + LONG), 0
OptionParser.new do |parser|
  parser.on("--seed N", Integer) { |number| seed = number }
  parser.on("--count N", Integer) { |number| count = number }
  parser.on("--from N", Integer) { |number| from = number }
end.parse!
counts = Hash.new(0)
$VERBOSE = nil
STRESSED = 401
from.upto(from + count - 1) do |number|
  random = Random.new(seed << 32 | number)
  bytes = Changes.change(Maker.new(random).dump(random.rand(1..4)), random)
  options, names = options_of(random)
  HookLog::EVENTS.clear
  # Some of them with a collection at each allocation: what is being built must be held.
  GC.stress = true if (number % STRESSED).zero? && bytes.bytesize < 300
  begin
    read(bytes, options, random)
    counts[:read] += 1
  rescue Icecore::ClassError
    counts[:refused] += 1
  rescue Icecore::Error
    counts[:malformed] += 1
  rescue StandardError, SystemStackError
    counts[:raised] += 1
  ensure
    GC.stress = false
  end
  events = HookLog::EVENTS.dup
  counts[:hooks] += events.size
  wrong = events.reject { |owner, _| names.include?(owner) }
  Check.ok("seed #{seed}, number #{number}", wrong.empty?, -> { "#{wrong.uniq.inspect}\n#{bytes.dump}\n#{options}" })
  # Ruby's own reader, to verify that there are calls to find.
  next unless (number % 8).zero?
  HookLog::EVENTS.clear
  begin
    Oracle.load(bytes)
  rescue StandardError, SystemStackError, NoMemoryError
    nil # Ruby believes lengths
  end
  counts[:by_ruby] += HookLog::EVENTS.count { |owner, _| !names.include?(owner) }
end
puts "# #{counts.map { |outcome, number| "#{outcome} #{number}" }.join(', ')}"
%i[read refused malformed hooks by_ruby].each { |outcome| Check.ok("there is something to find: #{outcome}", counts[outcome] > count / 200, counts.inspect) if count >= 1000 }
Check.finish
