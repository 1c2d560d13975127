import { createHash } from 'node:crypto'
import { RENDERER_VERSION } from '@docrelay/model/render/page-svg'
import type { Access } from '../access/access.ts'
import type { Documents } from '../documents/documents.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { openTaskPool } from '../kernel/task-pool.ts'
import type { PreviewFormat, PreviewResult, PreviewTask } from './preview-task.ts'

const DEADLINE_MS = 15_000
const THREADS = 1
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

/** Pictures of canvas pages. Throws what reading the document throws; NOT_FOUND for an unknown page; UNAVAILABLE when drawing takes too long. */
export interface Previews extends AsyncDisposable {
  /** `isKnown` tells of an ETag whether the caller holds it; then nothing is drawn. [REST-34, REST-35] */
  draw(access: Access, request: PreviewRequest, isKnown: (etag: string) => boolean): Promise<Preview>
}

/** Drawing runs in a thread of its own, which starts with the first picture. [X41] */
export function openPreviews(deps: { readonly documents: Pick<Documents, 'head' | 'get'>; readonly log: Logger }): Previews {
  const { documents, log } = deps
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

  return {
    async draw(access, request, isKnown) {
      const { docId, ...picture } = request
      const { head } = await documents.head(access, docId)
      const known = etagOf(head.version, request)
      if (isKnown(known)) return { kind: 'unchanged', etag: known }
      const { record } = await documents.get(access, docId)
      const result = await run({ body: record.body, ...picture })
      if (result.kind === 'no-page')
        throw new RelayError('NOT_FOUND', 'The document has no canvas page with this id.', { resource: 'page' })
      return { kind: 'drawn', etag: etagOf(record.head.version, request), bytes: result.bytes }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Of version, page, scale and renderer; the page's id may hold what an ETag cannot, so its hash stands for it. [REST-35] */
function etagOf(version: number, { pageId, scale }: PreviewRequest): string {
  const page = pageId === null ? 'active' : createHash('sha256').update(pageId).digest('hex').slice(0, 16)
  return `"${version}-${page}-${scale}-r${RENDERER_VERSION}"`
}
