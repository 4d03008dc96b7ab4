#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.needs "base64", install: "gem install base64" # a gem of its own since Ruby 3.4

# One line without line feeds.
Lab.run "Marshal, Base64",
        version: -> { RUBY_VERSION },
        write: ->(value) { Base64.strict_encode64(Marshal.dump(value)) },
        read: ->(bytes) { Marshal.load(Base64.strict_decode64(bytes)) }
