# frozen_string_literal: true

# The work of the cells for Ruby: counts.rb JOB ROUNDS. Input and output are compared with
# Ruby's own Marshal first, also in a run with 0 rounds.

require "icecore"

job, rounds = ARGV
rounds = Integer(rounds)

records = (1..100).map do |id|
  { "id" => id, "name" => "Employee_#{id}", "email" => "employee.#{id}@example.org", "age" => 20 + (id % 50) }
end
bytes = Icecore::Marshal.dump(records)

abort "dump writes something else" if bytes != Marshal.dump(records)
abort "load reads something else" if Icecore::Marshal.load(bytes) != records

case job
when "marshal-dump" then rounds.times { Icecore::Marshal.dump(records) }
when "marshal-load" then rounds.times { Icecore::Marshal.load(bytes) }
else abort "#{job}: no such job"
end
