import type { Random } from '../kernel/ids.ts'
import { LinkFrameError } from './link-frame-error.ts'
import {
  type LinkKey,
  MOST_SECRETS,
  NONCE_BYTES,
  type Nonces,
  PROOF_BYTES,
  proofOf,
  provenKey,
  type Session,
  sessionOf,
} from './link-secrets.ts'

/**
 * The messages with which two nodes open a link. This file uses no sockets and no timers.
 *
 *     listener   nonce
 *     dialer     nonce, one proof for each of its secrets
 *     listener   its proof, then its identity; this and all later messages are sealed
 *     dialer     its identity
 *     listener   whether it accepts the link
 *
 * The listener sends no proof before the dialer has sent one, so a stranger that connects gets only a random number.
 */

/** The facts about itself that a node sends in a handshake. They are sealed, so only nodes with the secret can read them. */
export interface NodeIdentity {
  /** The incarnation of the node. */
  readonly inc: number
  readonly nodeId: string
  /** The version of the program. */
  readonly program: string
}

/** `attempt` counts the dials of one node, so that a delayed handshake is not taken for the newest one. */
export interface DialerIdentity extends NodeIdentity {
  readonly attempt: number
}

/** Whether a listener accepts a link, and if not, why. */
export type Verdict =
  | 'taken'
  /** The incarnation is not one of the live nodes that the listener knows. */
  | 'unknown-node'
  /** The dialer has the higher incarnation; of two nodes the one with the lower incarnation has to dial. */
  | 'wrong-way'
  /** A newer dial of the same node was accepted before. */
  | 'late'

const VERDICTS: readonly Verdict[] = ['taken', 'unknown-node', 'wrong-way', 'late']

/**
 * The reasons for which two sides that share a secret have no link. With `itself`, the dialer reached itself; with `another-node`, it
 * reached a node that it did not expect.
 */
export type LinkRefusal = Exclude<Verdict, 'taken'> | 'itself' | 'another-node'

export type HandshakeStep<Peer> =
  /** `isProven`: the other side has proved that it knows the secret. */
  | { readonly kind: 'send'; readonly bytes: Uint8Array; readonly isProven: boolean }
  /** The link is open once `bytes` are sent. */
  | { readonly kind: 'open'; readonly bytes: Uint8Array | null; readonly peer: Peer; readonly session: Session }
  /** The socket is to be closed once `bytes` are sent. `peer`: the other side, when its identity is known. */
  | {
      readonly kind: 'closed'
      readonly bytes: Uint8Array | null
      readonly why: LinkRefusal | 'secret'
      readonly peer: Peer | null
    }

type Step<Peer> = HandshakeStep<Peer>

/**
 * The step after a message that a node with the secret would not send. It closes the socket without a reply, so an outsider learns
 * nothing.
 */
const WRONG_SECRET = { kind: 'closed', bytes: null, why: 'secret', peer: null } as const

interface HandshakeOptions {
  readonly keys: readonly LinkKey[]
  readonly random: Random
}

type ListenerState =
  | { readonly at: 'proof'; readonly nonce: Uint8Array }
  | { readonly at: 'identity'; readonly session: Session }
  | { readonly at: 'end' }

export class ListenerHandshake {
  readonly #options: HandshakeOptions & { readonly own: NodeIdentity; admit(peer: DialerIdentity): Verdict }
  #state: ListenerState
  /** The first message, to be sent at once. */
  readonly first: Uint8Array

  /** `admit` is called when the identity of the dialer is known. */
  constructor(options: HandshakeOptions & { readonly own: NodeIdentity; admit(peer: DialerIdentity): Verdict }) {
    this.#options = options
    this.first = options.random.bytes(NONCE_BYTES)
    this.#state = { at: 'proof', nonce: this.first }
  }

  /** Handles the next message of the dialer. Never throws. */
  receive(message: Uint8Array): Step<DialerIdentity> {
    const state = this.#state
    this.#state = { at: 'end' }
    switch (state.at) {
      case 'proof':
        return this.#proof(state.nonce, message)
      case 'identity':
        return this.#identity(state.session, message)
      case 'end':
        return WRONG_SECRET
    }
  }

  #proof(own: Uint8Array, message: Uint8Array): Step<DialerIdentity> {
    const proofs = splitProofs(message)
    if (proofs === null) return WRONG_SECRET
    const { keys, random: _, ...rest } = this.#options
    const nonces: Nonces = { listener: own, dialer: message.slice(0, NONCE_BYTES) }
    const key = provenKey(keys, 'dialer', nonces, proofs)
    if (key === null) return WRONG_SECRET
    const session = sessionOf(key, 'listener', nonces)
    this.#state = { at: 'identity', session }
    const sealed = session.sealer.seal(textBytes(JSON.stringify(rest.own)))
    return { kind: 'send', bytes: Buffer.concat([proofOf(key, 'listener', nonces), sealed]), isProven: true }
  }

  #identity(session: Session, message: Uint8Array): Step<DialerIdentity> {
    const peer = readIdentity(opened(session, message))
    if (peer === null || !isCount(peer.attempt)) return WRONG_SECRET
    const dialer: DialerIdentity = { ...identityOf(peer), attempt: peer.attempt }
    const verdict = this.#options.admit(dialer)
    const bytes = session.sealer.seal(textBytes(verdict))
    if (verdict === 'taken') return { kind: 'open', bytes, peer: dialer, session }
    return { kind: 'closed', bytes, why: verdict, peer: dialer }
  }
}

type DialerState =
  | { readonly at: 'nonce' }
  | { readonly at: 'answer'; readonly nonces: Nonces }
  | { readonly at: 'verdict'; readonly session: Session; readonly peer: NodeIdentity }
  | { readonly at: 'end' }

export class DialerHandshake {
  readonly #options: HandshakeOptions & { readonly own: DialerIdentity; readonly expected: number }
  #state: DialerState = { at: 'nonce' }

  /** `expected`: the incarnation that should answer. */
  constructor(options: HandshakeOptions & { readonly own: DialerIdentity; readonly expected: number }) {
    this.#options = options
  }

  /** Handles the next message of the listener. Never throws. */
  receive(message: Uint8Array): Step<NodeIdentity> {
    const state = this.#state
    this.#state = { at: 'end' }
    switch (state.at) {
      case 'nonce':
        return this.#nonce(message)
      case 'answer':
        return this.#answer(state.nonces, message)
      case 'verdict':
        return verdictOf(opened(state.session, message), state)
      case 'end':
        return WRONG_SECRET
    }
  }

  #nonce(message: Uint8Array): Step<NodeIdentity> {
    if (message.length !== NONCE_BYTES) return WRONG_SECRET
    const { keys, random } = this.#options
    const nonces: Nonces = { listener: message.slice(), dialer: random.bytes(NONCE_BYTES) }
    this.#state = { at: 'answer', nonces }
    const proofs = keys.map((key) => proofOf(key, 'dialer', nonces))
    return { kind: 'send', bytes: Buffer.concat([nonces.dialer, ...proofs]), isProven: false }
  }

  #answer(nonces: Nonces, message: Uint8Array): Step<NodeIdentity> {
    const { keys, own, expected } = this.#options
    if (message.length <= PROOF_BYTES) return WRONG_SECRET
    const key = provenKey(keys, 'listener', nonces, [message.subarray(0, PROOF_BYTES)])
    if (key === null) return WRONG_SECRET
    const session = sessionOf(key, 'dialer', nonces)
    const said = readIdentity(opened(session, message.subarray(PROOF_BYTES)))
    if (said === null) return WRONG_SECRET
    const peer = identityOf(said)
    if (peer.inc !== expected || peer.inc === own.inc)
      return { kind: 'closed', bytes: null, why: peer.inc === own.inc ? 'itself' : 'another-node', peer }
    this.#state = { at: 'verdict', session, peer }
    return { kind: 'send', bytes: session.sealer.seal(textBytes(JSON.stringify(own))), isProven: true }
  }
}

function verdictOf(
  message: Uint8Array | null,
  { session, peer }: { readonly session: Session; readonly peer: NodeIdentity },
): Step<NodeIdentity> {
  const verdict = VERDICTS.find((known) => message !== null && known === Buffer.from(message).toString())
  if (verdict === undefined) return WRONG_SECRET
  if (verdict === 'taken') return { kind: 'open', bytes: null, peer, session }
  return { kind: 'closed', bytes: null, why: verdict, peer }
}

function splitProofs(message: Uint8Array): readonly Uint8Array[] | null {
  const count = (message.length - NONCE_BYTES) / PROOF_BYTES
  if (!Number.isInteger(count) || count < 1 || count > MOST_SECRETS) return null
  return Array.from({ length: count }, (_, i) => {
    const at = NONCE_BYTES + i * PROOF_BYTES
    return message.subarray(at, at + PROOF_BYTES)
  })
}

function opened(session: Session, frame: Uint8Array): Uint8Array | null {
  try {
    return session.opener.open(frame)
  } catch (error) {
    if (error instanceof LinkFrameError) return null
    throw error
  }
}

const MOST_TEXT = 200

type Said = NodeIdentity & { readonly attempt?: unknown }

function readIdentity(bytes: Uint8Array | null): Said | null {
  if (bytes === null) return null
  let said: unknown
  try {
    said = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return null
  }
  if (typeof said !== 'object' || said === null) return null
  const { inc, nodeId, program } = said as Readonly<Record<string, unknown>>
  return isCount(inc) && isName(nodeId) && isName(program) ? (said as Said) : null
}

const identityOf = ({ inc, nodeId, program }: NodeIdentity): NodeIdentity => ({ inc, nodeId, program })
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= MOST_TEXT
const textBytes = (text: string): Uint8Array => Buffer.from(text)
