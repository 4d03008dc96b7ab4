# frozen_string_literal: true

module Lab
  # Resident memory, step by step, as Linux tells it.
  class Memory
    attr_reader :steps

    def initialize
      @steps = []
    end

    # What is garbage is let go first, so that `resident` is what the step needs;
    # `peak` was before that.
    def step(name)
      GC.start
      status = File.read("/proc/self/status")
      @steps << { step: name, resident: bytes(status, "VmRSS"), peak: bytes(status, "VmHWM") }
      File.write("/proc/self/clear_refs", "5") # resets the peak
    rescue SystemCallError
      nil # no Linux: no steps, or peaks since the start of the process
    end

    private

    def bytes(status, key)
      status[/^#{key}:\s*(\d+) kB/, 1].to_i * 1024
    end
  end
end
