# frozen_string_literal: true

require "icecore"

module Icecore
  # Icecore for the places where Rails uses Marshal: caches, signed and encrypted messages.
  #
  # All three take `classes:` as Icecore::Marshal.load does. The preset :rails (times with a zone,
  # durations, hashes with indifferent access and so on) is always allowed as well.
  module Rails
    autoload :CacheCoder, "icecore/rails/cache_coder"
    autoload :CacheSerializer, "icecore/rails/cache_serializer"
    autoload :Entries, "icecore/rails/entries"
    autoload :LazyEntry, "icecore/rails/lazy_entry"
    autoload :MessageSerializer, "icecore/rails/message_serializer"
    private_constant :Entries, :LazyEntry

    # Combines the caller's list with the classes that Rails needs.
    module Lists
      # more: further names. Returns :any if the list contains it.
      def self.with_preset(classes, *more)
        list = [:rails, *more, *classes]
        words = list.grep(Symbol) - %i[rails any]
        unless words.empty?
          raise ::ArgumentError, "classes: #{words.map(&:inspect).join(', ')} builds no objects, so it can't be used here: " \
                                 "name the classes, or :any"
        end
        list.include?(:any) ? :any : list.freeze
      end
    end
    private_constant :Lists
  end
end
