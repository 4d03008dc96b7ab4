#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.needs "oj", install: "apt-get install ruby-oj"

# As the JSON module writes and reads. With a scenario's own classes their to_json and
# json_create are asked, which is never on by default.
OPTIONS = { mode: :compat, bigdecimal_load: :float }
OWN = { use_to_json: true, create_additions: true, create_ok: true }.freeze

Lab.run "Oj, compat mode",
        version: -> { Oj::VERSION },
        prepare: ->(load) { OPTIONS.merge!(OWN) if load.code },
        write: ->(value) { Oj.dump(value, OPTIONS) },
        read: ->(bytes) { Oj.load(bytes, OPTIONS) }
