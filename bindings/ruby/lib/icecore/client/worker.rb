# frozen_string_literal: true

require "socket"

module Icecore
  class Client
    # Takes jobs of a queue until it is stopped.
    #
    # The result of the block is stored as the result of the job, if it is plain data; if the
    # block raises, the job is tried again later, and is dead after max_attempts. A job that
    # can't be restored is treated in the same way, without a call. While a block runs, the
    # lease of its job is extended.
    class Worker
      # The length of an error that the daemon stores.
      LONGEST_ERROR = 4_000
      # Exceptions of a job after which the worker continues.
      FAILURES = [StandardError, ScriptError, SystemStackError].freeze

      # concurrency: how many threads call the block. lease: for how many seconds a job belongs
      # to this worker without an extension. max: how many jobs are fetched at once; wait: how
      # long one request waits. limit: it ends after this many jobs. drain: it ends when there
      # are no jobs. worker: a name for lists. log: is called with a line of text.
      def initialize(requests, queue, thaw, concurrency: 1, lease: 60, max: 1, wait: 5, limit: nil, drain: false, worker: nil,
                     log: nil)
        @requests, @queue, @thaw = requests, queue, thaw
        @concurrency, @lease, @max, @wait, @drain = concurrency, lease.to_f, max, drain ? 0 : wait.to_f, drain
        @left, @worked, @lock = limit || Float::INFINITY, 0, Mutex.new
        @worker = worker || "#{Socket.gethostname}:#{Process.pid}"
        @log = log || ->(line) { warn(line) }
        @running, @stop = {}, false
      end

      # Returns the number of jobs that it worked on.
      def run(&block)
        trapped do
          keeper = Thread.new { keep }
          keeper.report_on_exception = false
          others = Array.new(@concurrency - 1) { Thread.new { loop_over(&block) } }
          others.each { |thread| thread.report_on_exception = false }
          begin
            loop_over(&block)
            others.each(&:join)
          ensure
            @stop = true
            others.each { |thread| thread.join rescue nil } # rubocop:disable Style/RescueModifier
            keeper.kill
            keeper.join
          end
        end
        @worked
      end

      private

      # SIGINT and SIGTERM: the jobs that were begun are finished, then it ends.
      def trapped
        before = %w[INT TERM].to_h { |name| [name, trap(name) { @stop = true }] }
        yield
      ensure
        before&.each { |name, handler| trap(name, handler || "DEFAULT") }
      end

      def loop_over
        pause = 0.1
        until @stop || (most = reserve).zero?
          begin
            jobs = claim(most)
          rescue ClientError => error
            release(most)
            raise unless error.passing?
            @log.call("waiting for the daemon: #{error.message}") if pause == 0.1
            rest(Requests.longer(pause, error))
            pause = [pause * 2, 30].min
            next
          end
          pause = 0.1
          release(most - jobs.size)
          break if jobs.empty? && @drain
          jobs.each { |job| @stop ? give_back(job) : work(job) { |one| yield one } }
        end
      rescue Exception
        @stop = true
        raise
      end

      # Returns how many jobs it may fetch now.
      def reserve
        @lock.synchronize do
          most = [@max, @left].min
          @left -= most
          most
        end
      end

      def release(jobs) = @lock.synchronize { @left += jobs }

      def claim(most)
        asked = Requests.now
        query = { worker: @worker, lease: @lease, max: most, wait: @wait, brief: true, bytes: true }
        answer = @requests.ask(:post, "/queues/#{Requests.escaped(@queue)}/claim", query: query, longer: @wait)
        jobs = answer["jobs"]
        (jobs.is_a?(Array) ? jobs.grep(Hash) : []).first(most).map { |said| Job.new(@requests, said, @lease, asked) }
      end

      def work(job)
        @lock.synchronize { @worked += 1 }
        # It waited too long for other jobs: another worker may have it.
        return @log.call("job #{job.id}: its lease ended before it was begun") if job.left <= 0
        is_ended = false
        begin
          job.value = @thaw.call(job.bytes, job.format)
          result = kept(job) { yield job }
        rescue Exception => error
          is_ended = true
          finish(job, "nack", error: told(error))
          raise unless FAILURES.any? { |type| error.is_a?(type) }
          return
        end
        is_ended = true
        done(job, result)
      ensure
        # The block was left by break or throw.
        give_back(job, "the block was left") if is_ended == false
      end

      def done(job, result)
        json = Plain.json(result) unless result.nil?
        refused = finish(job, "ack", **(json ? { result: result } : {}))
        finish(job, "nack", error: "the result was refused: #{refused.message}") if refused
      end

      def told(error) = "#{error.class}: #{error.message}".encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub[0, LONGEST_ERROR]

      # Gives a job back at once.
      def give_back(job, why = "the worker stopped")
        job.tell("nack", error: why, delay: 0)
      rescue ClientError
        nil
      end

      # Reports the result of a job, until the daemon has received it or the lease is over.
      # Returns an error if the daemon refuses the result.
      def finish(job, how, **said)
        pause, is_first = 0.05, true
        begin
          job.tell(how, **said)
          nil
        rescue ClientError => error
          unless error.passing?
            return error if said.key?(:result) && [400, 413].include?(error.status)
            # If it is refused because the first answer was lost, the report was successful.
            @log.call("job #{job.id}: #{how}: #{error.message}") if is_first || error.kind != :lease
            return nil
          end
          is_first = false
          return @log.call("job #{job.id}: its lease ended while the daemon was away") if job.left <= pause
          sleep pause
          pause = [pause * 2, 2].min
          retry
        end
      end

      # Keeps the lease of a job extended during the block.
      def kept(job)
        @lock.synchronize { @running[job.id] = job }
        yield
      ensure
        @lock.synchronize { @running.delete(job.id) }
      end

      def keep
        loop do
          sleep @lease / 6
          jobs = @lock.synchronize { @running.values }
          jobs.each { |job| extend_lease(job) if job.left < @lease * 2 / 3 && !job.lost? }
        end
      end

      def extend_lease(job)
        job.extend_lease
      rescue ClientError => error
        # A job that ended in the meantime needs no lease.
        is_running = @lock.synchronize { @running.key?(job.id) }
        @log.call("job #{job.id}: extend: #{error.message}") if is_running && !error.passing?
      end

      # Sleeps, but wakes up when the worker is stopped.
      def rest(seconds)
        ends = Requests.now + seconds
        sleep [0.25, ends - Requests.now].min.clamp(0, 1) until @stop || Requests.now >= ends
      end
    end
  end
end
