# frozen_string_literal: true

require "icecore"

# Puts Icecore under ::Marshal, for code that nobody can change:
#
#   require "icecore/replace"
#   Icecore.allow("Employee", "Billing::*")
#
# From then on Marshal.load, Marshal.restore and Marshal.dump are Icecore's, for all code of the
# process, gems and Ruby's own libraries included. Such code brings no list of classes, so the list
# of the process decides: a class that Icecore.allow never named raises Icecore::ClassError.
module Icecore
  module Marshal
    # Ruby's own, whatever stands under ::Marshal.
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

    # What stands before Ruby's methods.
    module Replacement
      def load(...) = Icecore::Marshal.load(...)
      def restore(...) = Icecore::Marshal.load(...)
      def dump(...) = Icecore::Marshal.dump(...)
    end
    private_constant :Replacement

    ::Marshal.singleton_class.prepend(Replacement)
  end
end
