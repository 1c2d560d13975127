import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from '../kernel/ids.ts'

/** The facts that a session id carries, readable by every node with the same secret. */
export interface SealedFacts {
  readonly version: string
  readonly clientName: string | null
}

const CIPHER = 'aes-256-gcm'
/** An id begins with 128 random bits; the first 96 of them are also the nonce of the cipher. [MCP-31] */
const NAME_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The pattern of an id. The client's name has at most 64 characters, which JSON and Base64 make longer. */
const ID_FORM = /^[\w-]{22}\.[\w-]{22,1024}$/

/**
 * Makes a session id: 128 random bits, then the facts sealed for this owner. Any node with the key can read the facts, so nothing has to be
 * stored. [MCP-31]
 */
export function sealSession(facts: SealedFacts, owner: string, key: Uint8Array, random: Random): string {
  const name = random.bytes(NAME_BYTES)
  const cipher = createCipheriv(CIPHER, key, name.subarray(0, NONCE_BYTES))
  cipher.setAAD(boundTo(name, owner))
  const text = JSON.stringify([facts.version, facts.clientName])
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${Buffer.from(name).toString('base64url')}.${sealed.toString('base64url')}`
}

/** Returns the facts in an id; `null` unless it was issued to this owner under one of the keys. [MCP-32] */
export function openSession(id: string, owner: string, keys: readonly Uint8Array[]): SealedFacts | null {
  if (!ID_FORM.test(id)) return null
  const [name, sealed] = id.split('.').map((part) => Buffer.from(part, 'base64url'))
  if (name === undefined || sealed === undefined || name.length !== NAME_BYTES) return null
  for (const key of keys) {
    const facts = opened(name, sealed, owner, key)
    if (facts !== null) return facts
  }
  return null
}

/** Returns the name under which facts of a session are stored. The name does not reveal the owner and is not accepted as an id. */
export function sessionName(id: string): string {
  return id.slice(0, id.indexOf('.'))
}

function opened(name: Buffer, sealed: Buffer, owner: string, key: Uint8Array): SealedFacts | null {
  const end = sealed.length - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key, name.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(boundTo(name, owner))
  decipher.setAuthTag(sealed.subarray(end))
  try {
    const text = Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]).toString()
    const [version, clientName] = JSON.parse(text) as [string, string | null]
    return { version, clientName }
  } catch {
    return null
  }
}

function boundTo(name: Uint8Array, owner: string): Buffer {
  return Buffer.concat([name, Buffer.from(owner)])
}
