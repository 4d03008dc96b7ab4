# Makes the samples of the cookbook's Ruby page: a cache and a signed cookie as
# Rails writes them (with ActiveSupport 6.1 where that is installed), files in the
# shapes of RPG Maker, and plain dumps. Run it anywhere; it writes beside itself.
require 'base64'
require 'bigdecimal'
require 'date'
require 'fileutils'
require 'set'
require 'zlib'
begin
  require 'active_support'
  require 'active_support/cache'
  require 'active_support/message_verifier'
rescue LoadError
  abort 'the samples need ActiveSupport (Debian: ruby-activesupport)'
end

Dir.chdir(__dir__)
ENV['TZ'] = 'Europe/Berlin'

class User
  def initialize(id, name, roles) = (@id, @name, @roles = id, name, roles)
end
Point = Struct.new(:x, :y)

# -- Rails ---------------------------------------------------------------------


# An entry of Rails 6.1 is a Marshal dump of ActiveSupport::Cache::Entry.
def entry(value, expires_in: nil)
  entry = ActiveSupport::Cache::Entry.new(value, expires_in: expires_in)
  entry.instance_variable_set(:@created_at, 1_700_000_000.25)
  entry
end

def cached(path, bytes)
  FileUtils.mkdir_p(File.dirname("cache/#{path}"))
  File.binwrite("cache/#{path}", bytes)
end

alice = User.new(1, 'Alice', %i[admin dev])
cached('3F1/A20/users%2F1', Marshal.dump(entry(alice, expires_in: 3600)))
cached('5C0/010/menu', Marshal.dump(entry([{ title: 'Home', path: '/' }, { title: 'Shop', path: '/shop' }])))
# Rails 7.0: a byte that says whether the dump is deflated.
cached('7A1/B00/greeting', "\x01".b + Zlib::Deflate.deflate(Marshal.dump(['Hallo ' * 40, 1_700_003_600.0, nil])))
# Rails 7.1: a head with type, expiry and version; the value alone behind it.
head = "\x00\x11".b + [0x01].pack('C') + [1_700_003_600.0].pack('E') + [3].pack('l<') + 'v42'
cached('9E4/0C1/rates', head + Marshal.dump('de' => BigDecimal('0.19'), 'at' => BigDecimal('0.2')))
cached('A00/111/page', "\x00\x11".b + [0x02].pack('C') + [-1.0].pack('E') + [-1].pack('l<') + '<h1>Grüße</h1>'.b)

verifier = ActiveSupport::MessageVerifier.new('a secret of the cookbook', serializer: Marshal)
File.write('cookie.txt', verifier.generate({ 'user_id' => 1, 'flash' => { 'notice' => 'Welcome back' } }))

# -- RPG Maker -------------------------------------------------------------------

module RPG
  class Map
    def initialize(table, events)
      @tileset_id = 1
      @width = 3
      @height = 2
      @display_name = 'The old mill'
      @note = ''
      @data = table
      @events = events
    end
  end

  class Event
    def initialize(id, name, x, y) = (@id, @name, @x, @y, @pages = id, name, x, y, [Page.new])

    class Page
      def initialize = (@list = [EventCommand.new(101, ['Miller', 0]), EventCommand.new(401, ['Who goes there?'])])
    end
  end

  class EventCommand
    def initialize(code, parameters) = (@code, @indent, @parameters = code, 0, parameters)
  end
end

# The classes of RPG Maker's runtime freeze themselves.
class Table
  def initialize(x, y, z, values) = (@size, @values = [x, y, z], values)
  def _dump(_) = ([3, *@size, @values.size] + @values).pack('V5v*')
  def self._load(bytes) = new(*bytes.unpack('V5v*')[1, 3], bytes.unpack('V5v*')[5..])
end

class Tone
  def initialize(*parts) = @parts = parts
  def _dump(_) = @parts.pack('d4')
  def self._load(bytes) = new(*bytes.unpack('d4'))
end

map = RPG::Map.new(Table.new(3, 2, 1, [1, 2, 3, 4, 5, 6]), { 1 => RPG::Event.new(1, 'Door', 1, 1) })
map.instance_variable_set(:@tone, Tone.new(-34.0, -34.0, 0.0, 68.0))
File.binwrite('Map001.rvdata2', Marshal.dump(map))
scripts = [[1, 'Main', Zlib::Deflate.deflate("rgss_main { SceneManager.run }\n")]]
File.binwrite('Scripts.rvdata2', Marshal.dump(scripts))

# -- Ruby itself -----------------------------------------------------------------

File.binwrite('report.dump', Marshal.dump(
  title: 'Q3',
  user: alice,
  at: Time.at(1_700_000_000, 123_456_789, :nsec),
  utc: Time.at(1_700_000_000).utc,
  day: Date.new(2023, 11, 14),
  pages: 1..12,
  share: Rational(1, 3),
  total: BigDecimal('1234.50'),
  impedance: Complex(1, -2),
  tags: Set['a', 'b'],
  corner: Point.new(1, 2),
  error: (raise ArgumentError, 'no such page' rescue $!.tap { |error| error.set_backtrace(['report.rb:7']) })
))
File.binwrite('employees.dump', Marshal.dump([{ 'id' => 1, 'name' => 'Alice', 'age' => 30 }, { 'id' => 2, 'name' => 'Bob', 'age' => 25 }]))
File.write('pending.txt', Base64.strict_encode64(Marshal.dump(alice)) + "\n")
File.binwrite('before.dump', Marshal.dump({ host: 'alpha', port: 8080, tags: %w[a b] }))
File.binwrite('after.dump', Marshal.dump({ host: 'alpha', port: 8081, tags: %w[a b c] }))
