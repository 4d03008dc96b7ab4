# frozen_string_literal: true

require "json"
%w[oj msgpack].each do |library|
  require library
rescue LoadError
  nil # the library is left out
end

module IcecoreBench
  # A library, and how it writes and reads. `write` and `read` are the Ruby code that a program would
  # contain.
  class Participant
    attr_reader :name, :version

    def initialize(name, version, write, read)
      @name = name
      @version = version
      # The code is compiled into a loop, so that no call of a block is timed.
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
      dumps = values.map { |value| write(value) }
      dumps if values.zip(dumps).all? { |value, bytes| read(bytes) == value }
    rescue StandardError
      nil # the library can't express the value
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

  # For each library a list of variants: the first that can express a value takes part.
  COMPETITORS = []

  if defined?(Oj)
    # By default Oj writes floats with 16 digits; with 0 it writes them as Ruby does.
    OJ_OPTIONS = { mode: :object, float_precision: 0, bigdecimal_load: :float }.freeze
    COMPETITORS << [Participant.new("Oj", Oj::VERSION, "Oj.dump(input, OJ_OPTIONS)", "Oj.load(input, OJ_OPTIONS)")]
  end
  if defined?(MessagePack)
    FACTORY = MessagePack::Factory.new
    FACTORY.register_type(0, Symbol)
    FACTORY.register_type(1, Employee, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext)
    COMPETITORS << [Participant.new("MessagePack", MessagePack::VERSION, "FACTORY.dump(input)", "FACTORY.load(input)")]
  end
  COMPETITORS << ["", ", symbolize_names: true"].map { |option|
    Participant.new("JSON", JSON::VERSION, "JSON.generate(input)", "JSON.parse(input#{option})")
  }
  COMPETITORS.freeze

  ALL = [ICECORE, MARSHAL, *COMPETITORS.map(&:first)].freeze
end
