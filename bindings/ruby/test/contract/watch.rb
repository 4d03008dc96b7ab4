# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# Records all lookups, loads and calls that data causes.
module Watch
  EVENTS = []
  FOLDER = Dir.mktmpdir("icecore")
  at_exit { FileUtils.remove_entry(FOLDER) if File.directory?(FOLDER) }

  # Requests for missing constants.
  module Missing
    def const_missing(name)
      EVENTS << "const_missing #{name}"
      super
    end
  end
  Module.prepend(Missing)

  # Class methods that a use of the class calls.
  module RecordsClassCalls
    %i[allocate new _load respond_to? method_missing const_get instance_method method_defined? inherited name].each do |name|
      define_method(name) do |*args, &block|
        EVENTS << "#{name} of a class"
        super(*args, &block)
      end
    end
  end

  # Methods of its objects.
  module RecordsObjectCalls
    %i[marshal_load _load_data initialize respond_to? method_missing hash eql? == inspect to_s instance_variable_set freeze frozen? extended replace push []=].each do |name|
      define_method(name) do |*args, &block|
        EVENTS << "#{name} of an object"
        super(*args, &block)
      end
    end
  end

  # A file that records when it is loaded.
  def self.trap(scope, name)
    file = "#{FOLDER}/trap_#{name.to_s.downcase}.rb"
    File.write(file, "Watch::EVENTS << 'loaded #{name}'\nclass #{scope == Object ? '' : "#{scope.name}::"}#{name}; end\n")
    scope.autoload(name, file)
  end

  # Returns the events during the block.
  def self.during
    EVENTS.clear
    loaded = $LOADED_FEATURES.dup
    yield
    EVENTS + ($LOADED_FEATURES - loaded).map { |file| "loaded #{file}" }
  end
end
