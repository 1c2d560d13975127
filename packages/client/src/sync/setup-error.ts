import type { Environment } from '../environment.ts'

/** Thrown by `connect()` when the given options can never work, whatever the relay answers. */
export class ClientSetupError extends Error {
  /** `BAD_URL`: the url is not an absolute WebSocket address. `NO_WEBSOCKET`: the platform has no WebSocket. */
  readonly code: 'BAD_URL' | 'NO_WEBSOCKET'

  constructor(code: ClientSetupError['code'], message: string) {
    super(message)
    this.name = 'ClientSetupError'
    this.code = code
  }
}

const PROTOCOLS = ['ws:', 'wss:', 'http:', 'https:']

/**
 * Returns the address of the relay's socket.
 *
 * @throws ClientSetupError
 */
export function socketUrl(url: string, environment: Environment): URL {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !PROTOCOLS.includes(parsed.protocol))
    throw new ClientSetupError(
      'BAD_URL',
      `url is ${JSON.stringify(url)}; it is an absolute address such as wss://relay.example/ws`,
    )
  if (environment.hasWebSocket?.() === false)
    throw new ClientSetupError(
      'NO_WEBSOCKET',
      'this platform has no WebSocket: use Node 22 or newer, or give an environment with openSocket',
    )
  return parsed
}
