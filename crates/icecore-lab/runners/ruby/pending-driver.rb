#!/usr/bin/env ruby
# variants: mongodb mongodb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "pending/collection")

# As the article has it: each object is stored by itself, and the server has confirmed it when that returns.
Pending.run "Mongo, an insert an object", **Pending::Collection::SETTINGS,
            most: 5_000, why: "one answer for each takes so long that the others would wait for it",
            put: ->(objects) { objects.each { |object| Pending::Collection.store(object) } }
