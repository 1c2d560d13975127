import { readStoredBody } from '@docrelay/model/body-parse'
import type { Refusal } from '@docrelay/model/edit'
import { readDocument, type ReadArgs, type ReadFacts, type ReadName } from '@docrelay/model/reads'
import type { ShownPage } from '@docrelay/model/seen/shown'

/** A read tool's view of a stored body; plain data. */
export interface BodyRead {
  readonly bytes: Uint8Array
  readonly read: ReadName
  readonly facts: ReadFacts
  /** Arguments that passed the schema of the tool. */
  readonly args: unknown
}

export type BodyReading =
  | {
      readonly kind: 'read'
      readonly result: Readonly<Record<string, unknown>>
      /** The parts of the document that the result shows. [AG-17] */
      readonly shown?: readonly ShownPage[]
    }
  | Refusal

export function readBody({ bytes, read, facts, args }: BodyRead): BodyReading {
  return readDocument(read, readStoredBody(bytes), facts, args as ReadArgs[ReadName])
}
