#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")
require File.join(ENV.fetch("LAB_LIB"), "each")

Each.run "Marshal, each object",
         write: ->(object) { Marshal.dump(object) },
         read: ->(bytes) { Marshal.load(bytes) }
