# frozen_string_literal: true

require_relative "../shape"

module Damaged
  # Decides whether ours does the same as Marshal with damaged bytes.
  class Judge
    # Cases in which ours may accept data that Marshal refuses: [reason, a pattern of Marshal's message].
    ACCEPTED_ONLY_HERE = [].freeze

    # Cases in which both accept, and the values may differ: [reason, a pattern of the bytes].
    ACCEPTED_WITH_OTHER_VALUES = [
      ["a hexadecimal float that ends after its p", /f.0[xX]\h*[pP]/mn],
      ["two encodings, of which the second is unknown: the tape has one", /:\x06E[TF]:\rencoding/n]
    ].freeze

    attr_reader :counts, :failures

    def initialize(trace)
      @trace = trace
      @counts = Hash.new(0)
      @failures = []
    end

    # The first byte of @trace names the library that runs: M for Marshal, I for Icecore. If the process
    # crashes, its parent reads it.
    def judge(bytes)
      @trace.pwrite("M".b, 0)
      theirs = Outcome.of { Oracle.load(bytes) }
      their_lines = shape_of(theirs)
      @trace.pwrite("I".b, 0)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      ours = Outcome.of { Ours.load(bytes.dup) }
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      compare(bytes, ours, theirs, their_lines)
      fail_with(bytes, "it took #{seconds.round(1)} s", ours, theirs) if seconds > 2
      fail_with(bytes, "an error of another class than ours", ours, theirs) if !STAND_IN && foreign?(ours.error)
    end

    private

    # Returns the lines that describe the value of an outcome; nil for an error.
    def shape_of(outcome)
      Shape.of(outcome.value, max_lines: 5000) unless outcome.error?
    rescue StandardError, SystemStackError => error
      # A value from damaged bytes that Ruby itself can't inspect.
      ["shown: #{error.class}"]
    end

    # Returns true for an exception that neither ours nor a hook may raise. Exceptions of hooks are passed
    # on unchanged; they are StandardErrors.
    def foreign?(error) = error && !error.is_a?(Icecore::Error) && !error.is_a?(StandardError)

    def compare(bytes, ours, theirs, their_lines)
      if ours.error? && theirs.error?
        count("both refuse#{', of another class' unless ours.same_error?(theirs) || ours.error.is_a?(theirs.error.class)}")
      elsif ours.error?
        count("only ours refuses: #{without_details(ours.error.message)}")
      elsif theirs.error?
        reason = ACCEPTED_ONLY_HERE.find { |_, pattern| without_details(theirs.error.message).match?(pattern) }
        reason ? count("only Marshal refuses, #{reason[0]}") : fail_with(bytes, "only Marshal refuses", ours, theirs)
      elsif (our_lines = shape_of(ours)) == their_lines
        count("both accept")
      else
        reason = ACCEPTED_WITH_OTHER_VALUES.find { |_, pattern| bytes.match?(pattern) }
        reason ? count("both accept, #{reason[0]}") : fail_with(bytes, "both accept, values differ", ours, theirs, our_lines, their_lines)
      end
    end

    def count(outcome) = @counts[outcome] += 1

    # Returns a message without the parts that vary between damaged texts.
    def without_details(message) = message.b.gsub(/at \$\S*|\d+|"[^"]*"|`[^`']*'|0x\h+|[^ -~]/n, "…")[0, 90]

    def fail_with(bytes, outcome, ours, theirs, our_lines = nil, their_lines = nil)
      @counts["failures"] += 1
      kind = "#{outcome} #{without_details((theirs.error || ours.error)&.message.to_s)}"
      @counts["failures: #{kind}"] += 1
      return if @counts["failures: #{kind}"] > 2
      index = our_lines && our_lines.zip(their_lines).index { |our_line, their_line| our_line != their_line }
      detail = index ? "\nours:    #{our_lines[index, 3].join(' | ')}\nMarshal: #{their_lines[index, 3]&.join(' | ')}" : ""
      @failures << [outcome, "#{bytes.inspect}\nours:    #{ours}\nMarshal: #{theirs}#{detail}"]
    end
  end
end
