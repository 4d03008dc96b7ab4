# frozen_string_literal: true

require_relative "lab"

# What the runners of Icecore share: the module that was built in LAB_MODULES, or else the one
# that is installed, and the list of classes.
module IcecoreRunner
  BUILT = File.join(ENV.fetch("LAB_MODULES", ""), "ruby", "lib")
  # What the data has in it, by name: as a program that knows its data would allow it.
  CLASSES = []

  if Dir.glob(File.join(BUILT, "icecore", "icecore.{so,bundle}")).any?
    $LOAD_PATH.unshift(BUILT)
    FROM = ["-I", BUILT].freeze
  else
    FROM = [].freeze
  end
  Lab.needs "icecore", install: "make install-modules"

  # Looked for by another process: what that takes is in no memory step of this one.
  def self.prepare(load)
    command = [RbConfig.ruby, *FROM, "-r", "icecore", "-e", "puts Icecore::Marshal.load($stdin.binmode, report: true)"]
    names = IO.popen(command, in: load.file, &:readlines)
    raise Lab::Cannot, "Icecore does not read the data" unless $?.success?

    CLASSES.replace(names.map(&:chomp))
  end

  SETTINGS = { version: -> { Icecore::VERSION }, prepare: method(:prepare) }.freeze
end
