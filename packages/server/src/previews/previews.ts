import { createHash } from 'node:crypto'
import { RENDERER_VERSION } from '@docrelay/model/render/page-svg'
import type { Access } from '../access/access.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'
import type { Documents } from '../documents/documents.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { createLanes, type LaneTask } from '../kernel/fair-turns.ts'
import type { Logger } from '../kernel/log.ts'
import { openTaskPool, type TaskPool } from '../kernel/task-pool.ts'
import type { PreviewFormat, PreviewResult, PreviewTask } from './preview-task.ts'

const DEADLINE_MS = 15_000
/**
 * Longest wait for a turn. With the deadline of a drawing it stays below the time after which an idle connection is cut, so that every caller gets an
 * answer. [REST-7]
 */
const MAX_WAIT_MS = 30_000
const BUSY_RETRY_MS = 5_000
const MAX_WAITING = 64
const THREADS = 2
const MIB = 1_048_576
const ENDS_THREAD_BYTES = 16 * MIB
/** A thread that drew a larger picture is ended, because it would keep the memory. */
const ENDS_THREAD_PIXELS = 4_000_000
/** A page of a larger document takes so long to draw that other pages must not wait for it. [C11] */
const HEAVY_BYTES = 4 * MIB
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024 }

export interface PreviewRequest {
  readonly docId: string
  readonly pageId: string | null
  readonly scale: number
  readonly format: PreviewFormat
}

/** A request for a picture of a page, for an agent. [AG-109] */
export interface PictureRequest {
  readonly workspaceId: string
  /** Approximate size of the body. */
  readonly sizeBytes: number
  readonly pageId: string
  /** `null`: the whole page. */
  readonly shapeId: string | null
  /** Reads the stored body when it is the picture's turn, so that waiting requests hold none. */
  body(): Promise<Uint8Array>
}

export type Picture =
  | { readonly kind: 'drawn'; readonly png: Uint8Array }
  /** `reason`: a clause for the caller. */
  | { readonly kind: 'failed'; readonly reason: string }

export type Preview =
  | { readonly kind: 'drawn'; readonly etag: string; readonly bytes: Uint8Array }
  /** The caller already has this picture. */
  | { readonly kind: 'unchanged'; readonly etag: string }

/**
 * Draws canvas pages. Throws the errors of reading the document; NOT_FOUND for an unknown page; UNAVAILABLE when
 * drawing, or waiting for it, takes too long.
 */
export interface Previews extends AsyncDisposable {
  /**
   * Draws a page. `isKnown` tells whether the caller already holds the picture with an ETag; then nothing is drawn. Rejects with the reason of `left`
   * when the client leaves before its turn or during the drawing. [REST-34, REST-35]
   */
  draw(access: Access, request: PreviewRequest, isKnown: (etag: string) => boolean, left?: AbortSignal): Promise<Preview>
  /**
   * Draws a PNG of at most 1,568 pixels a side and 100,000 bytes, in the queue of the workspace's previews. [AG-109]
   * Rejects only with the reason of `left`.
   */
  picture(request: PictureRequest, left: AbortSignal): Promise<Picture>
}

export interface PreviewsDeps {
  readonly documents: Pick<Documents, 'head' | 'get'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
  /** The threads; a test may give its own. */
  readonly pool?: TaskPool<PreviewTask, PreviewResult>
}

function openThreads(): TaskPool<PreviewTask, PreviewResult> {
  const entry = new URL('./preview-worker.ts', import.meta.url)
  return openTaskPool({ entry, size: THREADS, resourceLimits: RESOURCE_LIMITS })
}

/**
 * Opens the threads that draw; the first picture starts one. [X41] Workspaces take turns, and one picture of a
 * workspace is drawn at a time. [C11]
 */
export function openPreviews({ documents, clock, log, pool = openThreads() }: PreviewsDeps): Previews {
  const lanes = createLanes({ slots: THREADS, perHolder: 1 })

  async function run(task: PreviewTask, left?: AbortSignal): Promise<PreviewResult> {
    const endsThread = (result: PreviewResult): boolean =>
      task.body.byteLength > ENDS_THREAD_BYTES || (result.kind === 'drawn' && result.pixels > ENDS_THREAD_PIXELS)
    const outcome = await pool.run({ task, deadlineMs: DEADLINE_MS, endsThread, ...(left && { givenUp: left }) })
    if (outcome.kind === 'done') return outcome.result
    if (outcome.kind === 'givenUp') throw left?.reason
    if (outcome.kind === 'overdue') throw new RelayError('UNAVAILABLE', 'The page could not be drawn in time.')
    log.error('preview.task_failed', 'a page could not be drawn', { detail: outcome.detail })
    throw new RelayError('UNAVAILABLE', 'The page could not be drawn now.')
  }

  /** Runs a task in the turn of its workspace. Tasks read the body only then, so that waiting requests hold none. */
  function inTurn<T>(asked: LaneTask, task: () => Promise<T>): Promise<T> {
    const askedMs = clock.monotonicMs()
    if (lanes.waiting(asked.holder) >= MAX_WAITING) throw busy(`The workspace already waits for ${MAX_WAITING} pages.`)
    return lanes.run(asked, () => {
      if (clock.monotonicMs() - askedMs <= MAX_WAIT_MS) return task()
      throw busy(`More pages are to be drawn than can be within ${MAX_WAIT_MS / 1000} seconds.`)
    })
  }

  return {
    async draw(access, request, isKnown, left) {
      const { docId, ...picture } = request
      const { head } = await documents.head(access, docId)
      const known = etagOf(head, request)
      if (isKnown(known)) return { kind: 'unchanged', etag: known }
      const heavy = head.sizeBytes > HEAVY_BYTES
      return inTurn({ holder: access.workspaceId, heavy, ...(left && { givenUp: left }) }, async () => {
        const { record } = await documents.get(access, docId)
        const result = await run({ body: record.body, ...picture }, left)
        if (result.kind === 'no-page')
          throw new RelayError('NOT_FOUND', 'The document has no canvas page with this id.', { resource: 'page' })
        return { kind: 'drawn', etag: etagOf(record.head, request), bytes: result.bytes }
      })
    },
    async picture({ workspaceId, sizeBytes, pageId, shapeId, body }, left) {
      try {
        const asked = { holder: workspaceId, heavy: sizeBytes > HEAVY_BYTES, givenUp: left }
        const result = await inTurn(asked, async () => run({ format: 'picture', pageId, shapeId, body: await body() }))
        if (result.kind === 'drawn') return { kind: 'drawn', png: result.bytes }
        return { kind: 'failed', reason: 'it was deleted in the meantime' }
      } catch (error) {
        if (left.aborted && error === left.reason) throw error
        if (error instanceof RelayError) return { kind: 'failed', reason: clauseOf(error) }
        const detail = error instanceof Error ? error.stack : String(error)
        log.error('preview.picture_failed', 'a picture for an agent failed unexpectedly', { workspace: workspaceId, detail })
        return { kind: 'failed', reason: 'the relay failed unexpectedly' }
      }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Returns the sentence of an error in a form that can end another sentence. */
function clauseOf({ message }: RelayError): string {
  return message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '')
}

function busy(message: string): RelayError {
  return new RelayError('UNAVAILABLE', message, { retryAfterMs: BUSY_RETRY_MS })
}

/**
 * Makes the ETag from version, page, scale, renderer and lineage of the document. The lineage is needed because another workspace may have the same id
 * at the same version, and a browser caches both under one URL. The page id is hashed, because it may hold characters that an ETag cannot. [REST-35]
 */
function etagOf({ version, lineage }: DocumentHead, { pageId, scale }: PreviewRequest): string {
  const page = pageId === null ? 'active' : createHash('sha256').update(pageId).digest('hex').slice(0, 16)
  return `"${version}-${page}-${scale}-r${RENDERER_VERSION}-${lineage}"`
}
