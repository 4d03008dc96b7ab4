# frozen_string_literal: true

# Hooks with forbidden actions.
module Collect
  class Plain
    attr_accessor :a, :b
  end
  Pair = Struct.new(:left, :right)
  class Text < String; end
  module Mixed; end

  # The actions of the next hooks, and how often they ran.
  class << self
    attr_accessor :dumping, :loading
    attr_reader :runs
  end
  @runs = 0
  def self.ran = @runs += 1

  class Hooked
    attr_accessor :data

    def initialize(data = nil) = @data = data

    def marshal_dump
      Collect.ran
      Collect.dumping&.call(self)
      @data
    end

    def marshal_load(data)
      Collect.ran
      @data = data
      Collect.loading&.call(self)
    end
  end

  class Packed
    attr_reader :data

    def initialize(data = "") = @data = data

    def _dump(_level)
      Collect.dumping&.call(self)
      @data
    end

    def self._load(data)
      Collect.loading&.call(data)
      new(data.dup)
    end
  end

  # Runs the block with these actions of hooks.
  def self.with(dumping: nil, loading: nil)
    self.dumping = dumping
    self.loading = loading
    yield
  ensure
    self.dumping = self.loading = nil
  end

  # A moderate selection of all kinds of values.
  def self.values
    plain = Plain.new
    plain.a = [plain, +"shared"]
    plain.b = plain.a[1]
    text = (+"text").extend(Mixed)
    text.instance_variable_set(:@v, [text])
    [
      nil, 2**70, 1e100, "caf\u00e9", "a".encode("Shift_JIS"), :"caf\u00e9", [1, [2.5, "x" * 200]], { "k" => { sym: [1] }, 2 => nil }, Hash.new(5).merge!("a" => 1), {}.compare_by_identity.merge!("a" => 1), plain, Pair.new(1, "two"), Text.new("sub"), text,
      1..2, Set[1, "a"], Complex(1, 2), Rational(1, 3), BigDecimal("1.25"), Time.at(0, 5, :nsec, in: "+01:00"), Date.new(2001, 2, 3), StandardError.new("words"), /a+/i, String, Hooked.new(["given"]), Packed.new(+"packed"), OpenStruct.new(a: 1), Array.new(40) { |n| { "id" => n, name: "n#{n}" } }
    ]
  end
end
