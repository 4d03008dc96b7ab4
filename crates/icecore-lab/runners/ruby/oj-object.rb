#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "lab")

Lab.needs "oj", install: "apt-get install ruby-oj"

# Its default writes floats with 16 digits, which not all survive; with 0 they are as Ruby
# writes them. What has many digits would come back as a BigDecimal.
OPTIONS = { mode: :object, float_precision: 0, bigdecimal_load: :float }.freeze

Lab.run "Oj, object mode",
        version: -> { Oj::VERSION },
        write: ->(value) { Oj.dump(value, OPTIONS) },
        read: ->(bytes) { Oj.load(bytes, OPTIONS) }
