import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { delayedWrites } from '../../delayed-writes.ts'

/** The bytes of a connection that are held back: to the target, from it, or both. */
export type Way = 'to-target' | 'from-target' | 'both'

/** A connection through the proxy. `source` is the result of `sourceOf`. */
interface Piped {
  readonly near: Socket
  readonly far: Socket
  readonly source: string
}

/**
 * A TCP proxy on a port of 127.0.0.1 that a fault run breaks, for all connections or for those of one source. Bytes that are held back are not
 * lost. They arrive after `heal`, as after a real partition that was shorter than the TCP timeouts.
 */
export interface FaultyProxy extends AsyncDisposable {
  readonly port: number
  /** The local ports of open connections to the target, by which the target can identify them. */
  readonly localPorts: ReadonlySet<number>
  /** Holds back the bytes of open and new connections until `heal`: those of one source, or of all. */
  silence(way: Way, source?: string): void
  /** Resets the open connections, and each new one until `heal`: those of one source, or of all. */
  cut(source?: string): void
  /** Resets the open connections once; new ones are forwarded. */
  reset(source?: string): void
  /** Forwards all bytes of open and new connections with this delay. */
  delay(ms: number): void
  /** Resets the next connection that sends something to the target, after `bytes` more bytes of the answer. */
  cutAnswerAfter(bytes: number): void
  /** Resets the next connection that sends PostgreSQL a COMMIT, or a statement that commits by itself, after `bytes` further bytes of the answer. */
  cutCommitAnswerAfter(bytes: number): void
  /** Whether a connection still waits for the reset of `cutAnswerAfter` or `cutCommitAnswerAfter`. */
  isCutDue(): boolean
  /** Forwards everything again. */
  heal(): void
}

export interface FaultyProxyOptions {
  readonly target: { readonly host: string; readonly port: number }
  /** Returns the name of the process that opened a connection, by its port. */
  readonly sourceOf?: (remotePort: number) => string
}

/**
 * What commits, as a driver of PostgreSQL sends it: a simple query of the word COMMIT, or a named statement of `postgres-append.ts`, which is
 * a transaction of its own. The name stands in the message that parses the statement, or else first in the one that binds its values.
 */
const COMMIT = /^Q[^]{4}commit\0$|^P[^]{4}append-|^B[^]{4}\0append-/i

export async function startFaultyProxy({ target, sourceOf = () => '' }: FaultyProxyOptions): Promise<FaultyProxy> {
  const open = new Set<Piped>()
  const silences: { readonly way: Way; readonly source: string | undefined }[] = []
  const cuts: (string | undefined)[] = []
  const localPorts = new Set<number>()
  let delayMs = 0
  let answerBytesLeft: number | null = null
  let isCutOfCommit = false
  let cutting: Piped | null = null

  const isOf = ({ source }: Piped, wanted: string | undefined): boolean => wanted === undefined || source === wanted
  const isSilent = (piped: Piped, way: Way): boolean =>
    silences.some((silence) => isOf(piped, silence.source) && (silence.way === way || silence.way === 'both'))
  const breakOff = ({ near, far }: Piped): void => {
    near.resetAndDestroy()
    far.resetAndDestroy()
  }
  const follow = (piped: Piped): void => {
    if (isSilent(piped, 'to-target')) piped.near.pause()
    else piped.near.resume()
    if (isSilent(piped, 'from-target')) piped.far.pause()
    else piped.far.resume()
  }
  const send = delayedWrites((to, bytes) => void to.write(bytes))
  const forward = (to: Socket, bytes: Uint8Array): void => send(to, bytes, delayMs)
  const answer = (piped: Piped, bytes: Buffer): void => {
    if (cutting !== piped || answerBytesLeft === null) return forward(piped.near, bytes)
    piped.near.write(bytes.subarray(0, answerBytesLeft))
    answerBytesLeft -= bytes.length
    if (answerBytesLeft > 0) return
    answerBytesLeft = null
    cutting = null
    // Waits until the bytes before the cut have arrived.
    setTimeout(() => breakOff(piped), 5)
  }

  const server: Server = createServer({ noDelay: true }, (near) => {
    near.on('error', () => undefined)
    const source = sourceOf(near.remotePort ?? 0)
    if (cuts.some((cut) => cut === undefined || cut === source)) return near.resetAndDestroy()
    const far = connect({ ...target, noDelay: true })
    far.on('error', () => undefined)
    const piped: Piped = { near, far, source }
    open.add(piped)
    far.once('connect', () => {
      const port = far.localPort
      if (port === undefined) return
      localPorts.add(port)
      far.once('close', () => localPorts.delete(port))
    })
    near.on('data', (bytes) => {
      if (answerBytesLeft !== null && (!isCutOfCommit || COMMIT.test(bytes.toString('latin1')))) cutting ??= piped
      forward(far, bytes)
    })
    far.on('data', (bytes) => answer(piped, bytes))
    near.once('close', () => {
      open.delete(piped)
      far.destroy()
    })
    // The end of a connection from the target is held back together with the bytes before it.
    far.once('close', () => (isSilent(piped, 'from-target') ? undefined : near.destroy()))
    follow(piped)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')

  return {
    port: address.port,
    localPorts,
    silence(way, source) {
      silences.push({ way, source })
      for (const piped of open) follow(piped)
    },
    cut(source) {
      cuts.push(source)
      for (const piped of open) if (isOf(piped, source)) breakOff(piped)
    },
    reset(source) {
      for (const piped of open) if (isOf(piped, source)) breakOff(piped)
    },
    delay(ms) {
      delayMs = ms
    },
    cutAnswerAfter(bytes) {
      answerBytesLeft = bytes
      isCutOfCommit = false
      cutting = null
    },
    cutCommitAnswerAfter(bytes) {
      answerBytesLeft = bytes
      isCutOfCommit = true
      cutting = null
    },
    isCutDue: () => answerBytesLeft !== null,
    heal() {
      silences.length = 0
      cuts.length = 0
      delayMs = 0
      answerBytesLeft = null
      for (const piped of open) {
        if (piped.far.destroyed) piped.near.destroy()
        else follow(piped)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const piped of open) breakOff(piped)
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
