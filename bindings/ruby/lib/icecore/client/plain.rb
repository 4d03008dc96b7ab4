# frozen_string_literal: true

require "json"

module Icecore
  class Client
    # Plain data is data that JSON can express. A subclass may have methods of its own, so only values
    # of Ruby's own classes are plain data, and no method of the program is called.
    module Plain
      MAX_LEVELS = 90

      # Returns a value as JSON; nil if it is not plain data.
      def self.json(value)
        JSON.generate(value) if plain?(value, MAX_LEVELS)
      end

      def self.plain?(value, levels)
        case value
        when nil, true, false then true
        when Integer then true
        when Float then value.finite?
        when String, Symbol then text?(value)
        when Array then value.instance_of?(Array) && levels.positive? && value.all? { |item| plain?(item, levels - 1) }
        when Hash
          value.instance_of?(Hash) && levels.positive? && value.all? { |key, item| key?(key) && plain?(item, levels - 1) }
        else false
        end
      end
      private_class_method :plain?

      def self.key?(key) = (key.is_a?(String) || key.is_a?(Symbol)) && text?(key)
      private_class_method :key?

      def self.text?(text)
        return text.to_s.encode(Encoding::UTF_8).valid_encoding? if text.is_a?(Symbol)
        text.instance_of?(String) && text.encode(Encoding::UTF_8).valid_encoding?
      rescue EncodingError
        false
      end
      private_class_method :text?
    end
    private_constant :Plain
  end
end
