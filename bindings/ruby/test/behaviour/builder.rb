# frozen_string_literal: true

module Behaviour
  # The value differs from its description.
  class Part < StandardError; end

  # The line uses a feature that this host does not have.
  class Unsaid < StandardError; end

  # Strings and names of a description.
  module Words
    module_function

    def bytes(said, written = nil)
      return said.b if said.is_a?(String)
      case said.keys.first
      when "hex" then [said["hex"]].pack("H*")
      when "join" then said["join"].map { |part| bytes(part, written) }.join.b
      when "times" then bytes(said["times"][1], written) * said["times"][0]
      when "count"
        from, to, before, behind = said["count"]
        (from..to).map { |n| bytes(before, written) + n.to_s.b + bytes(behind, written) }.join
      when "written" then written
      when "text" then said["text"].b
      when "bytes" then [said["bytes"]].pack("H*")
      else raise Unsaid, said.keys.join(" ")
      end
    end

    def string(said)
      return +said if said.is_a?(String)
      return +said["text"] if said.key?("text")
      [said["bytes"] || said["string"]].pack("H*").force_encoding(said["encoding"] || "BINARY")
    end

    # Returns the name of a class in Ruby's notation.
    def name(said) = string(said).gsub("\\", "::")

    # Returns the name of a member: PHP's contain the visibility, Ruby's have an @.
    def member(said)
      return string(said["symbol"]).to_sym if said.is_a?(Hash) && said.key?("symbol")
      plain = string(said).split("\0").last.to_s
      :"@#{plain}"
    end

    FLAGS = { "m" => 4, "i" => 1, "x" => 2 }.freeze

    def float(said) = said == "nan" ? Float::NAN : [said].pack("H*").unpack1("G")
  end

  # Builds a value from a description.
  class Builder
    include Words

    def initialize = @objects = {}

    def build(said, id = nil)
      case said
      when String then note(id, string(said))
      when Array then said.each_with_object(note(id, [])) { |item, list| list << build(item) }
      when Hash then word(said, id)
      else said
      end
    end

    private

    def note(id, value) = id ? @objects[id] = value : value

    def word(said, id)
      first = (said.keys - %w[is kind flags encoding])[0] || "is"
      case first
      when "id" then build(said["is"], said["id"])
      when "same" then @objects.fetch(said["same"])
      when "int" then said["int"].to_i
      when "float" then float(said["float"])
      when "symbol" then string(said["symbol"]).to_sym
      when "class", "module" then Object.const_get(said[first])
      when "text", "bytes", "string" then note(id, string(said))
      when "regexp" then Regexp.new(string(said["regexp"]), Words::FLAGS.sum { |flag, bit| said["flags"].include?(flag) ? bit : 0 })
      when "code" then proc { 1 }
      else container(first, said, id)
      end
    end

    def container(first, said, id)
      case first
      when "map" then fill(note(id, {}), said["map"])
      when "identity" then fill({}.compare_by_identity, said["identity"]["map"])
      when "default" then build(said["is"], id).tap { |map| map.default = build(said["default"]) }
      when "object" then members(note(id, Object.const_get(name(said["object"])).allocate), said["is"]["map"])
      when "struct" then said["is"].each_with_object(note(id, Object.const_get(said["struct"]).allocate)) { |(name, item), all| all[name["symbol"].to_sym] = build(item) }
      when "subclass" then note(id, Object.const_get(said["subclass"]).new(build(said["is"])))
      when "extended" then build(said["is"], id).extend(Object.const_get(said["extended"]))
      when "attributes" then members(note(id, build(said["is"])), said["attributes"])
      when "frozen" then note(id, Object.const_get(said["frozen"]).new(build(said["is"])))
      when "deep" then deep(*said["deep"])
      else raise Unsaid, "build #{said.keys.join(' ')}"
      end
    end

    def fill(map, entries) = entries.each_with_object(map) { |(key, item), all| all[build(key)] = build(item) }
    def members(value, entries) = entries.each_with_object(value) { |(name, item), all| all.instance_variable_set(member(name), build(item)) }
    def deep(levels, word, inner) = levels.times.reduce(build(inner)) { |value, _| word == "list" ? [value] : { "a" => value } }
  end
end
