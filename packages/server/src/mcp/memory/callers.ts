import { createHash } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { isObject } from '../json-rpc.ts'
import type { CallContext } from '../tool.ts'
import { LASTS_MS } from './memories.ts'

/** A caller as the memories identify it. */
export interface SharedCaller {
  readonly key: string
  /** Several sessions or addresses use the name of this caller, so nobody knows which of them saw what. [AG-18] */
  readonly isShared: boolean
}

/** Tells callers apart, and finds names that several of them use. */
export interface Callers {
  of(call: Pick<CallContext, 'access' | 'isStatic' | 'caller'>): SharedCaller
}

const MOST_NAME_CHARACTERS = 64

/** Identifies a caller: by its own `docrelay/caller`, else by its session, else by the name of its client. [AG-18] */
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
 * Returns a digest that names the caller in records of calls. It is the same on every node and after a restart. It hides the session id
 * from readers of the store or of a copy of it. [AG-66, AG-68]
 */
export function callerDigest(call: Parameters<Callers['of']>[0]): string {
  return createHash('sha256').update(keyOf(call)).digest('base64url').slice(0, DIGEST_CHARACTERS)
}

const MOST_NAMES = 10_000
const MOST_PLACES = 8

export function createCallers(clock: Pick<Clock, 'monotonicMs'>): Callers {
  /** By caller: the sessions or addresses that used its name, with the time of the last use. The latest caller is last. */
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
