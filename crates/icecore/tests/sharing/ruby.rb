# Like perl.pl, for Ruby: objects, strings that change in place, and values that don't.
require 'base64'
require 'bigdecimal'
require 'date'
require 'json'
require 'set'

MARK = 'MARK'
class Obj; end

def below(n)
  $seed = ($seed * 1103515245 + 12345) % 2147483648
  $seed / 65536 % n
end

def leaf
  [7, +'abc', 2.5, +('x' * 40), nil, +"caf\u00e9", 2**70, 1e78, -0.0, /a+/i, :sym, String, Kernel, Time.at(1, 5).utc,
   Rational(1, 3), Complex(1, 2), 1..3, Date.new(2024, 2, 29), BigDecimal('1.5'), 'frozen'.freeze, 2**63].then { |all| all[below(all.size)] }
end

def value(depth)
  $left -= 1
  what = below(12)
  return $known[below($known.size)] if what < 3 && !$known.empty?
  if what < 6 || depth <= 0 || $left <= 0
    made = leaf
    $known << made if below(2) == 0
    return made
  end
  if what < 9
    made = []
    $known << made if below(2) == 0
    below(4).times { made << value(depth - 1) }
  elsif what < 11
    made = {}
    $known << made if below(2) == 0
    %w[a b c d].first(below(4)).each { |key| made[below(2) == 0 ? key : key.to_sym] = value(depth - 1) }
  else
    made = Obj.new
    $known << made if below(2) == 0
    %w[a b c].first(below(4)).each { |key| made.instance_variable_set("@#{key}", value(depth - 1)) }
  end
  made
end

def thaw(format, blob)
  format == 'json' ? JSON.parse(blob) : Marshal.load(blob)
end

# `put` assigns to the place, like a program that can't change the value itself.
def places(value, path, open, found, put = nil)
  found << [path, value, put]
  return if open.any? { |one| one.equal?(value) } || open.size > 5
  inside = open + [value]
  case value
  when Array then value.each_with_index { |item, at| places(item, "#{path}/#{at}", inside, found, -> { value[at] = MARK }) }
  when Hash then value.each { |key, item| places(item, "#{path}/#{key}", inside, found, -> { value[key] = MARK }) }
  when Obj then value.instance_variables.sort.each { |name| places(value.instance_variable_get(name), "#{path}/#{name.to_s.delete_prefix('@')}", inside, found, -> { value.instance_variable_set(name, MARK) }) }
  end
end

def all(root)
  found = []
  places(root, '', [], found)
  found
end

# Changes the value itself, like a program that holds it. If it can't be changed, another value replaces it.
def change(value, put)
  case value
  when Array then value << MARK
  when Hash then value['zz'] = MARK
  when Obj then value.instance_variable_set(:@zz, MARK)
  when String then value.frozen? ? put.call : value.replace(MARK)
  else put.call
  end
end

def marked?(value)
  case value
  when Array then value.last == MARK
  when Hash then value['zz'] == MARK
  when Obj then value.instance_variable_get(:@zz) == MARK
  end
end

def look(format, blob)
  names = all(thaw(format, blob)).map(&:first)
  names.each_index.map do |n|
    value = thaw(format, blob)
    _, thing, put = all(value)[n]
    is_leaf = ![Array, Hash, Obj].any? { |kind| kind === thing }
    change(thing, put)
    changed = all(value).filter_map { |path, now| path if is_leaf ? now == MARK : marked?(now) }
    "#{is_leaf ? '' : '+'}#{names[n]}=#{changed.uniq.sort.join(',')}"
  end.join(' ')
end

$stdout.sync = true
$stdin.each_line do |line|
  what, *more = line.split
  begin
    if what == 'make'
      $seed = more[0].to_i * 2654435761 % 2147483648
      $left = 14
      $known = []
      made = below(2) == 0 ? Array.new(5) { value(3) } : %w[a b c d e].to_h { |key| [key, value(3)] }
      puts "marshal=#{Base64.strict_encode64(Marshal.dump(made))}"
    else
      puts look(more[0], Base64.decode64(more[1] || ''))
    end
  rescue StandardError, SystemStackError, SyntaxError => error
    puts "error #{error.message.gsub(/\s+/, ' ')}"
  end
end
