#!/usr/bin/env ruby
# frozen_string_literal: true

require File.join(ENV.fetch("LAB_LIB"), "icecore")

# One line without line feeds, which the engine makes and takes away.
Lab.run "Icecore: Base64", **IcecoreRunner::SETTINGS,
        write: ->(value) { Icecore.encode(value, "base64/marshal") },
        read: ->(bytes) { Icecore.decode(bytes, "base64/marshal", classes: IcecoreRunner::CLASSES) }
