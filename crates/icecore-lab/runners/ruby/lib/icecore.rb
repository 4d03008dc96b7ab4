# frozen_string_literal: true

require_relative "lab"

# What the runners of Icecore share: the module that was built in LAB_MODULES, or else the one
# that is installed, and the list of classes.
module IcecoreRunner
  BUILT = File.join(ENV.fetch("LAB_MODULES", ""), "ruby", "lib")
  # What the data has in it, by name: as a program that knows its data would allow it.
  CLASSES = []

  $LOAD_PATH.unshift(BUILT) if Dir.glob(File.join(BUILT, "icecore", "icecore.{so,bundle}")).any?
  Lab.needs "icecore", install: "make install-modules"

  # Looked for by another process: what that takes is in no memory step of this one.
  def self.prepare(load)
    names = IO.popen("-") { |pipe| pipe ? pipe.readlines(chomp: true) : tell_classes(load.file) }
    raise Lab::Cannot, "Icecore does not read the data" unless $?.success?

    CLASSES.replace(names)
  end

  # The other process ends here, and answers nothing to the lab.
  def self.tell_classes(path)
    told = false
    $stdout.puts(File.open(path, "rb") { |file| Icecore::Marshal.load(file, report: true) })
    $stdout.flush
    told = true
  ensure
    exit!(told)
  end

  SETTINGS = { version: -> { Icecore::VERSION }, prepare: method(:prepare) }.freeze
end
