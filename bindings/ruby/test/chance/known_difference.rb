# frozen_string_literal: true

module Chance
  # Deliberate differences, where Ruby has a defect. Each occurrence is counted, and the counts are
  # printed. A value with such a difference is not compared further.
  module KnownDifference
    REASONS = {
      "a class whose name is not ASCII" => "Ruby 3.1 dumps it and can't load it by `c`",
      "an Encoding that is linked" => "a link to an Encoding is its name in Ruby, a String",
      "a pattern in UTF-8, of a subclass or extended" => "Ruby compiles it before it knows the encoding",
      "a regexp that is linked from its own variables" => "Marshal writes it, and can't read it",
      "a regexp with variables of its own" => "Ruby 3.1.2 loses them when it loads a regexp, later versions don't",
      "an extended object with _dump_data" => "Ruby extends what _load_data gets",
      "a proc or freeze, and a key that is there twice" => "equal keys of hashes are one object, however they are written",
      "a module or subclass whose name has another encoding" => "Ruby numbers such a value before the name when it dumps, and after it when it loads, so links are wrong",
      "a Data with variables" => "Marshal refuses it at the first variable, ours when all are read; by then hooks in them have run"
    }.freeze

    # True if this Ruby loses the variables of a Regexp when it loads one.
    LOSES_REGEXP_VARIABLES = ::Marshal.load("\x04\bI/\x00\x00\a:\x06EF:\a@a0".b).instance_variables.empty?

    # Returns the name of the known difference that a failed check shows; nil if it shows none.
    def self.name(bytes, ours, theirs, check, value)
      return unless bytes
      return "a proc or freeze, and a key that is there twice" if check.match?(/proc|freeze/) && (equal_keys?(value) || equal_keys?(Outcome.of { Oracle.load(bytes) }.value))
      return "a class whose name is not ASCII" if theirs.error? && theirs.error.message.b.match?(/undefined class\/module .*(?:\\x|[\x80-\xff])/n)
      return "a regexp that is linked from its own variables" if theirs.error? && theirs.error.message.match?(/bad link|can.t convert (\w+) into \1/) && bytes.match?(%r{I[^@]*/}mn)
      return "a regexp with variables of its own" if LOSES_REGEXP_VARIABLES && bytes.match?(%r{I[^@]*/}mn) && bytes.match?(/@/n)
      return "an extended object with _dump_data" if bytes.match?(/(?:e(?::.[\w:]+?|;.))+d[:;]/mn)
      return "a module or subclass whose name has another encoding" if theirs.error? && bytes.match?(/[Ce]I:.[^:]*::S\x82\xa0\x06/mn)
      return "a Data with variables" if theirs.error.is_a?(FrozenError) && theirs.error.message.include?("#<data ") && ours.same_error?(theirs)
      return "an Encoding that is linked" if bytes.match?(/u:\rEncoding/n) && bytes.count("@").positive?
      "a pattern in UTF-8, of a subclass or extended" if bytes.match?(%r{I(?:[Ce](?::.[\w:]+?|;.))+/}mn)
    end

    # Returns true if a String is a key, and equals another key or a value with links.
    def self.equal_keys?(value)
      lines = Shape.of(value)
      return true if lines.any? { |line| line.match(/\Akey same (\d+)\z/) { |number| lines.any? { |other| other.match?(/##{number[1]} String/) } } }
      lines.each_cons(2).any? do |line, text|
        number = line[/\Akey #(\d+) String/, 1]
        number && (lines.count(text) > 1 || lines.any? { |other| other.end_with?("same #{number}") })
      end
    rescue StandardError
      false
    end
  end
end
