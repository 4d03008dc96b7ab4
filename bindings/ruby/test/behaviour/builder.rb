# frozen_string_literal: true

module Behaviour
  # The value differs from its description.
  class Mismatch < StandardError; end

  # The line uses a feature that this host does not have.
  class UnsupportedDescription < StandardError; end

  # Strings and names of a description.
  module Descriptions
    module_function

    def bytes(description, written_bytes = nil)
      return description.b if description.is_a?(String)
      case description.keys.first
      when "hex" then [description["hex"]].pack("H*")
      when "join" then description["join"].map { |part| bytes(part, written_bytes) }.join.b
      when "times" then bytes(description["times"][1], written_bytes) * description["times"][0]
      when "count"
        from, to, prefix, suffix = description["count"]
        (from..to).map { |n| bytes(prefix, written_bytes) + n.to_s.b + bytes(suffix, written_bytes) }.join
      when "written" then written_bytes
      when "text" then description["text"].b
      when "bytes" then [description["bytes"]].pack("H*")
      else raise UnsupportedDescription, description.keys.join(" ")
      end
    end

    def string(description)
      return +description if description.is_a?(String)
      return +description["text"] if description.key?("text")
      [description["bytes"] || description["string"]].pack("H*").force_encoding(description["encoding"] || "BINARY")
    end

    # Returns the name of a class in Ruby's notation.
    def name(description) = string(description).gsub("\\", "::")

    # Returns the name of a member: PHP's contain the visibility, Ruby's have an @.
    def member(description)
      return string(description["symbol"]).to_sym if description.is_a?(Hash) && description.key?("symbol")
      bare_name = string(description).split("\0").last.to_s
      :"@#{bare_name}"
    end

    FLAGS = { "m" => 4, "i" => 1, "x" => 2 }.freeze

    def float(description) = description == "nan" ? Float::NAN : [description].pack("H*").unpack1("G")
  end

  # Builds a value from a description.
  class Builder
    include Descriptions

    def initialize = @objects = {}

    def build(description, id = nil)
      case description
      when String then remember(id, string(description))
      when Array then description.each_with_object(remember(id, [])) { |item, list| list << build(item) }
      when Hash then build_tagged(description, id)
      else description
      end
    end

    private

    def remember(id, value) = id ? @objects[id] = value : value

    def build_tagged(description, id)
      tag = (description.keys - %w[is kind flags encoding])[0] || "is"
      case tag
      when "id" then build(description["is"], description["id"])
      when "same" then @objects.fetch(description["same"])
      when "int" then description["int"].to_i
      when "float" then float(description["float"])
      when "symbol" then string(description["symbol"]).to_sym
      when "class", "module" then Object.const_get(description[tag])
      when "text", "bytes", "string" then remember(id, string(description))
      when "regexp" then Regexp.new(string(description["regexp"]), Descriptions::FLAGS.sum { |flag, bit| description["flags"].include?(flag) ? bit : 0 })
      when "code" then proc { 1 }
      else build_container(tag, description, id)
      end
    end

    def build_container(tag, description, id)
      case tag
      when "map" then fill(remember(id, {}), description["map"])
      when "identity" then fill({}.compare_by_identity, description["identity"]["map"])
      when "default" then build(description["is"], id).tap { |map| map.default = build(description["default"]) }
      when "object" then set_members(remember(id, Object.const_get(name(description["object"])).allocate), description["is"]["map"])
      when "struct" then description["is"].each_with_object(remember(id, Object.const_get(description["struct"]).allocate)) { |(name, item), result| result[name["symbol"].to_sym] = build(item) }
      when "subclass" then remember(id, Object.const_get(description["subclass"]).new(build(description["is"])))
      when "extended" then build(description["is"], id).extend(Object.const_get(description["extended"]))
      when "attributes" then set_members(remember(id, build(description["is"])), description["attributes"])
      when "frozen" then remember(id, Object.const_get(description["frozen"]).new(build(description["is"])))
      when "deep" then nest(*description["deep"])
      else raise UnsupportedDescription, "build #{description.keys.join(' ')}"
      end
    end

    def fill(map, entries) = entries.each_with_object(map) { |(key, item), result| result[build(key)] = build(item) }
    def set_members(value, entries) = entries.each_with_object(value) { |(name, item), result| result.instance_variable_set(member(name), build(item)) }
    def nest(levels, container, innermost) = levels.times.reduce(build(innermost)) { |value, _| container == "list" ? [value] : { "a" => value } }
  end
end
