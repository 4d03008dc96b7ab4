#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "icecore")
require File.join(ENV.fetch("LAB_LIB"), "each")

Each.run "Icecore: each object", **IcecoreRunner::SETTINGS,
         write: ->(object) { Icecore::Marshal.dump(object) },
         read: ->(bytes) { Icecore::Marshal.load(bytes, classes: IcecoreRunner::CLASSES) }
