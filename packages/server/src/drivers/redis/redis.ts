import { createHash } from 'node:crypto'
import { createClient } from '@redis/client'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'

/** A command without an answer after this long counts as failed, and so does the connection. [LIFE-27] */
const COMMAND_MS = 250
/** A connection is ready after several exchanges, encrypted ones included. */
const CONNECT_MS = 1_000
/** Time between two tries to connect. [LIFE-27] */
const PROBE_MS = 1_000
/** Channels of one command, so that each command has its answer in time however many channels there are. */
const CHANNELS_PER_COMMAND = 500

/** Errors of a server that cannot serve for now: it loads, fails over, is full, or lets this caller do nothing. */
const UNUSABLE = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|MISCONF|OOM|BUSY|NOAUTH|NOPERM)\b/

/** A Lua script, which the server runs as one step. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

export function scriptOf(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/** The bus did not do what was asked of it; nobody knows whether it will still happen. */
export class BusDownError extends Error {
  constructor(reason: string) {
    super(`the bus does not answer: ${reason}`)
    this.name = 'BusDownError'
  }
}

export interface RedisOptions {
  /** `redis://…` or `rediss://…`, with user, password and number of the database. A secret. */
  readonly url: string
  readonly timers: Timers
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** Precedes every key and channel, so that tests can share one server. Empty when absent. */
  readonly prefix?: string
}

/**
 * One connection to Redis or Valkey. Nothing in it is truth, so nothing waits for it longer than 250 ms: while it is down every command
 * rejects at once, and once a second the connection is tried again. [LIFE-27]
 */
export interface Redis extends AsyncDisposable {
  readonly isUp: boolean
  /** Runs a script on keys. @throws BusDownError, or Error when the script fails */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Sends a message to all who listen to the channel. Returns at once; while the bus is down the message is dropped. */
  publish(channel: string, message: string): void
  /** Listens to a channel until the returned function is called, also over reconnections. Messages sent meanwhile are lost. */
  subscribe(channel: string, listener: (message: string) => void): () => void
  /** Calls the listener with each change of `isUp`, and at once when it is up already. */
  onChange(listener: (isUp: boolean) => void): void
}

/** Opens the bus. Resolves after the first try, at most 1 s later, whether it worked or not. */
export async function openRedis(options: RedisOptions): Promise<Redis> {
  const connection = new RedisConnection(options)
  await connection.start()
  return connection
}

type Client = ReturnType<typeof newClient>

/** Without a queue of its own, and without reconnecting: the connection below does both, in a way that is known. */
function newClient(url: string) {
  return createClient({
    url,
    RESP: 3,
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false, noDelay: true },
  })
}

class RedisConnection implements Redis {
  readonly #options: RedisOptions
  readonly #prefix: string
  readonly #changed: ((isUp: boolean) => void)[] = []
  readonly #channels = new Map<string, Set<(message: string) => void>>()
  /** The same function for every channel, so that a channel that is subscribed twice still gets each message once. */
  readonly #heard = (message: string, name: string): void => {
    for (const listener of this.#channels.get(name.slice(this.#prefix.length)) ?? []) listener(message)
  }
  #client: Client | null = null
  #cancelProbe: () => void = () => undefined
  #isClosed = false
  /** Whether the outage is in the log; one line tells its begin and one its end. */
  #isLogged = false

  constructor(options: RedisOptions) {
    this.#options = options
    this.#prefix = options.prefix ?? ''
  }

  get isUp(): boolean {
    return this.#client !== null
  }

  async start(): Promise<void> {
    await this.#connect()
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const options = { keys: keys.map((key) => this.#prefix + key), arguments: args.map(String) }
    try {
      return await this.#command((client) => client.evalSha(script.sha1, options))
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return await this.#command((client) => client.eval(script.text, options))
    }
  }

  publish(channel: string, message: string): void {
    if (this.#client === null) return
    this.#command((client) => client.publish(this.#prefix + channel, message)).catch(() => undefined)
  }

  subscribe(channel: string, listener: (message: string) => void): () => void {
    const listeners = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, listeners.add(listener))
    if (listeners.size === 1 && this.#client !== null) this.#listen([channel]).catch(() => undefined)
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0 || this.#channels.get(channel) !== listeners) return
      this.#channels.delete(channel)
      if (this.#client !== null) this.#command((client) => client.unsubscribe(this.#prefix + channel)).catch(() => undefined)
    }
  }

  onChange(listener: (isUp: boolean) => void): void {
    this.#changed.push(listener)
    if (this.isUp) listener(true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#cancelProbe()
    const client = this.#client
    this.#client = null
    if (client !== null) discard(client)
  }

  async #connect(): Promise<void> {
    const client = newClient(this.#options.url)
    client.on('error', (error: Error) => this.#lose(client, reasonOf(error)))
    client.on('end', () => this.#lose(client, 'the connection was closed'))
    try {
      await within(CONNECT_MS, this.#options.timers, client.connect())
      await within(COMMAND_MS, this.#options.timers, client.ping())
      if (this.#isClosed) return discard(client)
      this.#client = client
      await this.#listenAgain()
    } catch (error) {
      if (this.#client === client) return this.#lose(client, reasonOf(error))
      discard(client)
      this.#probeLater(reasonOf(error))
      return
    }
    if (this.#client !== client) return
    if (this.#isLogged) this.#options.log.info('bus.back', 'The bus answers again.')
    this.#isLogged = false
    for (const listener of this.#changed) listener(true)
  }

  async #listenAgain(): Promise<void> {
    const channels = [...this.#channels.keys()]
    for (let from = 0; from < channels.length; from += CHANNELS_PER_COMMAND) {
      // Some may have been left meanwhile.
      const wanted = channels.slice(from, from + CHANNELS_PER_COMMAND).filter((channel) => this.#channels.has(channel))
      if (wanted.length > 0) await this.#listen(wanted)
    }
  }

  async #listen(channels: readonly string[]): Promise<void> {
    const names = channels.map((channel) => this.#prefix + channel)
    await this.#command((client) => client.subscribe(names, this.#heard))
  }

  /** Gives the connection up: after a command without an answer nobody knows which answer would come next, or when. */
  #lose(client: Client, reason: string): void {
    if (this.#client !== client) return
    this.#client = null
    discard(client)
    for (const listener of this.#changed) listener(false)
    this.#probeLater(reason)
  }

  #probeLater(reason: string): void {
    if (this.#isClosed) return
    if (!this.#isLogged) {
      this.#isLogged = true
      this.#options.log.warn('bus.lost', 'The bus does not answer: limits are counted by each node, and news comes later.', {
        reason,
      })
    }
    this.#cancelProbe()
    this.#cancelProbe = this.#options.timers.after(PROBE_MS, () => void this.#connect())
  }

  async #command<T>(run: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client
    if (client === null) throw new BusDownError('no connection')
    try {
      return await within(COMMAND_MS, this.#options.timers, run(client))
    } catch (error) {
      if (error instanceof BusDownError || (error instanceof Error && UNUSABLE.test(error.message)))
        this.#lose(client, reasonOf(error))
      throw error
    }
  }
}

/**
 * Rejects with BusDownError unless `work` settles in time. What has arrived by then is read first: a process that was held up itself must
 * not take its own delay for that of the server.
 */
function within<T>(limitMs: number, timers: Timers, work: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = timers.after(limitMs, () =>
      setImmediate(() => setImmediate(() => reject(new BusDownError(`nothing for ${limitMs} ms`)))),
    )
    work.then(
      (value) => {
        cancel()
        resolve(value)
      },
      (error: unknown) => {
        cancel()
        reject(error instanceof Error ? error : new Error(String(error)))
      },
    )
  })
}

function discard(client: Client): void {
  try {
    client.destroy()
  } catch {
    // It was closed already.
  }
}

/** A code or the first words: neither host nor password. [OPS-6] */
function reasonOf(error: unknown): string {
  if (error instanceof BusDownError) return error.message
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (typeof code === 'string') return code
  return typeof message === 'string' ? (/^[A-Z]+\b/.exec(message)?.[0] ?? 'no connection') : 'no connection'
}
