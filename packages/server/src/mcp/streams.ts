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
/** Time between two comment lines. [MCP-37, MCP-52] */
export const BEAT_MS = 15_000
/** Time between two checks of the credentials of all open streams. [MCP-28] */
const LOOK_MS = 4_000

/** The response on which a stream is written. */
export interface StreamTarget {
  readonly outgoing: ServerResponse
  readonly headers: Readonly<Record<string, string>>
}

/** The part of a `subscriptions/listen` filter that is served; every message carries `meta`. [MCP-50, MCP-51] */
export interface Listening {
  readonly honoured: { readonly resourcesListChanged?: true; readonly resourceSubscriptions?: readonly string[] }
  readonly meta: JsonObject
  /** The answer to the request, sent when the relay shuts down. [MCP-52] */
  readonly answer: JsonObject
}

/**
 * The open streams and waiting calls of the endpoint. A method returns `false` or `null` when the principal already has as many as allowed.
 * [MCP-38, MCP-52]
 */
export interface Streams {
  /** Serves a GET: keeps the stream open and, for a session, sends the notifications of its subscriptions. */
  keepAlive(caller: EndpointCaller, session: Session | null, target: StreamTarget): boolean
  /**
   * Serves `subscriptions/listen`. Calls `prepare`, which reads documents, only after taking a place for the stream. Gives the place back when
   * `prepare` rejects.
   */
  listen(caller: EndpointCaller, prepare: () => Promise<Listening>, target: StreamTarget): Promise<boolean>
  /**
   * Counts a waiting call as one stream of its principal until the returned function is called; `null` when the principal has as many as allowed.
   * Calls `end` when the call must end. [AG-76]
   */
  wait(caller: EndpointCaller, end: EndWait): (() => void) | null
  /** Ends all streams. A `listen` stream gets its answer first. */
  drain(): void
  readonly size: number
}

/** Called with the reason why a waiting call must end. */
export type EndWait = (why: 'credential' | 'shutdown') => void

export function createStreams(resources: McpResources, timers: Timers): Streams {
  const open = new Map<object, OpenStream>()
  const counts = new Map<string, number>()
  let drained = false
  let cancelLook: (() => void) | null = null

  /** After LOOK_MS ends the streams whose credential is no longer accepted; repeats while a stream is open. */
  const look = (): void => {
    cancelLook = timers.after(LOOK_MS, () => {
      for (const { isGood, end } of [...open.values()]) if (!isGood()) end()
      if (open.size > 0) look()
      else cancelLook = null
    })
  }

  /** Takes a place for a stream of the principal; `false` when the principal has as many as allowed. */
  const take = ({ principalKey }: EndpointCaller): boolean => {
    const count = counts.get(principalKey) ?? 0
    if (count >= MAX_STREAMS) return false
    counts.set(principalKey, count + 1)
    return true
  }

  const add = (one: object, entry: OpenStream): void => {
    open.set(one, entry)
    if (cancelLook === null) look()
  }

  const putBack = ({ principalKey }: EndpointCaller): void => {
    const left = (counts.get(principalKey) ?? 1) - 1
    if (left === 0) counts.delete(principalKey)
    else counts.set(principalKey, left)
  }

  /** Gives the place of a stream back; `false` when it was given back before. */
  const giveBack = (caller: EndpointCaller, one: object): boolean => {
    if (!open.delete(one)) return false
    putBack(caller)
    if (open.size === 0) {
      cancelLook?.()
      cancelLook = null
    }
    return true
  }

  /** Opens a stream in a place taken before, with a heartbeat until the relay, the client or the credential ends it. */
  const hold = (caller: EndpointCaller, { outgoing, headers }: StreamTarget, answer?: JsonObject): HeldStream => {
    const stream = openEventStream(outgoing, headers)
    const atEnd: (() => void)[] = []
    let cancelBeat = (): void => undefined
    const release = (): void => {
      if (!giveBack(caller, stream)) return
      cancelBeat()
      for (const run of atEnd) run()
    }
    const end = (): void => {
      stream.end()
      release()
    }
    const beat = (): void => {
      cancelBeat = timers.after(BEAT_MS, () => {
        stream.comment()
        beat()
      })
    }
    add(stream, { end, drain: () => stream.end(answer), isGood: () => caller.isGood() })
    beat()
    outgoing.once('close', release)
    if (outgoing.destroyed) release()
    // The relay began to shut down after the request arrived and before the stream opened.
    if (drained) stream.end(answer)
    return { stream, end, onEnd: (run) => (open.has(stream) ? void atEnd.push(run) : run()) }
  }

  return {
    keepAlive(caller, session, target) {
      // Closes the older stream first, so that its place is free for the newer one.
      session?.stream?.close()
      if (!take(caller)) return false
      const held = hold(caller, target)
      held.stream.comment()
      if (session) carry(session, caller, held, resources)
      session?.shared?.takeOver()
      return true
    },
    async listen(caller, prepare, target) {
      if (!take(caller)) return false
      const { honoured, meta, answer } = await prepare().catch((error: unknown) => {
        putBack(caller)
        throw error
      })
      const held = hold(caller, target, answer)
      const { stream } = held
      stream.send(notificationMessage('notifications/subscriptions/acknowledged', { notifications: honoured, _meta: meta }))
      const sink = sinkOf(stream, { _meta: meta })
      const watch = resources.watch(caller, honoured.resourcesListChanged ? sink : { ...sink, listChanged() {} })
      for (const uri of honoured.resourceSubscriptions ?? []) watch.add(uri)
      held.onEnd(() => watch.close())
      return true
    },
    wait(caller, end) {
      if (!take(caller)) return null
      const call = {}
      add(call, { end: () => end('credential'), drain: () => end('shutdown'), isGood: () => caller.isGood() })
      if (drained) end('shutdown')
      return () => void giveBack(caller, call)
    },
    drain() {
      drained = true
      for (const { drain } of [...open.values()]) drain()
    },
    get size() {
      return open.size
    },
  }
}

interface OpenStream {
  isGood(): boolean
  /** Called when the credential is no longer accepted. */
  end(): void
  /** Called when the relay shuts down. */
  drain(): void
}

interface HeldStream {
  readonly stream: EventStream
  end(): void
  /**
   * Calls `run` when the stream ends, or at once if it has ended. The caller must have set up everything that `run` undoes.
   */
  onEnd(run: () => void): void
}

/** Sends the notifications of the session's subscriptions on the stream. */
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
