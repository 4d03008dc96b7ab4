# frozen_string_literal: true

require "zlib"
require "icecore/rails"
require "active_support"
require "active_support/cache"

module Icecore
  module Rails
    # Reads and writes the entries of a cache: a value with its expiry and its version. Names with 61,
    # 70 and 71 are for the formats of Rails 6.1, 7.0 and 7.1:
    #
    #   6.1   a dump of an ActiveSupport::Cache::Entry
    #   7.0   00, then a dump of [value, expiry, version]; or 01, then the same compressed
    #   7.1   00 11, type, expiry, length of the version, version, then the value
    class Entries
      Entry = ::ActiveSupport::Cache::Entry

      MARSHAL = "\x04\x08".b.freeze
      # The first byte of an entry of 7.0.
      PLAIN70 = "\x00".b.freeze
      COMPRESSED70 = "\x01".b.freeze
      HEAD71 = "\x00\x11".b.freeze
      # For unpack: after the two bytes of HEAD71 there are the type, the expiry and the length of the
      # version.
      FIELDS71 = "@2CEl<"
      # Offset of the byte after these fields: 2 + 1 + 8 + 4.
      FIELDS_END71 = 15
      # Types of 7.1: a dump of any object, or a string with an encoding. The bit COMPRESSED71 is set in
      # addition if the value is compressed.
      OBJECT71 = 0x01
      STRINGS71 = { 0x02 => Encoding::UTF_8, 0x03 => Encoding::BINARY, 0x04 => Encoding::US_ASCII }.freeze
      COMPRESSED71 = 0x80

      # Errors for bytes that can't be read. Any other error comes from a hook of an allowed class, and
      # the caller gets it. An ArgumentError may come from either. As in Rails, it counts as unreadable
      # bytes.
      ERRORS = [Icecore::Error, ::ArgumentError, Zlib::Error].freeze

      # Default limit for inflating a compressed entry; the engine has the same limit for its formats.
      MAX_INFLATED = 256 << 20

      def initialize(classes, strict, max_inflated)
        unless max_inflated.nil? || (max_inflated.is_a?(Integer) && max_inflated >= 0)
          raise ::ArgumentError, "max_inflated: must be a number of bytes or nil, and is #{max_inflated.inspect}"
        end
        @classes = Lists.with_preset(classes, "ActiveSupport::Cache::Entry")
        @strict = strict
        @max_inflated = max_inflated
        @report_unreadable = method(:report_unreadable).to_proc
      end

      # Returns an entry. If the bytes are a dump of another object, returns that.
      def read(bytes)
        if bytes.start_with?(HEAD71) then read71(bytes)
        elsif bytes.start_with?(PLAIN70) then unpack70(load_marshal(bytes.byteslice(1..)))
        elsif bytes.start_with?(COMPRESSED70) then unpack70(load_marshal(inflate(bytes.byteslice(1..))))
        else decompress61(load_marshal(bytes))
        end
      end

      def load_marshal(bytes)
        Icecore::Marshal.load(bytes, classes: @classes)
      end

      # Logs why an entry is treated as missing; raises the error in strict mode.
      def report_unreadable(error)
        raise error if @strict
        ::ActiveSupport::Cache::Store.logger&.warn("Icecore: an entry of the cache is not read: #{error.message}")
        nil
      end

      def dump61(entry)
        Icecore::Marshal.dump(entry.is_a?(LazyEntry) ? entry.to_entry : entry)
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

      # Inflates in pieces, and stops at the limit, because few bytes may inflate to a thousand times as
      # many.
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

      # Inflates the value of a compressed entry here. The entry's own method would pass the value to
      # Ruby's Marshal, which builds any class.
      def decompress61(entry)
        return entry unless entry.is_a?(Entry) && entry.instance_variable_defined?(:@compressed)
        compressed = entry.instance_variable_get(:@value)
        raise_malformed("a compressed entry without bytes") unless compressed.is_a?(String)
        lazy_entry(entry.version, entry.expires_at) { load_marshal(inflate(compressed)) }
      end

      def unpack70(members)
        raise_malformed("an entry that is not an array") unless members.is_a?(Array) && members.size <= 3
        entry = Entry.new(members[0], compress: false, version: check_version(members[2]))
        entry.expires_at = check_expiry(members[1])
        entry
      end

      def read71(bytes)
        raise_malformed("an entry that ends in its head") if bytes.bytesize < FIELDS_END71
        type, expires_at, length = bytes.unpack(FIELDS71)
        start = FIELDS_END71 + [length, 0].max
        raise_malformed("an entry that ends in its version") if bytes.bytesize < start
        version = read_version71(bytes.byteslice(FIELDS_END71, length)) if length >= 0
        payload = bytes.byteslice(start..)
        lazy_entry(version, expires_at.negative? ? nil : expires_at) { read_payload71(type, payload) }
      end

      def read_payload71(type, payload)
        payload = inflate(payload) if type & COMPRESSED71 != 0
        type &= ~COMPRESSED71
        return load_marshal(payload) if type == OBJECT71
        payload.force_encoding(STRINGS71.fetch(type) { raise_malformed("an entry of the unknown type #{type}") })
      end

      def read_version71(bytes)
        bytes.start_with?(MARSHAL) ? check_version(load_marshal(bytes)) : bytes.force_encoding(Encoding::UTF_8)
      end

      def check_version(version)
        raise_malformed("a version that is not a string") unless version.nil? || version.is_a?(String)
        version
      end

      def check_expiry(seconds)
        raise_malformed("an expiry that is not a number") unless seconds.nil? || seconds.is_a?(Numeric)
        seconds
      end

      def lazy_entry(version, expires_at, &read)
        LazyEntry.new(version: version, expires_at: expires_at, report_unreadable: @report_unreadable, &read)
      end

      def raise_malformed(message)
        raise ::ArgumentError, message
      end
    end
  end
end
