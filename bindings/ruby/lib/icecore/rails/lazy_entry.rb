# frozen_string_literal: true

require "active_support"
require "active_support/cache"

module Icecore
  module Rails
    # An entry whose value is read when a caller first needs it. Rails checks the expiry before, so it
    # never reads the value of an expired entry.
    class LazyEntry < ::ActiveSupport::Cache::Entry
      def initialize(version:, expires_at:, report_unreadable:, &read)
        super(nil, compress: false, version: version)
        self.expires_at = expires_at
        @read = read
        @report_unreadable = report_unreadable
      end

      def value
        if @read
          @value = @read.call
          @read = nil
        end
        @value
      end

      # Rails calls this before it takes the value. An entry that can't be read is a miss.
      def mismatched?(version)
        return true if super
        value
        false
      rescue *Entries::ERRORS => error
        @report_unreadable.call(error)
        true
      end

      # Returns the same as an ActiveSupport::Cache::Entry, for writing.
      def to_entry
        entry = ::ActiveSupport::Cache::Entry.new(value, compress: false, version: version)
        entry.expires_at = expires_at
        entry
      end
    end
  end
end
