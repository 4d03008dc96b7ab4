# frozen_string_literal: true

require_relative "dice"
require_relative "classes"
require_relative "scalars"
require_relative "times"
require_relative "containers"
require_relative "objects"

module Chance
  # Makes random values of all types that Marshal supports.
  class Maker
    include Scalars
    include Times
    include Containers
    include Objects

    # The frequency of each kind: a method that makes a value. The first one is the simplest.
    WEIGHTS = {
      none: 4, yes: 2, no: 2, integer: 8, float: 5, symbol: 5, kept_string: 8, literal: 4, again: 12,
      array: 10, hash: 10, object: 10, struct: 4, keyed: 1, data: 2, set: 3, range: 3,
      constant: 2, encoding: 1, kept_number: 4, kept_regexp: 2, kept_time: 4, kept_date: 2, exception: 2,
      hooked: 4, packed: 3, data_in_c: 1, open_struct: 1, library: 1, str: 3, arrays_of_one: 2, long_array: 1, large_hash: 1, keywords: 1
    }.freeze
    # Kinds with a known defect can be excluded, to look for others:
    # ICECORE_WITHOUT=set,exception
    WITHOUT = ENV["ICECORE_WITHOUT"].to_s.split(",").map(&:to_sym).freeze
    KINDS = WEIGHTS.except(*WITHOUT).flat_map { |kind, weight| [kind] * weight }.freeze
    LEAVES = KINDS.select { |kind| %i[none yes no integer float symbol kept_string literal again constant kept_number kept_time str].include?(kind) }.freeze

    # `size` is the number of values after which only leaves are made.
    def initialize(dice, size: 40)
      @dice = dice
      @remaining = size
      @depth = 0
      @kept = []
    end

    def below(count) = @dice.below(count)
    def one_in(count) = @dice.one_in(count)
    def pick(list) = @dice.pick(list)

    def value
      @remaining -= 1
      @depth += 1
      return send(pick(LEAVES)) if @remaining.negative? || @depth > 12
      return undumpable if one_in(400)
      return unloadable if one_in(400)
      kind = pick(KINDS)
      item = send(kind)
      # `again` returns an earlier value, which may be incomplete and must not be frozen yet.
      one_in(6) && kind != :again ? decorate(item) : item
    ensure
      @depth -= 1
    end

    # Registers a value that may be used in another place too.
    def keep(item)
      @kept << item
      item
    end

    def none = nil
    def yes = true
    def no = false
    # Returns an earlier value, so that it is in several places.
    def again = @kept.empty? ? nil : @kept[-1 - below(@kept.size)]
    def kept_string = keep(string)
    def kept_number = keep(number)
    def kept_regexp = keep(regexp)
    def kept_time = keep(time)
    def kept_date = keep(date)
    def str = keep(pick([Str, SubStr]).new(string))

    def arrays_of_one
      item = value
      (1 + below(30)).times { item = [item] }
      item
    end

    # Adds variables, modules or a singleton class to an item, or freezes it.
    def decorate(item)
      return item if [Module, Encoding, Bare].any? { |type| type === item } || item.frozen?
      case below(6)
      when 0, 1 then add_variables(item, 1 + below(2))
      when 2 then item.extend(pick([Ma, Mb]))
      when 3 then [Ma, Mb, Mc].rotate(below(3)).first(2 + below(2)).each { |mixed| item.extend(mixed) }
      when 4 then one_in(3) ? item.singleton_class.prepend(Ma) : item.singleton_class
      else item.freeze
      end
      item
    end
  end
end
