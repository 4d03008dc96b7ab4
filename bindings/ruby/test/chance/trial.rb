# frozen_string_literal: true

require_relative "maker"
require_relative "corners"
require_relative "wanted"
require_relative "../shape"

module Chance
  # One value, dumped and loaded by both. Differences are recorded as [check, ours, Marshal's].
  class Trial
    EXTRAS = %i[plain frozen traced replaced raising limited through_io through_pipe frozen_and_traced].freeze

    attr_reader :failures, :checks, :wanted

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
      @wanted = []
    end

    def run
      theirs = Outcome.of { Oracle.dump(@value) }
      ours = Outcome.of { @side.dump(@value) }
      same("dump", ours, theirs) { |bytes| bytes }
      same("dump: encoding", ours, theirs, &:encoding)
      @bytes = theirs.value
      load_both("load") if @bytes
      load_both("load by Marshal what ours dumped", bytes: ours.value) if ours.value.is_a?(String) && ours.value != @bytes
      send(@extra) if @bytes
      self
    end

    def again = self.class.new(@value, @extra, @number, @side)

    # For people: the short value, its extra, and Marshal's bytes of it.
    def describe = "#{@extra} #{@number} #{Shape.of(@value, most: 30).join(' | ')}\nbytes: #{@bytes&.byteslice(0, 300).inspect}"

    private

    def same(check, ours, theirs, log: true)
      @checks += 1
      said = [ours, theirs].map do |outcome|
        (outcome.error? ? [outcome.to_s] : Array(yield(outcome.value))) + (log ? outcome.log.map { |words| "hook: #{words}" } : [])
      end
      return if ours.error? && theirs.error? && ours.like_error?(theirs) && (!log || ours.log == theirs.log)
      said[0] = said[0].zip(said[1]).map { |mine, other| as_frozen(mine, other) } if @loose
      return if said[0] == said[1] && ours.error? == theirs.error?
      name = check.start_with?("dump") ? nil : Wanted.name(@bytes, ours, theirs, check, @value)
      name ? @wanted << name : @failures << [check, *said]
    end

    # More may be frozen than by Marshal.
    def as_frozen(mine, other) = mine.gsub(" frozen", "") == other&.gsub(" frozen", "") && (mine.start_with?("hook") || !other.include?(" frozen")) ? other : mine

    # Both load; the values are walked, and dumped again by Marshal.
    def load_both(check, bytes: @bytes, proc: nil, **options)
      theirs = Outcome.of { Oracle.load(bytes, *proc&.call, **options) }
      ours = Outcome.of { @side.load(bytes, *proc&.call, **options) }
      same(check, ours, theirs) { |value| Shape.of(value, loose: @loose) }
      return if @loose || ours.error? || theirs.error?
      again = [ours, theirs].map { |outcome| Outcome.of { Oracle.dump(outcome.value) } }
      same("#{check}, dumped again", *again, &:itself)
    end

    # Ruby interns a binary string and then makes it an instance of the subclass: from then on
    # every use of that literal is affected, and no result is reliable.
    def freezable? = !@bytes.match?(/(?<!I)C(?::.[\w:]+?|;.)"/mn)

    def plain = nil
    # Before 3.3 Ruby did not freeze everything: not strings with links, and not the results of
    # hooks.
    def loosely
      @loose = RUBY_VERSION < "3.3"
      yield if freezable?
    ensure
      @loose = false
    end

    def frozen = loosely { load_both("load, freeze: true", freeze: true) }

    def tracer = ->(value) { Outcome.note(Shape.of(value, most: 25, loose: @loose).join("|")).then { value } }
    def traced = load_both("load with a proc", proc: -> { [tracer] })
    def frozen_and_traced = loosely { load_both("load with a proc, freeze: true", proc: -> { [tracer] }, freeze: true) }

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
        left = @number
        [->(value) { (left -= 1).negative? ? raise(Fault, "by the proc") : value }]
      })
    end

    def limited
      limit = @number - 1
      theirs = Outcome.of { Oracle.dump(@value, limit) }
      ours = Outcome.of { @side.dump(@value, limit) }
      same("dump, limit #{limit}", ours, theirs, &:itself)
    end

    # Several documents in sequence; the position of the reader is part of the test.
    def through_io
      said = [@side, Oracle].map do |side|
        Outcome.of do
          io = StringIO.new(+"before".b)
          io.pos = 6
          results = [side.dump(@value, io).equal?(io), side.dump([1], io, 5).equal?(io), io.pos]
          io << "rest"
          io.pos = 6
          results + 2.times.flat_map { Shape.of(side.load(io)) + [io.pos] } + [io.read, io.string]
        end
      end
      same("through StringIO", *said, &:itself)
    end

    def through_pipe
      return if @bytes.bytesize > 20_000
      said = [@side, Oracle].map do |side|
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
      same("through a pipe", *said, &:itself)
    end
  end
end
