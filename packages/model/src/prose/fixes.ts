import type { Fix } from '../edit.ts'

/** The position of a node: its index and name under its parent, up to the page. */
export interface Place {
  readonly parent: Place | undefined
  readonly index: number
  readonly name: string
}

/** One adjustment that healing made. */
export interface HealReport {
  readonly action: Fix['action']
  readonly reason: string
  readonly place: Place
  readonly field?: string
}

/** The path of a place in errors and fixes, for example `0/table/1/tableRow`. */
export function trail(place: Place | undefined): string {
  const parts: string[] = []
  for (let at = place; at !== undefined; at = at.parent) parts.push(`${at.index}/${at.name}`)
  return parts.reverse().join('/')
}

/**
 * Collects the adjustments of a conversion. Hostile input can need a fix per tag, so the list is bounded; `maxFixes` is far above what one
 * answer shows.
 */
export class FixList {
  readonly list: Fix[] = []
  readonly #seen = new Set<string>()

  add(action: Fix['action'], reason: string, place: Place | undefined, nodeType: string, field?: string): void {
    if (this.list.length >= maxFixes) return
    this.keep({ action, reason, ...(field === undefined ? {} : { field }), path: trail(place), nodeType })
  }

  /** Adds a complete fix. */
  keep(fix: Fix): void {
    const key = `${fix.action} ${fix.path} ${fix.field ?? ''} ${fix.reason}`
    if (this.list.length >= maxFixes || this.#seen.has(key)) return
    this.#seen.add(key)
    this.list.push(fix)
  }
}

const maxFixes = 1000
