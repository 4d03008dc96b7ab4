# frozen_string_literal: true

# One string for each object of a list, as a store with a record for each holds them.
module Each
  def self.run(name, write:, read:, version: -> { RUBY_VERSION }, prepare: nil)
    Lab.run name, version: version, scenarios: ["ruby-base64"],
            prepare: ->(load) { check(load) && prepare&.call(load) },
            write: ->(list) { list.map(&write) },
            read: ->(strings) { strings.map(&read) }
  end

  def self.check(load)
    raise Lab::Cannot, "it only carries a list" unless load.value.instance_of?(Array)
    raise Lab::Cannot, "it writes many strings, which one file does not hold" if load.medium == "file"

    true
  end
end
