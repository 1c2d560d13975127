import type { ServerResponse } from 'node:http'
import type { Timers } from '../kernel/timers.ts'
import type { ResourceSink } from './content.ts'
import type { EndpointCaller } from './credentials.ts'
import { notificationMessage } from './json-rpc.ts'
import type { Session } from './sessions.ts'
import { type EventStream, openEventStream } from './sse.ts'
import type { McpResources } from './content.ts'
import type { JsonObject } from './tool.ts'

export const MAX_STREAMS = 16
/** Between two comment lines, and so between two looks at the credential. [MCP-28, MCP-37, MCP-52] */
export const BEAT_MS = 15_000

/** The response that a stream is written to. */
export interface StreamTarget {
  readonly outgoing: ServerResponse
  readonly headers: Readonly<Record<string, string>>
}

/** What `subscriptions/listen` honours; `meta` stands in every message. [MCP-50, MCP-51] */
export interface Listening {
  readonly honoured: { readonly resourcesListChanged?: true; readonly resourceSubscriptions?: readonly string[] }
  readonly meta: JsonObject
  /** Its answer, sent when the relay shuts down. [MCP-52] */
  readonly answer: JsonObject
}

/** The streams that stay open until someone leaves. `false`: the principal has as many as it may have. [MCP-38, MCP-52] */
export interface Streams {
  /** A GET: kept alive and, in a session, carrying what it subscribed to. */
  keepAlive(caller: EndpointCaller, session: Session | null, target: StreamTarget): boolean
  listen(caller: EndpointCaller, listening: Listening, target: StreamTarget): boolean
  /** Ends them all; those of `listen` with their answer. */
  drain(): void
  readonly size: number
}

export function createStreams(resources: McpResources, timers: Timers): Streams {
  const open = new Map<EventStream, JsonObject | undefined>()
  const counts = new Map<string, number>()
  let drained = false

  /** Opens a stream that beats until it is ended here, by the client, or by its credential. */
  const hold = (
    kind: 'get' | 'listen',
    caller: EndpointCaller,
    { outgoing, headers }: StreamTarget,
    answer?: JsonObject,
  ): HeldStream | null => {
    const counted = `${kind} ${caller.principalKey}`
    const count = counts.get(counted) ?? 0
    if (count >= MAX_STREAMS) return null
    counts.set(counted, count + 1)
    const stream = openEventStream(outgoing, headers)
    open.set(stream, answer)
    const atEnd: (() => void)[] = []
    let cancelBeat = (): void => undefined
    const release = (): void => {
      if (!open.delete(stream)) return
      cancelBeat()
      const left = (counts.get(counted) ?? 1) - 1
      if (left === 0) counts.delete(counted)
      else counts.set(counted, left)
      for (const run of atEnd) run()
    }
    const end = (): void => {
      stream.end()
      release()
    }
    const beat = (): void => {
      cancelBeat = timers.after(BEAT_MS, () => {
        if (!caller.isGood()) return end()
        stream.comment()
        beat()
      })
    }
    beat()
    outgoing.once('close', release)
    if (outgoing.destroyed) release()
    // Its request came before the shutdown and its stream after.
    if (drained) stream.end(answer)
    return { stream, end, onEnd: (run) => (open.has(stream) ? void atEnd.push(run) : run()) }
  }

  return {
    keepAlive(caller, session, target) {
      // The place of the older stream is free for the newer one.
      session?.stream?.close()
      const held = hold('get', caller, target)
      if (held === null) return false
      held.stream.comment()
      if (session) carry(session, caller, held, resources)
      return true
    },
    listen(caller, { honoured, meta, answer }, target) {
      const held = hold('listen', caller, target, answer)
      if (held === null) return false
      const { stream } = held
      stream.send(notificationMessage('notifications/subscriptions/acknowledged', { notifications: honoured, _meta: meta }))
      const sink = sinkOf(stream, { _meta: meta })
      const watch = resources.watch(caller, honoured.resourcesListChanged ? sink : { ...sink, listChanged() {} })
      for (const uri of honoured.resourceSubscriptions ?? []) watch.add(uri)
      held.onEnd(() => watch.close())
      return true
    },
    drain() {
      drained = true
      for (const [stream, answer] of open) stream.end(answer)
    },
    get size() {
      return open.size
    },
  }
}

interface HeldStream {
  readonly stream: EventStream
  end(): void
  /** Runs at once when it has ended already, so everything to be undone comes before. */
  onEnd(run: () => void): void
}

/** Makes it the stream of the session. */
function carry(session: Session, caller: EndpointCaller, held: HeldStream, resources: McpResources): void {
  const watch = resources.watch(caller, sinkOf(held.stream, {}))
  const own = { watch, close: held.end }
  session.stream = own
  for (const uri of session.subscriptions) watch.add(uri)
  held.onEnd(() => {
    watch.close()
    if (session.stream === own) session.stream = null
  })
}

function sinkOf(stream: EventStream, more: JsonObject): ResourceSink {
  return {
    updated: (uri) => stream.send(notificationMessage('notifications/resources/updated', { uri, ...more })),
    listChanged: () => stream.send(notificationMessage('notifications/resources/list_changed', more)),
  }
}
