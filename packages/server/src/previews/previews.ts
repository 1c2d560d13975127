import { createHash } from 'node:crypto'
import { RENDERER_VERSION } from '@docrelay/model/render/page-svg'
import type { Access } from '../access/access.ts'
import type { Documents } from '../documents/documents.ts'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import type { Logger } from '../kernel/log.ts'
import { openTaskPool } from '../kernel/task-pool.ts'
import type { PreviewFormat, PreviewResult, PreviewTask } from './preview-task.ts'

const DEADLINE_MS = 15_000
/** Together with the deadline below the time after which a connection without traffic is cut, so that every caller gets an answer. [REST-7] */
const MAX_WAIT_MS = 30_000
const BUSY_RETRY_MS = 5_000
const THREADS = 1
/** Of the one queue. */
const ALL = ''
const MIB = 1_048_576
const ENDS_THREAD_BYTES = 16 * MIB
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024 }

export interface PreviewRequest {
  readonly docId: string
  readonly pageId: string | null
  readonly scale: number
  readonly format: PreviewFormat
}

export type Preview =
  | { readonly kind: 'drawn'; readonly etag: string; readonly bytes: Uint8Array }
  /** The caller has this very picture already. */
  | { readonly kind: 'unchanged'; readonly etag: string }

/**
 * Pictures of canvas pages. Throws what reading the document throws; NOT_FOUND for an unknown page; UNAVAILABLE when drawing, or waiting for
 * it, takes too long.
 */
export interface Previews extends AsyncDisposable {
  /** `isKnown` tells of an ETag whether the caller holds it; then nothing is drawn. [REST-34, REST-35] */
  draw(access: Access, request: PreviewRequest, isKnown: (etag: string) => boolean): Promise<Preview>
}

export interface PreviewsDeps {
  readonly documents: Pick<Documents, 'head' | 'get'>
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Logger
}

/** Drawing runs in a thread of its own, which starts with the first picture. [X41] One picture is drawn at a time; those that wait hold no body. */
export function openPreviews({ documents, clock, log }: PreviewsDeps): Previews {
  const turns = createKeyedQueue()
  const pool = openTaskPool<PreviewTask, PreviewResult>({
    entry: new URL('./preview-worker.ts', import.meta.url),
    size: THREADS,
    resourceLimits: RESOURCE_LIMITS,
  })

  async function run(task: PreviewTask): Promise<PreviewResult> {
    const endsThread = task.body.byteLength > ENDS_THREAD_BYTES
    const outcome = await pool.run({ task, deadlineMs: DEADLINE_MS, endsThread })
    if (outcome.kind === 'done') return outcome.result
    if (outcome.kind === 'overdue') throw new RelayError('UNAVAILABLE', 'The page could not be drawn in time.')
    log.error('preview.task_failed', 'a page could not be drawn', { detail: outcome.detail })
    throw new RelayError('UNAVAILABLE', 'The page could not be drawn now.')
  }

  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const askedMs = clock.monotonicMs()
    return turns.run(ALL, () => {
      if (clock.monotonicMs() - askedMs <= MAX_WAIT_MS) return task()
      const message = `More pages are to be drawn than can be within ${MAX_WAIT_MS / 1000} seconds.`
      throw new RelayError('UNAVAILABLE', message, { retryAfterMs: BUSY_RETRY_MS })
    })
  }

  return {
    async draw(access, request, isKnown) {
      const { docId, ...picture } = request
      const { head } = await documents.head(access, docId)
      const known = etagOf(head.version, request)
      if (isKnown(known)) return { kind: 'unchanged', etag: known }
      return inTurn(async () => {
        const { record } = await documents.get(access, docId)
        const result = await run({ body: record.body, ...picture })
        if (result.kind === 'no-page')
          throw new RelayError('NOT_FOUND', 'The document has no canvas page with this id.', { resource: 'page' })
        return { kind: 'drawn', etag: etagOf(record.head.version, request), bytes: result.bytes }
      })
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Of version, page, scale and renderer; the page's id may hold what an ETag cannot, so its hash stands for it. [REST-35] */
function etagOf(version: number, { pageId, scale }: PreviewRequest): string {
  const page = pageId === null ? 'active' : createHash('sha256').update(pageId).digest('hex').slice(0, 16)
  return `"${version}-${page}-${scale}-r${RENDERER_VERSION}"`
}
