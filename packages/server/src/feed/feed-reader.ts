import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { Pacer } from '../kernel/pacer.ts'
import type { Timers } from '../kernel/timers.ts'
import { FeedMark } from './feed-mark.ts'
import type { FeedPlace, FeedRow, FeedTable } from './feed-table.port.ts'

/**
 * The time between two reads without a hint. So a row is delivered at most this long after its commit, plus the time of the read.
 * [LIFE-27]
 */
export const POLL_MS = 2_000
/** When many hints come, the reads they cause are spaced up to this far apart. */
const WIDEST_MS = 50
const ROWS_PER_LOOK = 1_000
/** After this long without a successful read, rows may have been removed unread: rows of revocations are kept for 15 min. */
const AWAY_MS = 10 * 60_000

export interface FeedReaderOptions<Row extends FeedRow> {
  /** The name of the feed in log lines. */
  readonly name: string
  readonly table: Pick<FeedTable<Row>, 'read'>
  /** From `FeedTable.begin`, which must be called before the caller reads any data that later rows change. */
  readonly place: FeedPlace
  /** Gets each row once. Rows of one read come in the order of their ids. Must not throw. */
  readonly tell: (row: Row) => void
  /**
   * Called before the next rows are delivered when no read has succeeded for 10 min, or when the newest row of the last read was removed since,
   * because other rows may have been removed unread: everything remembered from the store has to be loaded again. When `onAway` rejects, the
   * next read calls it again.
   */
  readonly onAway?: () => Promise<void>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly log: Logger
}

/** Reads one feed every 2 s, and soon after a hint. Disposing waits for the read in progress. [LIFE-27] */
export interface FeedReader extends AsyncDisposable {
  /** A hint says that the row with this id is committed. Reads the feed soon, unless that row was delivered already. */
  hint(id: number): void
  /** Seconds since the beginning of the last successful read. */
  lagSec(): number
}

export function startFeedReader<Row extends FeedRow>(options: FeedReaderOptions<Row>): FeedReader {
  const { name, table, place, tell, onAway, clock, timers, log } = options
  const mark = new FeedMark(place, clock.monotonicMs())
  let knownAtMs = clock.monotonicMs()
  /**
   * The time of the database at the last successful read. It shows how long the machine of this node was suspended, during which the
   * clock of the node stands still.
   */
  let readAtMs: number | null = null
  let looking: Promise<void> | null = null
  let isAskedAgain = false
  let isFailing = false
  let isClosed = false
  let cancelPoll: () => void = () => {}
  const pacer = new Pacer({ widestMs: WIDEST_MS, clock, timers, run: look })

  function look(): void {
    if (isClosed) return
    if (looking !== null) {
      isAskedAgain = true
      return
    }
    cancelPoll()
    const startedMs = clock.monotonicMs()
    looking = readAll()
      .then(succeeded, failed)
      .finally(() => {
        looking = null
        if (isClosed) return
        cancelPoll = timers.after(Math.max(0, startedMs + POLL_MS - clock.monotonicMs()), look)
        if (isAskedAgain) pacer.request()
        isAskedAgain = false
      })
  }

  /** Reads until no rows are left, so that a node that was away catches up at once. */
  async function readAll(): Promise<void> {
    for (let isMore = true; isMore && !isClosed; ) {
      const startedMs = clock.monotonicMs()
      const request = mark.request(ROWS_PER_LOOK, startedMs)
      const read = await table.read(request)
      const isAway = startedMs - knownAtMs > AWAY_MS || (readAtMs !== null && read.nowMs - readAtMs > AWAY_MS)
      if (isAway || mark.lostPlace(read)) await onAway?.()
      if (mark.wentBack(read)) {
        const text = 'The database came back without commits that it had confirmed; events of the time between may be missing.'
        log.error('feed.went_back', text, { feed: name })
        continue
      }
      const fresh = mark.take(read, startedMs, clock.monotonicMs())
      knownAtMs = startedMs
      readAtMs = read.nowMs
      isMore = read.rows.filter(({ id }) => id > request.above).length >= ROWS_PER_LOOK
      for (const row of fresh) tell(row)
    }
  }

  function succeeded(): void {
    if (isFailing) log.info('feed.read_again', 'A feed can be read again; what was missed is told now.', { feed: name })
    isFailing = false
  }

  function failed(error: unknown): void {
    if (!isFailing)
      log.warn('feed.not_read', 'A feed cannot be read; the relay tries again every 2 s and tells then what it missed.', {
        feed: name,
        detail: String(error),
      })
    isFailing = true
  }

  look()
  return {
    hint(id) {
      if (!isClosed && !mark.has(id)) pacer.request()
    },
    lagSec: () => (clock.monotonicMs() - knownAtMs) / 1000,
    async [Symbol.asyncDispose]() {
      isClosed = true
      cancelPoll()
      pacer[Symbol.dispose]()
      await looking
    },
  }
}
