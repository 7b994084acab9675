"""Facts, and what somebody may ask who has forgotten every word of them."""

PARAPHRASES = (
    ("Redis needs AOF on, or the queue is lost at every restart.", "jobs vanish when the cache reboots"),
    ("Run the migrations before the tests.", "order of schema changes and unit checks"),
    ("The CI runner has only 2 GB of memory; limit parallel jobs to one.", "build machine gets killed, too little RAM"),
    ("Never force-push to main; open a pull request.", "rewriting history of the default branch"),
    ("Secrets live in env/prod and are injected by the deploy script.", "where are credentials stored"),
    ("Use pnpm, npm breaks the lockfile.", "which package manager should I take"),
    ("The login endpoint rate-limits after five attempts.", "too many sign in tries get blocked"),
    ("Dates are stored in UTC and shown in local time.", "timezone handling"),
    ("Sandro's favorite editor is Zed.", "preferred IDE"),
    ("Feature flags are read once at start-up; restart the pod to change them.", "toggles do not update live"),
    ("The vendor API times out on Mondays between 8 and 9.", "third-party service is slow early in the week"),
    ("Prefer composition over inheritance in the billing module.", "avoid subclassing for invoices"),
    ("Images larger than 5 MB are rejected by the upload service.", "maximum picture size"),
    (
        "Snapshot tests must be regenerated with --update after a theme change.",
        "golden files fail after restyling",
    ),
    ("Staging shares its database with QA, so never truncate tables there.", "do not delete data outside production"),
    ("The mobile client caches responses for ten minutes.", "phone app displays stale content"),
    ("Log lines must not contain e-mail addresses.", "personal data and privacy"),
    ("Kubernetes probes fail if the server starts slower than 30 s.", "health checks kill containers"),
    ("Retry failed webhooks with exponential backoff, at most six times.", "how often are callbacks attempted again"),
    ("Documentation is built with Sphinx and deployed on every tag.", "how do docs get published"),
)
