# frozen_string_literal: true

module IcecoreBench
  module_function

  # A sample of the first participant takes at least this many nanoseconds.
  MIN_SAMPLE_NS = 5_000_000

  def median(numbers)
    sorted = numbers.sort
    half = sorted.size / 2
    sorted.size.odd? ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0
  end

  # Returns a Hash from participants to their nanoseconds for all inputs, one number per round. The
  # participants take turns, and each round begins with another one. `inputs` is a Hash from
  # participants to their inputs.
  def measure(operation, inputs, rounds)
    first = inputs.keys.first
    times = 1
    times *= 2 while first.sample(operation, inputs[first], times) < MIN_SAMPLE_NS
    order = inputs.keys
    measured = inputs.transform_values { [] }
    # The first round warms up.
    (rounds + 1).times do |round|
      order.each do |participant|
        ns = participant.sample(operation, inputs[participant], times) / times.to_f
        measured[participant] << ns if round.positive?
      end
      order.rotate!
    end
    measured
  end

  # Returns the median of the ratios of their time to ours in each round.
  def median_ratio(theirs, ours)
    median(theirs.zip(ours).map { |a, b| a / b })
  end

  # Ends the process unless Icecore writes Marshal's bytes and both read the same values.
  def check_same_or_abort(sample)
    texts = sample.values.map { |value| MARSHAL.write(value) }
    ours = sample.values.map { |value| ICECORE.write(value) }
    abort("#{sample.name}: Icecore writes other bytes than Marshal") unless ours == texts

    texts.zip(sample.values) do |text, value|
      loaded = ICECORE.read(text)
      # The dump shows differences that == ignores: encodings, and identity of objects.
      next if loaded == value && MARSHAL.read(text) == value && MARSHAL.write(loaded) == text

      abort("#{sample.name}: Icecore reads something else than Marshal")
    end
    texts
  end

  # Returns the output of each competitor that can express the values.
  def competitor_dumps(values)
    COMPETITORS.filter_map { |variants|
      first_able = variants.lazy.filter_map { |participant| (bytes = participant.bytes(values)) && [participant, bytes] }
      first_able.first
    }.to_h
  end

  # The same for dumps in Base64.
  def check_same_base64_or_abort(sample)
    sample.values.uniq(&:object_id).each do |value|
      text = MARSHAL_BASE64.write(value)
      abort("#{sample.name}: Icecore writes other Base64") unless ICECORE_BASE64.write(value) == text
      next if MARSHAL.write(ICECORE_BASE64.read(text)) == MARSHAL.write(value)

      abort("#{sample.name}: Icecore reads something else from Base64")
    end
  end
end
