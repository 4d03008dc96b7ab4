#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")
require "json"

# With a scenario's own classes their to_json and json_create are asked: the module's way
# for objects, never on by default. Other objects do not come back, which the check says.
OPTIONS = { max_nesting: false }

Lab.run "JSON",
        version: -> { JSON::VERSION },
        prepare: ->(load) { OPTIONS[:create_additions] = true if load.code },
        write: ->(value) { JSON.generate(value, max_nesting: 0) },
        read: ->(bytes) { JSON.parse(bytes, OPTIONS) }
