# frozen_string_literal: true

require "net/http"
require "openssl"
require "uri"

module Icecore
  class Client
    # A pool of connections. Each request has a connection of its own.
    class Connections
      # Number of seconds for which an idle connection is reused. The daemon closes an idle connection
      # after 20 seconds, and a request must not meet that moment.
      MAX_IDLE = 15
      # Maximum size of the head of an answer in bytes.
      MAX_HEAD = 64 << 10

      # Errors if the daemon can't be reached, or the connection breaks.
      UNREACHABLE = [SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError].freeze
      # Errors of an answer that is not HTTP.
      INVALID_ANSWER = [Net::ProtocolError, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError, ::ArgumentError].freeze

      def initialize(url, token, timeout, longest)
        @url = URI.parse(url) if url.match?(/\A[\x21-\x7e]+\z/)
        unless @url.is_a?(URI::HTTP) && !@url.host.to_s.empty? && !@url.query && !@url.fragment
          raise ClientError.new(:usage, "not an address of a daemon: #{url.inspect}")
        end
        unless token.nil? || token.match?(/\A[\x21-\x7e]+\z/)
          raise ClientError.new(:usage, "a token has visible characters of ASCII only")
        end
        @base, @token, @timeout, @longest = @url.path.chomp("/"), token, timeout, longest
        @idle, @lock, @process = [], Mutex.new, Process.pid
      rescue URI::InvalidURIError
        raise ClientError.new(:usage, "not an address of a daemon: #{url.inspect}")
      end

      # Returns the answer to a request. extra_time: how many seconds more than the timeout it may
      # take.
      def request(method, path, body, type, extra_time)
        request = Net::HTTP.const_get(method.capitalize).new(@base + path)
        # The answer must not be compressed, because Content-Length would be its compressed length.
        request["Accept-Encoding"] = "identity"
        request["Authorization"] = "Bearer #{@token}" if @token
        request["User-Agent"] = "icecore-ruby"
        if method == :post
          request["Content-Type"] = type
          request.body = body
        end
        exchange(request, extra_time)
      rescue *UNREACHABLE => error
        raise ClientError.new(:away, "#{@url}: #{error.message}")
      rescue *INVALID_ANSWER => error
        raise ClientError.new(:answer, "#{@url} is not an Icecore daemon: #{error.message}")
      end

      private

      # Sends a request. A connection that broke during a request is not reused.
      def exchange(request, extra_time)
        http = acquire
        http.read_timeout = @timeout + extra_time
        http.allow(MAX_HEAD)
        answer = http.request(request) { http.allow(@longest) }
        raise EOFError, "the answer breaks off" if answer.content_length && answer.body.to_s.bytesize < answer.content_length
        release(http)
        http = nil
        answer
      ensure
        close(http) if http
      end

      def acquire
        idle = @lock.synchronize do
          # After a fork, the parent still uses these connections. If the child used them too, their
          # answers would be mixed up.
          @idle, @process = [], Process.pid unless @process == Process.pid
          @idle.pop
        end
        idle || begin
          http = Bounded.new(@url.hostname, @url.port)
          http.use_ssl = @url.is_a?(URI::HTTPS)
          http.open_timeout = http.write_timeout = @timeout
          http.keep_alive_timeout = MAX_IDLE
          http.max_retries = 0
          # With this setting, a truncated body is an error. Ruby before 3.2 does not have it, so
          # `exchange` compares the length too.
          http.ignore_eof = false if http.respond_to?(:ignore_eof=)
          http.start
        end
      end

      def release(http) = @lock.synchronize { @idle.push(http) }

      def close(http)
        http.finish if http.started?
      rescue IOError, SystemCallError
        nil
      end

      # Connections with a size limit for answers.
      class Bounded < Net::HTTP
        # Raises if more than `remaining` bytes are received.
        module CountedReads
          attr_accessor :remaining

          def read_nonblock(...)
            super.tap do |read|
              next unless read.is_a?(String) && remaining
              self.remaining -= read.bytesize
              raise ClientError.new(:"too-long", "the answer is too long") if remaining.negative?
            end
          end
        end

        # Allows this number of bytes from now on.
        def allow(bytes)
          @bytes = bytes
          set_limit
        end

        private

        # Called by Net::HTTP for each new connection.
        def connect
          super
          @socket.io.extend(CountedReads)
          set_limit
        end

        def set_limit = (@socket.io.remaining = @bytes if @socket)
      end
      private_constant :Bounded
    end
    private_constant :Connections
  end
end
