# frozen_string_literal: true

require_relative "builder"

module Behaviour
  # Compares a value with a description; raises Part at the first difference.
  class Checker
    include Words

    def self.shown(value)
      case value
      when String then "#{value.inspect[0, 300]} in #{value.encoding}"
      when nil, true, false, Numeric, Symbol, Module then value.inspect
      else value.class.name.to_s
      end
    end

    # The keys of JSON lines may have another order.
    def initialize(ordered: true)
      @ordered = ordered
      @objects = {}
      @met = {}.compare_by_identity
    end

    def check(said, value, path = "$")
      case said
      when Array then list(said, value, path)
      when Hash then word(said, value, path)
      when String
        want(value.is_a?(String) && value.b == said.b, path, "the string #{said.inspect}", value)
        meet(value, path)
      else want(said.eql?(value), path, said.is_a?(Integer) ? "the integer #{said}" : said.inspect, value)
      end
    end

    private

    def shown(value) = self.class.shown(value)

    def want(good, path, what, got)
      raise Part, "at #{path}: expected #{what}, found #{got.is_a?(String) && path.nil? ? got : shown(got)}" unless good
    end

    # A mutable value must not have been met in another place.
    def meet(value, path)
      return if value.is_a?(String) && value.frozen?
      raise Part, "at #{path}: the same object as at #{@met[value]}" if @met.key?(value)
      @met[value] = path
    end

    def word(said, value, path)
      first = (said.keys - %w[is kind flags encoding])[0] || "is"
      case first
      when "any" then nil
      when "id"
        @objects[said["id"]] = value
        check(said["is"], value, path)
      when "same" then want(@objects.fetch(said["same"]).equal?(value), path, "object #{said['same']} again", value)
      when "int" then want(value.eql?(said["int"].to_i), path, "the integer #{said['int']}", value)
      when "float" then float_of(said["float"], value, path)
      when "text", "bytes", "string" then text(said, value, path)
      when "symbol" then want(value.eql?(string(said["symbol"]).to_sym), path, "the symbol #{said['symbol']}", value)
      when "class", "module" then want(value.is_a?(Module) && value.name == said[first], path, "#{first} #{said[first]}", value)
      when "deep" then deep(said["deep"], value, path)
      else container(first, said, value, path)
      end
    end

    def container(first, said, value, path)
      case first
      when "map" then map(said["map"], value, path, false)
      when "identity" then map(said["identity"]["map"], value, path, true)
      when "default"
        check(said["is"], value, path)
        check(said["default"], value.default, "#{path}, default")
      when "object" then object(said, value, path)
      when "record" then record(said, value, path)
      when "struct" then struct(said, value, path)
      when "subclass" then subclass(said, value, path)
      when "extended"
        want(value.singleton_class.ancestors.map(&:name).include?(said["extended"]), path, "the module #{said['extended']}", value)
        check(said["is"], value, path)
      when "attributes"
        check(said["is"], value, path)
        members(said["attributes"], value, path)
      when "frozen"
        want(value.class.name == said["frozen"], path, "an object of #{said['frozen']}", value)
        check(said["is"], value.data, path)
      when "known" then known(said, value, path)
      when "regexp"
        want(value.is_a?(Regexp) && value.source.b == string(said["regexp"]).b && (value.options & 7) == Words::FLAGS.sum { |flag, bit| said["flags"].include?(flag) ? bit : 0 }, path, "the pattern #{said}", value)
      else raise Unsaid, "check #{said.keys.join(' ')}"
      end
    end

    def float_of(bits, value, path)
      good = value.is_a?(Float) && (bits == "nan" ? value.nan? : [value].pack("G").unpack1("H*") == bits)
      want(good, path, "the float #{bits}", value.is_a?(Float) ? [value].pack("G").unpack1("H*").to_sym : value)
    end

    # Text is UTF-8; bytes are binary, or broken text.
    def text(said, value, path)
      wanted = string(said)
      good = value.is_a?(String) && value.b == wanted.b
      good &&= value.encoding == wanted.encoding unless said.key?("bytes")
      want(good, path, "the string #{shown(wanted)}", value)
      meet(value, path)
    end

    def list(said, value, path)
      want(value.is_a?(Array), path, "a list", value)
      want(value.size == said.size, path, "#{said.size} items", value.size)
      meet(value, path)
      said.each_with_index { |item, at| check(item, value[at], "#{path}[#{at}]") }
    end

    def map(entries, value, path, identity)
      want(value.is_a?(Hash), path, "a hash", value)
      want(value.compare_by_identity? == identity, path, "identity #{identity}", value)
      want(value.size == entries.size, path, "#{entries.size} entries", value.size)
      meet(value, path)
      found = @ordered ? value.to_a : entries.map { |key,| [key, value.fetch(key, nil)] }
      entries.each_with_index do |(key, item), at|
        check_key(key, found[at][0], path)
        check(item, found[at][1], "#{path}.#{found[at][0].to_s.b.gsub(/[^ -~]/n, '?')}")
      end
    end

    # String keys belong to the hash itself.
    def check_key(said, key, path)
      return check(said, key, "#{path}, key") unless key.is_a?(String) && (said.is_a?(String) || %w[text bytes string].include?(said.keys[0]))
      want(key.b == string(said).b, path, "the key #{string(said).inspect}", key)
    end

    def object(said, value, path)
      type = Kernel.instance_method(:class).bind_call(value).name
      want(type == name(said["object"]), path, "an object of #{name(said['object'])}", type&.to_sym)
      meet(value, path)
      members(said["is"]["map"] || said["is"], value, path)
    end

    def members(entries, value, path)
      names = value.instance_variables
      want(names.size == entries.size, path, "#{entries.size} members", names.inspect.to_sym)
      entries.each_with_index do |(said, item), at|
        want(names[at] == member(said), path, "the member #{member(said)}", names[at])
        check(item, value.instance_variable_get(names[at]), "#{path}.#{names[at]}")
      end
    end

    def record(said, value, path)
      want(value.is_a?(Icecore::Record), path, "a record", value)
      want(value.class_name == string(said["record"]), path, "a record of #{said['record']}", value.class_name)
      want(value.kind.to_s == said["kind"], path, "the kind #{said['kind']}", value.kind) if said.key?("kind")
      meet(value, path)
      said["is"].key?("map") && value.value.is_a?(Hash) ? record_members(said["is"]["map"], value.value, path) : check(said["is"], value.value, path)
    end

    def record_members(entries, members, path)
      want(members.size == entries.size, path, "#{entries.size} members", members.keys.inspect.to_sym)
      entries.zip(members.keys).each do |(name, item), key|
        want(key.to_sym == member(name), path, "the member #{member(name)}", key)
        check(item, members[key], "#{path}.#{key}")
      end
    end

    def struct(said, value, path)
      want(value.class.name == said["struct"], path, "a struct #{said['struct']}", value)
      meet(value, path)
      said["is"].each { |name, item| check(item, value[name["symbol"].to_sym], "#{path}.#{name['symbol']}") }
    end

    def subclass(said, value, path)
      want(value.class.name == said["subclass"], path, "an object of #{said['subclass']}", value)
      check(said["is"], value, path)
    end

    def known(said, value, path)
      want(value.class.name == said["known"], path, "an object of #{said['known']}", value)
      return check(said["is"], value.to_a, path) if value.is_a?(Set)
      want(value.inspect == said["is"], path, said["is"], value.inspect)
    end

    def deep(deep, value, path)
      levels, word, inner = deep
      (1..levels).each do |level|
        good = word == "list" ? value.is_a?(Array) && value.size == 1 : value.is_a?(Hash) && value.keys == ["a"]
        raise Part, "at #{path}: level #{level}, expected a #{word}, found #{shown(value)}" unless good
        value = word == "list" ? value[0] : value["a"]
      end
      check(inner, value, "#{path}, level #{levels}")
    end
  end
end
