import pino from 'pino'
import type { Clock } from './clock.ts'
import { createFieldScrubber, scrubbed } from './log-scrub.ts'

/**
 * Fields of a log line beside its message. The logger escapes and cuts the values; callers never pass secrets. [OPS-5,
 * OPS-6]
 */
export interface LogFields {
  readonly requestId?: string
  readonly workspace?: string
  readonly docId?: string
  readonly sub?: string
  readonly durationMs?: number
  readonly code?: string
  /** Marks an audit line. [OPS-7] */
  readonly audit?: true
  readonly [name: string]: unknown
}

/** One JSON object per line on stderr. `event` is a stable dotted name, `msg` one English sentence. */
export interface Logger {
  debug(event: string, msg: string, fields?: LogFields): void
  info(event: string, msg: string, fields?: LogFields): void
  warn(event: string, msg: string, fields?: LogFields): void
  error(event: string, msg: string, fields?: LogFields): void
}

/** Drops every line. For tests, and for parts whose log nobody reads. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export interface LoggerOptions {
  readonly level: LogLevel
  /** `pretty` is for a person at a terminal; it has no colours. [CFG-12] */
  readonly format: 'json' | 'pretty'
  readonly clock: Clock
  /** Receives each line, including its line end. */
  readonly write: (line: string) => void
}

const MAX_MESSAGE = 1000

/**
 * Makes a logger. Every line of a running server goes through it: values are escaped and cut at 200 characters, objects
 * are left out, and anything that looks like a credential is replaced, even when a caller passes it by mistake. [OPS-5,
 * OPS-6]
 */
export function createLogger(options: LoggerOptions): Logger {
  const { clock, format, write } = options
  const destination = { write: format === 'json' ? write : (line: string) => write(prettyLine(line)) }
  const sink = pino(
    {
      level: options.level,
      base: null,
      timestamp: timestamps(clock),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
  const scrubbedFields = createFieldScrubber()
  const line = (level: LogLevel) => (event: string, msg: string, fields?: LogFields) => {
    if (!sink.isLevelEnabled(level)) return
    sink[level]({ event: scrubbed(event, 200), ...scrubbedFields(fields ?? {}) }, scrubbed(msg, MAX_MESSAGE))
  }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/**
 * Returns a function that makes the member `ts`. Keeps the text of the last second, because most lines fall into the same one.
 */
function timestamps(clock: Clock): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const ms = Math.floor(clock.nowMs())
    const since = Math.floor(ms / 1000)
    if (since !== second) {
      second = since
      text = `,"ts":"${new Date(since * 1000).toISOString().slice(0, -'000Z'.length)}`
    }
    return `${text}${String(ms - since * 1000).padStart(3, '0')}Z"`
  }
}

/** Turns a line of JSON into `12:00:00.000 info  event msg name=value`. */
function prettyLine(json: string): string {
  const { ts, level, event, msg, ...fields } = JSON.parse(json) as Record<string, unknown>
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `${String(ts).slice(11, 23)} ${String(level).padEnd(5)} ${String(event)} ${String(msg)}${rest.join('')}\n`
}
