"""What happens to memory when processes, disks, editors and clocks misbehave: each fault, tried and counted.

    python -m benchmarks.durability [--quick | --long] [--json] [NAME]...

prints one row per fault: how it was made, what is promised, what was measured. It takes some minutes; `--quick` makes
each fault a few times and runs with the tests, `--long` makes the full numbers. Linux; strace, mounts, other users and
other clocks are used where they can be had, and a row that could not be tried says so.
"""
