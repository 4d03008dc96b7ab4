#!/usr/bin/env ruby
# variants: sqlite sqlite-base64 postgres postgres-base64 mariadb mariadb-base64 mongodb mongodb-base64
# scenarios: pending-store
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "pending/command")

# Icecore's store, a process of the command each time. It also keeps a checksum, the class and a
# readable copy of each object. All are on the disk when it ends, as many as 10,000 at once.
Pending.run "icecore store", **Pending::Command::SETTINGS
