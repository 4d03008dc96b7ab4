#!/usr/bin/env ruby
# variants: sqlite sqlite-base64 postgres postgres-base64 mariadb mariadb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "pending/model")

# As one would now: a thousand rows a statement, all in one transaction, and no object of
# ActiveRecord for any of them.
Pending.run "ActiveRecord, insert_all", **Pending::Model::SETTINGS,
            put: lambda { |objects|
              PendingObject.transaction do
                objects.each_slice(1_000) do |some|
                  PendingObject.insert_all!(some.map { |object| { object: PendingObject.frozen_form(object) } })
                end
              end
            }
