#!/usr/bin/env ruby
# variants: mongodb mongodb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "icecore")
require File.join(ENV.fetch("LAB_LIB"), "pending/collection")

# The same by Icecore's module in the place of Marshal, which lets through the classes that were named.
module ListedMarshal
  def self.dump(object) = Icecore::Marshal.dump(object)
  def self.load(bytes) = Icecore::Marshal.load(bytes, classes: IcecoreRunner::CLASSES)
end

Pending::Collection.marshal = ListedMarshal
Pending.run "Icecore::Marshal, insert_many", **Pending::Collection::SETTINGS,
            prepare: IcecoreRunner.method(:prepare),
            put: ->(objects) { objects.each_slice(1_000) { |some| Pending::Collection.store_all(some) } }
