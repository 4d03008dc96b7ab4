# frozen_string_literal: true

module IcecoreBench
  class Employee
    attr_reader :id, :name, :age

    def initialize(id, name = "Employee #{id}", age = 20 + id % 40)
      @id = id
      @name = name
      @age = age
    end

    def ==(other)
      other.instance_of?(Employee) && [id, name, age] == [other.id, other.name, other.age]
    end

    # Methods that MessagePack needs in a class.
    def to_msgpack_ext = [@id, @name, @age].to_msgpack
    def self.from_msgpack_ext(bytes) = new(*MessagePack.unpack(bytes))
  end

  # Values to write, each as a dump of its own. The times are divided by `objects`. `load` and `dump`
  # say how many times as fast as Marshal Icecore should be; nil without a target.
  Sample = Struct.new(:name, :unit, :values, :objects, :load, :dump) do
    # Returns the bytes of all dumps; for a small value, of one.
    def size_of(texts) = unit == "call" ? texts.first.bytesize : texts.sum(&:bytesize)
  end

  COUNT = 20_000
  # Number of calls per measurement of a small value, because reading the clock takes time.
  REPEATS = 1_000

  SESSION = {
    "session_id" => "5f0c954b0d7d4ab0b6a1c37c0e9a7d11", "user_id" => 4711, "locale" => "en",
    "_csrf_token" => "Kq0mB1Vb9Jx2sT7nYw8pLz3RhD6uGf5cAe4iXoNvQtM=", "roles" => %i[editor billing],
    "flash" => { "discard" => [], "flashes" => { "notice" => "Saved." } }, "ratio" => 0.75, "remember" => true
  }.freeze

  # The values are created when they are needed. Otherwise the garbage collector would mark all of
  # them while other sets are timed.
  SETS = {
    "20,000 objects" => lambda do |name|
      Sample.new(name, "object", [Array.new(COUNT) { |i| Employee.new(i) }], COUNT, 5, 8)
    end,
    "20,000 objects one by one" => lambda do |name|
      Sample.new(name, "object", Array.new(COUNT) { |i| Employee.new(i) }, COUNT, 4.5, 8)
    end,
    "symbol hashes" => lambda do |name|
      Sample.new(name, "hash", [Array.new(COUNT) { |i| { id: i, name: "Employee #{i}", age: 20 + i % 40 } }], COUNT, 4, 6)
    end,
    "string hashes" => lambda do |name|
      rows = Array.new(COUNT) { |i| { "id" => i, "name" => "Employee #{i}", "age" => 20 + i % 40 } }
      Sample.new(name, "hash", [rows], COUNT, 2.4, 5)
    end,
    "1000 ints" => lambda do |name|
      Sample.new(name, "int", [Array.new(1000) { |i| i * 7919 % 1_000_003 - 1000 }], 1000, 4, 6)
    end,
    "small: session hash" => ->(name) { Sample.new(name, "call", [SESSION] * REPEATS, REPEATS) },
    "small: one object" => ->(name) { Sample.new(name, "call", [Employee.new(7)] * REPEATS, REPEATS) }
  }.freeze

  # Returns a set, with new values.
  def self.sample(name) = SETS.fetch(name).call(name)

  # The sets that are also measured with Base64.
  BASE64_SETS = ["20,000 objects", "20,000 objects one by one", "small: session hash"].freeze
end
