import type { ServerResponse } from 'node:http'
import { RelayError } from '../kernel/errors.ts'

/**
 * Returns a signal that is aborted when the connection closes before the whole response was handed over. Its reason is never shown to anyone.
 */
export function leftSignal(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const closed = (): void => {
    if (!outgoing.writableFinished) controller.abort(clientLeft())
  }
  if (outgoing.destroyed) closed()
  else outgoing.once('close', closed)
  return controller.signal
}

export function clientLeft(): RelayError {
  return new RelayError('UNAVAILABLE', 'The client closed the connection before the answer.')
}
