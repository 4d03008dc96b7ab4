#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.needs "msgpack", install: "apt-get install ruby-msgpack"

# Symbols, and the classes of a scenario that have to_msgpack_ext, are registered as its
# manual does it.
FACTORY = defined?(MessagePack) && MessagePack::Factory.new

def prepare(load)
  FACTORY.register_type(0, Symbol)
  able = ObjectSpace.each_object(Class).select { |type| type.name && type.method_defined?(:to_msgpack_ext) }
  own = able.select { |type| load.code && Object.const_source_location(type.name)&.first == load.code }
  own.sort_by(&:name).each.with_index(1) do |type, number|
    FACTORY.register_type(number, type, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext)
  end
end

Lab.run "MessagePack",
        version: -> { MessagePack::VERSION },
        prepare: method(:prepare),
        write: ->(value) { FACTORY.dump(value) },
        read: ->(bytes) { FACTORY.load(bytes) }
