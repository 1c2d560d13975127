import { createHash } from 'node:crypto'
import { createClient } from '@redis/client'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'

/** A command that has no answer after this long counts as failed, and so does the connection. [LIFE-27] */
const COMMAND_MS = 250
/** Time limit for connecting, which takes several round trips, more with TLS. */
const CONNECT_MS = 1_000
/** Time between two attempts to connect. [LIFE-27] */
const PROBE_MS = 1_000
/** Maximum number of channels in one command, so that each command is answered within `COMMAND_MS`. */
const CHANNELS_PER_COMMAND = 500

/** Error codes of a server that cannot be used at the moment: it is loading, failing over or full, or it refuses this user. */
const UNUSABLE = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|MISCONF|OOM|BUSY|NOAUTH|NOPERM)\b/

/** A Lua script, which the server runs atomically. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

export function scriptOf(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/** The bus did not answer a command. The command may still be executed. */
export class BusDownError extends Error {
  constructor(reason: string) {
    super(`the bus does not answer: ${reason}`)
    this.name = 'BusDownError'
  }
}

export interface RedisOptions {
  /** `redis://…` or `rediss://…`, with user, password and number of the database. Secret. */
  readonly url: string
  readonly timers: Timers
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** Prefix of every key and channel, so that tests can share one server. Default: empty. */
  readonly prefix?: string
}

/**
 * One connection to Redis or Valkey. The store holds the truth, so no caller waits for the bus longer than 250 ms. While the bus is down, every
 * command rejects at once, and once a second this process tries to connect again. [LIFE-27]
 */
export interface Redis extends AsyncDisposable {
  readonly isUp: boolean
  /** Runs a script on keys. @throws BusDownError, or Error when the script fails */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Sends a message to all subscribers of the channel. Returns at once; while the bus is down the message is dropped. */
  publish(channel: string, message: string): void
  /**
   * Calls `listener` for each message of a channel until the returned function is called, also after reconnections. Messages sent during an outage
   * are lost.
   */
  subscribe(channel: string, listener: (message: string) => void): () => void
  /** Calls the listener at each change of `isUp`, and at once when the bus is already up. */
  onChange(listener: (isUp: boolean) => void): void
}

/** Opens the bus. Resolves after the first attempt to connect, successful or not, within 1 s. */
export async function openRedis(options: RedisOptions): Promise<Redis> {
  const connection = new RedisConnection(options)
  await connection.start()
  return connection
}

type Client = ReturnType<typeof newClient>

/** Returns a client that neither queues commands nor reconnects: `RedisConnection` handles both itself. */
function newClient(url: string) {
  return createClient({
    url,
    RESP: 3,
    // `within` limits each command already. For its own limit the library would make an AbortSignal and an error even for answered commands.
    commandOptions: { timeout: 0 },
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false, noDelay: true },
  })
}

class RedisConnection implements Redis {
  readonly #options: RedisOptions
  readonly #prefix: string
  readonly #changed: ((isUp: boolean) => void)[] = []
  readonly #channels = new Map<string, Set<(message: string) => void>>()
  /** One function for all channels, so that a channel that was subscribed twice still delivers each message once. */
  readonly #heard = (message: string, name: string): void => {
    for (const listener of this.#channels.get(name.slice(this.#prefix.length)) ?? []) listener(message)
  }
  #client: Client | null = null
  #cancelProbe: () => void = () => undefined
  #isClosed = false
  /** Whether the current outage was logged. One line is logged when it begins and one when it ends. */
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
      if (this.#client !== null) this.#leave(channel).catch(() => undefined)
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
      // Some channels may have lost their last listener meanwhile.
      const wanted = channels.slice(from, from + CHANNELS_PER_COMMAND).filter((channel) => this.#channels.has(channel))
      if (wanted.length > 0) await this.#listen(wanted)
    }
  }

  async #listen(channels: readonly string[]): Promise<void> {
    const names = channels.map((channel) => this.#prefix + channel)
    await this.#command((client) => client.subscribe(names, this.#heard))
  }

  /**
   * Unsubscribes from a channel. Until the answer to UNSUBSCRIBE the client takes the channel for subscribed and sends no SUBSCRIBE for it. So a
   * subscription that was made in the meantime is sent after the answer.
   */
  async #leave(channel: string): Promise<void> {
    await this.#command((client) => client.unsubscribe(this.#prefix + channel))
    if (this.#channels.has(channel)) await this.#listen([channel])
  }

  /** Drops the connection. After a command without an answer it is unknown to which command the next answer belongs. */
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
 * Rejects with BusDownError unless `work` settles in time. Answers that have already arrived are read first, so that a delay of this process does not
 * count as a delay of the server.
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
    // The client was closed already.
  }
}

/** Returns an error code or the first words of the message, which include neither host nor password. [OPS-6] */
function reasonOf(error: unknown): string {
  if (error instanceof BusDownError) return error.message
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (typeof code === 'string') return code
  return typeof message === 'string' ? (/^[A-Z]+\b/.exec(message)?.[0] ?? 'no connection') : 'no connection'
}
