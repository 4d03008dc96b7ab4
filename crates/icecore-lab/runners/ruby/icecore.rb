#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "icecore")

Lab.run "Icecore", **IcecoreRunner::SETTINGS,
        to_json: ->(bytes) { Icecore.convert(bytes, "marshal", "json") },
        write: ->(value) { Icecore::Marshal.dump(value) },
        read: ->(bytes) { Icecore::Marshal.load(bytes, classes: IcecoreRunner::CLASSES) }
