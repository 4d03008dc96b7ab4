# frozen_string_literal: true

module Icecore
  # An error between a client and the daemon.
  class ClientError < ::RuntimeError
    include Icecore::Error

    # The kind of the error, for programs: the daemon's (:taken, :lease, :schema, …), or :away (no
    # answer), :answer (the answer is not from a daemon), :usage.
    attr_reader :kind
    # The status code of the answer; 0 without one.
    attr_reader :status
    # The path and the byte offset in a refused payload, and all of its errors.
    attr_reader :path, :offset, :errors
    # The number of seconds after which the daemon accepts the next request, or nil.
    attr_reader :retry_after

    def initialize(kind, message, status: 0, path: nil, offset: nil, errors: [], retry_after: nil)
      # Control characters are escaped, because the text of a server must not control a terminal.
      super(message.to_s.scrub.gsub(/[\p{Cc}\p{Cf}]/) { |character| Kernel.format("\\u{%x}", character.ord) })
      @kind, @status, @path, @offset, @errors, @retry_after = kind, status, path, offset, errors, retry_after
    end

    # Returns true if the request may succeed a little later.
    def passing? = kind == :away || status == 408 || status == 429 || status >= 500
  end
end
