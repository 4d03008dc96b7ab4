# frozen_string_literal: true

module Icecore
  class Client
    # A job that a worker owns until its lease ends.
    class Job
      attr_reader :id, :queue, :attempt, :format, :checksum, :bytes
      # The end of the lease by the clock of the database, in milliseconds since 1970.
      attr_reader :lease_until
      # The restored payload.
      attr_accessor :value

      # fields: the job in the daemon's answer. requested_at: when it was requested.
      def initialize(requests, fields, lease, requested_at)
        @requests, @lease, @ends_at = requests, lease, requested_at + lease
        @id, @queue, @attempt, @format, @checksum, @token =
          fields.values_at("id", "queue", "attempt", "format", "checksum", "token")
        raise ClientError.new(:answer, "a job without an id") unless @id.is_a?(String) && @id.match?(/\A[0-9a-f-]{36}\z/)
        @lease_until = fields["lease_until"]
        bytes = fields["bytes"]
        @bytes = bytes.is_a?(String) ? bytes.unpack1("m") : "".b
        @lost = false
      end

      # The remaining seconds of the lease, by the clock of this machine.
      def left = @ends_at - Requests.now

      # Returns true if the daemon has said that another worker may have the job.
      def lost? = @lost

      # Extends the lease to this number of seconds from now on.
      def extend_lease(lease = @lease)
        requested_at = Requests.now
        @lease_until = report("extend", lease: lease.to_f)["lease_until"]
        @ends_at = requested_at + lease
        self
      rescue ClientError => error
        @lost = true if error.kind == :lease
        raise
      end

      # Reports to the daemon; action: "ack", "nack" or "extend". The token is in the body, because
      # servers write addresses to their logs.
      def report(action, **fields) = @requests.post_json("/jobs/#{@id}/#{action}", { token: @token, **fields })

      def inspect = "#<#{self.class} #{@id} of #{@queue}>"
    end
  end
end
