import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/**
 * Derives one key from each secret, for one purpose. Keys for different purposes reveal nothing about each other. Callers use the
 * first key and accept all of them, so that a secret can be replaced while relays run.
 */
export function derivedKeys(secrets: readonly string[], purpose: string): readonly Uint8Array[] {
  return secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, '', `docrelay ${purpose}`, KEY_BYTES)))
}
