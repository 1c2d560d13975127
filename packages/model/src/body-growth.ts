import type { DocumentBody } from './body.ts'
import { blobReferencesIn } from './blob-references.ts'
import { writeBody } from './body-write.ts'

/** How two bodies differ in what they take and what they reference. */
export interface BodyGrowth {
  /** UTF-8 bytes of the stored form that the second has more than the first; negative when it has less. [BODY-14] */
  readonly bytes: number
  /** The second references a blob in a changed part that the first does not reference there. [BLOB-2] */
  readonly addsBlobs: boolean
}

/** Compares two bodies of one document. The cost is that of the pages and containers that are not the same object in both. */
export function bodyGrowth(before: DocumentBody, after: DocumentBody): BodyGrowth {
  if (before === after) return { bytes: 0, addsBlobs: false }
  const [old, now] = [onlyChanged(before, before, after), onlyChanged(after, before, after)].map(writeBody) as [string, string]
  const known = new Set(blobReferencesIn(old))
  return { bytes: utf8Length(now) - utf8Length(old), addsBlobs: blobReferencesIn(now).some((hash) => !known.has(hash)) }
}

/** `body` without the parts that both have as the same object, which take the same in both. */
function onlyChanged(body: DocumentBody, before: DocumentBody, after: DocumentBody): DocumentBody {
  return {
    ...body,
    canvas: { ...body.canvas, pages: changedPages(body.canvas.pages, before.canvas.pages, after.canvas.pages) },
    prose: { ...body.prose, pages: changedPages(body.prose.pages, before.prose.pages, after.prose.pages) },
    references: before.references === after.references ? undefined : body.references,
    fields: before.fields === after.fields ? undefined : body.fields,
  }
}

/** One page that both have stays, so that neither list is empty and every changed page takes a comma in both. */
function changedPages<T>(pages: readonly T[], before: readonly T[], after: readonly T[]): readonly T[] {
  if (before === after) return []
  const [old, now] = [new Set(before), new Set(after)]
  const kept = before.find((page) => now.has(page))
  return pages.filter((page) => page === kept || !(old.has(page) && now.has(page)))
}

const encoder = new TextEncoder()

function utf8Length(text: string): number {
  return encoder.encode(text).length
}
