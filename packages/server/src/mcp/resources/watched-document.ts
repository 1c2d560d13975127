import type { Access } from '../../access/access.ts'
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
import { markKey, type PageMarks } from './view-task.ts'
import type { Views } from './views.ts'

export interface WatchDeps {
  readonly documents: Pick<Documents, 'get' | 'require'>
  readonly views: Pick<Views, 'look'>
  readonly enforcePrivateDocs: boolean
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly log: Logger
}

/** One URI of one watch. */
export interface WatchedUri {
  readonly uri: string
  readonly name: DocumentResource
  readonly caller: McpCaller
  readonly sink: ResourceSink
}

/** A document of which somebody watches a URI. */
export interface WatchedDocument {
  add(watched: WatchedUri): void
  remove(watched: WatchedUri): void
  /** `event`: of a stored change; a live one has none. */
  changed(event?: DocumentEvent): void
  /** Nobody watches. */
  readonly isIdle: boolean
}

/** Edits that come together are told together. */
const GATHER_MS = 50
/** Between two looks at the pages; with the look itself below the 500 ms of RES-11. */
const LOOK_MS = 350
/** Between two notifications of one URI. [RES-11] */
const PAUSE_MS = 1_000

interface Entry {
  readonly watched: WatchedUri
  toldMs: number
  /** It changed since it was told. */
  isDue: boolean
}

/**
 * Compares the pages of a document after changes with those before, so that a change is told for the pages that it changed, wherever it came
 * from. Pages are read only while one is watched, and no more often than somebody may be told. [RES-10, RES-11]
 */
export function watchDocument(ref: DocumentRef, deps: WatchDeps): WatchedDocument {
  const { documents, views, enforcePrivateDocs, clock, timers, log } = deps
  const entries = new Map<WatchedUri, Entry>()
  /** `null`: not known, so that a change may be of any page. */
  let marks: PageMarks | null = null
  let wantsMarks = false
  /** Changes that were heard of, and how many of them were compared. */
  let heard = 0
  let compared = 0
  /** The document as it last was, once it is deleted or restored under another id: who could read it is told that it is gone. */
  let gone: DocumentHead | null = null
  let lookedMs = Number.NEGATIVE_INFINITY
  let busy = false
  let armedFor: 'nothing' | 'due' | 'look' = 'nothing'
  let cancelTimer = (): void => undefined

  /** The pages as they are now; `null` when no page is watched by anybody who may read it. */
  async function look(): Promise<PageMarks | null> {
    for (const { name, caller } of entries.keys()) {
      const found = name.kind === 'document' ? null : await readableDocument(documents, caller.access, ref.id)
      if (found === null) continue
      const seen = await views.look({ kind: 'marks', bytes: found.record.body })
      return seen.kind === 'marks' ? seen.marks : null
    }
    return null
  }

  /** What the pages are before the first change. One that comes while they are read may be in them or not, so it counts for all. */
  async function begin(): Promise<void> {
    wantsMarks = false
    const before = heard
    const seen = await look()
    marks = heard === before ? seen : null
    // What was added meanwhile is in them.
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
    return gone !== null && documentLevel(access, gone, enforcePrivateDocs) !== 'none'
  }

  async function work(): Promise<void> {
    if (compared !== heard) await compare()
    else if (wantsMarks) await begin()
    await deliver()
  }

  /** One at a time; what fails is tried again, so that the last change is always told. */
  function run(): void {
    busy = true
    armedFor = 'nothing'
    work()
      .catch((error: unknown) => {
        lookedMs = clock.monotonicMs() + PAUSE_MS
        log.warn('mcp.watch_failed', 'a change of a document could not be told yet', { docId: ref.id, detail: String(error) })
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
  const key = markKey(name.kind === 'svg' ? 'canvas' : 'prose', name.pageId)
  return before.get(key) !== now.get(key)
}
