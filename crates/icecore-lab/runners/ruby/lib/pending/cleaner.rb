# frozen_string_literal: true

require_relative "place"

# Waits for the end of a runner, whose pipe it reads, and drops the database that the runner made.
# A server that is gone by then has taken it along.
place = Pending::Place.of($stdin.gets.chomp)
require place.driver
name = $stdin.read.chomp
place.drop(ENV.fetch(place.class::VARIABLE), name)
