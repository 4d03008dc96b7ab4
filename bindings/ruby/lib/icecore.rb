# frozen_string_literal: true

require_relative "icecore/version"
require "icecore/icecore"

module Icecore
  autoload :PendingObjects, "icecore/pending_objects"
  autoload :Rails, "icecore/rails"
end
