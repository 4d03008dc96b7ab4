# frozen_string_literal: true

# Code that the tests of this folder share. Warnings of Rails itself are ignored, and so is
# zlib's warning that a damaged entry ends early.
module Warning
  OURS = File.expand_path("../..", __dir__)

  def self.warn(message, category: nil)
    same("no warning", "", message) if message.start_with?(OURS) && !message.include?("zstream")
  end
end

$passed = $failed = 0

# Counts a test, and prints failures.
def same(name, expected, actual)
  return $passed += 1 if expected == actual
  $failed += 1
  puts "not ok - #{name}", "    expected: #{expected.inspect[0, 500]}", "    actual:   #{actual.inspect[0, 500]}"
end

# Returns the class and the message of the block's exception, or nil.
def raised
  yield
  nil
rescue StandardError => error
  [error.class, error.message]
end

# Checks that the block raises `type` with a message that contains `words`.
def raises(name, type, words)
  error, message = raised { yield }
  same(name, "#{type} with #{words.inspect}", error && error <= type && message.include?(words) ? "#{type} with #{words.inspect}" : "#{error}: #{message}")
end

# Skips the test if a library is missing.
def needs(library, package)
  require library
rescue LoadError
  puts "# left out: #{File.basename($PROGRAM_NAME)} needs #{package}"
  exit
end

at_exit do
  next unless $!.nil? || ($!.is_a?(SystemExit) && $!.success?)
  puts "#{$passed} passed, #{$failed} failed"
  exit!($failed.zero? ? 0 : 1) if $stdout.flush
end
