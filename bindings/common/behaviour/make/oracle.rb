# Ruby's own results, as descriptions in the form of ../README.md.
#
#   ruby oracle.rb seeds     values that Ruby dumps, and what it loads again
#   ruby oracle.rb           answers lines of {"format":…,"hex":…} with {"value":…} or {"error":…},
#                            and of {"format":…,"build":VALUE} with {"hex":…}

require "bigdecimal"
require "json"
require "set"

STDOUT.sync = true

class Point
  def initialize(x = 1, y = 2) = (@x, @y = x, y)
end
class Node
  attr_accessor :link, :name
end
module Shop
  class Item
    def initialize = (@name = "thing")
  end
end
module Mixed; end
Pair = Struct.new(:left, :right)
class Names < Array; end
class Frozen
  def initialize(data) = (@data = data)
  def marshal_dump = @data
  def marshal_load(data) = (@data = data)
  attr_reader :data
end
class Dumped
  def initialize(data) = (@data = data)
  def _dump(_level) = @data
  def self._load(data) = new(data)
  attr_reader :data
end

class UnsupportedDescription < StandardError; end

# Describes a value.
class Describer
  def initialize = (@numbers = {}.compare_by_identity)

  def string(value)
    bytes = value.b
    return value.encode("UTF-8") if bytes.ascii_only? && value.encoding.ascii_compatible?
    return { text: value } if value.encoding == Encoding::UTF_8 && value.valid_encoding?
    return { bytes: bytes.unpack1("H*") } if [Encoding::BINARY, Encoding::UTF_8, Encoding::US_ASCII].include?(value.encoding)
    { string: bytes.unpack1("H*"), encoding: value.encoding.to_s }
  end

  def value(value)
    case value
    when nil, true, false then value
    when Integer then value.abs < 2**53 ? value : { int: value.to_s }
    when Float then { float: value.nan? ? "nan" : [value].pack("G").unpack1("H*") }
    when Symbol then { symbol: string(value.to_s) }
    when Class then { class: value.name }
    when Module then { module: value.name }
    else shared(value)
    end
  end

  def shared(value)
    return { same: @numbers[value] } if @numbers.key?(value)
    @numbers[value] = @numbers.size + 1
    { id: @numbers[value], is: with_modules(value) }
  end

  # Describes a value with the modules that are mixed into it.
  def with_modules(value)
    modules = value.frozen? ? [] : value.singleton_class.ancestors.take_while { |ancestor| ancestor != value.class }
    modules.reject { |ancestor| ancestor.is_a?(Class) }.reverse.reduce(with_attributes(value)) { |inner, mixed_in| { extended: mixed_in.name, is: inner } }
  end

  def with_attributes(value)
    inner = body(value)
    names = value.instance_variables
    return inner if names.empty? || %i[object frozen known].any? { |tag| inner.key?(tag) }
    { attributes: members(value, names), is: inner }
  end

  def members(value, names) = names.map { |name| [{ symbol: name.to_s }, value(value.instance_variable_get(name))] }

  def body(value)
    case value
    when Frozen then { frozen: "Frozen", is: value(value.data) }
    when Dumped then { frozen: "Dumped", is: value(value.data) }
    when BigDecimal, Time, Rational, Complex, Range, Set then { known: value.class.name, is: value.is_a?(Set) ? value.map { |item| value(item) } : value.inspect }
    when String then with_subclass(value, String, string(value))
    when Regexp then { regexp: string(value.source), flags: "mix".chars.zip([4, 1, 2]).select { |_, bit| value.options & bit != 0 }.map(&:first).join }
    when Array then with_subclass(value, Array, value.map { |item| value(item) })
    when Hash then with_subclass(value, Hash, hash(value))
    when Struct then { struct: value.class.name, is: value.members.map { |name| [{ symbol: name.to_s }, value(value[name])] } }
    when Exception, Proc, Method then raise UnsupportedDescription, value.class.name
    else { object: value.class.name, is: { map: members(value, value.instance_variables) } }
    end
  end

  def with_subclass(value, core, inner) = value.instance_of?(core) ? inner : { subclass: value.class.name, is: inner }

  def hash(value)
    map = { map: value.map { |key, item| [key.is_a?(String) ? string(key) : value(key), value(item)] } }
    map = { default: value(value.default), is: map } unless value.default.nil?
    value.compare_by_identity? ? { identity: map } : map
  end
end

# Builds a value from a description.
class Builder
  def initialize = (@objects = {})

  def string(description)
    return +description if description.is_a?(String)
    return +description["text"] if description.key?("text")
    [description["bytes"] || description["string"]].pack("H*").force_encoding(description["encoding"] || "BINARY")
  end

  def build(description, id = nil)
    case description
    when String then remember(id, string(description))
    when Array then description.each_with_object(remember(id, [])) { |item, list| list << build(item) }
    when Hash then build_tagged(description, id)
    else description
    end
  end

  def remember(id, value) = id ? @objects[id] = value : value

  def build_tagged(description, id)
    return build(description["is"], description["id"]) if description.key?("id")
    return @objects.fetch(description["same"]) if description.key?("same")
    return description["int"].to_i if description.key?("int")
    return description["float"] == "nan" ? Float::NAN : [description["float"]].pack("H*").unpack1("G") if description.key?("float")
    return string(description["symbol"]).to_sym if description.key?("symbol")
    return Object.const_get(description["class"] || description["module"]) if description.key?("class") || description.key?("module")
    return fill(remember(id, {}), description["map"]) if description.key?("map")
    return with_members(Object.const_get(description["object"]).allocate, description["is"]["map"], id) if description.key?("object")
    return build(description["is"], id).extend(Object.const_get(description["extended"])) if description.key?("extended")
    return with_members(build(description["is"]), description["attributes"], id) if description.key?("attributes")
    return build_struct(description, id) if description.key?("struct")
    return Object.const_get(description["subclass"]).new(build(description["is"])) if description.key?("subclass")
    return build(description["is"], id).tap { |map| map.default = build(description["default"]) } if description.key?("default")
    return fill({}.compare_by_identity, description["identity"]["map"]) if description.key?("identity")
    return Object.const_get(description["frozen"]).new(build(description["is"])) if description.key?("frozen")
    return Regexp.new(string(description["regexp"]), "mix".chars.zip([4, 1, 2]).sum { |flag, bit| description["flags"].include?(flag) ? bit : 0 }) if description.key?("regexp")
    return remember(id, string(description)) if (description.keys & %w[text bytes string]).any?
    raise UnsupportedDescription, description.keys.join(" ")
  end

  def fill(map, entries) = entries.each_with_object(map) { |(key, item), result| result[build(key)] = build(item) }

  def with_members(value, entries, id)
    remember(id, value)
    entries.each { |name, item| value.instance_variable_set(name["symbol"], build(item)) }
    value
  end

  def build_struct(description, id)
    value = remember(id, Object.const_get(description["struct"]).allocate)
    description["is"].each { |name, item| value[name["symbol"].to_sym] = build(item) }
    value
  end
end

# A description is a Hash, an Array or a String; this way all of them have key?.
class Array
  def key?(_) = false
end
class String
  def key?(_) = false
end

# Defines a class that the data names, if it does not exist.
def define(name)
  name.split("::").reduce(Object) do |scope, part|
    scope.const_defined?(part, false) ? scope.const_get(part, false) : scope.const_set(part, Class.new)
  end
end

# Loads bytes, and describes the value. Missing classes are defined.
def read(bytes)
  value = Marshal.load(bytes)
  { value: Describer.new.value(value) }
rescue ArgumentError => error
  name = error.message[/\Aundefined class\/module (\S+?)(?:::)?\z/, 1] or return { error: error.message }
  begin
    define(name)
  rescue NameError
    return { error: error.message }
  end
  retry
rescue StandardError => error
  { error: "#{error.class}: #{error.message}" }
end

def seeds
  shared = Point.new
  node = Node.new
  node.link = node
  cycle = [1]
  cycle << cycle
  text = "text"
  inner = {}
  inner[:self] = inner
  tagged = [1]
  tagged.instance_variable_set(:@tag, "t")
  {
    "nil" => nil, "true" => true, "false" => false, "empty list" => [], "empty hash" => {}, "empty string" => "", "list" => [1, "a", nil, true, false],
    "nested" => [[1, [2]], { "a" => { "b" => [3] } }], "string keys" => { "b" => 1, "a" => 2 }, "symbol keys" => { b: 1, a: 2 }, "integer keys" => { 5 => "a", 3 => "b" },
    "keys of every kind" => { nil => 1, true => 2, 1.5 => 3, "s" => 4, s: 5 }, "array as key" => { [1] => 2 }, "symbols" => %i[a b a c], "text" => ["caf\u00e9", "\u263a"],
    "bytes" => ["\0\xe9\xff".b, "abc".b], "symbol of text" => [:"caf\u00e9", :"two words"], "encodings" => ["abc".encode("US-ASCII"), "\xe9".dup.force_encoding("ISO-8859-1"), "\xa4\xa2".dup.force_encoding("EUC-JP")],
    "broken text" => ["\xe9".dup.force_encoding("UTF-8")], "long string" => "abc " * 100, "object" => Point.new, "object of a module" => Shop::Item.new, "the same object" => [shared, shared, { k: shared }],
    "equal objects" => [Point.new, Point.new], "the same string" => [text, text], "the same array" => [inner2 = [1], inner2], "object in itself" => node, "array in itself" => cycle, "hash in itself" => inner,
    "struct" => Pair.new(1, [2]), "the same struct" => (pair = Pair.new(1, 2); [pair, pair]), "default of a hash" => Hash.new(0).merge!("a" => 1), "subclass of Array" => Names.new([1, 2]), "mixed in" => [1].extend(Mixed),
    "attributes" => tagged, "class and module" => [String, Comparable, Shop::Item], "regexp" => [/a+/i, /b.*/mx, /c\+/], "marshal_dump" => Frozen.new([1, "a"]), "_dump" => Dumped.new("abc"),
    "range" => [1..5, 1...5, "a".."c"], "numbers" => [Rational(1, 3), Complex(1, 2), BigDecimal("1.25")], "set" => Set.new([1, "a"]),
    "same keys often" => (1..12).map { |n| { id: n, name: "n#{n}", tags: [] } }, "many keys" => (1..40).to_h { |n| ["key#{n}", n] }, "many symbols" => (1..40).to_h { |n| [:"key#{n}", n] },
    "same float" => (float = 1.5; [float, float]), "same big integer" => (big = 2**70; [big, big]), "identity" => {}.compare_by_identity.merge!("a" => 1), "deep" => (1..40).reduce("x") { |value, _| [value] }
  }.merge(
    [0, 1, -1, 4, 5, 122, 123, -123, -124, 255, 256, -256, -257, 65_535, 65_536, 2**30 - 1, 2**30, -(2**30), -(2**30) - 1, 2**31, 2**53, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 2**100, -(2**100)]
      .to_h { |n| ["integer #{n}", [n]] },
    [0.0, -0.0, 0.5, -1.5, 0.1, 1e100, 1e-300, 5e-324, Float::MAX, 3.0, 1e15, 1e22, Float::INFINITY, -Float::INFINITY, Float::NAN].to_h { |n| ["float #{n} #{[n].pack('G').unpack1('H*')}", [n]] }
  )
end

if ARGV[0] == "seeds"
  seeds.each do |name, value|
    bytes = Marshal.dump(value)
    puts JSON.generate({ name: name, format: "marshal", hex: bytes.unpack1("H*") }.merge(read(bytes)), max_nesting: false)
  end
else
  STDIN.each_line do |line|
    request = JSON.parse(line, max_nesting: false)
    answer =
      if request.key?("build")
        begin
          { hex: Marshal.dump(Builder.new.build(request["build"])).unpack1("H*") }
        rescue StandardError => error
          { error: "#{error.class}: #{error.message}" }
        end
      else
        read([request["hex"]].pack("H*"))
      end
    puts JSON.generate(answer, max_nesting: false)
  end
end
