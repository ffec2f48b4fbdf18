//! What stands below the options of `cluster`.

/// Examples, and what the lines are.
pub(super) const HELP: &str = "Examples:
  simkeep cluster
  simkeep cluster -k 8 --rule https,shortest-url --under example.com
  simkeep cluster --members --min-size 10
  simkeep cluster --by-page -o leaders.jsonl.zst
  simkeep cluster --at 2024-05-01
  simkeep cluster --changes 2024-02-01..2024-07-01
  simkeep cluster https://example.com/terms
  simkeep cluster --balls -k 3
  simkeep cluster --components -k 3

Pages are taken in the order of the rule. A page leads if no page that leads is within k bits of it;
every other belongs to the nearest of the leaders that rank before it. So each page is in one cluster, no
farther than k from its leader, and no two leaders are within k of each other. Clusters are computed from
what is in force, now or --at a time, and depend on nothing else; nothing of them is stored.

Rules, which may stand one after another with commas between; then SURT order decides:
  first-seen    the page that was first seen with what it shows: the first capture is the original
  newest        the page that came to what it shows last
  shortest-url  the page whose URL has fewer bytes
  https         a page of https before others
  weight        the page of greater weight

Lists:
  (none)        a line a cluster, the largest first: its pages, how many bits they are from the leader at
                most, when the leader was first seen with what it shows, the leader
  --members     below each cluster its pages: the leader first, then by distance
  --by-page     a line a page, in SURT order: distance, pages of the cluster, the page, its leader

  --changes     a line for each page that is led by another at the later time: why (new, gone, changed by
                so many bits, its leader is gone, its leader changed, outranked), the page, who led it
                and who leads it
  URL           the cluster of one page, by searches around it: the leader first, then by distance

Counts instead of lists:
  --balls       every page leads: for each distance how many pages are within it of a page on average and
                at most, and how many pages have 1, 2 or 3, 4 to 7, ... so many bits around them, each
                counting itself. With --labels, the share of pairs with equal labels
  --components  what hangs together by steps of k bits, as many tools remove it: the ten largest, with the
                greatest distance within. A chain of small steps joins what has little in common

With --json, an object a line. The first has \"pages\", \"without_fingerprint\" (pages that took no
part), \"fingerprints\", \"k\", \"rule\", \"clusters\", \"multi_page_clusters\" (those of two pages or more)
and \"largest\"; then a line for each cluster with \"leader\", \"fingerprint\", \"first_seen\", \"size\" and
\"max_distance\", or for each page with \"url\", \"fingerprint\", \"class\", \"distance\", \"leader\" and
\"size\". With -o, the lines go to a file that is there when all is done; into one whose name ends
with .parquet, all but the first, as a table with columns of these names.

Memory is bounded by --memory; what does not fit goes to scratch files without names, some 150 bytes a
page, in --scratch or the system's directory for temporary files (TMPDIR).

Exits with 1 if no page is taken.";
