#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")
require File.join(ENV.fetch("LAB_LIB"), "each")

Lab.needs "base64", install: "gem install base64" # a gem of its own since Ruby 3.4

Each.run "Marshal, each object, Base64 in lines",
         write: ->(object) { Base64.encode64(Marshal.dump(object)) },
         read: ->(bytes) { Marshal.load(Base64.decode64(bytes)) }
