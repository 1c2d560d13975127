import type { HandshakeStep, LinkRefusal } from './link-handshake.ts'
import type { Session } from './link-secrets.ts'
import type { LinkSocket } from './link-socket.ts'

/** A link whose two sides know each other. */
export interface OpenedLink<Peer> {
  readonly socket: LinkSocket
  readonly session: Session
  readonly peer: Peer
}

/**
 * Why no link was opened. `no-answer`: the other side sent nothing, or left after it had proved the secret; `secret`: the two
 * sides have no secret in common.
 */
export type NotOpened = 'no-answer' | 'secret' | LinkRefusal

/**
 * Runs a handshake over a socket. Calls either `opened` or `closed`, once. `opened` takes over the socket and must call
 * `hear` on it before it returns.
 */
export function openOver<Peer>(
  socket: LinkSocket,
  handshake: { receive(message: Uint8Array): HandshakeStep<Peer> },
  done: { opened(link: OpenedLink<Peer>): void; closed(why: NotOpened, peer: Peer | null): void },
): void {
  let hasSpoken = false
  let isProven = false
  let isDone = false
  const closed = (why: NotOpened, peer: Peer | null): void => {
    if (isDone) return
    isDone = true
    done.closed(why, peer)
  }
  socket.hear({
    message(bytes) {
      if (isDone) return
      hasSpoken = true
      const step = handshake.receive(bytes)
      if (step.bytes !== null) socket.send(step.bytes)
      if (step.kind === 'send') {
        isProven = step.isProven
        return
      }
      if (step.kind === 'closed') {
        // The verdict leaves before the socket closes.
        if (step.bytes === null) socket.destroy()
        else socket.close()
        return closed(step.why, step.peer)
      }
      isDone = true
      socket.trust()
      done.opened({ socket, session: step.session, peer: step.peer })
    },
    closed: () => closed(hasSpoken && !isProven ? 'secret' : 'no-answer', null),
  })
}
