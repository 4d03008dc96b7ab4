# frozen_string_literal: true

require_relative "maker"
require_relative "corners"
require_relative "known_difference"
require_relative "../shape"

module Chance
  # One value that Icecore and Marshal dump and load. Differences are recorded as [check, lines of
  # ours, lines of Marshal's].
  class Trial
    # Additional checks. Each trial runs one of these methods; some of them depend on @number.
    EXTRAS = %i[plain frozen traced replaced raising limited through_io through_pipe frozen_and_traced].freeze

    attr_reader :failures, :checks, :known_differences

    def self.by_dice(dice)
      extra = dice.pick(EXTRAS)
      number = dice.below(8)
      maker = Maker.new(dice, size: [5, 20, 60][dice.below(3)])
      several = dice.below(7)
      new(several.zero? ? maker.value : Array.new(several) { maker.value }, extra, number)
    end

    def initialize(value, extra, number, side = Ours)
      @side = side
      @value = value
      @extra = extra
      @number = number
      @failures = []
      @checks = 0
      @known_differences = []
    end

    def run
      theirs = Outcome.of { Oracle.dump(@value) }
      ours = Outcome.of { @side.dump(@value) }
      compare("dump", ours, theirs) { |bytes| bytes }
      compare("dump: encoding", ours, theirs, &:encoding)
      @bytes = theirs.value
      load_both("load") if @bytes
      load_both("load by Marshal what ours dumped", bytes: ours.value) if ours.value.is_a?(String) && ours.value != @bytes
      send(@extra) if @bytes
      self
    end

    def run_again = self.class.new(@value, @extra, @number, @side)

    # Returns the additional check, the beginning of the value, and its bytes as Marshal dumps it.
    def describe = "#{@extra} #{@number} #{Shape.of(@value, max_lines: 30).join(' | ')}\nbytes: #{@bytes&.byteslice(0, 300).inspect}"

    private

    # Compares two outcomes. The block converts the value of an outcome to lines. Records a failure, or
    # the name of the known difference.
    def compare(check, ours, theirs)
      @checks += 1
      line_lists = [ours, theirs].map do |outcome|
        (outcome.error? ? [outcome.to_s] : Array(yield(outcome.value))) + outcome.log.map { |entry| "hook: #{entry}" }
      end
      return if ours.error? && theirs.error? && ours.same_error?(theirs) && ours.log == theirs.log
      line_lists[0] = line_lists[0].zip(line_lists[1]).map { |our_line, their_line| ignore_extra_frozen(our_line, their_line) } if @ignores_frozen
      return if line_lists[0] == line_lists[1] && ours.error? == theirs.error?
      name = check.start_with?("dump") ? nil : KnownDifference.name(@bytes, ours, theirs, check, @value)
      name ? @known_differences << name : @failures << [check, *line_lists]
    end

    # Returns Marshal's line if ours differs only by being frozen.
    def ignore_extra_frozen(our_line, their_line) = our_line.gsub(" frozen", "") == their_line&.gsub(" frozen", "") && (our_line.start_with?("hook") || !their_line.include?(" frozen")) ? their_line : our_line

    # Loads the bytes with both, compares the values, and compares what Marshal dumps for them.
    def load_both(check, bytes: @bytes, proc: nil, **options)
      theirs = Outcome.of { Oracle.load(bytes, *proc&.call, **options) }
      ours = Outcome.of { @side.load(bytes, *proc&.call, **options) }
      compare(check, ours, theirs) { |value| Shape.of(value, ignores_string_identity: @ignores_frozen) }
      return if @ignores_frozen || ours.error? || theirs.error?
      dumped_again = [ours, theirs].map { |outcome| Outcome.of { Oracle.dump(outcome.value) } }
      compare("#{check}, dumped again", *dumped_again, &:itself)
    end

    # Returns false for data with a binary string of a subclass: with `freeze`, Ruby interns the string and
    # then changes its class, which affects all later uses of that literal.
    def can_freeze? = !@bytes.match?(/(?<!I)C(?::.[\w:]+?|;.)"/mn)

    def plain = nil

    # Runs the block, and ignores what is frozen only by ours: before 3.3 Ruby left strings with links
    # and results of hooks unfrozen.
    def without_frozen_check
      @ignores_frozen = RUBY_VERSION < "3.3"
      yield if can_freeze?
    ensure
      @ignores_frozen = false
    end

    def frozen = without_frozen_check { load_both("load, freeze: true", freeze: true) }

    # Returns a proc that records the values that it gets.
    def tracer = ->(value) { Outcome.record(Shape.of(value, max_lines: 25, ignores_string_identity: @ignores_frozen).join("|")).then { value } }
    def traced = load_both("load with a proc", proc: -> { [tracer] })
    def frozen_and_traced = without_frozen_check { load_both("load with a proc, freeze: true", proc: -> { [tracer] }, freeze: true) }

    REPLACE = [
      ->(value) { value.is_a?(Integer) ? value.to_s : value },
      ->(value) { value.instance_of?(String) ? value.to_sym : value },
      ->(value) { value.is_a?(Symbol) ? value.to_s : value },
      ->(value) { value.instance_of?(Array) ? value.size : value },
      ->(value) { value.is_a?(Hash) ? value.to_a : value },
      ->(value) { value.is_a?(Float) ? nil : value },
      ->(value) { Plain === value ? :plain : value },
      ->(_value) {}
    ].freeze

    def replaced = load_both("load with a proc that replaces (#{@number})", proc: -> { [REPLACE[@number]] })

    def raising
      load_both("load with a proc that raises", proc: lambda {
        remaining = @number
        [->(value) { (remaining -= 1).negative? ? raise(Fault, "by the proc") : value }]
      })
    end

    def limited
      limit = @number - 1
      theirs = Outcome.of { Oracle.dump(@value, limit) }
      ours = Outcome.of { @side.dump(@value, limit) }
      compare("dump, limit #{limit}", ours, theirs, &:itself)
    end

    # Dumps and loads several documents in sequence, and compares the position after each of them.
    def through_io
      outcomes = [@side, Oracle].map do |side|
        Outcome.of do
          io = StringIO.new(+"before".b)
          io.pos = 6
          results = [side.dump(@value, io).equal?(io), side.dump([1], io, 5).equal?(io), io.pos]
          io << "rest"
          io.pos = 6
          results + 2.times.flat_map { Shape.of(side.load(io)) + [io.pos] } + [io.read, io.string]
        end
      end
      compare("through StringIO", *outcomes, &:itself)
    end

    def through_pipe
      return if @bytes.bytesize > 20_000
      outcomes = [@side, Oracle].map do |side|
        Outcome.of do
          reader, writer = IO.pipe
          side.dump(@value, writer)
          side.dump(:next, writer)
          writer << "rest"
          writer.close
          2.times.flat_map { Shape.of(side.load(reader)) } + [reader.read]
        ensure
          [reader, writer].each(&:close)
        end
      end
      compare("through a pipe", *outcomes, &:itself)
    end
  end
end
