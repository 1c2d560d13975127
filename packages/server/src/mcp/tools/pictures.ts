import type { ReadName } from '@docrelay/model/reads'
import type { Previews } from '../../previews/previews.ts'
import { success } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { openDocument, type ReadingDeps, type ReadResult } from './reading.ts'

export interface PictureDeps {
  readonly pictures: Pick<Previews, 'picture'>
}

const IMAGE_TOKENS = 5

/** What a read that can come with a picture takes of the read bucket. [MCP-54, AG-109] */
export function readTokens(args: unknown): number {
  return typeof args === 'object' && args !== null && 'image' in args && args.image === true ? IMAGE_TOKENS : 1
}

interface ReadVersion {
  readonly version: number
  readonly sizeBytes: number
  readonly reading: ReadResult
}

/**
 * Runs a read of a page or a shape that is to come with a picture. While the picture waits for its turn no body is kept;
 * when the document has changed until then, the answer is read again, so that text and picture show one version. A
 * picture that cannot be drawn is a warning. [AG-109]
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

/** Stands for a document that is gone by now, or that has no such page any more: a body without pages. */
const NOTHING = Buffer.from('{}')

/** Keeps nothing of the document but what was asked for. */
async function readOnce(name: ReadName, call: ToolCall, args: JsonObject, deps: ReadingDeps): Promise<ReadVersion | ToolFailure> {
  const document = await openDocument(call, deps)
  if ('kind' in document) return document
  return { version: document.version, sizeBytes: document.bytes.byteLength, reading: await document.read(name, args) }
}
