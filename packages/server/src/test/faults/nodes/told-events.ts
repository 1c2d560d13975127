import type { NodesLoad } from './nodes-load.ts'
import type { Recorder } from './recorder.ts'

/** A request may have been stored this long before its answer came. */
const BEFORE_MS = 5_000
/** A frozen node may close a connection this long after an event that it did not send on the connection. */
const AFTER_MS = 60_000

/**
 * Returns, for the report, each connection that stayed open and did not get the event of a new document exactly once. A connection that closed
 * around that time may have got the event or not. [WS-51]
 */
export function wrongEvents(recorder: Recorder, { watchers }: Pick<NodesLoad, 'watchers'>): readonly string[] {
  return watchers.flatMap((client) =>
    madeWhileOpen(recorder, client).flatMap(({ document }) => {
      const times = recorder.eventsOf(client, document).length
      return times === 1 ? [] : [`${client} was told ${times} times that ${document} was made`]
    }),
  )
}

/** Returns the longest time from the answer to a request that made a document until a connection got the event, since `sinceMs`. */
export function latestEventMs(recorder: Recorder, { watchers }: Pick<NodesLoad, 'watchers'>, sinceMs: number): number {
  const late = watchers.flatMap((client) =>
    madeWhileOpen(recorder, client)
      .filter(({ atMs }) => atMs >= sinceMs)
      .map(({ document, atMs }) => (recorder.eventsOf(client, document)[0] ?? performance.now()) - atMs),
  )
  return Math.max(0, ...late)
}

function madeWhileOpen(recorder: Recorder, client: string) {
  const broken = recorder.closes.filter((close) => close.client === client)
  const back = recorder.reconnects.filter((one) => one.client === client)
  const isBroken = (atMs: number): boolean =>
    broken.some((close) => {
      const backMs = back.find(({ fromMs }) => fromMs === close.atMs)?.toMs ?? Number.POSITIVE_INFINITY
      return atMs + AFTER_MS > close.atMs && atMs - BEFORE_MS < backMs
    })
  return recorder.acknowledged.filter(
    ({ source, atMs }) =>
      source === 'saved' && !isBroken(atMs) && !recorder.isOfLostTail(atMs) && !recorder.isOfLostTail(atMs - BEFORE_MS),
  )
}
