# frozen_string_literal: true

module IcecoreBench
  module_function

  # A sample of the first participant takes at least this many nanoseconds.
  SHORTEST = 5_000_000

  def median(numbers)
    sorted = numbers.sort
    half = sorted.size / 2
    sorted.size.odd? ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0
  end

  # Returns the nanoseconds for all inputs, a list for each participant: alternately, and each
  # round begins with another one. `inputs` is a Hash of them.
  def measure(operation, inputs, rounds)
    first = inputs.keys.first
    times = 1
    times *= 2 while first.sample(operation, inputs[first], times) < SHORTEST
    order = inputs.keys
    taken = inputs.transform_values { [] }
    # The first round warms up.
    (rounds + 1).times do |round|
      order.each do |who|
        ns = who.sample(operation, inputs[who], times) / times.to_f
        taken[who] << ns if round.positive?
      end
      order.rotate!
    end
    taken
  end

  # The median of the ratios of their time to ours, round by round.
  def paired(theirs, ours)
    median(theirs.zip(ours).map { |a, b| a / b })
  end

  # Ends the process unless Icecore writes Marshal's bytes and both read the same values.
  def same_or_stop(sample)
    texts = sample.values.map { |value| MARSHAL.write(value) }
    ours = sample.values.map { |value| ICECORE.write(value) }
    abort("#{sample.name}: Icecore writes other bytes than Marshal") unless ours == texts

    texts.zip(sample.values) do |text, value|
      back = ICECORE.read(text)
      # The dump shows differences that == ignores: encodings, and identity of objects.
      next if back == value && MARSHAL.read(text) == value && MARSHAL.write(back) == text

      abort("#{sample.name}: Icecore reads something else than Marshal")
    end
    texts
  end

  # Returns the output of each competitor that can express the values.
  def rivals(values)
    RIVALS.filter_map { |variants|
      found = variants.lazy.filter_map { |who| (bytes = who.bytes(values)) && [who, bytes] }
      found.first
    }.to_h
  end

  # The same with Base64 around a dump.
  def same_base64_or_stop(sample)
    sample.values.uniq(&:object_id).each do |value|
      text = MARSHAL_BASE64.write(value)
      abort("#{sample.name}: Icecore writes other Base64") unless ICECORE_BASE64.write(value) == text
      next if MARSHAL.write(ICECORE_BASE64.read(text)) == MARSHAL.write(value)

      abort("#{sample.name}: Icecore reads something else from Base64")
    end
  end
end
