# frozen_string_literal: true

require "json"
%w[oj msgpack].each do |library|
  require library
rescue LoadError
  nil # it is left out
end

module IcecoreBench
  # A library, and how it writes and reads: `write` and `read` are Ruby code, as a program would
  # have it.
  class Participant
    attr_reader :name, :version

    def initialize(name, version, write, read)
      @name = name
      @version = version
      # The call is inside of a compiled loop: calling a block for each would be timed as well.
      @timed = { dump: write, load: read }.transform_values { |call| compile(<<~RUBY) }
        ->(inputs) do
          i = 0
          size = inputs.size
          while i < size
            input = inputs[i]
            #{call}
            i += 1
          end
        end
      RUBY
      @write = compile("->(input) { #{write} }")
      @read = compile("->(input) { #{read} }")
    end

    def write(value) = @write.call(value)
    def read(bytes) = @read.call(bytes)

    # Returns the bytes of these values, or nil if they are not read back correctly.
    def bytes(values)
      all = values.map { |value| write(value) }
      all if values.zip(all).all? { |value, bytes| read(bytes) == value }
    rescue StandardError
      nil # it can't say the value
    end

    # Returns the nanoseconds for all inputs, `times` times.
    def sample(operation, inputs, times)
      timed = @timed.fetch(operation)
      GC.start
      start = now
      times.times { timed.call(inputs) }
      now - start
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

    def compile(source) = IcecoreBench.module_eval("# frozen_string_literal: true\n#{source}", name, 0)
  end

  # The classes that a program would name.
  CLASSES = [Employee].freeze

  MARSHAL = Participant.new("Marshal", RUBY_VERSION, "::Marshal.dump(input)", "::Marshal.load(input)")
  ICECORE = Participant.new("Icecore", Icecore::VERSION,
                            "Icecore::Marshal.dump(input)", "Icecore::Marshal.load(input, classes: CLASSES)")

  MARSHAL_BASE64 = Participant.new("Marshal + Base64", RUBY_VERSION,
                                   '[::Marshal.dump(input)].pack("m0")', '::Marshal.load(input.unpack1("m0"))')
  ICECORE_BASE64 = Participant.new("Icecore + Base64", Icecore::VERSION, 'Icecore.encode(input, "base64/marshal")',
                                   'Icecore.decode(input, "base64/marshal", classes: CLASSES)')

  # A list for each: the first one that can express a value takes part.
  RIVALS = []

  if defined?(Oj)
    # Its default writes floats with 16 digits; with 0 they are written as in Ruby.
    OJ_OPTIONS = { mode: :object, float_precision: 0, bigdecimal_load: :float }.freeze
    RIVALS << [Participant.new("Oj", Oj::VERSION, "Oj.dump(input, OJ_OPTIONS)", "Oj.load(input, OJ_OPTIONS)")]
  end
  if defined?(MessagePack)
    FACTORY = MessagePack::Factory.new
    FACTORY.register_type(0, Symbol)
    FACTORY.register_type(1, Employee, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext)
    RIVALS << [Participant.new("MessagePack", MessagePack::VERSION, "FACTORY.dump(input)", "FACTORY.load(input)")]
  end
  RIVALS << ["", ", symbolize_names: true"].map { |more|
    Participant.new("JSON", JSON::VERSION, "JSON.generate(input)", "JSON.parse(input#{more})")
  }
  RIVALS.freeze

  ALL = [ICECORE, MARSHAL, *RIVALS.map(&:first)].freeze
end
