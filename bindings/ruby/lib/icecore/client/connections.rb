# frozen_string_literal: true

require "net/http"
require "openssl"
require "uri"

module Icecore
  class Client
    # Kept connections; during a request each has one of its own.
    class Connections
      # For how many seconds a connection is reused; the daemon closes it after 20.
      KEPT = 15
      # Maximum size of the head of an answer in bytes.
      HEAD = 64 << 10

      # Errors if the daemon can't be reached, or the connection breaks.
      AWAY = [SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError].freeze
      # Errors of an answer that is not HTTP.
      NONSENSE = [Net::ProtocolError, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError, ::ArgumentError].freeze

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

      # Returns the answer to a request. longer: how many seconds more than usual it may take.
      def request(method, path, body, type, longer)
        request = Net::HTTP.const_get(method.capitalize).new(@base + path)
        # Not compressed, so that the length in the header is the real one.
        request["Accept-Encoding"] = "identity"
        request["Authorization"] = "Bearer #{@token}" if @token
        request["User-Agent"] = "icecore-ruby"
        if method == :post
          request["Content-Type"] = type
          request.body = body
        end
        exchange(request, longer)
      rescue *AWAY => error
        raise ClientError.new(:away, "#{@url}: #{error.message}")
      rescue *NONSENSE => error
        raise ClientError.new(:answer, "#{@url} is not an Icecore daemon:  #{error.message}")
      end

      private

      # A connection that broke during a request is not reused.
      def exchange(request, longer)
        http = take
        http.read_timeout = @timeout + longer
        http.allow(HEAD)
        answer = http.request(request) { http.allow(@longest) }
        raise EOFError, "the answer breaks off" if answer.content_length && answer.body.to_s.bytesize < answer.content_length
        give(http)
        http = nil
        answer
      ensure
        close(http) if http
      end

      def take
        kept = @lock.synchronize do
          # The connections of the parent process belong to it.
          @idle, @process = [], Process.pid unless @process == Process.pid
          @idle.pop
        end
        kept || begin
          http = Bounded.new(@url.hostname, @url.port)
          http.use_ssl = @url.is_a?(URI::HTTPS)
          http.open_timeout = http.write_timeout = @timeout
          http.keep_alive_timeout = KEPT
          http.max_retries = 0
          # A truncated body is not an answer; Rubies before 3.2 don't have this setting.
          http.ignore_eof = false if http.respond_to?(:ignore_eof=)
          http.start
        end
      end

      def give(http) = @lock.synchronize { @idle.push(http) }

      def close(http)
        http.finish if http.started?
      rescue IOError, SystemCallError
        nil
      end

      # Connections with a size limit for answers.
      class Bounded < Net::HTTP
        # Counts the received bytes.
        module Counted
          attr_accessor :left

          def read_nonblock(...)
            super.tap do |read|
              next unless read.is_a?(String) && left
              self.left -= read.bytesize
              raise ClientError.new(:"too-long", "the answer is too long") if left.negative?
            end
          end
        end

        # Allows this many bytes from here on.
        def allow(bytes)
          @bytes = bytes
          limit
        end

        private

        # Called when the old connection is no longer used.
        def connect
          super
          @socket.io.extend(Counted)
          limit
        end

        def limit = (@socket.io.left = @bytes if @socket)
      end
      private_constant :Bounded
    end
    private_constant :Connections
  end
end
