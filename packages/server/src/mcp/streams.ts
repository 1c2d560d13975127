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
 * The streams that stay open until one side ends them. A verb returns `false` when the principal has as many as it may
 * have. [MCP-38, MCP-52]
 */
export interface Streams {
  /** Serves a GET: keeps the stream alive and, in a session, carries its subscriptions. */
  keepAlive(caller: EndpointCaller, session: Session | null, target: StreamTarget): boolean
  /**
   * `prepare` reads documents, so that it is called only when there is a place, which is taken while it runs. When it rejects, the place is
   * given back.
   */
  listen(caller: EndpointCaller, prepare: () => Promise<Listening>, target: StreamTarget): Promise<boolean>
  /**
   * Counts a call that waits as one of the streams of its principal until the returned function is called; `null` when there are as many as
   * there may be. `end` is called when the call is to end. [AG-76]
   */
  wait(caller: EndpointCaller, end: EndWait): (() => void) | null
  /** Ends all streams; a `listen` gets its answer. */
  drain(): void
  readonly size: number
}

/** Why a waiting call is to end. */
export type EndWait = (why: 'credential' | 'shutdown') => void

export function createStreams(resources: McpResources, timers: Timers): Streams {
  const open = new Map<object, OpenStream>()
  const counts = new Map<string, number>()
  let drained = false
  let cancelLook: (() => void) | null = null

  /** Ends streams whose credential is no longer accepted; repeats while there are streams. */
  const look = (): void => {
    cancelLook = timers.after(LOOK_MS, () => {
      for (const { isGood, end } of [...open.values()]) if (!isGood()) end()
      if (open.size > 0) look()
      else cancelLook = null
    })
  }

  /** Counts one more of a principal; `false`: it has as many as it may have. */
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

  /** `false`: it was given back before. */
  const giveBack = (caller: EndpointCaller, one: object): boolean => {
    if (!open.delete(one)) return false
    putBack(caller)
    if (open.size === 0) {
      cancelLook?.()
      cancelLook = null
    }
    return true
  }

  /** Opens a stream, whose place was taken, with a heartbeat until the relay, the client or the credential ends it. */
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
    // The relay was shut down between the request and the opening of its stream.
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
  /** The credential is not good any more. */
  end(): void
  /** The relay shuts down. */
  drain(): void
}

interface HeldStream {
  readonly stream: EventStream
  end(): void
  /**
   * Runs `run` at the end; at once when the stream has ended already, so everything to be undone must be set up before.
   */
  onEnd(run: () => void): void
}

/** Makes the stream carry the messages of the session. */
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
