# frozen_string_literal: true

module Icecore
  class Client
    # Information about an object. problem is the reason why it can't be restored.
    Record = Struct.new(:id, :sequence, :key, :stored_at, :expires_at, :format, :class_name, :size, :checksum, :problem, :bytes,
                        keyword_init: true) do
      def self.of(said)
        bytes = said["bytes"]
        new(**%w[id sequence key format size checksum problem].to_h { |name| [name.to_sym, said[name]] },
            class_name: said["class"], stored_at: time(said["stored_at"]), expires_at: time(said["expires_at"]),
            bytes: bytes.is_a?(String) ? bytes.unpack1("m") : "".b)
      end

      def self.time(millis) = millis.is_a?(Integer) ? Time.at(0, millis, :millisecond, in: "UTC") : nil
      private_class_method :time
    end
  end
end
