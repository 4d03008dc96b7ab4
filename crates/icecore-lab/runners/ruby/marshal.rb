#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.run "Marshal",
        version: -> { RUBY_VERSION },
        to_json: true,
        write: ->(value) { Marshal.dump(value) },
        read: ->(bytes) { Marshal.load(bytes) }
