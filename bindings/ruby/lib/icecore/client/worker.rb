# frozen_string_literal: true

require "socket"

module Icecore
  class Client
    # Takes jobs of a queue until it is stopped.
    #
    # The result of the block is stored as the result of the job if it is plain data. If the block
    # raises, the job is tried again later, and is dead after max_attempts. The same happens if
    # the payload can't be restored; then the block is not called. While a block runs, the lease
    # of its job is extended.
    class Worker
      # Maximum number of characters of an error that is reported to the daemon.
      MAX_ERROR_LENGTH = 4_000
      # Exceptions of a job after which the worker continues.
      JOB_FAILURES = [StandardError, ScriptError, SystemStackError].freeze

      # concurrency: number of threads that call the block. lease: number of seconds for which a
      # job belongs to this worker without an extension. max: maximum number of jobs in one
      # request. wait: how many seconds a request waits for jobs. limit: the worker ends after
      # this number of jobs. drain: the worker ends when there are no jobs. worker: the worker's
      # name in lists. log: is called with each line of the log.
      def initialize(requests, queue, thaw, concurrency: 1, lease: 60, max: 1, wait: 5, limit: nil, drain: false, worker: nil,
                     log: nil)
        @requests, @queue, @thaw = requests, queue, thaw
        @concurrency, @lease, @max, @wait, @drain = concurrency, lease.to_f, max, drain ? 0 : wait.to_f, drain
        @remaining, @work_count, @lock = limit || Float::INFINITY, 0, Mutex.new
        @worker = worker || "#{Socket.gethostname}:#{Process.pid}"
        @log = log || ->(line) { warn(line) }
        @running, @stop = {}, false
      end

      # Works until it is stopped. Returns the number of jobs that were begun.
      def run(&block)
        with_signal_handlers do
          extender = Thread.new { extend_leases }
          extender.report_on_exception = false
          threads = Array.new(@concurrency - 1) { Thread.new { work_until_stopped(&block) } }
          threads.each { |thread| thread.report_on_exception = false }
          begin
            work_until_stopped(&block)
            threads.each(&:join)
          ensure
            @stop = true
            threads.each { |thread| thread.join rescue nil } # rubocop:disable Style/RescueModifier
            extender.kill
            extender.join
          end
        end
        @work_count
      end

      private

      # On SIGINT and SIGTERM, the worker finishes the jobs that were begun, then ends.
      def with_signal_handlers
        before = %w[INT TERM].to_h { |name| [name, trap(name) { @stop = true }] }
        yield
      ensure
        before&.each { |name, handler| trap(name, handler || "DEFAULT") }
      end

      def work_until_stopped
        pause = 0.1
        until @stop || (count = reserve).zero?
          begin
            jobs = claim(count)
          rescue ClientError => error
            unreserve(count)
            raise unless error.passing?
            @log.call("waiting for the daemon: #{error.message}") if pause == 0.1
            sleep_unless_stopped(Requests.pause_after(error, pause))
            pause = [pause * 2, 30].min
            next
          end
          pause = 0.1
          unreserve(count - jobs.size)
          break if jobs.empty? && @drain
          jobs.each { |job| @stop ? give_back(job) : work(job) { |running_job| yield running_job } }
        end
      rescue Exception
        @stop = true
        raise
      end

      # Subtracts the jobs of one request from the remaining ones, and returns their number.
      def reserve
        @lock.synchronize do
          count = [@max, @remaining].min
          @remaining -= count
          count
        end
      end

      def unreserve(count) = @lock.synchronize { @remaining += count }

      # Fetches jobs of the queue.
      def claim(max)
        requested_at = Requests.now
        query = { worker: @worker, lease: @lease, max: max, wait: @wait, brief: true, bytes: true }
        path = "/queues/#{Requests.escape(@queue)}/claim"
        answer = @requests.send_once(:post, path, query: query, extra_time: @wait)
        jobs = answer["jobs"]
        jobs = jobs.is_a?(Array) ? jobs.grep(Hash) : []
        jobs.first(max).map { |fields| Job.new(@requests, fields, @lease, requested_at) }
      end

      # Calls the block with a job, and reports the result.
      def work(job)
        @lock.synchronize { @work_count += 1 }
        # The jobs of one request run one after another, so this job may have waited until its lease
        # ended. Another worker may have it now.
        return @log.call("job #{job.id}: its lease ended before it was begun") if job.left <= 0
        is_reported = false
        begin
          job.value = @thaw.call(job.bytes, job.format)
          result = with_extended_lease(job) { yield job }
        rescue Exception => error
          is_reported = true
          report(job, "nack", error: error_text(error))
          raise unless JOB_FAILURES.any? { |type| error.is_a?(type) }
          return
        end
        is_reported = true
        report_done(job, result)
      ensure
        # false: the block neither returned nor raised, so break or throw left it. nil: it was not called.
        give_back(job, "the block was left") if is_reported == false
      end

      def report_done(job, result)
        json = Plain.json(result) unless result.nil?
        refusal = report(job, "ack", **(json ? { result: result } : {}))
        report(job, "nack", error: "the result was refused: #{refusal.message}") if refusal
      end

      def error_text(error)
        text = "#{error.class}: #{error.message}"
        text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub[0, MAX_ERROR_LENGTH]
      end

      # Gives a job back, so that it is ready again at once.
      def give_back(job, reason = "the worker stopped")
        job.report("nack", error: reason, delay: 0)
      rescue ClientError
        nil
      end

      # Reports the end of a job, again and again until the daemon has received it or the lease is
      # over. Returns an error if the daemon refuses the result of the job, otherwise nil.
      def report(job, action, **fields)
        pause, is_first = 0.05, true
        begin
          job.report(action, **fields)
          nil
        rescue ClientError => error
          unless error.passing?
            return error if fields.key?(:result) && [400, 413].include?(error.status)
            # A report ends the lease. So if a repeated report finds that the lease has ended, the
            # daemon has received an earlier one, and only its answer was lost.
            @log.call("job #{job.id}: #{action}: #{error.message}") if is_first || error.kind != :lease
            return nil
          end
          is_first = false
          return @log.call("job #{job.id}: its lease ended while the daemon was away") if job.left <= pause
          sleep pause
          pause = [pause * 2, 2].min
          retry
        end
      end

      # Calls the block. While it runs, extend_leases extends the lease of the job.
      def with_extended_lease(job)
        @lock.synchronize { @running[job.id] = job }
        yield
      ensure
        @lock.synchronize { @running.delete(job.id) }
      end

      # Extends the leases of all running jobs. The loop does not end: `run` kills its thread.
      def extend_leases
        loop do
          sleep @lease / 6
          jobs = @lock.synchronize { @running.values }
          jobs.each { |job| extend_lease(job) if job.left < @lease * 2 / 3 && !job.lost? }
        end
      end

      def extend_lease(job)
        job.extend_lease
      rescue ClientError => error
        # If the job has ended in the meantime, its lease has ended too, and the error is expected.
        is_running = @lock.synchronize { @running.key?(job.id) }
        @log.call("job #{job.id}: extend: #{error.message}") if is_running && !error.passing?
      end

      # Sleeps, but returns soon after the worker was stopped.
      def sleep_unless_stopped(seconds)
        deadline = Requests.now + seconds
        sleep [0.25, deadline - Requests.now].min.clamp(0, 1) until @stop || Requests.now >= deadline
      end
    end
  end
end
