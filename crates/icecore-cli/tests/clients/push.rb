# frozen_string_literal: true

# Pushes the jobs of a file: each line contains the queue, a value and options, as JSON.
require "icecore"
require "json"

client = Icecore::Client.new
File.foreach(ARGV[0]).with_index do |line, number|
  said = JSON.parse(line)
  puts client.push(said["queue"], [number, said["value"]], **said["options"].transform_keys(&:to_sym))
end
