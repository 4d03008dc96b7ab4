# frozen_string_literal: true

# Works on a queue: the result of a job is its number, and whether Ruby sees its value as equal to that
# of the file.
require "icecore"
require "json"

queue, file = ARGV
wanted = File.foreach(file).map { |line| JSON.parse(line)["value"] }

# Languages whose strings are bytes send bytes.
def plain(value)
  case value
  when Array then value.map { |item| plain(item) }
  when Hash then value.to_h { |key, item| [plain(key.to_s), plain(item)] }
  when String then value.b
  else value
  end
end

print Icecore::Client.new.work(queue, drain: true, max: 3, concurrency: 2) { |job|
  number, value = job.value
  [number, plain(wanted[number]) == plain(value) ? "same" : "other"]
}
