import type { ServerResponse } from 'node:http'
import type { JsonObject } from './tool.ts'

/** A reader that is this many bytes behind is disconnected, because the relay has to buffer everything it did not read. */
const MAX_WAITING_BYTES = 16 * 1_048_576

export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  'X-Accel-Buffering': 'no',
} as const

/** A response that is written event by event. Writing after its end does nothing. [MCP-13] */
export interface EventStream {
  send(message: JsonObject): void
  comment(): void
  /** Ends the stream, after one last event when one is given. */
  end(message?: JsonObject): void
}

/** Opens a stream and sends its head at once. */
export function openEventStream(outgoing: ServerResponse, headers: Readonly<Record<string, string>>): EventStream {
  outgoing.writeHead(200, { ...headers, ...EVENT_STREAM_HEADERS })
  // Without this call the head would be sent only with the first event.
  outgoing.flushHeaders()
  const write = (text: string): void => {
    if (outgoing.writableEnded || outgoing.destroyed) return
    if (outgoing.writableLength > MAX_WAITING_BYTES) outgoing.destroy()
    else outgoing.write(text)
  }
  return {
    send: (message) => write(eventOf(message)),
    comment: () => write(':\n\n'),
    end(message) {
      if (message !== undefined) write(eventOf(message))
      if (!outgoing.writableEnded) outgoing.end()
    },
  }
}

/** Answers with a complete stream of one event, in one write. */
export function answerEvent(outgoing: ServerResponse, headers: Readonly<Record<string, string>>, message: JsonObject): void {
  const text = eventOf(message)
  outgoing.writeHead(200, { ...headers, ...EVENT_STREAM_HEADERS, 'Content-Length': String(Buffer.byteLength(text)) })
  outgoing.end(text)
}

/** Formats one event. `JSON.stringify` writes no line break, so the message fits on one `data` line. */
function eventOf(message: JsonObject): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}

/** Whether `Accept` names `text/event-stream` with a weight above 0; a wildcard does not count. [MCP-12] */
export function wantsEvents(accept: string | undefined): boolean {
  if (accept === undefined) return false
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    if (type !== 'text/event-stream') return false
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
    return weight === undefined || Number(weight.slice(weight.indexOf('=') + 1).trim()) > 0
  })
}
