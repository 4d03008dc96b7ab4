# frozen_string_literal: true

require "json"

module Icecore
  class Client
    # Requests to the daemon, and its answers.
    class Requests
      PAUSE = 0.05
      LONGEST_PAUSE = 2

      def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      # Escapes a text for an address.
      def self.escaped(text)
        text.to_s.encode(Encoding::UTF_8).b.gsub(/[^A-Za-z0-9_~-]/n) { |byte| Kernel.format("%%%02X", byte.ord) }
      rescue EncodingError
        raise ClientError.new(:usage, "a name is text: #{text.inspect}")
      end

      # Returns a longer pause, or the one that the daemon requested; different clients get
      # different ones.
      def self.longer(pause, error)
        asked = error.retry_after.to_i
        asked > pause ? [asked, 30].min : pause * (0.75 + (rand / 2))
      end

      def initialize(connections, patience)
        @connections, @patience = connections, patience
      end

      # Sends one request; returns the answer, a Hash.
      def ask(method, path, query: {}, body: "", type: "application/octet-stream", longer: 0)
        pairs = query.filter_map { |name, value| "#{name}=#{Requests.escaped(value)}" unless value.nil? }
        path += "?#{pairs.join('&')}" unless pairs.empty?
        answer = @connections.request(method, path, body, type, longer)
        said = parsed(answer.body)
        raise refusal(answer, said) unless answer.is_a?(Net::HTTPSuccess)
        said || raise(ClientError.new(:answer, "not an Icecore daemon: the answer is not JSON", status: answer.code.to_i))
      end

      # The same with a JSON body.
      def tell(path, said) = ask(:post, path, body: JSON.generate(said), type: "application/json")

      # Repeats a request for a while if the daemon is away: only for requests that may be
      # repeated.
      def insist(method, path, **parts)
        pause, until_then = PAUSE, Requests.now + @patience
        begin
          ask(method, path, **parts)
        rescue ClientError => error
          raise unless error.passing? && Requests.now + pause < until_then
          sleep Requests.longer(pause, error)
          pause = [pause * 2, LONGEST_PAUSE].min
          retry
        end
      end

      private

      def parsed(text)
        said = JSON.parse(text.to_s)
        said if said.is_a?(Hash)
      rescue JSON::ParserError, EncodingError
        nil
      end

      def refusal(answer, said)
        said = said && said["error"]
        said = {} unless said.is_a?(Hash)
        kind, message, path, offset, errors = said.values_at("kind", "message", "path", "offset", "errors")
        kind = kind.is_a?(String) && kind.match?(/\A[a-z-]{1,40}\z/) ? kind.to_sym : :answer
        message = "answer #{answer.code}" unless message.is_a?(String)
        after = answer["Retry-After"]
        ClientError.new(kind, message, status: answer.code.to_i, path: path, offset: offset,
                                       errors: errors.is_a?(Array) ? errors : [],
                                       retry_after: after&.match?(/\A\d{1,4}\z/) ? after.to_i : nil)
      end
    end
    private_constant :Requests
  end
end
