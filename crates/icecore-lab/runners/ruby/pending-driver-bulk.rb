#!/usr/bin/env ruby
# variants: mongodb mongodb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "pending/collection")

# A thousand documents a command.
Pending.run "Mongo, insert_many", **Pending::Collection::SETTINGS,
            put: ->(objects) { objects.each_slice(1_000) { |some| Pending::Collection.store_all(some) } }
