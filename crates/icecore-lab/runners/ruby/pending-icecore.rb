#!/usr/bin/env ruby
# variants: sqlite sqlite-base64 postgres postgres-base64 mariadb mariadb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "icecore")
require File.join(ENV.fetch("LAB_LIB"), "pending/model")

# Icecore's module over the same table: it dumps and loads in the place of Marshal, lets through
# the classes that were named, and finds out by itself what the column takes.
def pending
  @pending ||= Icecore::PendingObjects.new(PendingObject, column: :object, classes: IcecoreRunner::CLASSES)
end

Pending.run "Icecore::PendingObjects, one transaction", **Pending::Model::SETTINGS,
            prepare: IcecoreRunner.method(:prepare),
            most: Pending::Model::MOST, why: Pending::Model::WHY,
            put: ->(objects) { PendingObject.transaction { objects.each { |object| pending.store(object) } } },
            each: -> { pending.map { |_, object| object } }
