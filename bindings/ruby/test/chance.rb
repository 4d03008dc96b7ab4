# frozen_string_literal: true

# Random values by a seed. Icecore must dump the same bytes as Ruby's Marshal, and load the same
# values, with all options. If Marshal raises, Icecore must raise. In the code, `ours` is Icecore, and
# `theirs` is Marshal.
#
#   ruby chance.rb [--seed N] [--count N] [--from N] [--seconds N] [--no-corners]
#
# A failing case is shortened and printed. ICECORE_TRACE names a file that contains the number
# of the running case, for a process that crashes.

require_relative "helper"
require_relative "chance/trial"

# Runs the values that every run tests and the random cases, and reports each kind of failure once.
class ChanceRun
  def initialize(options)
    @seed = options["--seed"] || Random.new_seed % 1_000_000
    @count = options["--count"] || (ENV["ICECORE_FULL"] ? 10_000 : 3_000) + 300_000 * LONG
    @from = options["--from"] || 0
    @seconds = options["--seconds"]
    @failure_counts = Hash.new(0)
    @short_cases = Set[]
    @difference_counts = Hash.new(0)
    @trace = ENV["ICECORE_TRACE"]
  end

  def run_corners
    Chance::Corners.all.each do |name, value|
      # The values with these names are too large for all additional checks.
      large = name.start_with?("a long")
      (large ? %i[plain frozen through_io] : Chance::Trial::EXTRAS).each do |extra|
        (extra == :replaced ? 8 : 1).times { |number| report("#{name}, #{extra}", Chance::Trial.new(value, extra, extra == :limited ? 4 : number)) }
      end
    end
  end

  def run_cases
    stop = @seconds && Dice.now + @seconds
    (@from...@from + @count).each do |number|
      break if stop && Dice.now > stop
      File.write(@trace, "--seed #{@seed} --from #{number} --count 1") if @trace
      dice = Dice.seeded(@seed, number)
      report("--seed #{@seed} --from #{number} --count 1", Chance::Trial.by_dice(dice), dice)
    end
  end

  def report(name, trial, dice = nil)
    trial.run
    # The result of `freeze` depends on whether a literal is still in Ruby's table of literals, and the
    # garbage collector removes literals. So such a failure counts only if it occurs twice.
    trial = trial.run_again.run if trial.failures.any? { |check,| check.include?("freeze") }
    Check.passed(trial.checks - trial.failures.size)
    trial.known_differences.each { |difference| @difference_counts[difference] += 1 }
    trial.failures.each do |check, ours, theirs|
      count = (@failure_counts[failure_kind(check, ours, theirs)] += 1)
      next Check.failure("#{check} (#{name})", nil, show: false) if count > 1
      choices = dice && Dice.shorten(dice.choices_made) { |shorter| fails?(check, shorter) }
      # Failures with the same short case are the same defect.
      show = choices.nil? || !@short_cases.include?(choices)
      @short_cases << choices
      Check.failure("#{check} (#{name})", show && detail(check, choices, ours, theirs), show: show)
    end
  end

  # Returns the first difference, without the parts that vary between cases. Failures of one kind most
  # likely have the same cause.
  def failure_kind(check, ours, theirs)
    index = (0..ours.size).find { |n| ours[n] != theirs[n] }
    lines = [ours[index], theirs[index]].map { |line| line.to_s.b.gsub(/"(?:[^"\\]|\\.)*"|\d+|0x\h+|[^ -~]+/n, "…")[0, 60] }
    "#{check.sub(/\d+/, 'N')}: #{check == 'dump' ? '' : lines.join(' / ')}"
  end

  # Returns true if the case that these choices make fails in the same check.
  def fails?(check, choices) = Chance::Trial.by_dice(Dice.replay(choices)).run.failures.any? { |failure| failure[0] == check }

  # Returns the lines around the first difference, of the shortened case if there is one.
  def detail(check, choices, ours, theirs)
    if choices
      short_dice = Dice.replay(choices)
      trial = Chance::Trial.by_dice(short_dice)
      failure = trial.run.failures.find { |candidate| candidate[0] == check }
      ours, theirs = failure[1..] if failure
    end
    index = (0..).find { |n| ours[n] != theirs[n] || n > ours.size }
    lines = ["from line #{index}:"]
    lines += ours[[index - 3, 0].max, 7].map { |line| "ours:    #{line}" }
    lines += theirs[[index - 3, 0].max, 7].map { |line| "Marshal: #{line}" }
    lines << "the value: #{trial.describe}" if trial
    lines.join("\n")
  end

  def run(corners: true)
    run_corners if corners
    run_cases
    Chance::KnownDifference::REASONS.each { |difference, why| puts "# known difference, #{@difference_counts[difference]} times: #{difference}: #{why}" }
    @failure_counts.each { |failure_kind, count| puts "# failed #{count} times: #{failure_kind}" }
    puts "# seed #{@seed}"
  end
end

corners = !ARGV.delete("--no-corners") && !ARGV.include?("--from")
options = ARGV.each_slice(2).to_h { |name, value| [name, value.to_i] }
ChanceRun.new(options).run(corners: corners)
Check.finish
