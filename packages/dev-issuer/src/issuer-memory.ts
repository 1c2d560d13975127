import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'

interface Entry {
  readonly kind: string
  readonly id: string
  readonly payload: AdapterPayload
  readonly untilMs: number
}

/** Codes, sessions, grants and registered clients of one issuer, in memory: a restart forgets them, which ends no access token. */
export function issuerMemory(): AdapterFactory {
  const entries = new Map<string, Entry>()
  const first = (matches: (entry: Entry) => boolean): Entry | undefined => {
    for (const [key, entry] of entries) {
      if (entry.untilMs <= Date.now()) entries.delete(key)
      else if (matches(entry)) return entry
    }
    return undefined
  }

  return (kind): Adapter => {
    const keyOf = (id: string): string => `${kind} ${id}`
    return {
      async upsert(id, payload, expiresIn) {
        const untilMs = expiresIn === undefined ? Number.POSITIVE_INFINITY : Date.now() + expiresIn * 1000
        entries.set(keyOf(id), { kind, id, payload, untilMs })
      },
      find: async (id) => first((entry) => entry.kind === kind && entry.id === id)?.payload,
      findByUid: async (uid) => first((entry) => entry.kind === kind && entry.payload.uid === uid)?.payload,
      findByUserCode: async (code) => first((entry) => entry.kind === kind && entry.payload.userCode === code)?.payload,
      async consume(id) {
        const entry = entries.get(keyOf(id))
        if (entry) entry.payload.consumed = Math.floor(Date.now() / 1000)
      },
      async destroy(id) {
        entries.delete(keyOf(id))
      },
      async revokeByGrantId(grantId) {
        for (const [key, entry] of entries) if (entry.payload.grantId === grantId) entries.delete(key)
      },
    }
  }
}
