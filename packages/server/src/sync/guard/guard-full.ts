/** The refusal of an update that would bring a document above a limit of its content. The document still accepts deletions. [WS-68] */
export interface FullDocument {
  readonly kind: 'full'
  readonly bound: 'structs' | 'clientIds'
  readonly limit: number
}

export function full(bound: FullDocument['bound'], limit: number): FullDocument {
  return { kind: 'full', bound, limit }
}

const CURE =
  'To go on writing, take a recovery point of it and restore that: the document that takes its place has the same content and begins to count anew'

/** Returns the text of a refusal for people: which limit the document has reached, what it still accepts, and how to go on writing. */
export function fullText({ bound, limit }: FullDocument): string {
  return bound === 'structs'
    ? `the document may have ${limit} structs, and this update would bring more; it takes deletions. ${CURE}`
    : `the document may have content of ${limit} Yjs client ids, and this update would bring a further one; it takes deletions, and edits under ids that it has. ${CURE}`
}
