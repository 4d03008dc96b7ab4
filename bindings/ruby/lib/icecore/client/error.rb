# frozen_string_literal: true

module Icecore
  # What went wrong between a client and the daemon.
  class ClientError < ::RuntimeError
    include Icecore::Error

    # For programs: the daemon's word (:taken, :lease, :schema, …), or :away (nobody answers), :answer
    # (what answers is no daemon), :usage.
    attr_reader :kind
    # The code of the answer; 0 without one.
    attr_reader :status
    # Where in a payload that was refused, at which byte of it, and all that is wrong with it.
    attr_reader :path, :offset, :errors
    # In how many seconds the daemon wants to be asked again.
    attr_reader :retry_after

    def initialize(kind, message, status: 0, path: nil, offset: nil, errors: [], retry_after: nil)
      # What a server says is shown, and does nothing on a terminal.
      super(message.to_s.scrub.gsub(/[\p{Cc}\p{Cf}]/) { |character| Kernel.format("\\u{%x}", character.ord) })
      @kind, @status, @path, @offset, @errors, @retry_after = kind, status, path, offset, errors, retry_after
    end

    # Whether it may go well a little later.
    def passing? = kind == :away || status == 408 || status == 429 || status >= 500
  end
end
