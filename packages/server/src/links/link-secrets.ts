import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { LinkFrameError } from './link-frame-error.ts'

/**
 * The cryptography of a link. Only someone with a secret of the cluster can open or read a link. A frame that is changed,
 * repeated, dropped or moved in the order ends the link.
 */

export const NONCE_BYTES = 32
export const PROOF_BYTES = 32
/** A node accepts at most this many secrets at a time: two while the secret is being changed. */
export const MOST_SECRETS = 2
export const TAG_BYTES = 16

const KEY_BYTES = 32
const IV_BYTES = 12
/** Part of every key derivation, so that the same secret gives other keys when it is also used for something else. */
const PROTOCOL = 'docrelay-link.1'

export type Role = 'dialer' | 'listener'

/** Derived from one secret of the cluster. Secrets have at least 32 characters, so no slow derivation is needed. */
export type LinkKey = Uint8Array

export function linkKeys(secrets: readonly string[]): readonly LinkKey[] {
  return secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, '', `${PROTOCOL} authentication`, KEY_BYTES)))
}

/** The two random numbers of one handshake, which make every proof and every session key new. */
export interface Nonces {
  readonly listener: Uint8Array
  readonly dialer: Uint8Array
}

/**
 * Returns the proof that this side knows the secret. It includes the role, so a proof that is sent back to its maker is not
 * valid.
 */
export function proofOf(key: LinkKey, role: Role, { listener, dialer }: Nonces): Uint8Array {
  return createHmac('sha256', key).update(`${PROTOCOL} ${role}\n`).update(listener).update(dialer).digest()
}

/** Returns the key with which one of the proofs was made, or null. Takes the same time for every key. */
export function provenKey(keys: readonly LinkKey[], role: Role, nonces: Nonces, proofs: readonly Uint8Array[]): LinkKey | null {
  let proven: LinkKey | null = null
  for (const key of keys) {
    const expected = proofOf(key, role, nonces)
    for (const proof of proofs) if (timingSafeEqual(expected, proof)) proven ??= key
  }
  return proven
}

/** The two directions of a link: `sealer` seals the frames that this side sends, and `opener` opens the frames that it receives. */
export interface Session {
  readonly sealer: Sealer
  readonly opener: Opener
}

/** Derives the keys of a link. Each direction has its own, so that a frame that is sent back to its maker does not open. */
export function sessionOf(key: LinkKey, role: Role, { listener, dialer }: Nonces): Session {
  const salt = Buffer.concat([listener, dialer])
  const keyOf = (from: Role) => new Uint8Array(hkdfSync('sha256', key, salt, `${PROTOCOL} from ${from}`, KEY_BYTES))
  return {
    sealer: new Sealer(keyOf(role)),
    opener: new Opener(keyOf(role === 'dialer' ? 'listener' : 'dialer')),
  }
}

/**
 * Counts the frames of one direction. Both sides count, so the number of a frame is not sent, and a frame opens only at its place in the
 * order.
 */
class FrameCounter {
  readonly iv = Buffer.alloc(IV_BYTES)
  #low = 0
  #high = 0

  /** Sets `iv` for the next frame and returns it. An `iv` never repeats for one key: no link lives long enough for 2^48 frames. */
  next(): Buffer {
    this.iv.writeUInt32BE(this.#high, 4)
    this.iv.writeUInt32BE(this.#low, 8)
    this.#low = (this.#low + 1) >>> 0
    if (this.#low === 0) this.#high++
    if (this.#high >= 2 ** 16) throw new LinkFrameError('too many frames')
    return this.iv
  }
}

export class Sealer {
  readonly #key: Uint8Array
  readonly #counter = new FrameCounter()

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Returns the concatenated parts as one sealed frame. */
  seal(...parts: readonly Uint8Array[]): Uint8Array {
    const cipher = createCipheriv('aes-256-gcm', this.#key, this.#counter.next(), { authTagLength: TAG_BYTES })
    const sealed: Uint8Array[] = parts.map((part) => cipher.update(part))
    sealed.push(cipher.final(), cipher.getAuthTag())
    return Buffer.concat(sealed)
  }
}

export class Opener {
  readonly #key: Uint8Array
  readonly #counter = new FrameCounter()
  #isBroken = false

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /**
   * Opens the next frame of the other side and returns its content. Throws `LinkFrameError` for any other frame, and for every frame
   * after that.
   */
  open(frame: Uint8Array): Uint8Array {
    if (this.#isBroken) throw new LinkFrameError('behind a broken seal')
    this.#isBroken = true
    if (frame.length < TAG_BYTES) throw new LinkFrameError('shorter than a seal')
    const iv = this.#counter.next()
    const decipher = createDecipheriv('aes-256-gcm', this.#key, iv, { authTagLength: TAG_BYTES })
    decipher.setAuthTag(frame.subarray(frame.length - TAG_BYTES))
    const opened = decipher.update(frame.subarray(0, frame.length - TAG_BYTES))
    try {
      decipher.final()
    } catch {
      throw new LinkFrameError('the seal is broken')
    }
    this.#isBroken = false
    return opened
  }
}
