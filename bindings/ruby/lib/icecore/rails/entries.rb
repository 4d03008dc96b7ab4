# frozen_string_literal: true

require "zlib"
require "icecore/rails"
require "active_support"
require "active_support/cache"

module Icecore
  module Rails
    # The wrappers of the versions of Rails around a cached value, read with a list of classes.
    #
    #   6.1   Marshal of an ActiveSupport::Cache::Entry
    #   7.0   00 or 01, then Marshal of [value, expiry, version], after 01 compressed
    #   7.1   00 11, type, expiry, length of the version, version, then the value
    class Entries
      Entry = ::ActiveSupport::Cache::Entry

      MARSHAL = "\x04\x08".b.freeze
      PLAIN70 = "\x00".b.freeze
      COMPRESSED70 = "\x01".b.freeze
      HEAD71 = "\x00\x11".b.freeze
      FIELDS71 = "@2CEl<"
      LENGTH71 = 15
      OBJECT71 = 0x01
      STRINGS71 = { 0x02 => Encoding::UTF_8, 0x03 => Encoding::BINARY, 0x04 => Encoding::US_ASCII }.freeze
      COMPRESSED71 = 0x80

      # Errors of bytes that can't be read. Errors of hooks of allowed classes go to the caller,
      # except an ArgumentError, as in Rails.
      ERRORS = [Icecore::Error, ::ArgumentError, Zlib::Error].freeze

      # Limit for inflating a compressed entry: the limit of the engine for other formats.
      MAX_INFLATED = 256 << 20

      def initialize(classes, strict, max_inflated)
        unless max_inflated.nil? || (max_inflated.is_a?(Integer) && max_inflated >= 0)
          raise ::ArgumentError, "max_inflated: must be a number of bytes or nil, and is #{max_inflated.inspect}"
        end
        @classes = Lists.with_preset(classes, "ActiveSupport::Cache::Entry")
        @strict = strict
        @max_inflated = max_inflated
        @unreadable = method(:unreadable).to_proc
      end

      # Returns an entry; or the value, if bytes of Marshal contain something else.
      def read(bytes)
        if bytes.start_with?(HEAD71) then read71(bytes)
        elsif bytes.start_with?(PLAIN70) then unpack70(value(bytes.byteslice(1..)))
        elsif bytes.start_with?(COMPRESSED70) then unpack70(value(inflate(bytes.byteslice(1..))))
        else uncompressed61(value(bytes))
        end
      end

      def value(bytes)
        Icecore::Marshal.load(bytes, classes: @classes)
      end

      # Logs why an entry is treated as missing; raises the error in strict mode.
      def unreadable(error)
        raise error if @strict
        ::ActiveSupport::Cache::Store.logger&.warn("Icecore: an entry of the cache is not read: #{error.message}")
        nil
      end

      def dump61(entry)
        Icecore::Marshal.dump(entry.is_a?(LazyEntry) ? entry.plain : entry)
      end

      def dump70(entry, threshold)
        members = [entry.value, entry.expires_at, entry.version]
        members.pop while !members.empty? && members.last.nil?
        dumped = Icecore::Marshal.dump(members)
        if threshold && dumped.bytesize >= threshold
          compressed = Zlib::Deflate.deflate(dumped)
          return COMPRESSED70 + compressed if compressed.bytesize < dumped.bytesize
        end
        PLAIN70 + dumped
      end

      private

      # Inflates piece by piece, because a few bytes may become a thousand times as many.
      def inflate(bytes)
        inflater = Zlib::Inflate.new
        inflated = String.new(encoding: Encoding::BINARY)
        inflater.inflate(bytes) { |piece| append(inflated, piece) }
        # Raises if bytes are missing. Bytes after the end are ignored, as in Rails.
        inflater.finish unless inflater.finished?
        inflated
      ensure
        inflater&.close
      end

      def append(inflated, piece)
        if @max_inflated && inflated.bytesize + piece.bytesize > @max_inflated
          raise Icecore::RuntimeError, "a compressed entry of more than #{@max_inflated} bytes: " \
                                       "raise max_inflated: if all writers of the cache are trusted"
        end
        inflated << piece
      end

      # Without this, its value would be read by Ruby's Marshal.
      def uncompressed61(entry)
        return entry unless entry.is_a?(Entry) && entry.instance_variable_defined?(:@compressed)
        compressed = entry.instance_variable_get(:@value)
        malformed("a compressed entry without bytes") unless compressed.is_a?(String)
        lazy(entry.version, entry.expires_at) { value(inflate(compressed)) }
      end

      def unpack70(members)
        malformed("an entry that is no array") unless members.is_a?(Array) && members.size <= 3
        entry = Entry.new(members[0], compress: false, version: version(members[2]))
        entry.expires_at = expiry(members[1])
        entry
      end

      def read71(bytes)
        malformed("an entry that ends in its head") if bytes.bytesize < LENGTH71
        type, expires_at, length = bytes.unpack(FIELDS71)
        start = LENGTH71 + [length, 0].max
        malformed("an entry that ends in its version") if bytes.bytesize < start
        version = version71(bytes.byteslice(LENGTH71, length)) if length >= 0
        payload = bytes.byteslice(start..)
        lazy(version, expires_at.negative? ? nil : expires_at) { payload71(type, payload) }
      end

      def payload71(type, payload)
        payload = inflate(payload) if type & COMPRESSED71 != 0
        type &= ~COMPRESSED71
        return value(payload) if type == OBJECT71
        payload.force_encoding(STRINGS71.fetch(type) { malformed("an entry of the unknown type #{type}") })
      end

      def version71(bytes)
        bytes.start_with?(MARSHAL) ? version(value(bytes)) : bytes.force_encoding(Encoding::UTF_8)
      end

      def version(version)
        malformed("a version that is no text") unless version.nil? || version.is_a?(String)
        version
      end

      def expiry(seconds)
        malformed("an expiry that is no number") unless seconds.nil? || seconds.is_a?(Numeric)
        seconds
      end

      def lazy(version, expires_at, &read)
        LazyEntry.new(version: version, expires_at: expires_at, unreadable: @unreadable, &read)
      end

      def malformed(what)
        raise ::ArgumentError, what
      end
    end
  end
end
