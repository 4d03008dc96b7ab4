# frozen_string_literal: true

module Icecore
  class Client
    # A job that a worker holds for a while.
    class Job
      attr_reader :id, :queue, :attempt, :format, :checksum, :bytes
      # The end of the lease by the clock of the database, in milliseconds since 1970.
      attr_reader :lease_until
      # The payload, restored.
      attr_accessor :value

      def initialize(requests, said, lease, asked)
        @requests, @lease, @ends = requests, lease, asked + lease
        @id, @queue, @attempt, @format, @checksum, @token = said.values_at("id", "queue", "attempt", "format", "checksum", "token")
        raise ClientError.new(:answer, "a job without an id") unless @id.is_a?(String) && @id.match?(/\A[0-9a-f-]{36}\z/)
        @lease_until = said["lease_until"]
        bytes = said["bytes"]
        @bytes = bytes.is_a?(String) ? bytes.unpack1("m") : "".b
        @lost = false
      end

      # The remaining seconds of the lease, by the clock of this machine.
      def left = @ends - Requests.now

      # Whether another worker has it, as far as is known here.
      def lost? = @lost

      # Keeps the job for this many seconds from now on.
      def extend_lease(lease = @lease)
        asked = Requests.now
        @lease_until = tell("extend", lease: lease.to_f)["lease_until"]
        @ends = asked + lease
        self
      rescue ClientError => error
        @lost = true if error.kind == :lease
        raise
      end

      # Reports the result of the job. The token is in the body, where no server log shows it.
      def tell(what, **said) = @requests.tell("/jobs/#{@id}/#{what}", { token: @token, **said })

      def inspect = "#<#{self.class} #{@id} of #{@queue}>"
    end
  end
end
