# frozen_string_literal: true

module Lab
  # The data as it is handed over: one Marshal dump.
  module Reference
    # The file is not read into memory as a whole, that would show in the memory steps.
    # A class that is not here is made, without methods: the objects of somebody's own
    # data can be carried without their code.
    def self.read(path)
      File.open(path, "rb") { |file| Marshal.load(file) }
    rescue ArgumentError => e
      name = e.message[/\Aundefined class\/module (\S+)\z/, 1]
      name && define(name) ? retry : raise(Cannot, "its classes would be needed: #{e.message}")
    rescue TypeError => e
      raise Cannot, "its classes would be needed: #{e.message}"
    end

    # Ruby names `A::` first where A is missing in `A::B`: then A is a module. Whether it
    # could be made.
    def self.define(name)
      outer = name.delete_suffix("::").split("::")
      last = outer.pop
      home = outer.inject(Object) { |at, part| at.const_get(part, false) }
      return false if home.const_defined?(last, false)

      home.const_set(last, name.end_with?("::") ? Module.new : Class.new)
      true
    rescue NameError
      false
    end
  end
end
