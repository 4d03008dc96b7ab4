// River beside Icecore: it does what it is told by lines on its standard input, and answers each by a line of JSON.
// benches/store/README.md has the protocol.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// Connections of a worker: it fetches on one and completes on others.
const workConnections = 8

// A job's arguments: text of JSON, which is neither taken apart nor put together.
type args struct{ text json.RawMessage }

func (args) Kind() string { return "load" }

func (a args) MarshalJSON() ([]byte, error) { return a.text, nil }

func (a *args) UnmarshalJSON(text []byte) error {
	a.text = append(a.text[:0], text...)
	return nil
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		answer, err := do(context.Background(), input.Text())
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		line, err := json.Marshal(answer)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(line))
	}
}

func do(ctx context.Context, line string) (any, error) {
	var what string
	var jobs, first, second int
	if _, err := fmt.Sscan(line, &what, &jobs, &first, &second); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && what == "" {
		return nil, err
	}
	switch what {
	case "hello":
		return hello()
	case "setup":
		return setup(ctx)
	case "push":
		return push(ctx, jobs, first, second, false)
	case "copy":
		return push(ctx, jobs, first, second, true)
	case "work":
		return work(ctx, jobs, first)
	}
	return nil, fmt.Errorf("there is no %q: hello, setup, push, copy, work", what)
}

func hello() (any, error) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("the program does not know what it was built of")
	}
	for _, module := range build.Deps {
		if module.Path == "github.com/riverqueue/river" {
			return map[string]any{"name": "River", "version": module.Version, "runtime": build.GoVersion}, nil
		}
	}
	return nil, errors.New("River is not in this program")
}

// A pool with all of its connections made.
func connect(ctx context.Context, connections int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(os.Getenv("ICECORE_LOAD_DB"))
	if err != nil {
		return nil, err
	}
	config.MaxConns, config.MinConns = int32(connections), int32(connections)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	held := make([]*pgxpool.Conn, connections)
	for i := range held {
		if held[i], err = pool.Acquire(ctx); err != nil {
			return nil, err
		}
	}
	for _, connection := range held {
		connection.Release()
	}
	return pool, nil
}

func setup(ctx context.Context) (any, error) {
	pool, err := connect(ctx, 1)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return nil, err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return map[string]any{}, err
}

// Queues so many jobs over so many connections, in transactions of so many.
func push(ctx context.Context, jobs, connections, batch int, byCopy bool) (any, error) {
	payload, err := os.ReadFile(os.Getenv("ICECORE_LOAD_PAYLOAD"))
	if err != nil {
		return nil, err
	}
	pool, err := connect(ctx, connections)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet()})
	if err != nil {
		return nil, err
	}
	insert := func(ctx context.Context, some int) error {
		if some == 1 && batch == 1 {
			_, err := client.Insert(ctx, args{payload}, nil)
			return err
		}
		params := make([]river.InsertManyParams, some)
		for i := range params {
			params[i].Args = args{payload}
		}
		if byCopy {
			_, err := client.InsertManyFast(ctx, params)
			return err
		}
		_, err := client.InsertMany(ctx, params)
		return err
	}
	var left atomic.Int64
	left.Store(int64(jobs))
	var group sync.WaitGroup
	failures := make([]error, connections)
	began := time.Now()
	for i := range connections {
		group.Go(func() {
			for {
				// The last one may be smaller.
				some := batch + int(min(0, left.Add(int64(-batch))))
				if some <= 0 {
					return
				}
				if failures[i] = insert(ctx, some); failures[i] != nil {
					return
				}
			}
		})
	}
	group.Wait()
	return map[string]any{"jobs": jobs, "ns": time.Since(began).Nanoseconds()}, errors.Join(failures...)
}

// Does nothing with a job, and notes when the first of them was begun.
type noop struct {
	river.WorkerDefaults[args]
	began *atomic.Int64
	since time.Time
}

func (w *noop) Work(context.Context, *river.Job[args]) error {
	if w.began.Load() == 0 {
		w.began.CompareAndSwap(0, time.Since(w.since).Nanoseconds())
	}
	return nil
}

// Works off so many jobs, so many at once: from the first that is begun to the last whose end is in the database.
func work(ctx context.Context, jobs, concurrency int) (any, error) {
	pool, err := connect(ctx, workConnections)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	var began atomic.Int64
	since := time.Now()
	workers := river.NewWorkers()
	river.AddWorker(workers, &noop{began: &began, since: since})
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown:     river.FetchCooldownMin,
		FetchPollInterval: river.FetchPollIntervalMin,
		JobTimeout:        -1,
		Logger:            quiet(),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: concurrency}},
		Workers:           workers,
	})
	if err != nil {
		return nil, err
	}
	// An event comes when the end of a job is in the database.
	events, cancel := client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: jobs + 1,
		Kinds:    []river.EventKind{river.EventKindJobCompleted, river.EventKindJobFailed},
	})
	defer cancel()
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	for done := 0; done < jobs; done++ {
		if event := <-events; event.Kind != river.EventKindJobCompleted {
			return nil, fmt.Errorf("job %d failed", event.Job.ID)
		}
	}
	ended := time.Since(since).Nanoseconds()
	if err := client.Stop(ctx); err != nil {
		return nil, err
	}
	return map[string]any{"jobs": jobs, "ns": ended - began.Load()}, nil
}

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

