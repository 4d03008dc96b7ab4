# frozen_string_literal: true

require_relative "builder"

module Behaviour
  # Compares a value with a description; raises Mismatch at the first difference.
  class Checker
    include Descriptions

    def self.describe(value)
      case value
      when String then "#{value.inspect[0, 300]} in #{value.encoding}"
      when nil, true, false, Numeric, Symbol, Module then value.inspect
      else value.class.name.to_s
      end
    end

    # ordered: false if entries of maps may have another order, as in JSON.
    def initialize(ordered: true)
      @ordered = ordered
      @objects = {}
      @met_paths = {}.compare_by_identity
    end

    def check(description, value, path = "$")
      case description
      when Array then check_list(description, value, path)
      when Hash then check_tagged(description, value, path)
      when String
        expect(value.is_a?(String) && value.b == description.b, path, "the string #{description.inspect}", value)
        check_is_new(value, path)
      else expect(description.eql?(value), path, description.is_a?(Integer) ? "the integer #{description}" : description.inspect, value)
      end
    end

    private

    def describe(value) = self.class.describe(value)

    def expect(is_equal, path, expected_text, actual)
      raise Mismatch, "at #{path}: expected #{expected_text}, found #{actual.is_a?(String) && path.nil? ? actual : describe(actual)}" unless is_equal
    end

    # Raises if a mutable value was already met at another path.
    def check_is_new(value, path)
      return if value.is_a?(String) && value.frozen?
      raise Mismatch, "at #{path}: the same object as at #{@met_paths[value]}" if @met_paths.key?(value)
      @met_paths[value] = path
    end

    def check_tagged(description, value, path)
      tag = (description.keys - %w[is kind flags encoding])[0] || "is"
      case tag
      when "any" then nil
      when "id"
        @objects[description["id"]] = value
        check(description["is"], value, path)
      when "same" then expect(@objects.fetch(description["same"]).equal?(value), path, "object #{description['same']} again", value)
      when "int" then expect(value.eql?(description["int"].to_i), path, "the integer #{description['int']}", value)
      when "float" then check_float(description["float"], value, path)
      when "text", "bytes", "string" then check_text(description, value, path)
      when "symbol" then expect(value.eql?(string(description["symbol"]).to_sym), path, "the symbol #{description['symbol']}", value)
      when "class", "module" then expect(value.is_a?(Module) && value.name == description[tag], path, "#{tag} #{description[tag]}", value)
      when "deep" then check_nested(description["deep"], value, path)
      else check_container(tag, description, value, path)
      end
    end

    def check_container(tag, description, value, path)
      case tag
      when "map" then check_map(description["map"], value, path, false)
      when "identity" then check_map(description["identity"]["map"], value, path, true)
      when "default"
        check(description["is"], value, path)
        check(description["default"], value.default, "#{path}, default")
      when "object" then check_object(description, value, path)
      when "record" then check_record(description, value, path)
      when "struct" then check_struct(description, value, path)
      when "subclass" then check_subclass(description, value, path)
      when "extended"
        expect(value.singleton_class.ancestors.map(&:name).include?(description["extended"]), path, "the module #{description['extended']}", value)
        check(description["is"], value, path)
      when "attributes"
        check(description["is"], value, path)
        check_members(description["attributes"], value, path)
      when "frozen"
        expect(value.class.name == description["frozen"], path, "an object of #{description['frozen']}", value)
        check(description["is"], value.data, path)
      when "known" then check_known(description, value, path)
      when "regexp"
        expect(value.is_a?(Regexp) && value.source.b == string(description["regexp"]).b && (value.options & 7) == Descriptions::FLAGS.sum { |flag, bit| description["flags"].include?(flag) ? bit : 0 }, path, "the pattern #{description}", value)
      else raise UnsupportedDescription, "check #{description.keys.join(' ')}"
      end
    end

    def check_float(bits, value, path)
      is_equal = value.is_a?(Float) && (bits == "nan" ? value.nan? : [value].pack("G").unpack1("H*") == bits)
      expect(is_equal, path, "the float #{bits}", value.is_a?(Float) ? [value].pack("G").unpack1("H*").to_sym : value)
    end

    # Text is UTF-8; bytes are binary, or broken text.
    def check_text(description, value, path)
      expected = string(description)
      is_equal = value.is_a?(String) && value.b == expected.b
      is_equal &&= value.encoding == expected.encoding unless description.key?("bytes")
      expect(is_equal, path, "the string #{describe(expected)}", value)
      check_is_new(value, path)
    end

    def check_list(description, value, path)
      expect(value.is_a?(Array), path, "a list", value)
      expect(value.size == description.size, path, "#{description.size} items", value.size)
      check_is_new(value, path)
      description.each_with_index { |item, index| check(item, value[index], "#{path}[#{index}]") }
    end

    def check_map(entries, value, path, identity)
      expect(value.is_a?(Hash), path, "a hash", value)
      expect(value.compare_by_identity? == identity, path, "identity #{identity}", value)
      expect(value.size == entries.size, path, "#{entries.size} entries", value.size)
      check_is_new(value, path)
      actual_entries = @ordered ? value.to_a : entries.map { |key,| [key, value.fetch(key, nil)] }
      entries.each_with_index do |(key, item), index|
        check_key(key, actual_entries[index][0], path)
        check(item, actual_entries[index][1], "#{path}.#{actual_entries[index][0].to_s.b.gsub(/[^ -~]/n, '?')}")
      end
    end

    # String keys belong to the hash itself.
    def check_key(description, key, path)
      return check(description, key, "#{path}, key") unless key.is_a?(String) && (description.is_a?(String) || %w[text bytes string].include?(description.keys[0]))
      expect(key.b == string(description).b, path, "the key #{string(description).inspect}", key)
    end

    def check_object(description, value, path)
      type = Kernel.instance_method(:class).bind_call(value).name
      expect(type == name(description["object"]), path, "an object of #{name(description['object'])}", type&.to_sym)
      check_is_new(value, path)
      check_members(description["is"]["map"] || description["is"], value, path)
    end

    def check_members(entries, value, path)
      names = value.instance_variables
      expect(names.size == entries.size, path, "#{entries.size} members", names.inspect.to_sym)
      entries.each_with_index do |(description, item), index|
        expect(names[index] == member(description), path, "the member #{member(description)}", names[index])
        check(item, value.instance_variable_get(names[index]), "#{path}.#{names[index]}")
      end
    end

    def check_record(description, value, path)
      expect(value.is_a?(Icecore::Record), path, "a record", value)
      expect(value.class_name == string(description["record"]), path, "a record of #{description['record']}", value.class_name)
      expect(value.kind.to_s == description["kind"], path, "the kind #{description['kind']}", value.kind) if description.key?("kind")
      check_is_new(value, path)
      description["is"].key?("map") && value.value.is_a?(Hash) ? check_record_members(description["is"]["map"], value.value, path) : check(description["is"], value.value, path)
    end

    def check_record_members(entries, members, path)
      expect(members.size == entries.size, path, "#{entries.size} members", members.keys.inspect.to_sym)
      entries.zip(members.keys).each do |(name, item), key|
        expect(key.to_sym == member(name), path, "the member #{member(name)}", key)
        check(item, members[key], "#{path}.#{key}")
      end
    end

    def check_struct(description, value, path)
      expect(value.class.name == description["struct"], path, "a struct #{description['struct']}", value)
      check_is_new(value, path)
      description["is"].each { |name, item| check(item, value[name["symbol"].to_sym], "#{path}.#{name['symbol']}") }
    end

    def check_subclass(description, value, path)
      expect(value.class.name == description["subclass"], path, "an object of #{description['subclass']}", value)
      check(description["is"], value, path)
    end

    def check_known(description, value, path)
      expect(value.class.name == description["known"], path, "an object of #{description['known']}", value)
      return check(description["is"], value.to_a, path) if value.is_a?(Set)
      expect(value.inspect == description["is"], path, description["is"], value.inspect)
    end

    def check_nested(description, value, path)
      levels, container, innermost = description
      (1..levels).each do |level|
        is_equal = container == "list" ? value.is_a?(Array) && value.size == 1 : value.is_a?(Hash) && value.keys == ["a"]
        raise Mismatch, "at #{path}: level #{level}, expected a #{container}, found #{describe(value)}" unless is_equal
        value = container == "list" ? value[0] : value["a"]
      end
      check(innermost, value, "#{path}, level #{levels}")
    end
  end
end
