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

# Works on all ready jobs of a queue; LOG receives the worker's lines. Returns the number of jobs.
def work_all(queue, client: CLIENT, **options, &block)
  LOG.clear
  client.work(queue, drain: true, log: ->(line) { LOG << line }, **options, &block)
end

# Works on one job, and returns it.
def run_one_job(queue, **options)
  worked_job = nil
  work_all(queue, limit: 1, **options) { |job| (worked_job = job) && nil }
  worked_job
end

# Returns the kind of the error that the block raises.
def error_kind
  yield
  :nothing
rescue Icecore::Error => error
  error.kind
end

def check_equal(name, expected, actual) = Check.equal(name, expected, actual)
def client(**options) = Icecore::Client.new(DAEMON.url, **options)

# -- Jobs ----------------------------------------------------------------------

value = { to: "ann\u00e9", "list" => [1, nil, "\xff\0".b, 2.5], order: Order.new(7, "x") }
id = CLIENT.push("mail", value, priority: 3, max_attempts: 2)
Check.ok("push returns an id of UUID version 7", id.match?(/\A[0-9a-f]{8}-[0-9a-f]{4}-7/))
worked_job = nil
check_equal("a worker runs one job", 1, work_all("mail") { |job| (worked_job = job) && { sent: 1 } })
check_equal("the job has its value", value, worked_job.value)
check_equal("the job has its id, queue, attempt and format", [id, "mail", 1, "marshal"], [worked_job.id, worked_job.queue, worked_job.attempt, worked_job.format])
check_equal("a finished job is done, and has its result", ["done", 3, { "sent" => 1 }], CLIENT.job(id).values_at("state", "priority", "result"))
check_equal("a finished job is not delivered again", 0, work_all("mail") {})
check_equal("an unknown job is nil", nil, CLIENT.job(NO_JOB))
check_equal("a push with a known id returns that id", id, CLIENT.push("mail", [1], id: id))
check_equal("a push with the id of a finished job adds no job", 0, work_all("mail") {})
unique = CLIENT.push("mail", [1], unique: "k")
check_equal("a push with a known unique key returns the first id", unique, CLIENT.push("mail", [2], unique: "k"))
work_all("mail") {}

%w[marshal json php storable sereal].each do |format|
  CLIENT.push("formats", [1, "two", { "three" => 4 }], format: format)
  worked_job = run_one_job("formats")
  check_equal("#{format}: a payload is written and restored", [[1, "two", { "three" => 4 }], format], [worked_job.value.map { |item| item.is_a?(String) ? item.dup.force_encoding("UTF-8") : item }, worked_job.format])
end
CLIENT.push_bytes("formats", "a:1:{i:0;i:1;}")
worked_job = run_one_job("formats")
check_equal("push_bytes stores the bytes unchanged", ["php", "a:1:{i:0;i:1;}"], [worked_job.format, worked_job.bytes])
check_equal("an object can't be pushed as JSON", :unrepresentable, error_kind { CLIENT.push("formats", Order.new, format: "json") })

# Names of queues with characters that are special in a URL.
["a b&c=d/../e?f#g+%00\\", "Gr\u00fc\u00dfe \u{1f600}", "..", "%2e"].each do |queue|
  pushed = CLIENT.push(queue, [1], unique: "k&queue=other")
  check_equal("a queue may have special characters of URLs in its name", queue, CLIENT.job(pushed)["queue"])
  check_equal("a worker finds a queue with special characters in its name", 1, work_all(queue) {})
end
check_equal("a queue name with a line break is rejected", :input, error_kind { CLIENT.push("q\r\nX: y", [1]) })
check_equal("a unique key with a line break is rejected", :input, error_kind { CLIENT.push("q", [1], unique: "\r\n\r\n") })

# Errors and exits in the block of a worker.
id = CLIENT.push("fails", [1], max_attempts: 1)
check_equal("a worker continues after an exception in the block", 1, work_all("fails") { raise "no such user" })
check_equal("a job whose block raised is dead, with the reason", ["dead", "RuntimeError: no such user"], CLIENT.job(id).values_at("state", "error"))
[NotImplementedError.new("x"), StandardError.new("\xff\xfe"), Class.new(StandardError) { def message = "y" * 10_000 }.new].each do |error|
  id = CLIENT.push("fails", [1], max_attempts: 1)
  work_all("fails") { raise error }
  check_equal("a job is dead after #{error.class}", "dead", CLIENT.job(id)["state"])
end
id = CLIENT.push("fails", [1], max_attempts: 1)
def deeper(level) = deeper(level + 1) + 1
work_all("fails") { deeper(0) }
check_equal("a stack overflow in the block is reported", true, CLIENT.job(id)["error"].start_with?("SystemStackError"))
id = CLIENT.push("left", [1])
work_all("left") { break }
check_equal("break in the block gives the job back", ["ready", "the block was left"], CLIENT.job(id).values_at("state", "error"))
begin
  work_all("left") { exit 3 }
rescue SystemExit => error
  check_equal("exit in the block ends the process with its status", 3, error.status)
end

# A job whose payload can't be restored.
id = CLIENT.push("hostile", [Gadget.new], max_attempts: 1)
valid_id = CLIENT.push("hostile", [1])
worked_ids = []
check_equal("a refused payload does not stop a worker", 2, work_all("hostile") { |job| worked_ids << job.id && nil })
check_equal("the block is not called for a refused payload", [valid_id], worked_ids)
check_equal("a job with a refused payload is dead, with the class and its path", ["dead", true], CLIENT.job(id).then { |job| [job["state"], job["error"].include?("class Gadget at $[0]")] })
id = CLIENT.push_bytes("hostile", "\x04\b[\x06".b, max_attempts: 1)
work_all("hostile") {}
check_equal("a job with truncated bytes is dead", "dead", CLIENT.job(id)["state"])
check_equal("no hook of a refused class ran", 0, Gadget.built)
CLIENT.push("hostile", [Gadget.new])
check_equal("work has a list of classes of its own", Icecore::Record, run_one_job("hostile", classes: :record).value[0].class)

# Results that are not plain data are not stored, and none of their methods is called.
deep_list = 200.times.reduce([]) { |list, _| [list] }
list_in_itself = [].tap { |list| list << list }
object_with_to_json = Class.new { def to_json(*) = raise("called") }.new
[Order.new(1), proc {}, nil, Float::NAN, "\xff", { 1 => 2 }, deep_list, list_in_itself, object_with_to_json, [object_with_to_json], Class.new(Array).new].each do |result|
  id = CLIENT.push("results", [1])
  work_all("results") { result }
  check_equal("a result that is not plain data is not stored", ["done", nil], CLIENT.job(id).values_at("state", "result"))
end
[0, "text", [], [{ "a" => nil }], "caf\xe9".dup.force_encoding("ISO-8859-1")].each do |result|
  id = CLIENT.push("results", [1])
  work_all("results") { result }
  check_equal("a plain result is stored", result.is_a?(String) ? result.encode("UTF-8") : result, CLIENT.job(id)["result"])
end

# Leases.
# Lets the lease of a job end.
def lose_lease(job)
  job.extend_lease(0.1)
  sleep 0.2
end
id = CLIENT.push("leases", [1])
work_all("leases") { |job| lose_lease(job) && CLIENT.work("leases", drain: true) { 2 } && 1 }
check_equal("a worker without its lease can't finish the job", ["done", 2, 2], CLIENT.job(id).values_at("state", "result", "attempts"))
check_equal("a worker without its lease logs the error", [true], LOG.map { |line| line.start_with?("job #{id}: ack: ") })
id = CLIENT.push("leases", [1])
work_all("leases", limit: 1) { |job| lose_lease(job) && check_equal("a lease that ended can't be extended", [:lease, true], [error_kind { job.extend_lease }, job.lost?]) }
CLIENT.work("leases", drain: true) {}
id = CLIENT.push("leases", [1])
extended = false
work_all("leases", lease: 6) do |job|
  before = job.left
  until extended || before.negative?
    sleep 0.05
    now = job.left
    extended = now > before
    before = now
  end
end
check_equal("a lease is extended while the block runs", [true, "done"], [extended, CLIENT.job(id)["state"]])
CLIENT.push("delayed", [1], delay: 3600)
CLIENT.push("delayed", [1], delay: "1h")
check_equal("a delayed job is not delivered at once", 0, work_all("delayed") {})

# Jobs that wait for other jobs.
first = CLIENT.push("first", [1])
CLIENT.push("second", [2], after: first)
check_equal("a job with `after` is not delivered before the other job", 0, work_all("second") {})
check_equal("a job with `after` is delivered when the other job is done", [1, 1], %w[first second].map { |queue| work_all(queue) {} })

# Groups of jobs, and several threads.
7.times { |number| CLIENT.push("several", [number]) }
check_equal("a worker ends after `limit` jobs", 5, work_all("several", max: 3, limit: 5) {})
check_equal("the other jobs stay in the queue", 2, work_all("several") {})
40.times { |number| CLIENT.push("threads", [number]) }
threads, numbers = [], []
check_equal("several threads work on all jobs", 40, work_all("threads", concurrency: 4, max: 3) { |job| sleep(0.01) && threads << Thread.current && numbers << job.value[0] && nil })
check_equal("several threads work on each job once", (0...40).to_a, numbers.sort)
check_equal("all threads get jobs", 4, threads.uniq.size)

# Signals.
3.times { |number| CLIENT.push("signals", [number]) }
before = trap("TERM") { nil }
check_equal("on SIGTERM a worker finishes the current job and stops", 1, CLIENT.work("signals", max: 3) { Process.kill(:TERM, Process.pid) && sleep(0.1) && nil })
check_equal("jobs that a stopped worker did not begin are ready at once", 2, work_all("signals") {})
check_equal("the signal handler of the program is restored", Proc, trap("TERM", before || "DEFAULT").class)

check_equal("a queue name must not be empty", :usage, error_kind { CLIENT.push("", [1]) })
Check.raises("an unknown option is an ArgumentError", ArgumentError, "prioritty") { CLIENT.push("q", [1], prioritty: 1) }
check_equal("a token with a line break is rejected", :usage, error_kind { client(token: "a\r\nX: y") })
["ftp://x", "http://a b", "http://a\r\nX: y", "x", "http://h/?a=b", "http://"].each { |url| check_equal("the address #{url} is rejected", :usage, error_kind { Icecore::Client.new(url) }) }
check_equal("an error of the daemon has the daemon's kind", :parameter, error_kind { CLIENT.push("q", [1], delay: "soon") })
error = Check.raises("a malformed JSON payload is rejected", Icecore::ClientError) { CLIENT.push_bytes("q", '{"user":{"id":}}', format: "json") }
check_equal("the error has kind, path, offset and status", [:malformed, "$.user.id", 14, 400], [error.kind, error.path, error.offset, error.status])
check_equal("replay returns a new job that refers to the old one", id, CLIENT.job(CLIENT.replay(id))["replay_of"])

# -- Objects -------------------------------------------------------------------

order = Order.new(1, "\u263a")
object = CLIENT.store(order, key: "first", expires: "1h")
check_equal("fetch returns a stored object", order, CLIENT.fetch(object))
check_equal("fetch_named returns the object with the key", order, CLIENT.fetch_named("first"))
check_equal("fetch_named returns nil for an unknown key", nil, CLIENT.fetch_named("second"))
check_equal("a second object with the same key is rejected", :taken, error_kind { CLIENT.store(order, key: "first") })
check_equal("store with a known id returns that id", object, CLIENT.store(order, key: "first", id: object))
ids = [object, *Array.new(5) { |number| CLIENT.store([number]) }]
ids << (gadget = CLIENT.store([Gadget.new])) << CLIENT.store_bytes("\x04\b[\x06".b, format: "marshal")
visited = []
check_equal("each returns the client", CLIENT, CLIENT.each(page: 3) { |record, restored| visited << [record, restored] })
check_equal("each visits all objects in order", ids, visited.map { |record, _| record.id })
check_equal("each yields the restored objects", [order, *Array.new(5) { |number| [number] }, nil, nil], visited.map(&:last))
record = visited[0][0]
check_equal("a record has the information about its object", ["first", "marshal", "Order", 64, record.bytes.bytesize, nil, Marshal.dump(order)],
     [record.key, record.format, record.class_name, record.checksum.size, record.size, record.problem, record.bytes])
check_equal("the expiry in a record is one hour after the storing", true, (record.expires_at - record.stored_at - 3600).abs < 5)
check_equal("the record of a refused object names the class", true, visited[6][0].problem.include?("class Gadget at"))
check_equal("the record of a damaged object says that it ends too early", true, visited[7][0].problem.include?("too early"))
check_equal("no hook of a refused class ran", 0, Gadget.built)
check_equal("each without a block returns an Enumerator, here of one class", [order], CLIENT.each(class: "Order").map { |_, restored| restored })
check_equal("each can select objects with a problem", 1, CLIENT.each(problem: true).count)
check_equal("each can begin after a sequence number", ids[1], CLIENT.each(after: record.sequence).first[0].id)
check_equal("remove returns true once, and then the object is gone", [true, false, nil], [CLIENT.remove(object), CLIENT.remove(object), CLIENT.fetch(object)])
Check.raises("fetch raises for a refused class", Icecore::ClassError, "Gadget") { CLIENT.fetch(gadget) }

# -- A daemon that is not reachable -----------------------------------------------------

child = fork { CLIENT.push("forked", ["child"]) && exit!(0) }
CLIENT.push("forked", ["parent"])
Process.wait(child)
check_equal("a forked process uses connections of its own", 2, work_all("forked") {})
DAEMON.stop
check_equal("without a daemon the error is :away", :away, error_kind { client(patience: 0.2).push("q", [1]) })
DAEMON.start_in(0.4)
Check.ok("a push waits until the daemon has started", client(patience: 20).push("later", [1]))
check_equal("a worker waits until the daemon has started", 1, client(patience: 20).work("later", limit: 1, log: ->(_) {}) {})

guarded = Daemon.new(token: "secret")
check_equal("a request without a token is rejected", :token, error_kind { Icecore::Client.new(guarded.url).push("q", [1]) })
check_equal("a worker without a token ends with an error at once", :token, error_kind { Icecore::Client.new(guarded.url).work("q", concurrency: 2) {} })
Check.ok("a request with the token is accepted", Icecore::Client.new("#{guarded.url}/", token: "secret").push("q", [1]))
ENV["ICECORE_URL"], ENV["ICECORE_TOKEN"] = guarded.url, "secret"
Check.ok("address and token may come from the environment", Icecore::Client.new.push("q", [1]))
ENV.delete("ICECORE_TOKEN")
Tempfile.create { |file| file.puts("secret") || file.flush && Check.ok("the token may come from a file", Icecore::Client.new(token_file: file.path).push("q", [1])) }
Check.finish
