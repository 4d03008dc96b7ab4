#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "icecore")
require File.join(ENV.fetch("LAB_LIB"), "each")

Each.run "Icecore: each object, Base64", **IcecoreRunner::SETTINGS,
         write: ->(object) { Icecore.encode(object, "base64/marshal") },
         read: ->(bytes) { Icecore.decode(bytes, "base64/marshal", classes: IcecoreRunner::CLASSES) }
