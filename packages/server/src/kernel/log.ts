/** What a log line may carry beside its message. Values are escaped and cut by the logger; secrets are never passed in. [OPS-5, OPS-6] */
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

/** For tests and for parts whose log nobody reads. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
