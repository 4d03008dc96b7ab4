# frozen_string_literal: true

# Plain data as Ruby source: a method that builds it.
#
# Ruby copies lists and hashes of constants in one go, or even only when they are
# changed. That is not building, so a list's first item is never a constant here.
class Literals
  # A list or a hash of more is built piece by piece.
  PIECE = 50
  # So many values and Ruby takes minutes to compile them.
  MOST = 200_000

  def self.builder(value)
    maker = new
    result = maker.part(value)
    source = maker.methods.join + "def self.build = #{result}\n"
    home = Module.new
    home.module_eval("# encoding: utf-8\n# frozen_string_literal: false\n#{source}")
    ->(_) { home.build }
  end

  # The source of the methods for what is large.
  attr_reader :methods

  def initialize
    @methods = []
    @values = 0
    @open = {}.compare_by_identity
  end

  def part(value)
    raise Lab::Cannot, "more than #{MOST} values are too many for a source file" if (@values += 1) > MOST

    case value
    when nil, true, false, Integer then value.inspect
    when Float then float(value)
    when String then string(value)
    when Symbol then plain(value, Symbol) && value.inspect
    when Array then once(value) { list(value) }
    when Hash then once(value) { hash(value) }
    else raise Lab::Cannot, "it only builds plain data, no #{value.class}"
    end
  end

  private

  def plain(value, type)
    return value if value.instance_of?(type) && value.instance_variables.empty?

    raise Lab::Cannot, "it only builds plain data, no #{value.class}"
  end

  # What is in itself has no literal.
  def once(value)
    plain(value, value.is_a?(Array) ? Array : Hash)
    raise Lab::Cannot, "it does not build cycles" if @open[value]

    @open[value] = true
    yield.tap { @open.delete(value) }
  end

  def float(value)
    return "Float::NAN" if value.nan?
    return "#{"-" if value.negative?}Float::INFINITY" if value.infinite?

    value.inspect
  end

  def string(value)
    plain(value, String)
    case value.encoding
    when Encoding::UTF_8 then value.valid_encoding? ? value.dump : "#{value.dump}.force_encoding(\"UTF-8\")"
    when Encoding::BINARY then "#{value.dump}.b"
    else "#{value.dump}.force_encoding(#{value.encoding.name.dump})"
    end
  end

  def list(value)
    parts = value.map { |item| part(item) }
    return "[]" if parts.empty?

    first, *more = parts.each_slice(PIECE).to_a
    first[0] = "(v = #{first[0]})"
    return "[#{first.join(", ")}]" if more.empty?

    large("v = nil; a = [#{first.join(", ")}]\n", more.map { |piece| "a.push(#{piece.join(", ")})" }, "a")
  end

  def hash(value)
    if value.default || value.default_proc || value.compare_by_identity?
      raise Lab::Cannot, "it only builds plain hashes"
    end
    parts = value.map { |key, item| [part(key), part(item)] }
    return "{}" if parts.empty?
    if parts.size > PIECE
      return large("h = {}\n", parts.each_slice(PIECE).map { |piece| piece.map { |k, v| "h[#{k}] = #{v}" }.join("; ") }, "h")
    end

    parts[0][1] = "(v = #{parts[0][1]})"
    "{#{parts.map { |k, v| "#{k} => #{v}" }.join(", ")}}"
  end

  # A method of its own for each piece, so that none is long.
  def large(start, pieces, variable)
    number = @methods.size
    helpers = pieces.each_slice(20).with_index.map do |some, index|
      @methods << "def self.m#{number}_#{index}(#{variable})\n#{some.join("\n")}\nend\n"
      "m#{number}_#{index}(#{variable})"
    end
    @methods << "def self.m#{number}\n#{start}#{helpers.join("\n")}\n#{variable}\nend\n"
    "m#{number}"
  end
end
