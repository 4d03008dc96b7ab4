# frozen_string_literal: true

# Checks that the examples, and the programs in the pages, print the output next to them, and that
# Icecore causes no warnings.

require "open3"
require "rbconfig"
require "tempfile"

HERE = __dir__
GEM = File.dirname(HERE)
LIB = $LOAD_PATH.find { |folder| File.exist?(File.join(folder, "icecore", "version.rb")) }
WRITE = ARGV.delete("--write")
$passed = $failed = 0

def check(name, expected, actual)
  return $passed += 1 if expected == actual
  $failed += 1
  puts "not ok - #{name}", expected.lines.map { |line| "    -#{line}" }, actual.lines.map { |line| "    +#{line}" }
end

# Returns the URL of a daemon for programs that use one, or nil if there is none.
def daemon
  file = File.join(GEM, "test", "client", "daemon.rb")
  return unless File.exist?(file)
  require file
  $daemon ||= Daemon.new if Daemon.command
  $daemon&.url
end

# Returns the output of a program, or nil if it can't run.
def run_program(file, name)
  library = File.read(file)[/^require "(active_\w+)/, 1]
  if library && !system(RbConfig.ruby, "-W0", "-e", "begin require ARGV[0]; rescue LoadError; exit 1; end", library)
    puts "# left out: #{name} needs #{library}"
    return
  end
  needs_daemon = File.read(file).include?("Icecore::Client")
  if needs_daemon && daemon.nil?
    puts "# left out: #{name} needs the command icecore"
    return
  end
  out, err, status = Open3.capture3({ "ICECORE_URL" => needs_daemon ? daemon : nil }, RbConfig.ruby, "-w", *(LIB ? ["-I", LIB] : []), file)
  if status.exitstatus == 75
    puts "# left out: #{name}: #{err.lines.last}"
    return
  end
  # Warnings of Rails about itself are ignored.
  err = err.lines.select { |line| library.nil? || line.start_with?(GEM, file) || !status.success? }.join
  check("#{name}, warnings and errors", "", err)
  out
end

Dir[File.join(HERE, "*.rb")].sort.each do |file|
  expected_file = file.sub(/\.rb\z/, ".out")
  next if file == File.expand_path(__FILE__)
  next unless WRITE || File.exist?(expected_file)
  name = "examples/#{File.basename(file)}"
  out = run_program(file, name) or next
  WRITE ? File.write(expected_file, out) : check(name, File.read(expected_file), out)
end

# In a page, a program is a block of Ruby, and its output is the block after it.
[File.join(GEM, "README.md"), File.join(GEM, "docs", "ruby.md"), File.expand_path("../../docs/ruby.md", GEM)].each do |page|
  next unless File.exist?(page)
  File.read(page).scan(/```ruby\n(.*?)```(?:\s*```text\n(.*?)```)?/m).each.with_index(1) do |(program, expected), number|
    Tempfile.create(["program", ".rb"]) do |file|
      file.write(program)
      file.close
      name = "#{File.basename(page)}, program #{number}"
      out = run_program(file.path, name) or next
      check(name, expected.to_s, out)
    end
  end
end
puts "#{$passed} passed, #{$failed} failed"
exit($failed.zero?)
