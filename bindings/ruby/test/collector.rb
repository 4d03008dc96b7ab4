# frozen_string_literal: true

# With a collector that runs permanently and moves objects, in threads and fibers, with hooks
# that call the module again, leave it or change the value being dumped: nothing crashes,
# nothing is lost.

require_relative "helper"
require "fiber"
require "open3"
require "rbconfig"
require_relative "shape"
require_relative "collector/classes"

def check_true(name)
  result = yield
  Check.ok(name, result, -> { result.inspect })
rescue StandardError, SystemStackError, NoMemoryError => error
  Check.failure(name, "#{error.class}: #{error.message}\n#{error.backtrace&.first(3)&.join("\n")}")
end

# Runs in a process of its own: a crash is one failure. It prints "good" at the end.
def check_in_process(name, program, *flags, stand_in: true)
  return Check.skip(name, "Ruby's own Marshal dies of this") if STAND_IN && !stand_in
  text = "require #{File.expand_path('helper', __dir__).inspect}\nrequire #{File.expand_path('collector/classes', __dir__).inspect}\n#{program}"
  outcomes, status = Open3.capture2e(RbConfig.ruby, *flags, "-e", text)
  Check.ok(name, status.success? && outcomes.lines.last&.strip == "good", -> { "#{status}\n#{outcomes[0, 1500]}" })
end

def dump_and_load_here(value) = [Ours.dump(value), Shape.of(Ours.load(Oracle.dump(value))), Shape.of(Ours.load(Oracle.dump(value), ->(value) { value })), Shape.of(Ours.load(Oracle.dump(value), freeze: true))]
def dump_and_load_by_marshal(value) = [Oracle.dump(value), Shape.of(Oracle.load(Oracle.dump(value))), Shape.of(Oracle.load(Oracle.dump(value), ->(value) { value })), Shape.of(Oracle.load(Oracle.dump(value), freeze: true))]

values = Collect.values
all_bytes = Oracle.dump(values)
expected = values.map { |value| dump_and_load_by_marshal(value) }

# -- The collector -----------------------------------------------------------------

values.each_with_index do |value, index|
  dumped = Oracle.dump(value)
  results = nil
  begin
    GC.stress = true
    results = [Ours.dump(value), Ours.load(dumped), Ours.load(dumped, ->(value) { value }), Ours.load(dumped, freeze: true)]
  ensure
    GC.stress = false
  end
  Check.equal("value #{index} is the same under GC.stress", expected[index], [results[0], *results[1..].map { |value| Shape.of(value) }])
end
check_true("loading from an IO works under GC.stress") do
  io = StringIO.new(all_bytes)
  GC.stress = true
  Ours.load(io)
ensure
  GC.stress = false
end
check_true("hooks may start the collector") do
  Collect.with(dumping: ->(_) { GC.start }, loading: ->(_) { GC.start }) do
    Array.new(20) { |n| Collect::Hooked.new(["x#{n}", { n => Collect::Packed.new(+"p#{n}") }]) }.then { |list| Ours.load(Ours.dump(list)).map(&:data).map(&:first) == Array.new(20) { |n| "x#{n}" } }
  end
end
if GC.respond_to?(:compact)
  check_true("values are the same if GC.compact runs between calls") do
    5.times.all? do
      GC.compact
      values.each_with_index.all? { |value, index| dump_and_load_here(value) == expected[index] }
    end
  end
  check_true("hooks may run GC.compact") do
    Collect.with(dumping: ->(_) { GC.compact }, loading: ->(_) { GC.compact }) do
      list = Array.new(10) { |n| [Collect::Hooked.new(+"x#{n}"), +"y#{n}", { "k#{n}" => n }] }
      Ours.load(Ours.dump(list)).each_with_index.all? { |(hooked, text, map), n| hooked.data == "x#{n}" && text == "y#{n}" && map == { "k#{n}" => n } }
    end
  end
  check_true("a proc may run GC.compact") { Shape.of(Ours.load(all_bytes, ->(value) { GC.compact.then { value } })) == Shape.of(Oracle.load(all_bytes)) } if values.size < 100
end
if GC.respond_to?(:auto_compact=)
  check_true("values are the same under GC.auto_compact") do
    GC.auto_compact = true
    30.times.all? do
      GC.start
      Shape.of(Ours.load(all_bytes)) == Shape.of(Oracle.load(all_bytes)) && Ours.dump(values) == all_bytes
    end
  ensure
    GC.auto_compact = false
  end
end
check_in_process("values are the same after GC.verify_compaction_references", <<~RUBY)
  all = Oracle.dump(Collect.values)
  value = Ours.load(all)
  # The names of its arguments differ between versions; some platforms do not have it.
  begin
    RUBY_VERSION < "3.2" ? GC.verify_compaction_references(toward: :empty, double_heap: true) : GC.verify_compaction_references(toward: :empty, expand_heap: true)
  rescue NotImplementedError, NoMethodError
  end
  raise "lost" unless Ours.dump(value) == Oracle.dump(value) && Ours.dump(Ours.load(all)) == Oracle.dump(Oracle.load(all))
  puts "good"
RUBY

# -- Threads and fibers --------------------------------------------------------------

check_true("eight threads may load and dump at once") do
  Collect.with(dumping: ->(_) { Thread.pass }, loading: ->(_) { Thread.pass }) do
    threads = Array.new(8) do |number|
      Thread.new do
        (40 * (1 + LONG)).times.all? do |round|
          list = Array.new(15) { |n| Collect::Hooked.new([number, round, n, "t#{number}", { number => +"s" }]) }
          Thread.pass
          Ours.load(Ours.dump(list), ->(value) { value.is_a?(Array) ? Thread.pass.then { value } : value }).map(&:data) == list.map(&:data)
        end
      end
    end
    threads.map(&:value) == [true] * 8
  end
end
check_true("a thread may be killed in a hook") do
  20.times do
    started = Queue.new
    thread = Thread.new { Collect.with(loading: ->(_) { started.push(1).then { sleep } }) { Ours.load(Oracle.dump([Collect::Hooked.new(1)] * 3)) } }
    started.pop
    thread.kill.join
  end
  Ours.load(all_bytes) && Ours.dump(values) == all_bytes
end
check_true("another thread may raise an exception in a hook") do
  20.times do
    started = Queue.new
    Collect.with(dumping: ->(_) { started.push(1).then { sleep } }) do
      thread = Thread.new { Ours.dump([1, Collect::Hooked.new(1)]) }
      thread.report_on_exception = false
      started.pop
      thread.raise(IOError, "stop")
      thread.join
    end
  rescue IOError
    nil
  end
  Ours.dump(values) == all_bytes
end
check_true("hooks may yield to another fiber") do
  fibers = Array.new(6) do |number|
    Fiber.new do
      list = Array.new(5) { |n| Collect::Hooked.new("f#{number} #{n}") }
      Ours.load(Ours.dump(list)).map(&:data) == list.map(&:data)
    end
  end
  results = []
  Collect.with(dumping: ->(_) { Fiber.yield }, loading: ->(_) { Fiber.yield }) do
    until fibers.empty?
      fibers.shuffle(random: Random.new(1)).each do |fiber|
        result = fiber.resume
        next if fiber.alive?
        fibers.delete(fiber)
        results << result
      end
    end
  end
  results == [true] * 6
end
check_true("fibers may be abandoned in a hook") do
  200.times { Collect.with(loading: ->(_) { Fiber.yield }) { Fiber.new { Ours.load(Oracle.dump([Collect::Hooked.new("x")])) }.resume } }
  GC.start
  Ours.dump(values) == all_bytes
end
check_true("a proc may feed an Enumerator") do
  seen = [Ours, Oracle].map { |side| Enumerator.new { |out| side.load(Oracle.dump([1, [2, "a"]]), ->(value) { (out << value).then { value } }) }.to_enum.then { |each| Array.new(3) { each.next } } }
  seen[0] == seen[1]
end

# -- Hooks that call the module again, and that leave it ----------------------------------

nested_call = ->(_) { Ours.load(Ours.dump([1, { "a" => [2] }])) == [1, { "a" => [2] }] or raise "a nested document is wrong" }
check_true("hooks may load and dump") { Collect.with(dumping: nested_call, loading: nested_call) { Ours.load(Ours.dump(Array.new(10) { |n| Collect::Hooked.new(n) })).map(&:data) == (0..9).to_a } }
check_true("a hook of a nested dump may dump again, 60 levels deep") do
  depth = 0
  nest = lambda do |_|
    next if depth > 60
    depth += 1
    Ours.load(Ours.dump(Collect::Hooked.new([depth])))
  end
  Collect.with(dumping: nest) { Ours.load(Ours.dump(Collect::Hooked.new("x"))).data == "x" && depth > 50 }
end
check_true("a proc may load and dump") { Ours.load(all_bytes, ->(value) { Ours.load(Ours.dump([1])).then { value } }) && true }
{ "raise" => [-> { raise IOError, "out" }, IOError], "throw" => [-> { throw :out }, nil], "exit" => [-> { exit(5) }, SystemExit], "a stack that ends" => [-> { deep = -> { deep.call }.tap { |value| deep = value }; deep.call }, SystemStackError] }.each do |name, (exit_hook, type)|
  { "dumping" => -> { Ours.dump([1, Collect::Hooked.new(1)]) }, "loading" => -> { Ours.load(Oracle.dump([1, Collect::Hooked.new(1)])) }, "_load" => -> { Ours.load(Oracle.dump([1, Collect::Packed.new(+"x")])) } }.each do |kind, call|
    check_true("#{name} in a hook of #{kind} leaves the module usable") do
      bytes = Oracle.dump([1, Collect::Hooked.new(1)])
      100.times do
        catch(:out) { Collect.with(dumping: ->(_) { kind == "dumping" && exit_hook.call }, loading: ->(_) { exit_hook.call }) { call.call } }
      rescue Exception => error
        raise unless type && error.is_a?(type)
      end
      Ours.dump(values) == all_bytes && Ours.load(bytes)[1].data == 1
    end
  end
end
check_true("break may leave a block that loads") { [1].each { Collect.with(loading: ->(_) {}) { break Ours.load(Oracle.dump([1]), ->(value) { value }) } } == [1] }
check_true("return in a proc leaves the load") { def leaving = Ours.load(Oracle.dump([1, 2]), proc { |value| return value }); leaving == 1 }
check_true("2000 loads of cut data leave the module usable") { 2000.times.all? { |n| (Ours.load(all_bytes.byteslice(0, n % all_bytes.bytesize)) rescue true) } && Ours.dump(values) == all_bytes }

# -- Values that change while they are dumped ------------------------------------------------

def check_changed_value(name)
  outcomes = [Ours, Oracle].map do |side|
    value, change = yield
    Outcome.of { Collect.with(dumping: ->(_) { change.call(value) }) { side.dump(value) } }
  end
  # If Marshal itself can't load the result (it wrote another count), it need not be the same.
  broken = !outcomes[1].error? && Outcome.of { Oracle.load(outcomes[1].value) }.error?
  Check.ok("#{name} while it is dumped gives Marshal's result", broken || (outcomes[0].same_error?(outcomes[1]) && (outcomes[0].error? || outcomes[0].value == outcomes[1].value)), -> { "ours:    #{outcomes[0].error? ? outcomes[0] : outcomes[0].value.inspect}\nMarshal: #{outcomes[1].error? ? outcomes[1] : outcomes[1].value.inspect}" })
end
hooked = -> { Collect::Hooked.new(1) }
check_changed_value("an array that grows") { [[hooked.call, 2, 3], ->(list) { list << 4 }] }
check_changed_value("an array that shrinks") { [[hooked.call, 2, 3], ->(list) { list.pop }] }
check_changed_value("an array that is emptied") { [[hooked.call] + [1] * 1000, ->(list) { list.clear.then { GC.start } }] }
check_changed_value("an array whose items are replaced") { [[hooked.call, 2, 3], ->(list) { list[2] = "new" }] }
check_changed_value("an array that is replaced") { [[hooked.call, "a" * 50, "b" * 50], ->(list) { list.replace(["c", "d", "e"]).then { GC.start } }] }
check_changed_value("a hash that gets a key") { [{ a: hooked.call, b: 2 }, ->(map) { map[:c] = 3 }] }
check_changed_value("a hash that loses a key") { [{ a: hooked.call, b: 2, c: 3 }, ->(map) { map.delete(:b) }] }
check_changed_value("a hash whose values change") { [{ a: hooked.call, b: 2 }, ->(map) { map[:b] = "new" }] }
check_changed_value("a large hash that is emptied") { [(1..100).to_h { |n| [n, n] }.then { |map| { 0 => hooked.call }.merge(map) }, ->(map) { map.clear.then { GC.start } }] }
check_changed_value("an object that gets a variable") { [Collect::Plain.new.tap { |value| value.a = hooked.call }, ->(value) { value.instance_variable_set(:@c, 1) }] }
check_changed_value("an object that loses a variable") { [Collect::Plain.new.tap { |value| value.a = hooked.call; value.b = 1 }, ->(value) { value.remove_instance_variable(:@b) }] }
check_changed_value("an object that gets many variables") { [Collect::Plain.new.tap { |value| value.a = hooked.call }, ->(value) { 50.times { |n| value.instance_variable_set("@n#{n}", n) } }] }
check_changed_value("a Struct that changes") { [Collect::Pair.new(hooked.call, 1), ->(pair) { pair.right = "new" }] }
check_changed_value("a string with variables that changes") { [(+"text").tap { |text| text.instance_variable_set(:@v, hooked.call) }, ->(text) { text << "more" * 100 }] }
check_changed_value("a default that changes") { [Hash.new(1).merge!(a: hooked.call), ->(map) { map.default = 2 }] }
check_true("a proc may change the loaded array") { Ours.load(Oracle.dump([[1, 2], [3]]), ->(value) { value.is_a?(Array) ? value.clear : value }).equal?(nil) || true }
check_true("the source may change while it is loaded") do
  bytes = Oracle.dump([Collect::Hooked.new("x" * 100), "y" * 100, "z" * 100])
  # Marshal reads the current bytes; reading the old ones is right too.
  outcomes = Outcome.of { Collect.with(loading: ->(_) { bytes.replace("").then { GC.start } }) { Ours.load(bytes) } }
  outcomes.error.is_a?(ArgumentError) || outcomes.value[2] == "z" * 100
end

# -- callcc, Ractor, depth: each in a process of its own -----------------------------------------

check_in_process("a continuation that returns to a load leaves the module usable", <<~RUBY)
  require "continuation"
  times = 0
  kept = nil
  Collect.loading = ->(_) { callcc { |k| kept ||= k } }
  begin
    value = Ours.load(Oracle.dump([Collect::Hooked.new(1), [2] * 5, "x"]))
    times += 1
    kept.call if times < 3
  rescue StandardError => error
    # Refusing a second return is right too.
    warn error.message
  end
  Collect.loading = nil
  GC.start
  raise "broken" unless Ours.load(Ours.dump([1, 2])) == [1, 2]
  puts "good"
RUBY
check_in_process("a continuation that returns to a dump leaves the module usable", <<~RUBY)
  require "continuation"
  times = 0
  kept = nil
  Collect.dumping = ->(_) { callcc { |k| kept ||= k } }
  begin
    Ours.dump([Collect::Hooked.new(1), [2] * 5, "x"])
    times += 1
    kept.call if times < 3
  rescue StandardError => error
    warn error.message
  end
  Collect.dumping = nil
  GC.start
  raise "broken" unless Ours.load(Ours.dump([1, 2])) == [1, 2]
  puts "good"
RUBY
check_in_process("a Ractor loads and dumps, or gets Ractor::UnsafeError", <<~RUBY, "-W0", stand_in: false)
  ractor = Ractor.new do
    Icecore::Marshal.load(Icecore::Marshal.dump([1, { "a" => [2.5, :b] }])) == [1, { "a" => [2.5, :b] }]
  rescue StandardError => error
    error.class
  end
  value = ractor.respond_to?(:take) ? ractor.take : ractor.value
  raise value.inspect unless value == true || value == Ractor::UnsafeError
  puts "good"
RUBY
# A native frame per level would need more than the stack: 8 MB for the main thread, less for
# others.
levels = ENV["ICECORE_FULL"] ? 100_000 : 40_000
deep = <<~RUBY
  def tried
    yield
    :worked
  rescue StandardError, SystemStackError => error
    warn error.class
    :raised
  end
  list = #{levels}.times.reduce(1) { |value, _| [value] }
  map = #{levels}.times.reduce(1) { |value, _| { 1 => value } }
  object = #{levels}.times.reduce(1) { |value, _| Collect::Plain.new.tap { |one| one.a = value } }
  hooked = #{levels / 5}.times.reduce(1) { |value, _| Collect::Hooked.new(value) }
  bytes = ["[\\x06", "{\\x06i\\x06", "S:\\x12Collect::Pair\\x06:\\x09left", "U:\\x14Collect::Hooked", "e:\\x13Collect::Mixed", "I[\\x06", "C:\\x12Collect::Text"].map { |level| ("\\x04\\b" + level * #{levels} + "0").b }
  work = lambda do |options|
    [list, map, object, hooked].each { |value| tried { Ours.dump(value) } }
    bytes.each do |text|
      tried { Ours.load(text, **options) }
      tried { Ours.load(text, ->(one) { one }, **options) }
      tried { Ours.load(StringIO.new(text), **options) }
      tried { IMPL.dump(IMPL.load(text, classes: :record, **options)) }
      tried { IMPL.load(text, **options) }
    end
  end
RUBY
[{}, { max_depth: 1_000_000 }].each do |options|
  check_in_process("#{levels} levels don't crash, #{options}", "#{deep}\nwork.call(#{options})\nGC.start\nputs 'good'", stand_in: false)
  check_in_process("#{levels} levels in a Fiber don't crash, #{options}", "#{deep}\nFiber.new { work.call(#{options}) }.resume\nGC.start\nputs 'good'", stand_in: false)
  check_in_process("#{levels} levels in a Thread don't crash, #{options}", "#{deep}\nThread.new { work.call(#{options}) }.join\nGC.start\nputs 'good'", stand_in: false)
end

# -- Many small calls -----------------------------------------------------------------------------

if memory_held
  call = proc { Ours.load(Ours.dump([1, "a", { b: 2.5 }])) }
  (LONG.positive? ? 200_000 : 10_000).times(&call)
  GC.start
  grown = least_growth { (LONG.positive? ? 1_000_000 : 50_000).times(&call) }
  Check.ok("many small calls keep no memory", grown < 4_000_000, "grew by #{grown} bytes")
end
Check.finish
