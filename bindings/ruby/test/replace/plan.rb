# frozen_string_literal: true

# A random value that can be built twice: with the original texts, and with the replaced ones.
# Ruby itself freezes both, including frozen data inside of texts. So the expected result of a
# replacement is known without parsing any bytes.
class Plan
  Plain = Class.new
  Row = Struct.new(:one, :two)
  Own = Class.new(String)

  # Pieces of texts. No two of them together form data of any format.
  WORDS = ["old", "older", "an old one", "Old", "o", "ld", " ", "\n", "text", '"', "'", "\\", "/", "ink", "\0", "é", "☺", ";}", "$1"].freeze

  # Kept, so that equal keys are one object, however the collector runs.
  KEYS = Array.new(30) { |index| -"key#{index}" }.freeze

  # `is_plain`: the new texts have only one notation in JSON.
  def initialize(dice, is_plain)
    @dice = dice
    @remaining = dice.pick([5, 30, 200])
    @json = is_plain && dice.one_in(2)
    @nested = is_plain
    @shared = 0
    @root = node(0)
  end

  # Returns true if JSON can express the value.
  def json? = @json

  def render(&change)
    Rendering.new(change).value(@root)
  end

  private

  def node(depth)
    return [:text, text] if (@remaining -= 1).negative? || depth > 10
    case @dice.below(@json ? 8 : 18)
    when 0..2 then [:text, text]
    when 3 then [:scalar, @dice.pick([nil, true, false, 0, -7, 123_456, 1.5])]
    when 4 then [:list, children(depth)]
    when 5 then [:map, children(depth)]
    when 6 then @nested ? [:json, children(depth).map { |child| plain(child) }] : [:text, text]
    when 7 then [:list, children(depth)]
    when 8 then [:marshal, in_own_document { node(depth + 1) }]
    when 9 then [:scalar, @dice.pick([2**70, :old_symbol, 1e100, 3.25r, 1..2, Float::INFINITY])]
    when 10 then [:object, children(depth)]
    when 11 then [:row, [node(depth + 1), node(depth + 1)]]
    when 12 then [:binary, text]
    when 13 then [:own, text]
    when 14 then [:variable, text, node(depth + 1)]
    when 15 then [:shared, (@shared += 1), node(depth + 1)]
    when 16 then @shared.zero? ? [:text, text] : [:again, 1 + @dice.below(@shared)]
    else [:latin, text.encode("ISO-8859-1", undef: :replace)]
    end
  end

  def children(depth) = Array.new(@dice.below(@dice.one_in(20) ? 30 : 5)) { node(depth + 1) }

  # JSON contains only texts and its own scalars.
  def plain(child) = %i[text scalar].include?(child[0]) && ![2**70, :old_symbol, 1e100, 3.25r, 1..2, Float::INFINITY].include?(child[1]) ? child : [:text, text]

  def text = Array.new(@dice.pick([0, 1, 1, 2, 3, 5, 60])) { @dice.pick(WORDS) }.join

  # For frozen data inside of the value: its links can't refer to values outside of it.
  def in_own_document
    shared, @shared = @shared, 0
    yield
  ensure
    @shared = shared
  end

  # Builds the value, with `change` applied to each text.
  class Rendering
    def initialize(change)
      @change = change
      @shared = {}
    end

    def value(node)
      kind, *parts = node
      send(kind, *parts)
    end

    private

    def text(text) = @change.call(text)
    # A text in an encoding other than that of the searched texts: bytes are compared.
    alias latin text

    def binary(text) = @change.call(text.b)
    def own(text) = Own.new(@change.call(text))
    def scalar(value) = value
    def list(parts) = parts.map { |part| value(part) }
    def map(parts) = parts.each_with_index.to_h { |part, index| [KEYS[index], value(part)] }
    def row(parts) = Row.new(*parts.map { |part| value(part) })
    def json(parts) = JSON.generate(parts.map { |part| value(part) })
    def marshal(part) = Oracle.dump(Rendering.new(@change).value(part))

    def object(parts)
      parts.each_with_index.with_object(Plain.new) { |(part, index), child| child.instance_variable_set(:"@v#{index}", value(part)) }
    end

    def variable(text, part)
      @change.call(text).dup.tap { |child| child.instance_variable_set(:@more, value(part)) }
    end

    def shared(number, part)
      @shared[number] = value(part)
    end

    def again(number) = @shared[number]
  end
end
