# frozen_string_literal: true

require "icecore/rails"

module Icecore
  module Rails
    # For `serializer:` of ActiveSupport::MessageVerifier and ActiveSupport::MessageEncryptor,
    # and for cookies. It writes the same data as Marshal there, and builds only allowed
    # classes:
    #
    #   ActiveSupport::MessageVerifier.new(secret, serializer: Icecore::Rails::MessageSerializer.new)
    #   config.action_dispatch.cookies_serializer = Icecore::Rails::MessageSerializer.new
    class MessageSerializer
      def initialize(classes: nil)
        @classes = Lists.with_preset(classes)
      end

      def dump(value)
        Icecore::Marshal.dump(value)
      end

      def load(bytes)
        Icecore::Marshal.load(bytes, classes: @classes)
      end
    end
  end
end
