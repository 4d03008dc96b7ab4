# frozen_string_literal: true

# Tests of Icecore::Client with a real daemon.

require_relative "helper"
require_relative "client/daemon"
require "tempfile"

unless Daemon.command
  Check.skip("client", "the command icecore is not built")
  Check.finish
end

Order = Struct.new(:id, :note)

# A class that is never allowed: its marshal_load must not run.
class Gadget
  @built = 0
  class << self
    attr_accessor :built
  end

  def marshal_dump = 1
  def marshal_load(_) = self.class.built += 1
end

NO_JOB = "01990f3a-7b11-7c0e-a1b2-0c4d5e6f7a8b"
DAEMON = Daemon.new
CLIENT = Icecore::Client.new(DAEMON.url, classes: [Order])
LOG = [] # rubocop:disable Style/MutableConstant

def drain(queue, client: CLIENT, **options, &block)
  LOG.clear
  client.work(queue, drain: true, log: ->(line) { LOG << line }, **options, &block)
end

def one(queue, **options)
  seen = nil
  drain(queue, limit: 1, **options) { |job| (seen = job) && nil }
  seen
end

def kind
  yield
  :nothing
rescue Icecore::Error => error
  error.kind
end

def same(name, expected, got) = Check.equal(name, expected, got)
def client(**options) = Icecore::Client.new(DAEMON.url, **options)

# -- Jobs ----------------------------------------------------------------------

value = { to: "ann\u00e9", "list" => [1, nil, "\xff\0".b, 2.5], order: Order.new(7, "x") }
id = CLIENT.push("mail", value, priority: 3, max_attempts: 2)
Check.ok("an id comes back", id.match?(/\A[0-9a-f]{8}-[0-9a-f]{4}-7/))
seen = nil
same("a job is worked on", 1, drain("mail") { |job| (seen = job) && { sent: 1 } })
same("with its value", value, seen.value)
same("and what is said of it", [id, "mail", 1, "marshal"], [seen.id, seen.queue, seen.attempt, seen.format])
same("it is done, with the result", ["done", 3, { "sent" => 1 }], CLIENT.job(id).values_at("state", "priority", "result"))
same("and is not there twice", 0, drain("mail") {})
same("no such job", nil, CLIENT.job(NO_JOB))
same("the same id is the same job", id, CLIENT.push("mail", [1], id: id))
same("... also when it is done", 0, drain("mail") {})
unique = CLIENT.push("mail", [1], unique: "k")
same("the same key is the same job", unique, CLIENT.push("mail", [2], unique: "k"))
drain("mail") {}

%w[marshal json php storable sereal].each do |format|
  CLIENT.push("formats", [1, "two", { "three" => 4 }], format: format)
  seen = one("formats")
  same("#{format}: there and back", [[1, "two", { "three" => 4 }], format], [seen.value.map { |item| item.is_a?(String) ? item.dup.force_encoding("UTF-8") : item }, seen.format])
end
CLIENT.push_bytes("formats", "a:1:{i:0;i:1;}")
seen = one("formats")
same("bytes are pushed as they are", ["php", "a:1:{i:0;i:1;}"], [seen.format, seen.bytes])
same("JSON has plain data only", :unrepresentable, kind { CLIENT.push("formats", Order.new, format: "json") })

# Names of queues with characters that are special in a URL.
["a b&c=d/../e?f#g+%00\\", "Gr\u00fc\u00dfe \u{1f600}", "..", "%2e"].each do |queue|
  pushed = CLIENT.push(queue, [1], unique: "k&queue=other")
  same("a queue with a strange name", queue, CLIENT.job(pushed)["queue"])
  same("it is asked for by that", 1, drain(queue) {})
end
same("a queue is no header", :input, kind { CLIENT.push("q\r\nX: y", [1]) })
same("nor is a key", :input, kind { CLIENT.push("q", [1], unique: "\r\n\r\n") })

# Errors and exits in the block of a worker.
id = CLIENT.push("fails", [1], max_attempts: 1)
same("a block may raise", 1, drain("fails") { raise "no such user" })
same("and the job is dead, with the reason", ["dead", "RuntimeError: no such user"], CLIENT.job(id).values_at("state", "error"))
[NotImplementedError.new("x"), StandardError.new("\xff\xfe"), Class.new(StandardError) { def message = "y" * 10_000 }.new].each do |error|
  id = CLIENT.push("fails", [1], max_attempts: 1)
  drain("fails") { raise error }
  same("another error: #{error.class}", "dead", CLIENT.job(id)["state"])
end
id = CLIENT.push("fails", [1], max_attempts: 1)
def deeper(level) = deeper(level + 1) + 1
drain("fails") { deeper(0) }
same("a stack that is full", true, CLIENT.job(id)["error"].start_with?("SystemStackError"))
id = CLIENT.push("left", [1])
drain("left") { break }
same("a block that is left gives its job back", ["ready", "the block was left"], CLIENT.job(id).values_at("state", "error"))
begin
  drain("left") { exit 3 }
rescue SystemExit => error
  same("a block may exit", 3, error.status)
end

# A job whose payload can't be restored.
id = CLIENT.push("hostile", [Gadget.new], max_attempts: 1)
behind = CLIENT.push("hostile", [1])
worked = []
same("a payload that is refused does not stop a worker", 2, drain("hostile") { |job| worked << job.id && nil })
same("nobody is called with it", [behind], worked)
same("it is dead, with the reason", ["dead", true], CLIENT.job(id).then { |job| [job["state"], job["error"].include?("class Gadget at $[0]")] })
id = CLIENT.push_bytes("hostile", "\x04\b[\x06".b, max_attempts: 1)
drain("hostile") {}
same("nor do bytes that break off", "dead", CLIENT.job(id)["state"])
same("nothing of it ran", 0, Gadget.built)
CLIENT.push("hostile", [Gadget.new])
same("the list of a call", Icecore::Record, one("hostile", classes: :record).value[0].class)

# Results that are not plain data are not stored, and none of their methods is called.
deep = 200.times.reduce([]) { |list, _| [list] }
ring = [].tap { |list| list << list }
talking = Class.new { def to_json(*) = raise("called") }.new
[Order.new(1), proc {}, nil, Float::NAN, "\xff", { 1 => 2 }, deep, ring, talking, [talking], Class.new(Array).new].each do |result|
  id = CLIENT.push("results", [1])
  drain("results") { result }
  same("no result", ["done", nil], CLIENT.job(id).values_at("state", "result"))
end
[0, "text", [], [{ "a" => nil }], "caf\xe9".dup.force_encoding("ISO-8859-1")].each do |result|
  id = CLIENT.push("results", [1])
  drain("results") { result }
  same("a result", result.is_a?(String) ? result.encode("UTF-8") : result, CLIENT.job(id)["result"])
end

# Leases.
def lose(job)
  job.extend_lease(0.1)
  sleep 0.2
end
id = CLIENT.push("leases", [1])
drain("leases") { |job| lose(job) && CLIENT.work("leases", drain: true) { 2 } && 1 }
same("who lost the lease does not end the job", ["done", 2, 2], CLIENT.job(id).values_at("state", "result", "attempts"))
same("and is told", [true], LOG.map { |line| line.start_with?("job #{id}: ack: ") })
id = CLIENT.push("leases", [1])
drain("leases", limit: 1) { |job| lose(job) && same("a lease that ended is not extended", [:lease, true], [kind { job.extend_lease }, job.lost?]) }
CLIENT.work("leases", drain: true) {}
id = CLIENT.push("leases", [1])
extended = false
drain("leases", lease: 6) do |job|
  before = job.left
  until extended || before.negative?
    sleep 0.05
    now = job.left
    extended = now > before
    before = now
  end
end
same("a lease is kept while a block runs", [true, "done"], [extended, CLIENT.job(id)["state"]])
CLIENT.push("delayed", [1], delay: 3600)
CLIENT.push("delayed", [1], delay: "1h")
same("a delay", 0, drain("delayed") {})

# Jobs that wait for other jobs.
first = CLIENT.push("first", [1])
CLIENT.push("second", [2], after: first)
same("a job waits for another", 0, drain("second") {})
same("... and is handed out when that is done", [1, 1], %w[first second].map { |queue| drain(queue) {} })

# Groups of jobs, and several threads.
7.times { |number| CLIENT.push("several", [number]) }
same("at most so many", 5, drain("several", max: 3, limit: 5) {})
same("the rest stays", 2, drain("several") {})
40.times { |number| CLIENT.push("threads", [number]) }
threads, numbers = [], []
same("threads", 40, drain("threads", concurrency: 4, max: 3) { |job| sleep(0.01) && threads << Thread.current && numbers << job.value[0] && nil })
same("each once", (0...40).to_a, numbers.sort)
same("by all of them", 4, threads.uniq.size)

# Signals.
3.times { |number| CLIENT.push("signals", [number]) }
before = trap("TERM") { nil }
same("SIGTERM: the current job is done, then it stops", 1, CLIENT.work("signals", max: 3) { Process.kill(:TERM, Process.pid) && sleep(0.1) && nil })
same("what it had is free at once", 2, drain("signals") {})
same("the handler is as before", Proc, trap("TERM", before || "DEFAULT").class)

same("a queue needs a name", :usage, kind { CLIENT.push("", [1]) })
Check.raises("options are checked", ArgumentError, "prioritty") { CLIENT.push("q", [1], prioritty: 1) }
same("a token is no header", :usage, kind { client(token: "a\r\nX: y") })
["ftp://x", "http://a b", "http://a\r\nX: y", "x", "http://h/?a=b", "http://"].each { |url| same("no address: #{url}", :usage, kind { Icecore::Client.new(url) }) }
same("the daemon's own words", :parameter, kind { CLIENT.push("q", [1], delay: "soon") })
error = Check.raises("... of a payload", Icecore::ClientError) { CLIENT.push_bytes("q", '{"user":{"id":}}', format: "json") }
same("... with the path, and the code", [:malformed, "$.user.id", 14, 400], [error.kind, error.path, error.offset, error.status])
same("a job once more", id, CLIENT.job(CLIENT.replay(id))["replay_of"])

# -- Objects -------------------------------------------------------------------

order = Order.new(1, "\u263a")
object = CLIENT.store(order, key: "first", expires: "1h")
same("an object is stored and fetched", order, CLIENT.fetch(object))
same("... by its key", order, CLIENT.fetch_named("first"))
same("there is none", nil, CLIENT.fetch_named("second"))
same("a key is taken", :taken, kind { CLIENT.store(order, key: "first") })
same("the same id is the same object", object, CLIENT.store(order, key: "first", id: object))
ids = [object, *Array.new(5) { |number| CLIENT.store([number]) }]
ids << (gadget = CLIENT.store([Gadget.new])) << CLIENT.store_bytes("\x04\b[\x06".b, format: "marshal")
found = []
same("each gives itself", CLIENT, CLIENT.each(page: 3) { |record, restored| found << [record, restored] })
same("all are visited, in order", ids, found.map { |record, _| record.id })
same("with their objects", [order, *Array.new(5) { |number| [number] }, nil, nil], found.map(&:last))
record = found[0][0]
same("and what is known of them", ["first", "marshal", "Order", 64, record.bytes.bytesize, nil, Marshal.dump(order)],
     [record.key, record.format, record.class_name, record.checksum.size, record.size, record.problem, record.bytes])
same("their times", true, (record.expires_at - record.stored_at - 3600).abs < 5)
same("one that is not allowed is told with the reason", true, found[6][0].problem.include?("class Gadget at"))
same("and one that is damaged", true, found[7][0].problem.include?("too early"))
same("nothing of it ran", 0, Gadget.built)
same("an Enumerator, of a class", [order], CLIENT.each(class: "Order").map { |_, restored| restored })
same("those with a problem", 1, CLIENT.each(problem: true).count)
same("behind a sequence", ids[1], CLIENT.each(after: record.sequence).first[0].id)
same("removed", [true, false, nil], [CLIENT.remove(object), CLIENT.remove(object), CLIENT.fetch(object)])
Check.raises("fetch raises as load does", Icecore::ClassError, "Gadget") { CLIENT.fetch(gadget) }

# -- A daemon that is not reachable -----------------------------------------------------

child = fork { CLIENT.push("forked", ["child"]) && exit!(0) }
CLIENT.push("forked", ["parent"])
Process.wait(child)
same("a process that was forked has connections of its own", 2, drain("forked") {})
DAEMON.stop
same("nobody is there", :away, kind { client(patience: 0.2).push("q", [1]) })
DAEMON.start_in(0.4)
Check.ok("a push waits for the daemon", client(patience: 20).push("later", [1]))
same("and a worker", 1, client(patience: 20).work("later", limit: 1, log: ->(_) {}) {})

guarded = Daemon.new(token: "secret")
same("a token is needed", :token, kind { Icecore::Client.new(guarded.url).push("q", [1]) })
same("also to work: that does not get better by waiting", :token, kind { Icecore::Client.new(guarded.url).work("q", concurrency: 2) {} })
Check.ok("and taken", Icecore::Client.new("#{guarded.url}/", token: "secret").push("q", [1]))
ENV["ICECORE_URL"], ENV["ICECORE_TOKEN"] = guarded.url, "secret"
Check.ok("also from the environment", Icecore::Client.new.push("q", [1]))
ENV.delete("ICECORE_TOKEN")
Tempfile.create { |file| file.puts("secret") || file.flush && Check.ok("and from a file", Icecore::Client.new(token_file: file.path).push("q", [1])) }
Check.finish
