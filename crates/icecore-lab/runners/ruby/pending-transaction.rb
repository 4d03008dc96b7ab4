#!/usr/bin/env ruby
# variants: sqlite sqlite-base64 postgres postgres-base64 mariadb mariadb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "pending/model")

# The same in one transaction: all are on the disk when it ends, or none.
Pending.run "ActiveRecord, one transaction", **Pending::Model::SETTINGS,
            most: Pending::Model::MOST, why: Pending::Model::WHY,
            put: lambda { |objects|
              PendingObject.transaction { objects.each { |object| PendingObject.store(object) } }
            }
