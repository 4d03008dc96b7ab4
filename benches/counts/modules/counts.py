"""The work of the cells for Python: counts.py JOB ROUNDS.

That what was written comes back is checked first, in a run with 0 rounds as well.
"""

import sys

import icecore

job, rounds = sys.argv[1], int(sys.argv[2])
operation, format = job.split("-")

records = [
    {"id": id, "name": f"Employee_{id}", "email": f"employee.{id}@example.org", "age": 20 + id % 50}
    for id in range(1, 101)
]
data = icecore.dumps(records, format)
if icecore.loads(data, format) != records:
    sys.exit("another value comes back")

if operation == "loads":
    for _ in range(rounds):
        icecore.loads(data, format)
elif operation == "dumps":
    for _ in range(rounds):
        icecore.dumps(records, format)
else:
    sys.exit(f"{job}: no such job")
