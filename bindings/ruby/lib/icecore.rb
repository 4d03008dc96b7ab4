# frozen_string_literal: true

require_relative "icecore/version"
require "icecore/icecore"

# Reads and writes what Ruby's Marshal does, byte for byte, and builds only the classes that
# a program named. Reads and writes the frozen data of Perl and PHP, too.
module Icecore
  autoload :Client, "icecore/client"
  autoload :ClientError, "icecore/client/error"
  autoload :PendingObjects, "icecore/pending_objects"
  autoload :Rails, "icecore/rails"
end
