# Reports how the real Ruby loads dumps: each line of Base64 is answered with
#
#   ok BASE64         it is loaded, and dumped again as this
#   kept MESSAGE      it is loaded, and can't be dumped
#   refused MESSAGE   it is not loaded
#
# The classes of the fixtures are defined. Input that takes too long or too much memory
# ends the process; the caller starts another one.

require "set"
require "date"
require "bigdecimal"
require_relative "../../fixtures/ruby/classes"

$stdout.sync = true

# Returns the error as text that fits on a line.
def reason(error)
  "#{error.class}: #{error.message.to_s.b.gsub(/[^ -~]/n, '?')[0, 200]}"
rescue Exception
  error.class.to_s
end

# Returns the answer for a dump.
def answer(blob)
  begin
    value = Marshal.load(blob)
  rescue Exception => error
    return "refused #{reason(error)}"
  end
  "ok #{[Marshal.dump(value)].pack('m0')}"
rescue Exception => error
  "kept #{reason(error)}"
end

while (line = $stdin.gets)
  $stdout.write("#{answer(line.unpack1('m'))}\n")
end
