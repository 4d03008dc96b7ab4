# frozen_string_literal: true

# The client with servers that send invalid answers.

require_relative "helper"
require_relative "client/daemon"
require "zlib"

ID = "01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b"
CALLS = {
  push: ->(client) { client.push("q", [1]) },
  work: ->(client) { client.work("q", drain: true) { Check.failure("a block is called") } },
  fetch: ->(client) { client.fetch(ID) },
  each: ->(client) { client.each { Check.failure("a block is called") } },
  remove: ->(client) { client.remove(ID) }
}.freeze

def client_of(server, **options) = Icecore::Client.new(server.url, patience: 0, **options)

def error_kind
  yield
  :nothing
rescue Icecore::Error => error
  error.kind
end

part = "x" * 65_536
{
  "nothing" => ["", :away],
  "no HTTP" => ["SSH-2.0-OpenSSH\r\n\r\n", :answer],
  "bytes" => ["#{Random.bytes(1000)}\r\n\r\n", :answer, :away],
  "half a head" => ["HTTP/1.1 200 OK\r\nContent-Le", :away, :answer],
  "half a body" => ["HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":", :away],
  "a page" => ["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", :answer],
  "a length that is not a number" => ["HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}", :answer],
  "no answer in it" => ["HTTP/1.1 204 No Content\r\n\r\n", :answer],
  "a list" => [FakeServer.ok("[]"), :answer],
  "a text" => [FakeServer.ok('"x"'), :answer],
  "a deep list" => [FakeServer.ok("{\"id\":#{'[' * 1_000_000}"), :answer],
  "an object to be made" => [FakeServer.ok('{"json_class":"Gadget","id":1}'), :answer, :nothing, :format],
  "a redirection" => ["HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", :answer],
  "a page that is not there" => ["HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\n\r\n<html>", :answer, :nothing],
  "an error of lists" => ["HTTP/1.1 400 Bad\r\nContent-Length: 51\r\n\r\n{\"error\":{\"kind\":[1],\"message\":{\"a\":1},\"errors\":1}}", :answer],
  "an endless body" => [["HTTP/1.1 200 OK\r\n\r\n", part], :"too-long"],
  "an endless chunked body" => [["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "10000\r\n#{part}\r\n"], :"too-long"],
  "a huge length" => [["HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", part], :"too-long"],
  "an endless line" => [["HTTP/1.1 200 OK\r\nX: ", part], :"too-long"],
  "endless lines" => [["HTTP/1.1 200 OK\r\n", "X: y\r\n" * 1000], :"too-long"],
  "endless waiting" => [["", "HTTP/1.1 100 Continue\r\n\r\n" * 1000], :"too-long"],
  "zeros, compressed" => ["HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n#{Zlib.gzip('0' * 100_000_000)}", :answer]
}.each do |name, (answer, *kinds)|
  server = answer.is_a?(Array) ? FakeServer.endless(*answer) : FakeServer.new(answer)
  CALLS.each do |call, code|
    # An unreachable server: it waits.
    next if call == :work && kinds.include?(:away)
    allowed = name == "a page that is not there" && !%i[fetch remove].include?(call) ? [:answer] : kinds
    got = error_kind { code.call(client_of(server, timeout: 10, longest: 1 << 20)) }
    Check.ok("#{name}: #{call}", allowed.include?(got), -> { got })
  end
end

# Valid JSON that does not answer the request.
['{}', '{"jobs":7,"objects":{}}', '{"jobs":[1,"x",null],"objects":[[],null]}'].each do |body|
  server = FakeServer.new(FakeServer.ok(body))
  Check.equal("a worker finds no jobs in #{body}", 0, client_of(server).work("q", drain: true) {})
  Check.equal("each yields no objects of #{body}", 0, client_of(server).each.count)
  Check.equal("push finds no id in #{body}", :answer, error_kind { client_of(server).push("q", [1]) })
end
['{"id":"../../objects"}', "{}", '{"id":["x"]}', "{\"id\":\"#{ID}\\n\"}"].each do |job|
  client = client_of(FakeServer.new(FakeServer.ok("{\"jobs\":[#{job}]}")))
  Check.equal("the job #{job} is rejected", :answer, error_kind { client.work("q", drain: true) {} })
end
['0', '-1', '"x"', '[]', '1e99'].each do |next_after|
  client = client_of(FakeServer.new(FakeServer.ok("{\"objects\":[{\"id\":\"#{ID}\"}],\"next\":#{next_after}}")))
  count = 0
  Check.equal("a list that goes on after #{next_after}", :answer, error_kind { client.each { count += 1 } })
  Check.ok("a list that goes on for ever ends with an error", count <= 1)
end

# Invalid descriptions of a job.
class Gadget
  def marshal_load(_) = Check.failure("a hook ran")
end
['"bytes":"!!!"', '"bytes":"BAhVOgtHYWRnZXRpBg==","format":"nothing"', '"bytes":"BAhVOgtHYWRnZXRpBg=="', '"bytes":null,"format":"php"'].each do |fields|
  server = FakeServer.new { |client, head| client.write(FakeServer.ok(head.include?("claim") ? "{\"jobs\":[{\"id\":\"#{ID}\",\"token\":\"t\",#{fields}}]}" : "{}")) }
  Check.equal("a job with #{fields} is given back", 1, client_of(server).work("q", limit: 1) { Check.failure("a block is called") })
end

silent = TCPServer.new("127.0.0.1", 0)
client = Icecore::Client.new("http://127.0.0.1:#{silent.addr[1]}", timeout: 0.2, patience: 0)
Check.equal("a server that does not answer is :away", :away, error_kind { client.push("q", [1]) })

# Messages of a server are shown escaped.
server = FakeServer.new("HTTP/1.1 400 Bad\r\nContent-Length: 52\r\n\r\n{\"error\":{\"kind\":\"odd\",\"message\":\"a\\u001b[31m b\\n\"}}")
Check.raises("control characters of a message are escaped", Icecore::ClientError, 'a\u{1b}[31m b\u{a}') { client_of(server).push("q", [1]) }
Check.finish
