# Writes random values to Redis with the cache of Rails and Sidekiq, and to memcached with Dalli and
# the cache of Rails; reports what it wrote.
#
# ruby.rb redis PORT DATABASE SEED COUNT
# ruby.rb memcached PORT PREFIX SEED COUNT

require 'json'

what, port, place, seed, count = ARGV
$random = Random.new(seed.to_i)

def word
  ['', 'alice', 'Zoë', 'a:b', "it's", '日本', "tab\t", 'x|y'].sample(random: $random) +
    ($random.rand(6).zero? ? ' alice' * $random.rand(1..600) : '')
end

def value(depth = 0)
  case $random.rand(depth > 3 ? 5 : 7)
  when 0 then $random.rand(-1000..1000)
  when 1 then $random.rand(-1000..1000) / 8.0 + 0.0625
  when 2 then [true, false].sample(random: $random)
  when 3 then depth.zero? ? 1 : nil
  when 4 then word
  when 5 then Array.new($random.rand(1..6)) { value(depth + 1) }
  else Array.new($random.rand(1..6)) { ["k#{$random.rand(20)}", value(depth + 1)] }.to_h
  end
end

def told(key, value, program = nil)
  puts JSON.generate({ key: key, value: value, program: program })
end

def left_out(what)
  warn "left out: #{what} is missing"
end

def rails(store, key, prefix)
  value = value()
  options = { compress: [true, false].sample(random: $random), compress_threshold: $random.rand(1..2000) }
  options[:expires_in] = 1000 if $random.rand(2).zero?
  store.write(key, value, **options)
  told("#{prefix}#{key}", store.read(key), 'rails-cache')
end

writers = []
begin
  require 'active_support'
  require 'active_support/cache'
  require 'active_support/notifications'
rescue LoadError
  left_out('ruby-activesupport')
end
if what == 'redis'
  begin
    require 'redis'
    require 'active_support/cache/redis_cache_store'
    store = ActiveSupport::Cache::RedisCacheStore.new(url: "redis://127.0.0.1:#{port}/#{place}", namespace: 'shop')
    writers << ->(at) { rails(store, "r:#{seed}:#{at}", 'shop:') }
  rescue LoadError
    left_out('ruby-redis, ruby-activesupport')
  end
  begin
    require 'sidekiq'
    Sidekiq.configure_client { |config| config.redis = { url: "redis://127.0.0.1:#{port}/#{place}" } }
    writers << lambda do |at|
      queue = "s#{seed}-#{at}"
      Sidekiq::Client.push('queue' => queue, 'class' => 'HardWorker', 'args' => [value])
      told("queue:#{queue}", JSON.parse(Sidekiq.redis { |redis| redis.lindex("queue:#{queue}", 0) }), 'sidekiq')
    end
  rescue LoadError
    left_out('ruby-sidekiq')
  end
else
  begin
    require 'dalli'
    require 'active_support/cache/mem_cache_store'
    writers << lambda do |at|
      client = Dalli::Client.new("127.0.0.1:#{port}", compress: [true, false].sample(random: $random), compression_min_size: $random.rand(1..2000))
      value = value()
      if $random.rand(3).zero?
        # A raw value is text, and the text may itself be meaningful.
        client.set("#{place}-#{at}", word = word(), 1000, raw: true)
        told("#{place}-#{at}", word)
      else
        client.set("#{place}-#{at}", value)
        told("#{place}-#{at}", client.get("#{place}-#{at}"))
      end
    end
    store = ActiveSupport::Cache::MemCacheStore.new("127.0.0.1:#{port}")
    writers << ->(at) { rails(store, "#{place}-#{at}", '') }
  rescue LoadError
    left_out('ruby-dalli, ruby-activesupport')
  end
end
count.to_i.times { |at| writers[at % writers.size].call(at) } unless writers.empty?
