# frozen_string_literal: true

# One string for each object of a list, as a store with a record for each holds them.
module Each
  SETTINGS = {
    version: -> { RUBY_VERSION },
    scenarios: ["ruby-base64"],
    prepare: lambda do |load|
      raise Lab::Cannot, "it only carries a list" unless load.value.instance_of?(Array)
      raise Lab::Cannot, "it writes many strings, which one file does not hold" if load.medium == "file"
    end
  }.freeze

  def self.run(name, write:, read:)
    Lab.run name, **SETTINGS,
            write: ->(list) { list.map(&write) },
            read: ->(strings) { strings.map(&read) }
  end
end
