#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.needs "cbor", install: "apt-get install ruby-cbor"

Lab.run "CBOR",
        version: -> { CBOR::VERSION },
        prepare: ->(load) { raise Lab::Cannot, "it has no objects of classes" if load.code },
        write: ->(value) { CBOR.encode(value) },
        read: ->(bytes) { CBOR.decode(bytes) }
