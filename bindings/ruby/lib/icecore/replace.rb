# frozen_string_literal: true

require "icecore"

# Replaces the methods of ::Marshal by Icecore's, for code that can't be changed:
#
#   require "icecore/replace"
#   Icecore.allow("Employee", "Billing::*")
#
# From then on Marshal.load, Marshal.restore and Marshal.dump are Icecore's, for all code of the
# process, including gems and Ruby's own libraries. Such code passes no list of classes, so only
# the list of the process counts: for a class that was never passed to Icecore.allow,
# Icecore::ClassError is raised.
module Icecore
  module Marshal
    # Ruby's own methods, which ignore the replacement.
    module Original
      LOAD = ::Marshal.method(:load).unbind.bind(::Marshal)
      DUMP = ::Marshal.method(:dump).unbind.bind(::Marshal)
      private_constant :LOAD, :DUMP

      class << self
        def load(...) = LOAD.call(...)
        def dump(...) = DUMP.call(...)
        alias restore load
      end
    end

    # Prepended to ::Marshal, so that these methods are found before Ruby's.
    module Replacement
      def load(...) = Icecore::Marshal.load(...)
      def restore(...) = Icecore::Marshal.load(...)
      def dump(...) = Icecore::Marshal.dump(...)
    end
    private_constant :Replacement

    ::Marshal.singleton_class.prepend(Replacement)
  end
end
