# frozen_string_literal: true

require_relative "lab"
require_relative "pending/place"

# What the runners of `pending-store` share. A runner says how objects are put and how all
# are read; where the records are is its variant: `postgres-base64`.
#
# Nothing large is loaded before the data is there: the lab asks all of them who they are.
module Pending
  PACKAGES = { "active_record" => "ruby-activerecord", "sqlite3" => "ruby-sqlite3", "pg" => "ruby-pg",
               "mysql2" => "ruby-mysql2", "mongo" => "ruby-mongo" }.freeze

  # open     a block that gets the Place and makes it ready
  # put      a block that gets the objects
  # each     a block that gives all objects
  # empty    a block that takes all records away
  # stored   a block that gives what lies in the column, a String for each record
  # most     how many objects; with more, it takes no part, and says `why`
  # version, prepare  as Lab.run
  def self.run(name, open:, put:, each:, empty:, stored:, most: nil, why: nil, version: nil, prepare: nil)
    place = Place.of(ENV.fetch("LAB_VARIANT"))
    missing = place.libraries.find { |library| !there?(library) }
    Lab.lacks({ missing: "the Ruby library #{missing}", install: "apt-get install #{PACKAGES[missing]}" }) if missing
    Lab.lacks(place.missing)
    Lab.run "#{name}: #{place.title}",
            version: version || place.method(:version),
            prepare: lambda { |load|
              check(load, most, why)
              prepare&.call(load)
              open.call(place.ready(load.folder))
            },
            before: empty, write: put, read: ->(_) { each.call }, stored: stored
  end

  def self.check(load, most, why)
    raise Lab::Cannot, "it only carries a list" unless load.value.instance_of?(Array)
    raise Lab::Cannot, "it writes records, which one file does not hold" if load.medium == "file"
    raise Lab::Cannot, "more than #{most} objects: #{why}" if most && load.value.size > most
  end

  # Whether a library can be loaded.
  def self.there?(library)
    !$LOAD_PATH.resolve_feature_path(library).nil? || !Gem::Specification.find_by_path(library).nil?
  end
end
