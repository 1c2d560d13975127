import type { DocumentEvent } from '../../documents/document-events.port.ts'
import type { DocumentHead, DocumentRef, DocumentStore } from '../../documents/document-store.port.ts'
import { documentLevel } from '../../documents/put-plan.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { ResourceSink } from '../content.ts'
import type { McpCaller } from '../tool.ts'
import type { AccessPolicy } from '../../access/access.ts'

export interface ListDeps {
  readonly store: Pick<DocumentStore, 'list' | 'state'>
  readonly accessPolicy: AccessPolicy
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly log: Logger
}

/** The list of documents of a workspace, with its watchers. [RES-12] */
export interface WatchedList {
  /** Adds a watcher; the returned function removes it. */
  add(caller: McpCaller, sink: ResourceSink): () => void
  published(event: DocumentEvent): void
  edited(ref: DocumentRef): void
  readonly isIdle: boolean
}

/** Time between two notifications of one watch. */
const PAUSE_MS = 1_000
/** The relay stores the title of a live document at most this long after the last edit. */
const TITLE_MS = 3_000

interface Watcher {
  readonly caller: McpCaller
  readonly sink: ResourceSink
  toldMs: number
  cancel: (() => void) | null
}

export function watchList(workspaceId: string, deps: ListDeps): WatchedList {
  const { store, accessPolicy, clock, timers, log } = deps
  const watchers = new Set<Watcher>()
  /** The last known title of each document. A document without an entry may have a new title. */
  const titles = new Map<string, string>()
  /** Scheduled reads of live documents' titles, by document id; the value cancels the read. */
  const looks = new Map<string, () => void>()
  let begun = false

  function tell(watcher: Watcher): void {
    if (watcher.cancel !== null) return
    watcher.cancel = timers.after(Math.max(0, watcher.toldMs + PAUSE_MS - clock.monotonicMs()), () => {
      watcher.cancel = null
      watcher.toldMs = clock.monotonicMs()
      watcher.sink.listChanged()
    })
  }

  function tellReaders(head: DocumentHead): void {
    for (const watcher of watchers) if (documentLevel(watcher.caller.access, head, accessPolicy) !== 'none') tell(watcher)
  }

  function seen(head: DocumentHead): void {
    const { title } = head.facts
    if (titles.get(head.id) === title) return
    titles.set(head.id, title)
    tellReaders(head)
  }

  async function begin(): Promise<void> {
    begun = true
    for (const head of await store.list(workspaceId)) if (!titles.has(head.id)) titles.set(head.id, head.facts.title)
  }

  async function lookAt(ref: DocumentRef): Promise<void> {
    const state = await store.state(ref)
    if (state.kind === 'document') seen(state.head)
  }

  const failed = (error: unknown): void =>
    log.warn('mcp.watch_failed', 'the titles of a workspace could not be read', { detail: String(error) })

  return {
    add(caller, sink) {
      const watcher: Watcher = { caller, sink, toldMs: Number.NEGATIVE_INFINITY, cancel: null }
      watchers.add(watcher)
      if (!begun) begin().catch(failed)
      return () => {
        watchers.delete(watcher)
        watcher.cancel?.()
        if (watchers.size > 0) return
        for (const cancel of looks.values()) cancel()
        looks.clear()
      }
    },
    published(event) {
      if (event.kind === 'updated') return seen(event.head)
      const head = event.kind === 'deleted' ? event.before : event.head
      if (event.kind === 'deleted') titles.delete(head.id)
      else titles.set(head.id, head.facts.title)
      tellReaders(head)
    },
    edited(ref) {
      looks.get(ref.id)?.()
      const cancel = timers.after(TITLE_MS, () => {
        looks.delete(ref.id)
        lookAt(ref).catch(failed)
      })
      looks.set(ref.id, cancel)
    },
    get isIdle() {
      return watchers.size === 0
    },
  }
}
