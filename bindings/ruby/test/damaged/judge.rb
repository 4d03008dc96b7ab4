# frozen_string_literal: true

require_relative "../shape"

module Damaged
  # Decides for one text if ours does the same as Marshal.
  class Judge
    # Cases in which ours may accept data that Marshal refuses: [why, Marshal's message].
    LAXER = [].freeze

    # Cases in which both accept, and the values may differ: [why, condition on the bytes].
    OTHERWISE = [
      ["a hexadecimal float that ends behind its p", /f.0[xX]\h*[pP]/mn],
      ["two encodings, the second of which is none: the tape has one", /:\x06E[TF]:\rencoding/n]
    ].freeze

    attr_reader :counts, :failures

    def initialize(trace)
      @trace = trace
      @counts = Hash.new(0)
      @failures = []
    end

    def judge(bytes)
      @trace.pwrite("M".b, 0)
      theirs = Outcome.of { Oracle.load(bytes) }
      said = shape(theirs)
      @trace.pwrite("I".b, 0)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      ours = Outcome.of { Ours.load(bytes.dup) }
      took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      compare(bytes, ours, theirs, said)
      fail_with(bytes, "it took #{took.round(1)} s", ours, theirs) if took > 2
      fail_with(bytes, "an error that is none of ours", ours, theirs) if !STAND_IN && foreign?(ours.error)
    end

    private

    def shape(outcome)
      Shape.of(outcome.value, most: 5000) unless outcome.error?
    rescue StandardError, SystemStackError => error
      # A value from damaged bytes that Ruby itself can't inspect.
      ["shown: #{error.class}"]
    end

    # Exceptions of hooks are passed on unchanged.
    def foreign?(error) = error && !error.is_a?(Icecore::Error) && !error.is_a?(StandardError)

    def compare(bytes, ours, theirs, said)
      if ours.error? && theirs.error?
        count("both refuse#{', of another class' unless ours.like_error?(theirs) || ours.error.is_a?(theirs.error.class)}")
      elsif ours.error?
        count("only ours refuses: #{plain(ours.error.message)}")
      elsif theirs.error?
        why = LAXER.find { |_, words| plain(theirs.error.message).match?(words) }
        why ? count("only Marshal refuses, #{why[0]}") : fail_with(bytes, "only Marshal refuses", ours, theirs)
      elsif (found = shape(ours)) == said
        count("both accept")
      else
        why = OTHERWISE.find { |_, condition| bytes.match?(condition) }
        why ? count("both accept, #{why[0]}") : fail_with(bytes, "both accept, values differ", ours, theirs, found, said)
      end
    end

    def count(what) = @counts[what] += 1

    # Without the parts that vary between texts.
    def plain(message) = message.b.gsub(/at \$\S*|\d+|"[^"]*"|`[^`']*'|0x\h+|[^ -~]/n, "…")[0, 90]

    def fail_with(bytes, what, ours, theirs, found = nil, said = nil)
      @counts["failures"] += 1
      kind = "#{what} #{plain((theirs.error || ours.error)&.message.to_s)}"
      @counts["failures: #{kind}"] += 1
      return if @counts["failures: #{kind}"] > 2
      at = found && found.zip(said).index { |mine, other| mine != other }
      detail = at ? "\nours:    #{found[at, 3].join(' | ')}\nMarshal: #{said[at, 3]&.join(' | ')}" : ""
      @failures << [what, "#{bytes.inspect}\nours:    #{ours}\nMarshal: #{theirs}#{detail}"]
    end
  end
end
