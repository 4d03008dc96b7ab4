# frozen_string_literal: true

module Chance
  # Differences that are wanted: what Ruby does there is a defect of Ruby. Each is counted
  # and printed; a value with one of them is not compared further.
  module Wanted
    WHY = {
      "a class whose name is not ASCII" => "Ruby 3.1 dumps it and can't load it by `c`",
      "an Encoding that is linked" => "a link to an Encoding is its name in Ruby, a String",
      "a pattern in UTF-8, of a subclass or extended" => "Ruby compiles it before it knows the encoding"
    }.freeze

    def self.name(bytes, theirs)
      return unless bytes
      return "a class whose name is not ASCII" if theirs.error? && theirs.error.message.b.match?(/undefined class\/module .*(?:\\x|[\x80-\xff])/n)
      return "an Encoding that is linked" if bytes.match?(/u:\rEncoding/n) && bytes.count("@").positive?
      "a pattern in UTF-8, of a subclass or extended" if bytes.match?(%r{I(?:[Ce](?::.[\w:]+?|;.))+/}mn)
    end
  end
end
