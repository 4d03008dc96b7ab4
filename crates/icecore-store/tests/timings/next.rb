# Asks fugit for each line of standard input, which has three fields separated by tabs: a timing, a
# zone, a time in seconds since 1970. Prints one line for each: the next times, or an empty line.
require 'fugit'

NAMES = {
  '@hourly' => '0 * * * *', '@daily' => '0 0 * * *', '@midnight' => '0 0 * * *', '@weekly' => '0 0 * * 0',
  '@monthly' => '0 0 1 * *', '@yearly' => '0 0 1 1 *'
}.freeze

STDIN.each_line(chomp: true) do |line|
  timing, zone, after = line.split("\t")
  cron = Fugit::Cron.parse("#{NAMES.fetch(timing, timing)} #{zone}")
  time = EtOrbi::EoTime.new(after.to_i, 'UTC')
  times = cron && 4.times.map { time = cron.next_time(time); time.seconds.to_i }
  puts((times || []).join(' '))
end
