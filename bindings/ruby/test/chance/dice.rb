# frozen_string_literal: true

# Random choices by a seed. All choices are recorded, so that a case can be repeated from them. A
# failing case is shortened by removing choices and by making them smaller: 0 is the simplest choice.
class Dice
  attr_reader :choices_made

  # Combines several numbers, such as a seed and the number of a case, into one seed.
  def self.seeded(*numbers) = new(Random.new(numbers.reduce(17) { |all, number| all * 1_000_003 + number }))
  # Repeats recorded choices. When there are no more, the choice is 0.
  def self.replay(choices) = new(nil, choices)

  def initialize(random, choices = [])
    @random = random
    @choices = choices
    @choices_made = []
  end

  # Returns a number from 0 to count - 1.
  def below(count)
    choice = @random ? @random.rand(count) : (@choices[@choices_made.size] || 0) % count
    @choices_made << choice
    choice
  end

  # Returns true in one of `count` calls on average.
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

  # Yields shorter lists of choices: first without groups of choices, then with a smaller choice.
  # If the block accepts a list, the next ones are derived from it.
  def self.each_shorter(choices)
    [64, 16, 8, 4, 3, 2, 1].each do |size|
      start = choices.size - size
      while start >= 0
        shorter = choices[0, start] + choices[start + size..]
        choices = shorter if yield(shorter)
        start -= size == 1 ? 1 : [size / 2, 1].max
        start = [start, choices.size - size].min
      end
    end
    choices.each_index.reverse_each do |index|
      [0, choices[index] / 2, choices[index] - 1].uniq.each do |value|
        next if value.negative? || value >= choices[index]
        smaller = choices.dup
        smaller[index] = value
        choices = smaller if yield(smaller)
      end
    end
  end
  private_class_method :each_shorter
end
