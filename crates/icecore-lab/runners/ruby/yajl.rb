#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.needs "yajl", install: "apt-get install ruby-yajl"
Lab.needs "yajl/version", install: "apt-get install ruby-yajl"

Lab.run "Yajl",
        version: -> { Yajl::VERSION },
        prepare: ->(load) { raise Lab::Cannot, "it has no objects of classes" if load.code },
        write: ->(value) { Yajl::Encoder.encode(value) },
        read: ->(bytes) { Yajl::Parser.parse(bytes) }
