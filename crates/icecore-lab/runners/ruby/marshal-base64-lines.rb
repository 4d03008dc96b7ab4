#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.needs "base64", install: "gem install base64" # a gem of its own since Ruby 3.4

# A line feed after each 60 characters, as encode64 writes them.
Lab.run "Marshal, Base64 in lines",
        version: -> { RUBY_VERSION },
        write: ->(value) { Base64.encode64(Marshal.dump(value)) },
        read: ->(bytes) { Marshal.load(Base64.decode64(bytes)) }
