# frozen_string_literal: true

module Icecore
  class Client
    # Information about a stored object. problem is the reason why it can't be restored, or nil.
    Record = Struct.new(:id, :sequence, :key, :stored_at, :expires_at, :format, :class_name, :size, :checksum, :problem, :bytes,
                        keyword_init: true) do
      # Creates a record from an object in the daemon's answer.
      def self.of(fields)
        bytes = fields["bytes"]
        new(**%w[id sequence key format size checksum problem].to_h { |name| [name.to_sym, fields[name]] },
            class_name: fields["class"], stored_at: time(fields["stored_at"]), expires_at: time(fields["expires_at"]),
            bytes: bytes.is_a?(String) ? bytes.unpack1("m") : "".b)
      end

      def self.time(milliseconds)
        Time.at(0, milliseconds, :millisecond, in: "UTC") if milliseconds.is_a?(Integer)
      end
      private_class_method :time
    end
  end
end
