import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { LinkFrameError } from './link-frame-error.ts'

/**
 * Protects a link. Without one of the cluster's secrets nobody can open a link or read one, and whoever changes, repeats, drops
 * or reorders its frames ends it.
 */

export const NONCE_BYTES = 32
export const PROOF_BYTES = 32
/** Secrets that a node accepts at a time: two while the secret is being changed. */
export const MOST_SECRETS = 2
export const TAG_BYTES = 16

const KEY_BYTES = 32
const IV_BYTES = 12
/** Part of every derivation, so that a secret that is used for something else as well gives other keys there. */
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

/** Proves that this side knows the secret. The role is part of the proof, so that it is worth nothing when it is sent back to its maker. */
export function proofOf(key: LinkKey, role: Role, { listener, dialer }: Nonces): Uint8Array {
  return createHmac('sha256', key).update(`${PROTOCOL} ${role}\n`).update(listener).update(dialer).digest()
}

/** Returns the key with which one of the proofs was made, else null. Takes the same time whichever key that is. */
export function provenKey(keys: readonly LinkKey[], role: Role, nonces: Nonces, proofs: readonly Uint8Array[]): LinkKey | null {
  let proven: LinkKey | null = null
  for (const key of keys) {
    const expected = proofOf(key, role, nonces)
    for (const proof of proofs) if (timingSafeEqual(expected, proof)) proven ??= key
  }
  return proven
}

/** The two directions of a link: `sealer` for what this side sends, `opener` for what it receives. */
export interface Session {
  readonly sealer: Sealer
  readonly opener: Opener
}

/** Each direction has a key of its own, so that a frame that is sent back to its maker does not open. */
export function sessionOf(key: LinkKey, role: Role, { listener, dialer }: Nonces): Session {
  const salt = Buffer.concat([listener, dialer])
  const keyOf = (from: Role) => new Uint8Array(hkdfSync('sha256', key, salt, `${PROTOCOL} from ${from}`, KEY_BYTES))
  return {
    sealer: new Sealer(keyOf(role)),
    opener: new Opener(keyOf(role === 'dialer' ? 'listener' : 'dialer')),
  }
}

/** Counts frames; as both sides count, the number is not sent, and a frame opens only in its place in the order. */
class FrameCounter {
  readonly iv = Buffer.alloc(IV_BYTES)
  #low = 0
  #high = 0

  /** Sets `iv` for the next frame. One key never sees the same one twice: 2^48 frames are more than any link lives. */
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

  /** Returns one frame with the parts, one after the other. */
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
   * Throws `LinkFrameError` for everything but the next frame of the other side. After that no frame opens any more.
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
