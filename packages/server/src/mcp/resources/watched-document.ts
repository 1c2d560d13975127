import type { Access, AccessPolicy } from '../../access/access.ts'
import type { DocumentEvent } from '../../documents/document-events.port.ts'
import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import type { Documents } from '../../documents/documents.ts'
import { documentLevel } from '../../documents/put-plan.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { ResourceSink } from '../content.ts'
import type { McpCaller } from '../tool.ts'
import { mayReadDocument, readableDocument } from './documents-of.ts'
import type { DocumentResource } from './uris.ts'
import { type PageMarks, resourceKey } from './view-task.ts'
import type { Views } from './views.ts'

export interface WatchDeps {
  readonly documents: Pick<Documents, 'get' | 'require'>
  readonly views: Pick<Views, 'look'>
  readonly accessPolicy: AccessPolicy
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly log: Logger
}

/** One URI of one watch, with its watcher. */
export interface WatchedUri {
  readonly uri: string
  readonly name: DocumentResource
  readonly caller: McpCaller
  readonly sink: ResourceSink
}

/** A document with at least one watched URI. */
export interface WatchedDocument {
  add(watched: WatchedUri): void
  remove(watched: WatchedUri): void
  /** Reports a change. `event`: the stored change; absent for a change of the live document. */
  changed(event?: DocumentEvent): void
  /** True when nobody watches. */
  readonly isIdle: boolean
}

/** Changes within this time give one notification. */
const GATHER_MS = 50
/** Time between two reads of the pages. With the duration of a read it stays below the 500 ms of RES-11. */
const LOOK_MS = 350
/** Time between two notifications of one URI. [RES-11] */
const PAUSE_MS = 1_000

interface Entry {
  readonly watched: WatchedUri
  toldMs: number
  /** True when the resource changed since its last notification. */
  isDue: boolean
}

/**
 * Watches one document. Compares its pages before and after changes, so that only changed pages cause notifications, whoever changed them.
 * Reads pages only while one is watched, and no more often than notifications may be sent. [RES-10, RES-11]
 */
export function watchDocument(ref: DocumentRef, deps: WatchDeps): WatchedDocument {
  const { documents, views, accessPolicy, clock, timers, log } = deps
  const entries = new Map<WatchedUri, Entry>()
  /** Hashes of the pages at the last read; `null` when unknown, so that a change may be in any page. */
  let marks: PageMarks | null = null
  let wantsMarks = false
  /** `heard` counts reported changes; `compared` is how many of them the last comparison included. */
  let heard = 0
  let compared = 0
  /**
   * The head before the document was deleted or restored under another id. Watchers who could read it are notified of its end.
   */
  let gone: DocumentHead | null = null
  let lookedMs = Number.NEGATIVE_INFINITY
  let busy = false
  let armedFor: 'nothing' | 'due' | 'look' = 'nothing'
  let cancelTimer = (): void => undefined

  /** Reads the pages as they are now; `null` when nobody who watches a page may read the document. */
  async function look(): Promise<PageMarks | null> {
    for (const { name, caller } of entries.keys()) {
      const found = name.kind === 'document' ? null : await readableDocument(documents, caller.access, ref.id)
      if (found === null) continue
      const seen = await views.look(ref.workspaceId, { kind: 'marks', bytes: found.record.body })
      return seen.kind === 'marks' ? seen.marks : null
    }
    return null
  }

  /**
   * Reads the pages before the first change. If a change arrives during the read, the hashes stay unknown and the change counts as one of
   * every page.
   */
  async function begin(): Promise<void> {
    wantsMarks = false
    const before = heard
    const seen = await look()
    marks = heard === before ? seen : null
    // The read covers all pages, so it also serves URIs that were added while it ran.
    if (marks !== null) wantsMarks = false
  }

  async function compare(): Promise<void> {
    const upTo = heard
    wantsMarks = false
    lookedMs = clock.monotonicMs()
    const seen = await look()
    for (const entry of entries.values()) entry.isDue ||= isChanged(entry.watched.name, marks, seen)
    marks = seen
    compared = upTo
  }

  async function deliver(): Promise<void> {
    for (const entry of [...entries.values()]) {
      const { uri, caller, sink } = entry.watched
      if (!entry.isDue || clock.monotonicMs() < entry.toldMs + PAUSE_MS) continue
      const may = await mayRead(caller.access)
      entry.isDue = false
      if (!may || !entries.has(entry.watched)) continue
      entry.toldMs = clock.monotonicMs()
      sink.updated(uri)
    }
  }

  async function mayRead(access: Access): Promise<boolean> {
    if (await mayReadDocument(documents, access, ref.id)) return true
    return gone !== null && documentLevel(access, gone, accessPolicy) !== 'none'
  }

  async function work(): Promise<void> {
    if (compared !== heard) await compare()
    else if (wantsMarks) await begin()
    await deliver()
  }

  /** Runs one round at a time, and repeats a failed round, so that the last change is always notified. */
  function run(): void {
    busy = true
    armedFor = 'nothing'
    work()
      .catch((error: unknown) => {
        lookedMs = clock.monotonicMs() + PAUSE_MS
        log.warn('mcp.watch_failed', 'subscribers could not be notified yet that a document changed', {
          docId: ref.id,
          detail: String(error),
        })
      })
      .finally(() => {
        busy = false
        arm()
      })
  }

  function arm(): void {
    if (busy) return
    cancelTimer()
    armedFor = 'nothing'
    if (entries.size === 0) return
    const nowMs = clock.monotonicMs()
    const mayTellMs = (all: readonly Entry[]): number => Math.min(...all.map(({ toldMs }) => toldMs + PAUSE_MS))
    const due = [...entries.values()].filter(({ isDue }) => isDue)
    const looks = compared !== heard || wantsMarks
    const lookMs = looks ? Math.max(nowMs + GATHER_MS, lookedMs + LOOK_MS, mayTellMs([...entries.values()])) : Infinity
    const atMs = Math.min(lookMs, mayTellMs(due))
    if (atMs === Infinity) return
    armedFor = looks ? 'look' : 'due'
    cancelTimer = timers.after(Math.max(0, atMs - nowMs), run)
  }

  return {
    add(watched) {
      entries.set(watched, { watched, toldMs: Number.NEGATIVE_INFINITY, isDue: false })
      if (watched.name.kind === 'document' || marks !== null) return
      wantsMarks = true
      if (!busy && compared === heard) run()
      else arm()
    },
    remove(watched) {
      entries.delete(watched)
      if (entries.size === 0) cancelTimer()
    },
    changed(event) {
      heard++
      if (event !== undefined) gone = event.kind === 'deleted' ? event.before : null
      if (armedFor !== 'look') arm()
    },
    get isIdle() {
      return entries.size === 0
    },
  }
}

function isChanged(name: DocumentResource, before: PageMarks | null, now: PageMarks | null): boolean {
  if (name.kind === 'document' || before === null || now === null) return true
  const key = resourceKey(name)
  return before.get(key) !== now.get(key)
}
