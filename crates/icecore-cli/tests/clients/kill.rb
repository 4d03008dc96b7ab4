# frozen_string_literal: true

# A client that pushes, stores and works until it is killed, and notes the answers:
#
#   kill.rb QUEUE LEASE NOTES SEED
#
# LEASE is in seconds. The format of the lines is in `crates/icecore-store/tests/killing/reported_events.rs`.
require "icecore"

QUEUE, lease, notes, seed = ARGV
LEASE = lease.to_f
RANDOM = Random.new(seed.to_i)
NOTES = File.open(notes, "a")

# Writes a line with a single call.
def tell(*words) = NOTES.syswrite("#{words.join(' ')}\n")

def treat(job)
  tell("granted", job.id, job.attempt, (LEASE * 1000).to_i, job.lease_until)
  # The lease is extended meanwhile.
  sleep LEASE * 1.5 if RANDOM.rand(10).zero?
  begin
    tell("extended", job.id, job.attempt, job.extend_lease.lease_until) if RANDOM.rand(5).zero?
  rescue Icecore::ClientError => error
    raise unless error.kind == :lease || error.passing?
  end
  # After its lease, a worker notes nothing: another one may already have the job.
  tell("releasing", job.id, job.attempt) if job.left.positive? && !job.lost?
  job.attempt
end

client = Icecore::Client.new(format: "json")
number = 0
loop do
  (1 + RANDOM.rand(3)).times do
    name = "ruby-#{Process.pid} #{number += 1}"
    if RANDOM.rand(5).zero?
      tell("put", client.store([name]))
    else
      tell("pushed", client.push(QUEUE, [name, 1], max_attempts: 1_000_000, unique: RANDOM.rand(3).zero? ? name : nil))
    end
  end
  client.work(QUEUE, lease: LEASE, max: 1 + RANDOM.rand(3), limit: 3, drain: true, concurrency: 2, log: ->(_) {}) { |job| treat(job) }
rescue Icecore::ClientError => error
  # If the daemon is unavailable for too long, try again.
  raise unless error.passing?
end
