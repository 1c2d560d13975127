import type { ReadName } from '@docrelay/model/reads'
import type { Previews } from '../../previews/previews.ts'
import { success } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { openDocument, type ReadingDeps, type ReadResult } from './reading.ts'

export interface PictureDeps {
  readonly pictures: Pick<Previews, 'picture'>
}

const IMAGE_TOKENS = 5

/** Returns the tokens of the read bucket that a read costs; a read with a picture costs more. [MCP-54, AG-109] */
export function readTokens(args: unknown): number {
  return typeof args === 'object' && args !== null && 'image' in args && isTrue(args.image) ? IMAGE_TOKENS : 1
}

/** Whether a value is `true`, or the string "true", which arguments may have instead. [AG-93] */
function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && value.trim() === 'true')
}

interface ReadVersion {
  readonly version: number
  readonly sizeBytes: number
  readonly reading: ReadResult
}

/**
 * Runs a read of a page or a shape that also returns a picture. No body is kept in memory while the picture waits for its turn. If the document
 * changes meanwhile, the read is repeated, so that text and picture show the same version. If drawing fails, a warning replaces the picture.
 * [AG-109]
 */
export async function readWithPicture(
  name: ReadName,
  call: ToolCall,
  deps: ReadingDeps & PictureDeps,
): Promise<ToolSuccess | ToolFailure> {
  const { docId: _, image: __, ...args } = call.args
  const first = await readOnce(name, call, args, deps)
  if ('kind' in first) return first
  let { reading } = first
  if (reading.kind === 'failure') return reading
  const picture = await deps.pictures.picture(
    {
      workspaceId: call.access.workspaceId,
      sizeBytes: first.sizeBytes,
      pageId: args['pageId'] as string,
      shapeId: name === 'get_shape' ? (args['id'] as string) : null,
      async body() {
        const now = await openDocument(call, deps)
        if ('kind' in now) return NOTHING
        if (now.version !== first.version) {
          const again = await now.read(name, args)
          if (again.kind === 'failure') return NOTHING
          reading = again
        }
        return now.bytes
      },
    },
    call.signal,
  )
  if (picture.kind === 'drawn') return success(reading.result, [picture.png])
  const reason = `there is no picture: ${picture.reason}; the rest of the answer is complete`
  return success({ ...reading.result, warnings: [{ reason, field: 'image' }] })
}

/** An empty body, used when the document or page was deleted meanwhile. */
const NOTHING = Buffer.from('{}')

/** Reads once and keeps only the result, so that the body can be freed. */
async function readOnce(name: ReadName, call: ToolCall, args: JsonObject, deps: ReadingDeps): Promise<ReadVersion | ToolFailure> {
  const document = await openDocument(call, deps)
  if ('kind' in document) return document
  return { version: document.version, sizeBytes: document.bytes.byteLength, reading: await document.read(name, args) }
}
