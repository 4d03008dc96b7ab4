# frozen_string_literal: true

require "json"

module Icecore
  class Client
    # Requests to the daemon, and its answers.
    class Requests
      # Pauses between two attempts, in seconds.
      FIRST_PAUSE = 0.05
      MAX_PAUSE = 2

      def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      # Escapes a text for a URL.
      def self.escape(text)
        text.to_s.encode(Encoding::UTF_8).b.gsub(/[^A-Za-z0-9_~-]/n) { |byte| Kernel.format("%%%02X", byte.ord) }
      rescue EncodingError
        raise ClientError.new(:usage, "a name is text: #{text.inspect}")
      end

      # Returns the pause before the next attempt. It is a random number near `pause`, so that many
      # clients don't repeat their requests at the same moment. If the daemon requested a longer
      # pause, that one is returned, but at most 30 seconds.
      def self.pause_after(error, pause)
        requested = error.retry_after.to_i
        requested > pause ? [requested, 30].min : pause * (0.75 + (rand / 2))
      end

      def initialize(connections, patience)
        @connections, @patience = connections, patience
      end

      # Sends one request; returns the answer, a Hash. extra_time: how many seconds more than the
      # timeout the answer may take.
      def send_once(method, path, query: {}, body: "", type: "application/octet-stream", extra_time: 0)
        pairs = query.filter_map { |name, value| "#{name}=#{Requests.escape(value)}" unless value.nil? }
        path += "?#{pairs.join('&')}" unless pairs.empty?
        answer = @connections.request(method, path, body, type, extra_time)
        fields = parse_object(answer.body)
        raise error_from(answer, fields) unless answer.is_a?(Net::HTTPSuccess)
        return fields if fields
        raise ClientError.new(:answer, "not an Icecore daemon: the answer is not JSON", status: answer.code.to_i)
      end

      # Sends one POST request with a JSON body.
      def post_json(path, fields) = send_once(:post, path, body: JSON.generate(fields), type: "application/json")

      # Sends a request, and repeats it for a while if the daemon is away. The first attempt may have
      # reached the daemon, so this is only for requests that may be done twice.
      def send_with_retries(method, path, **options)
        pause, deadline = FIRST_PAUSE, Requests.now + @patience
        begin
          send_once(method, path, **options)
        rescue ClientError => error
          raise unless error.passing? && Requests.now + pause < deadline
          sleep Requests.pause_after(error, pause)
          pause = [pause * 2, MAX_PAUSE].min
          retry
        end
      end

      private

      # Returns the Hash of a JSON object, or nil.
      def parse_object(text)
        fields = JSON.parse(text.to_s)
        fields if fields.is_a?(Hash)
      rescue JSON::ParserError, EncodingError
        nil
      end

      # Returns the error that an answer reports.
      def error_from(answer, fields)
        fields = fields && fields["error"]
        fields = {} unless fields.is_a?(Hash)
        kind, message, path, offset, errors = fields.values_at("kind", "message", "path", "offset", "errors")
        kind = kind.is_a?(String) && kind.match?(/\A[a-z-]{1,40}\z/) ? kind.to_sym : :answer
        message = "answer #{answer.code}" unless message.is_a?(String)
        retry_after = answer["Retry-After"]
        ClientError.new(kind, message, status: answer.code.to_i, path: path, offset: offset,
                                       errors: errors.is_a?(Array) ? errors : [],
                                       retry_after: retry_after&.match?(/\A\d{1,4}\z/) ? retry_after.to_i : nil)
      end
    end
    private_constant :Requests
  end
end
