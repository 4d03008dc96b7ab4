# frozen_string_literal: true

require "icecore/rails"
require "icecore/rails/entries"

module Icecore
  module Rails
    # For `serializer:` of a cache store of Rails 7.1 and later; Rails keeps its own coder and
    # compressor around it:
    #
    #   config.cache_store = :redis_cache_store, { serializer: Icecore::Rails::CacheSerializer.new(classes: ["Employee"]) }
    #
    # Entries that Rails 6.1 and 7.0 wrote are read too. For bytes that can't be read, or contain a
    # class that is not allowed, ActiveSupport::Cache::DeserializationError is raised, and the cache's
    # log gets a line. Rails treats this error as a miss. With `strict: true` the original error is
    # raised.
    #
    # `max_inflated:` limits the compressed entries of 7.0 and 6.1, as in CacheCoder. Rails inflates
    # those of 7.1 before it calls a serializer, so the limit does not apply to them. Use CacheCoder
    # if others may write to the cache.
    class CacheSerializer
      def initialize(classes: nil, strict: false, max_inflated: Entries::MAX_INFLATED)
        unless defined?(::ActiveSupport::Cache::DeserializationError)
          raise Icecore::RuntimeError, "serializer: is an option of Rails 7.1 and later; use Icecore::Rails::CacheCoder for coder:"
        end
        @entries = Entries.new(classes, strict, max_inflated)
      end

      def dump(value)
        Icecore::Marshal.dump(value)
      end

      # Returns the value. If the bytes are an entry of Rails 7.0 or 6.1, returns the entry.
      def load(bytes)
        @entries.read(bytes)
      rescue *Entries::ERRORS => error
        @entries.report_unreadable(error)
        raise ::ActiveSupport::Cache::DeserializationError, error.message
      end
    end
  end
end
