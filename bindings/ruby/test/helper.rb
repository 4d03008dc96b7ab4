# frozen_string_literal: true

# Code that all test programs share: the implementation, Ruby's own Marshal as the oracle, and
# functions that count and report tests.
#
# ICECORE_STAND_IN=1 tests the tests: Ruby's Marshal replaces ours, and all tests that compare the
# two must pass.

require "bigdecimal"
require "date"
require "ostruct"
require "set"
require "stringio"
require "timeout"

STAND_IN = ENV["ICECORE_STAND_IN"] == "1"
LONG = ENV["ICECORE_LONG"].to_i
# Under asan.sh: the sanitizer maps far more memory than the process requests, and frees it
# late.
SANITIZED = ENV["ICECORE_SANITIZED"] == "1"

# Ruby's own Marshal, even if ours has replaced it.
module Oracle
  LOAD = ::Marshal.method(:load).unbind.bind(::Marshal)
  DUMP = ::Marshal.method(:dump).unbind.bind(::Marshal)

  def self.load(*args, **options) = LOAD.call(*args, **options)

  # The value is passed alone: after a splat, a hash with the flag of ruby2_keywords would
  # become keywords.
  def self.dump(value, *rest) = rest.empty? ? DUMP.call(value) : DUMP.call(value, *rest)
end

if STAND_IN
  # Ruby's Marshal, which here accepts our keywords and ignores them.
  module StandIn
    OUR_OPTIONS = %i[classes report rename max_depth].freeze

    def self.load(source, *rest, **options) = Oracle.load(source, *rest, **options.reject { |name, _| OUR_OPTIONS.include?(name) })
    def self.dump(value, *rest) = rest.empty? ? Oracle.dump(value) : Oracle.dump(value, *rest)
    singleton_class.alias_method :restore, :load
  end
  IMPL = StandIn
else
  folder = ENV["ICECORE_RUBY_LIB"] || File.expand_path("../lib", __dir__)
  $LOAD_PATH.unshift(File.expand_path(folder)) if File.directory?(folder)
  require "icecore"
  IMPL = Icecore::Marshal
end

# Ours as a drop-in: every class may be built.
module Ours
  def self.load(source, *rest, **options) = IMPL.load(source, *rest, classes: :any, **options)
  def self.dump(value, *rest) = rest.empty? ? IMPL.dump(value) : IMPL.dump(value, *rest)
end

# The outcome of a call: its value, or its exception, and the events that hooks recorded.
class Outcome
  attr_reader :value, :error, :log

  LOG = []

  # Records an event of a hook.
  def self.record(text) = LOG << text

  def self.of(&call)
    LOG.clear
    new(&call)
  end

  def initialize
    @value = yield
  rescue Exception => error
    raise if error.is_a?(Interrupt) || error.is_a?(SystemExit)
    @error = error
  ensure
    @log = LOG.dup
  end

  def error? = !@error.nil?

  # Returns true if the exceptions are the same; ours may be of a subclass, and its message longer.
  def same_error?(oracle)
    return error? == oracle.error? unless error? && oracle.error?
    theirs = oracle.error
    # If Ruby's stack is exhausted, any error is accepted.
    return true if theirs.is_a?(SystemStackError)
    error.is_a?(theirs.class) && without_addresses(error.message).start_with?(without_addresses(theirs.message).sub(/[.:]\z/, ""))
  end

  def to_s = error? ? "#{error.class}: #{error.message}" : "a value of #{Kernel.instance_method(:class).bind_call(value)}"

  private

  def without_addresses(message) = message.b.gsub(/0x\h+/, "0x")
end

# Counts passed tests and prints failures.
module Check
  @passed = @failed = @shown = 0
  @skipped = []
  @show = (ENV["ICECORE_SHOW"] || 40).to_i

  class << self
    attr_reader :failed

    def ok(name, passed, detail = nil)
      passed ? @passed += 1 : failure(name, detail.respond_to?(:call) ? detail.call : detail)
      passed
    end

    def equal(name, expected, actual)
      ok(name, expected == actual, -> { "expected #{short(expected)}\nfound    #{short(actual)}" })
    end

    # Checks that the block raises `type`; returns the exception.
    def raises(name, type, *texts)
      value = yield
      failure(name, "expected #{type}, found the value #{short(value)}")
      nil
    rescue Exception => error
      raise if error.is_a?(Interrupt) || error.is_a?(SystemExit)
      missing = texts.reject { |word| word.is_a?(Regexp) ? error.message.match?(word) : error.message.include?(word) }
      ok(name, error.is_a?(type) && missing.empty?, -> { "expected #{type}#{missing.map { |word| " with #{word.inspect}" }.join}\nfound    #{error.class}: #{error.message}\n#{error.backtrace&.first}" })
      error
    end

    def passed(count = 1) = @passed += count

    def failure(name, detail = nil, show: true)
      @failed += 1
      return if !show || (@shown += 1) > @show
      puts "not ok - #{name}", *detail.to_s.scrub.gsub(/[^\n -~]/) { |c| c.dump[1..-2] }.lines.map { |line| "    #{line.chomp[0, 1500]}" }
    end

    def skip(name, why)
      @skipped << name
      puts "# skipped: #{name}: #{why}"
    end

    def short(value)
      text = value.inspect
      text.length > 600 ? "#{text[0, 600]}…" : text
    end

    def finish
      puts "# #{@skipped.size} skipped" unless @skipped.empty?
      puts "#{@passed} passed, #{@failed} failed"
      exit(@failed.zero? ? 0 : 1)
    end
  end
end

# Returns the memory of the process in bytes, if it is known.
def memory_held
  return if SANITIZED
  File.read("/proc/self/statm").split[1].to_i * 4096
rescue SystemCallError
  nil
end

# Returns the least growth of memory in several repetitions. Ruby allocates pages irregularly,
# and the system may have reclaimed some before, but a leak grows every time.
def least_growth(times = 4)
  Array.new(times) {
    before = memory_held
    yield
    GC.start
    memory_held - before
  }.min
end
