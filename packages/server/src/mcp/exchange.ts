import type { IncomingMessage, ServerResponse } from 'node:http'
import { commonHeaders, requestIdOf } from '../http/app.ts'
import { ERRORS, type RelayError } from '../kernel/errors.ts'
import type { Random } from '../kernel/ids.ts'
import type { Timers } from '../kernel/timers.ts'
import { answerEvent, type EventStream, openEventStream } from './sse.ts'
import { BEAT_MS } from './streams.ts'
import type { JsonObject } from './tool.ts'

const OK = 200

/** One HTTP request to the endpoint, with the response to it. */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly requestId: string
  readonly startedMs: number
  /** Headers of every response to this request. */
  readonly common: Readonly<Record<string, string>>
  header(name: string): string | undefined
  /** Returns every value of a header that may occur only once. */
  headers(name: string): readonly string[]
  readonly query: URLSearchParams
  /** What the log says of the request: method of the message, tool, workspace and subject of the caller. */
  readonly note: { method: string | null; tool: string | null; workspace: string | null; sub: string | null }
}

export function openExchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: { readonly corsOrigins: readonly string[]; readonly random: Random; readonly startedMs: number },
): Exchange {
  const header = (name: string): string | undefined => {
    const value = incoming.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  const requestId = requestIdOf(header('x-request-id'), options.random)
  const common = commonHeaders(requestId, options.corsOrigins, header('origin'))
  const url = incoming.url ?? '/'
  const mark = url.indexOf('?')
  return {
    incoming,
    outgoing,
    requestId,
    startedMs: options.startedMs,
    common,
    header,
    headers: (name) => incoming.rawHeaders.filter((_, at, all) => at % 2 === 1 && all[at - 1]?.toLowerCase() === name),
    query: new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1)),
    note: { method: null, tool: null, workspace: null, sub: null },
  }
}

/** Answers with a refusal that is not JSON-RPC: short plain text with the HTTP status of its error. [MCP-14] */
export function answerPlain(
  { outgoing, common }: Pick<Exchange, 'outgoing' | 'common'>,
  error: RelayError,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (outgoing.headersSent) return void outgoing.destroy()
  outgoing.writeHead(ERRORS[error.code].status, {
    ...common,
    ...headers,
    'Content-Type': 'text/plain',
    'Content-Length': String(Buffer.byteLength(text)),
  })
  outgoing.end(text)
}

export function answerEmpty(
  { outgoing, common }: Exchange,
  status: 202 | 204,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { ...common, ...headers })
  outgoing.end()
}

/** Answers with one JSON-RPC message as the whole response. */
export function answerJson(
  { outgoing, common }: Exchange,
  status: number,
  message: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(message)
  const length = String(Buffer.byteLength(text))
  outgoing.writeHead(status, { ...common, ...headers, 'Content-Type': 'application/json', 'Content-Length': length })
  outgoing.end(text)
}

/** Writes the answer to one POSTed request, as one JSON body or as events. [MCP-12, MCP-13, MCP-14] */
export interface RpcResponder {
  /** True when messages can be sent before the answer. */
  readonly events: boolean
  /** Sends a message before the answer; does nothing when the response is not SSE. */
  notify(message: JsonObject): void
  answer(status: number, message: JsonObject, headers?: Readonly<Record<string, string>>): void
  /** Stops writing: another writer answers on the same response. */
  cede(): void
  /** Ends the response without an answer, for a request that its caller cancelled. */
  leave(): void
}

export function createResponder(exchange: Exchange, events: boolean, timers: Timers): RpcResponder {
  const { outgoing, common } = exchange
  const { socket } = exchange.incoming
  const stallMs = socket.timeout ?? 0
  let stream: EventStream | null = null
  let cancelBeat = (): void => undefined
  const opened = (headers: Readonly<Record<string, string>> = {}): EventStream => {
    stream ??= openEventStream(outgoing, { ...common, ...headers })
    return stream
  }
  // Sends comments, so that a long call does not look like a dead connection.
  const beat = (): void => {
    cancelBeat = timers.after(BEAT_MS, () => {
      opened().comment()
      beat()
    })
  }
  if (events) {
    beat()
    outgoing.once('close', () => cancelBeat())
  }
  // Without SSE nothing is sent while the call runs, so the idle timeout must not close the connection.
  else socket.setTimeout(0)
  return {
    events,
    cede() {
      cancelBeat()
      socket.setTimeout(stallMs)
    },
    notify(message) {
      if (events) opened().send(message)
    },
    answer(status, message, headers) {
      cancelBeat()
      socket.setTimeout(stallMs)
      if (stream !== null) return stream.end(message)
      if (events && status === OK) return answerEvent(outgoing, { ...common, ...headers }, message)
      answerJson(exchange, status, message, headers)
    },
    leave() {
      cancelBeat()
      socket.setTimeout(stallMs)
      if (stream !== null) stream.end()
      else answerEmpty(exchange, 202)
    },
  }
}
