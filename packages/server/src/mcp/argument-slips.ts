import { likelyMeant } from '@docrelay/model/nearest'

/** Wrong argument names that callers send, each with the arguments it may mean, likeliest first. [AG-95] */
const SLIPS: Readonly<Record<string, readonly string[]>> = {
  blockId: ['id'],
  block: ['id'],
  shapeId: ['id'],
  text: ['content', 'find', 'body'],
  markdown: ['content', 'body'],
  html: ['content', 'body'],
  content: ['body'],
  body: ['content'],
  after: ['afterId', 'side'],
  before: ['side'],
  position: ['side', 'at'],
  old: ['find'],
  old_string: ['find'],
  oldText: ['find'],
  new: ['replace'],
  new_string: ['replace'],
  newText: ['replace'],
  page: ['pageId'],
  document: ['docId'],
  documentId: ['docId'],
  rowIndex: ['row'],
  columnIndex: ['col'],
  column: ['col'],
  pageIds: ['order'],
  pages: ['order'],
  untilBlockId: ['untilId'],
  targetBlockId: ['targetId'],
  version: ['expectedVersion'],
  serverVersion: ['expectedVersion'],
  idempotencyKey: ['requestId'],
}

/**
 * Returns the argument that an unknown name probably stands for; `null` when none is likely. Never returns an argument that the call also
 * gives, because its value would be lost. [AG-95]
 */
export function meantArgument(name: string, known: readonly string[], given: (name: string) => boolean): string | null {
  const free = known.filter((one) => !given(one))
  if (!Object.hasOwn(SLIPS, name)) return likelyMeant(name, free)
  return SLIPS[name]?.find((one) => free.includes(one)) ?? null
}
