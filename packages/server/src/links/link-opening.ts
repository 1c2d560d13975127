import type { HandshakeStep, LinkRefusal } from './link-handshake.ts'
import type { Session } from './link-secrets.ts'
import type { LinkSocket } from './link-socket.ts'

/** A link whose two sides know who they are. */
export interface OpenedLink<Peer> {
  readonly socket: LinkSocket
  readonly session: Session
  readonly peer: Peer
}

/**
 * Why no link was opened. `no-answer`: nobody spoke there, or who showed the secret went away without a word; `secret`: who spoke, or
 * listened, has another secret.
 */
export type NotOpened = 'no-answer' | 'secret' | LinkRefusal

/**
 * Runs a handshake over a socket. Exactly one of the two is called, once; with `opened`, the socket belongs to who is
 * called, and must be heard before that returns.
 */
export function openOver<Peer>(
  socket: LinkSocket,
  handshake: { readonly isProven: boolean; receive(message: Uint8Array): HandshakeStep<Peer> },
  done: { opened(link: OpenedLink<Peer>): void; closed(why: NotOpened, peer: Peer | null): void },
): void {
  let hasSpoken = false
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
      if (step.kind === 'send') return
      if (step.kind === 'closed') {
        // What tells why leaves first.
        if (step.bytes === null) socket.destroy()
        else socket.close()
        return closed(step.why, step.peer)
      }
      isDone = true
      socket.trust()
      done.opened({ socket, session: step.session, peer: step.peer })
    },
    closed: () => closed(hasSpoken && !handshake.isProven ? 'secret' : 'no-answer', null),
  })
}
