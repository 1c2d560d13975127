import { createHash } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { isObject } from '../json-rpc.ts'
import type { CallContext } from '../tool.ts'
import { LASTS_MS } from './memories.ts'

/** A caller as its memory knows it. */
export interface SharedCaller {
  readonly key: string
  /** Its name answered to several sessions or addresses, so that nobody knows which of them saw what. [AG-18] */
  readonly isShared: boolean
}

/** Tells callers apart, and finds names that several of them use. */
export interface Callers {
  of(call: Pick<CallContext, 'access' | 'isStatic' | 'caller'>): SharedCaller
}

const MOST_NAME_CHARACTERS = 64

/** The caller of a request: by the name that it gives itself, else by its session, else by the name of its client. [AG-18] */
export function callerOf(given: {
  readonly meta: unknown
  readonly session: { readonly id: string } | null
  readonly clientName: string | null
  readonly address: string
}): NonNullable<CallContext['caller']> {
  const { meta, session, clientName, address } = given
  const own = isObject(meta) ? meta['docrelay/caller'] : undefined
  const place = session === null ? `address ${address}` : `session ${session.id}`
  if (typeof own === 'string' && own !== '' && own.length <= MOST_NAME_CHARACTERS) return { name: `own ${own}`, place }
  return session === null ? { name: `client ${clientName ?? ''}`, place } : { name: place, place: null }
}

function keyOf({ access, isStatic, caller }: Parameters<Callers['of']>[0]): string {
  return JSON.stringify([isStatic, access.workspaceId, access.sub, caller?.name ?? ''])
}

const DIGEST_CHARACTERS = 22

/**
 * The caller as the records of its calls name it, the same at every node and after a restart. A digest, because whoever reads a store or a
 * copy of it should not read ids of sessions. [AG-66, AG-68]
 */
export function callerDigest(call: Parameters<Callers['of']>[0]): string {
  return createHash('sha256').update(keyOf(call)).digest('base64url').slice(0, DIGEST_CHARACTERS)
}

const MOST_NAMES = 10_000
const MOST_PLACES = 8

export function createCallers(clock: Pick<Clock, 'monotonicMs'>): Callers {
  /** By caller, where its name came from and when; who called last stands last. */
  const places = new Map<string, Map<string, number>>()

  return {
    of(call) {
      const { caller } = call
      const key = keyOf(call)
      if (caller === undefined || caller.place === null) return { key, isShared: false }
      const nowMs = clock.monotonicMs()
      const known = places.get(key) ?? new Map<string, number>()
      places.delete(key)
      places.set(key, known)
      for (const [place, atMs] of known) if (nowMs - atMs > LASTS_MS) known.delete(place)
      known.delete(caller.place)
      known.set(caller.place, nowMs)
      for (const place of known.keys()) {
        if (known.size <= MOST_PLACES) break
        known.delete(place)
      }
      for (const oldest of places.keys()) {
        if (places.size <= MOST_NAMES) break
        places.delete(oldest)
      }
      return { key, isShared: known.size > 1 }
    },
  }
}
