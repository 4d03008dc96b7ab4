# frozen_string_literal: true

# A value as lines, with everything that a program can see: class, encoding, frozen or not,
# instance variables in order, modules, identity of objects, order of hashes. Two values are the
# same if their lines are.
class Shape
  KLASS = Kernel.instance_method(:class)
  FROZEN = Kernel.instance_method(:frozen?)
  NAMES = Kernel.instance_method(:instance_variables)
  GET = Kernel.instance_method(:instance_variable_get)
  SINGLETON = Kernel.instance_method(:singleton_class)

  # `ignores_string_identity`: ignores which strings are the same object.
  def self.of(value, max_lines: 400_000, ignores_string_identity: false) = new(max_lines, ignores_string_identity).tap { |shape| shape.catching { shape.add("", value) } }.lines

  attr_reader :lines

  def initialize(max_lines, ignores_string_identity)
    @max_lines = max_lines
    @ignores_string_identity = ignores_string_identity
    @lines = []
    @object_numbers = {}.compare_by_identity
  end

  def catching(&block) = catch(:enough, &block)

  def add(label, value)
    throw :enough if @lines.size >= @max_lines
    type = KLASS.bind_call(value)
    case value
    when nil, true, false, Integer then return line("#{label} #{value.inspect}#{same_large(value)}")
    when Symbol then return line("#{label} :#{bytes(value.name)} #{value.encoding}")
    when Float then return line("#{label} #{[value].pack('G').unpack1('H*')}#{same_large(value)}")
    when Module then return line("#{label} #{type} #{value.name ? name_of(value) : value.inspect}")
    end
    return line("#{label} same #{@object_numbers[value]}") if @object_numbers.key?(value)
    @object_numbers[value] = @object_numbers.size unless @ignores_string_identity && type == String && NAMES.bind_call(value).empty?
    line("#{label} #{"##{@object_numbers[value]} " unless @ignores_string_identity}#{name_of(type)}#{' frozen' if FROZEN.bind_call(value)}#{modules(value, type)}")
    body(value)
    NAMES.bind_call(value).each { |name| add("#{bytes(name.name)} #{name.encoding} =", GET.bind_call(value, name)) }
  end

  private

  def line(text) = @lines << text

  # Lines are joined, so a name in another encoding is shown by its bytes.
  def name_of(type) = type.name.nil? ? "anonymous" : type.name.encoding == Encoding::UTF_8 || type.name.ascii_only? ? type.name : bytes(type.name)

  # Floats and integers that are objects, and may be one object in two places.
  def same_large(value)
    return if !value.is_a?(Numeric) || (value.is_a?(Integer) && value.bit_length < 62)
    return " same #{@object_numbers[value]}" if @object_numbers.key?(value)
    @object_numbers[value] = @object_numbers.size
    nil
  end

  def bytes(string) = string.b.inspect

  def modules(value, type)
    modules = SINGLETON.bind_call(value).ancestors.take_while { |ancestor| ancestor != type }.map { |ancestor| ancestor.is_a?(Class) ? "." : ancestor.name }
    modules == ["."] ? "" : " with #{modules.join(' ')}"
  rescue TypeError
    ""
  end

  def body(value)
    case value
    when String then line("  #{value.encoding} #{bytes(value)}")
    when Regexp then regexp(value)
    when Array then value.each { |item| add("-", item) }
    when Hash then hash(value)
    when Struct then value.each_pair { |name, item| add("#{name.inspect}:", item) }
    when Range then range(value)
    when Complex then [value.real, value.imaginary].each { |item| add("part", item) }
    when Rational then [value.numerator, value.denominator].each { |item| add("part", item) }
    when Time then line("  #{value.to_r} #{value.utc?} #{value.utc_offset} #{value.zone.inspect} #{value.zone.encoding if value.zone.is_a?(String)} #{value.inspect}")
    when Date then line("  #{value.ajd} #{value.start} #{value.is_a?(DateTime) && value.offset}")
    when BigDecimal then line("  #{value} #{value.sign} #{value.exponent}")
    when Exception then exception(value)
    when OpenStruct then value.each_pair { |name, item| add("#{name.inspect}:", item) }
    when Random then line("  #{value.dup.bytes(8).inspect} #{value.seed}")
    when Encoding then line("  #{value}")
    else other(value)
    end
  end

  def regexp(value)
    line("  #{value.encoding} #{value.options} #{value.fixed_encoding?} #{bytes(value.source)} #{value.source.encoding}")
  rescue TypeError => error
    line("  #{error.message}")
  end

  def range(value)
    line("  excl #{value.exclude_end?}")
    add("begin", value.begin)
    add("end", value.end)
  end

  def hash(value)
    line("  identity #{value.compare_by_identity?} keywords #{Hash.ruby2_keywords_hash?(value)}")
    value.each_pair do |key, item|
      add("key", key)
      add("is", item)
    end
    add("default", value.default)
    line("  default proc") if value.default_proc
  end

  # Not backtrace_locations: Ruby dies of those that a proc has replaced.
  def exception(value)
    add("message", message(value))
    add("backtrace", value.backtrace)
    add("cause", value.cause)
    %i[key receiver name result status errno args reason exit_value].each do |name|
      next unless value.respond_to?(name)
      begin
        add("#{name}:", value.public_send(name))
      rescue ArgumentError, NoMethodError => error
        line("  #{name} #{error.class}")
      end
    end
  end

  def message(value)
    value.message
  rescue StandardError => error
    error.class.name
  end

  def other(value)
    return unless Object.instance_method(:is_a?).bind_call(value, Object)
    if defined?(Data) && Data.respond_to?(:define) && value.is_a?(Data)
      value.class.members.each { |name| add("#{name.inspect}:", member(value, name)) }
    elsif value.is_a?(Set) && !value.instance_variable_defined?(:@hash)
      value.each { |item| add("item", item) }
    end
  end

  def member(value, name)
    value.public_send(name)
  rescue NoMethodError, TypeError => error
    error.class.name
  end
end
