# frozen_string_literal: true

# Choices by a seed. All choices are recorded, and can be repeated: a case is shortened by
# removing choices and making them smaller. 0 is always the simplest choice.
class Dice
  attr_reader :made

  def self.seeded(*numbers) = new(Random.new(numbers.reduce(17) { |all, number| all * 1_000_003 + number }))
  def self.again(choices) = new(nil, choices)

  def initialize(random, choices = [])
    @random = random
    @choices = choices
    @made = []
  end

  def below(count)
    choice = @random ? @random.rand(count) : (@choices[@made.size] || 0) % count
    @made << choice
    choice
  end

  # True once in `count` times.
  def one_in(count) = below(count) == count - 1

  def pick(list) = list[below(list.size)]

  def bytes(count) = Array.new(count) { below(256) }.pack("C*")

  # Returns the shortest choices for which the block still returns true.
  def self.shorten(choices, seconds: 4)
    stop = now + seconds
    loop do
      before = choices
      each_shorter(choices) do |shorter|
        return choices if now > stop
        next false unless yield(shorter)
        choices = shorter
        true
      end
      return choices if choices == before
    end
  end

  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # Yields candidates; if the block accepts one, the next ones are derived from it.
  def self.each_shorter(choices)
    [64, 16, 8, 4, 3, 2, 1].each do |size|
      at = choices.size - size
      while at >= 0
        shorter = choices[0, at] + choices[at + size..]
        choices = shorter if yield(shorter)
        at -= size == 1 ? 1 : [size / 2, 1].max
        at = [at, choices.size - size].min
      end
    end
    choices.each_index.reverse_each do |at|
      [0, choices[at] / 2, choices[at] - 1].uniq.each do |value|
        next if value.negative? || value >= choices[at]
        smaller = choices.dup
        smaller[at] = value
        choices = smaller if yield(smaller)
      end
    end
  end
  private_class_method :each_shorter
end
