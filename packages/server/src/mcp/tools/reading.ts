import { isRefusal } from '@docrelay/model/edit'
import type { HeldFile } from '@docrelay/model/canvas/files'
import { readFlaw, type ReadName } from '@docrelay/model/reads'
import type { Bodies } from '../../documents/bodies.ts'
import type { Documents } from '../../documents/documents.ts'
import { factsOf } from '../read-facts.ts'
import { refusal } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure } from '../tool.ts'
import { documentFailure, type WasDeleted } from './document-failures.ts'

export interface ReadingDeps {
  readonly documents: Pick<Documents, 'get'>
  readonly bodies: Pick<Bodies, 'for'>
  readonly wasDeleted: WasDeleted
}

/** One document as opened by a call: every read sees the same version. */
export interface OpenDocument {
  readonly version: number
  /** The stored body. */
  readonly bytes: Uint8Array
  read(name: ReadName, args: JsonObject, held?: ReadonlyMap<string, HeldFile>): Promise<ReadResult>
}

export type ReadResult = { readonly kind: 'read'; readonly result: JsonObject } | ToolFailure

/** Makes the member `flaw` of a tool that is one read of one document. [MCP-3] */
export function flawOf(name: ReadName): (args: JsonObject) => ToolFailure | null {
  return ({ docId, ...args }) => {
    const flaw = readFlaw(name, docId as string, args)
    return flaw && refusal(flaw)
  }
}

/** Opens the document `docId`; every edit applied before the call is included. [LIFE-11, CONC-7, TOOL-15] */
export async function openDocument(call: ToolCall, deps: ReadingDeps): Promise<OpenDocument | ToolFailure> {
  const docId = call.args['docId'] as string
  const found = await deps.documents
    .get(call.access, docId)
    .catch((error: unknown) => documentFailure(error, { access: call.access, docId, does: 'read' }, deps.wasDeleted))
  if ('kind' in found) return found
  const { body } = found.record
  const facts = factsOf(found)
  const bodies = deps.bodies.for(call.access.workspaceId)
  return {
    version: facts.serverVersion,
    bytes: body,
    async read(name, args, held) {
      call.signal.throwIfAborted()
      const named = { ...args, naming: call.naming }
      const reading = await bodies.read({ bytes: body, read: name, args: named, facts: held ? { ...facts, held } : facts })
      if (isRefusal(reading)) return refusal(reading)
      call.glance?.showed(reading.shown ?? [])
      return reading
    },
  }
}
