#!/usr/bin/env ruby
# variants: sqlite sqlite-base64 postgres postgres-base64 mariadb mariadb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "pending/model")

# As the article has it: each object is stored by itself, and is on the disk when that returns.
Pending.run "ActiveRecord, a commit an object", **Pending::Model::SETTINGS,
            most: 1_000, why: "one commit for each takes so long that the others would wait for it",
            put: ->(objects) { objects.each { |object| PendingObject.store(object) } }
