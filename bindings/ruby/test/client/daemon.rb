# frozen_string_literal: true

require "socket"
require "tmpdir"

# `icecore serve` on a new SQLite database, and servers with arbitrary answers.
class Daemon
  ROOT = File.expand_path("../../../..", __dir__)

  # Returns the path of the command, if it was built.
  def self.command
    target = ENV["CARGO_TARGET_DIR"] || "#{ROOT}/target"
    [ENV["ICECORE_COMMAND"], "#{target}/debug/icecore", "#{target}/release/icecore"].find { |file| file && File.file?(file) && File.executable?(file) }
  end

  attr_reader :url

  def initialize(token: nil)
    @folder = Dir.mktmpdir
    @token, @listen = token, "127.0.0.1:0"
    start
    at_exit { stop && FileUtils.remove_entry(@folder) }
  end

  # It accepts connections when this returns.
  def start
    output = start_in(0)
    line = output.gets.to_s
    @url = line[%r{http://[0-9.:]+\d}] or raise "the daemon did not begin: #{line}"
    @listen = @url.delete_prefix("http://")
    # Its later output is ignored.
    Thread.new { IO.copy_stream(output, File::NULL) }
  end

  # Starts the daemon after this many seconds.
  def start_in(seconds)
    read, write = IO.pipe
    environment = { "ICECORE_TOKEN" => @token, "ICECORE_DB" => nil }
    line = ["sh", "-c", "sleep #{seconds}; exec \"$@\"", "sh", self.class.command, "serve", "--db", "sqlite:#{@folder}/icecore.db", "--listen", @listen]
    @process = spawn(environment, *line, out: write, err: write)
    write.close
    read
  end

  def stop
    return true unless @process
    Process.kill(:KILL, @process)
    Process.wait(@process)
    @process = nil
    true
  end
end

# A server that sends this answer to each request, and closes.
class FakeServer
  attr_reader :url

  def initialize(answer = nil, &block)
    @server = TCPServer.new("127.0.0.1", 0)
    @url = "http://127.0.0.1:#{@server.addr[1]}"
    @thread = Thread.new do
      loop do
        client = @server.accept
        Thread.new { serve(client, answer, &block) }
      end
    rescue IOError
      nil
    end
  end

  def self.ok(body) = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}"

  # Sends the first text, then the second again and again.
  def self.endless(head, piece)
    new { |client, _| client.write(head) && 100_000.times { client.write(piece) } }
  end

  private

  def serve(client, answer)
    head = +""
    head << client.readpartial(4096) until head.include?("\r\n\r\n")
    answer ? client.write(answer) : yield(client, head)
    # The rest of the request is read, so that the answer is not lost.
    client.close_write
    nil while client.read(65_536)
  rescue SystemCallError, IOError
    nil
  ensure
    client.close
  end
end
