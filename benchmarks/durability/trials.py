"""All that is tried, in the order of the table."""

from . import clocks, disks, kills, lines, links, races, speed, syscalls, through_git
from .row import Trial

TRIALS = (
    Trial("many-writers", races.eight_writers),
    Trial("kill-at-random", kills.at_random),
    Trial("kill-among-writers", kills.among_writers),
    Trial("kill-each-call", syscalls.killed),
    Trial("redact-each-call", syscalls.redacted),
    Trial("fail-each-call", syscalls.failing),
    Trial("fsync-fails", syscalls.unconfirmed),
    Trial("disks", disks.refusing),
    Trial("editors", races.editors),
    Trial("by-hand", races.removed_by_hand),
    Trial("through-git", through_git.in_random_order),
    Trial("stopped-holder", races.stopped_holder),
    Trial("damaged-lines", lines.damaged),
    Trial("links", links.swapped),
    Trial("clocks", clocks.wrong_clocks),
    Trial("speed", speed.figures),
)
