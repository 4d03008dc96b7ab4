# frozen_string_literal: true

require_relative "icecore/version"
require "icecore/icecore"

# Reads and writes the same data as Ruby's Marshal, byte for byte, and builds only the classes
# that a program names. Also reads and writes the frozen data of Perl and PHP.
module Icecore
  autoload :Client, "icecore/client"
  autoload :ClientError, "icecore/client/error"
  autoload :PendingObjects, "icecore/pending_objects"
  autoload :Rails, "icecore/rails"
end
