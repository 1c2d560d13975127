import { hkdfSync } from 'node:crypto'

const KEY_BYTES = 32

/**
 * Returns a key for each secret, for one purpose alone: keys of different purposes tell nothing of each other. The first one is used, all
 * are accepted, so that a secret can be replaced while relays run.
 */
export function derivedKeys(secrets: readonly string[], purpose: string): readonly Uint8Array[] {
  return secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, '', `docrelay ${purpose}`, KEY_BYTES)))
}
