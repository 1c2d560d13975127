import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'

interface Entry {
  readonly kind: string
  readonly id: string
  readonly payload: AdapterPayload
  /** Expiry in ms since 1970; `null` for never, because JSON has no infinity. */
  readonly untilMs: number | null
}

/** The kinds of entries that a client needs to refresh its token after a restart. Codes and sessions last minutes and stay in memory. */
const KEPT_KINDS = ['Grant', 'RefreshToken', 'Client']

/**
 * Stores the codes, sessions, grants and registered clients of one issuer. Grants, refresh tokens and registered clients are also written to
 * `<dataDir>/issuer-grants.json`, which only its owner can read, so that people stay signed in after a restart. A change is in the file when its
 * promise resolves.
 */
export function issuerMemory(dataDir: string): AdapterFactory {
  const file = join(dataDir, 'issuer-grants.json')
  const entries = new Map(readEntries(file).map((entry) => [keyOf(entry.kind, entry.id), entry]))
  const isOver = ({ untilMs }: Entry): boolean => untilMs !== null && untilMs <= Date.now()
  const first = (matches: (entry: Entry) => boolean): Entry | undefined => {
    for (const [key, entry] of entries) {
      if (isOver(entry)) entries.delete(key)
      else if (matches(entry)) return entry
    }
    return undefined
  }
  const keep = (): void => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const kept = [...entries.values()].filter((entry) => KEPT_KINDS.includes(entry.kind) && !isOver(entry))
    writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  return (kind): Adapter => {
    const changed = (): void => {
      if (KEPT_KINDS.includes(kind)) keep()
    }
    return {
      async upsert(id, payload, expiresIn) {
        const untilMs = expiresIn === undefined ? null : Date.now() + expiresIn * 1000
        entries.set(keyOf(kind, id), { kind, id, payload, untilMs })
        changed()
      },
      find: async (id) => first((entry) => entry.kind === kind && entry.id === id)?.payload,
      findByUid: async (uid) => first((entry) => entry.kind === kind && entry.payload.uid === uid)?.payload,
      findByUserCode: async (code) => first((entry) => entry.kind === kind && entry.payload.userCode === code)?.payload,
      async consume(id) {
        const entry = entries.get(keyOf(kind, id))
        if (entry) entry.payload.consumed = Math.floor(Date.now() / 1000)
        changed()
      },
      async destroy(id) {
        entries.delete(keyOf(kind, id))
        changed()
      },
      async revokeByGrantId(grantId) {
        for (const [key, entry] of entries) if (entry.payload.grantId === grantId) entries.delete(key)
        changed()
      },
    }
  }
}

function keyOf(kind: string, id: string): string {
  return `${kind} ${id}`
}

/** Reads the entries of the file. A missing or unreadable file has none; people then sign in again. */
function readEntries(file: string): readonly Entry[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as readonly Entry[]
  } catch {
    return []
  }
}
