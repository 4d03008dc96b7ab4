# frozen_string_literal: true

require "net/http"
require "openssl"
require "uri"

module Icecore
  class Client
    # Connections that are kept; each request has one of its own meanwhile.
    class Connections
      # Over how many seconds a connection is used again; the daemon closes it after 20.
      KEPT = 15
      # How many bytes the head of an answer may have.
      HEAD = 64 << 10

      # What can't be reached, or breaks off.
      AWAY = [SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError].freeze
      # What is no HTTP.
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

      # The answer to a request. longer: how many seconds more than usual it may take.
      def request(method, path, body, type, longer)
        request = Net::HTTP.const_get(method.capitalize).new(@base + path)
        # Not compressed: it has the length that it says.
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
        raise ClientError.new(:answer, "#{@url} is no daemon of Icecore: #{error.message}")
      end

      private

      # One that broke in the middle is not used again.
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
          # Those of the parent process are its own.
          @idle, @process = [], Process.pid unless @process == Process.pid
          @idle.pop
        end
        kept || begin
          http = Bounded.new(@url.hostname, @url.port)
          http.use_ssl = @url.is_a?(URI::HTTPS)
          http.open_timeout = http.write_timeout = @timeout
          http.keep_alive_timeout = KEPT
          http.max_retries = 0
          # A body that breaks off is no answer; Rubies before 3.2 have no such setting.
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

      # Connections whose answers have bounds.
      class Bounded < Net::HTTP
        # Counts what comes.
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

        # So many bytes may come from here on.
        def allow(bytes)
          @bytes = bytes
          limit
        end

        private

        # Where the old connection is no longer used.
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
