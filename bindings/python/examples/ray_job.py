"""Converts Parquet files with blobs to typed Parquet with Ray. icecore.jobs describes the results and restarts.

    python ray_job.py IN OUT --column data --format php
"""

from __future__ import annotations

import sys

import ray
from icecore import jobs

#: Limit for the number of files that wait for a worker at the same time.
WAITING = 1000


def _convert(job: jobs.Job, unit: str) -> jobs.Counts:
    return job.convert(unit)


def main() -> int:
    args = jobs.arguments("Tables of blobs to typed Parquet, with Ray.").parse_args()
    ray.init(log_to_driver=False, include_dashboard=False)
    job = jobs.plan_from_arguments(args)
    # If a machine fails, its tasks run again on another one.
    convert = ray.remote(max_retries=3)(_convert)
    waiting: list[ray.ObjectRef] = []
    for unit in job.pending():
        if len(waiting) >= WAITING:
            done, waiting = ray.wait(waiting)
            ray.get(done)
        waiting.append(convert.remote(job, unit))
    ray.get(waiting)
    ray.shutdown()
    print(jobs.summary(job))
    return 0


if __name__ == "__main__":
    sys.exit(main())
