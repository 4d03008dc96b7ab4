# frozen_string_literal: true

module Icecore
  VERSION = "0.1.0"
end
