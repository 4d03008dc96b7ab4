# frozen_string_literal: true

require "icecore/rails"
require "icecore/rails/entries"

module Icecore
  module Rails
    # For `coder:` of a cache store of Rails, 6.1 and later:
    #
    #   config.cache_store = :file_store, "tmp/cache", { coder: Icecore::Rails::CacheCoder.new(classes: ["Employee"]) }
    #
    # It reads the entries of 6.1, 7.0 and 7.1 and later, and writes what the running Rails
    # would write, so a cache can be shared with processes that don't use it. An entry that
    # can't be read, or contains a class that is not allowed, is a miss, with a line in the
    # cache's log. With `strict: true` an error is raised instead.
    #
    # A compressed entry that inflates to more bytes than `max_inflated:` (default 256 MiB) is
    # not read either; nil means no limit.
    #
    # `format:` (6.1, 7.0, 7.1) writes for older Rails; the default is
    # ActiveSupport::Cache.format_version.
    class CacheCoder
      FORMATS = [6.1, 7.0, 7.1].freeze
      private_constant :FORMATS

      def initialize(classes: nil, strict: false, format: nil, max_inflated: Entries::MAX_INFLATED)
        unless format.nil? || FORMATS.include?(format)
          raise ::ArgumentError, "format: must be #{FORMATS.join(', ')} or nil, and is #{format.inspect}"
        end
        @entries = Entries.new(classes, strict, max_inflated)
        @format = format
        if defined?(::ActiveSupport::Cache::Coder)
          @coder71 = ::ActiveSupport::Cache::Coder.new(CacheSerializer.new(classes: classes, strict: strict), Zlib)
        elsif format == 7.1
          raise ::ArgumentError, "format: 7.1 needs Rails 7.1 or later; leave it out"
        end
      end

      def dump(entry)
        write(entry, nil)
      end

      # Rails 7.0 and later call this method if a store compresses. Rails 6.1 does not call it, because
      # its entries compress themselves.
      def dump_compressed(entry, threshold)
        write(entry, threshold)
      end

      # Returns an ActiveSupport::Cache::Entry, or nil.
      def load(bytes)
        return bytes if bytes.is_a?(::ActiveSupport::Cache::Entry)
        entry = @entries.read(bytes)
        return entry if entry.is_a?(::ActiveSupport::Cache::Entry)
        @entries.report_unreadable(Icecore::TypeError.new("it holds no ActiveSupport::Cache::Entry"))
      rescue *Entries::ERRORS => error
        @entries.report_unreadable(error)
      end

      private

      def write(entry, threshold)
        format = @format || format_of_rails
        if format >= 7.1
          threshold ? @coder71.dump_compressed(entry, threshold) : @coder71.dump(entry)
        elsif format >= 7.0
          @entries.dump70(entry, threshold)
        else
          entry = entry.compressed(threshold) if threshold && entry.respond_to?(:compressed)
          @entries.dump61(entry)
        end
      end

      # Evaluated at each write, because the setting may change after the store was created.
      def format_of_rails
        ::ActiveSupport::Cache.respond_to?(:format_version) ? ::ActiveSupport::Cache.format_version : 6.1
      end
    end
  end
end
