import type { CanvasPage, DocumentBody, ProsePage } from './body.ts'
import { blobReferencesIn } from './blob-references.ts'
import { writeBody } from './body-write.ts'
import { childrenOf } from './canvas/stored-shape.ts'

/** How much larger the second of two bodies is, and whether it references more blobs. */
export interface BodyGrowth {
  /** UTF-8 bytes by which the stored form of the second body is longer; negative when it is shorter. [BODY-14] */
  readonly bytes: number
  /**
   * True when a changed part of the second body references a blob that the same part of the first does not. [BLOB-2]
   */
  readonly addsBlobs: boolean
}

/**
 * Compares two bodies of one document. The time is proportional to the pages and containers that are not the same
 * object in both.
 */
export function bodyGrowth(before: DocumentBody, after: DocumentBody): BodyGrowth {
  if (before === after) return { bytes: 0, addsBlobs: false }
  const middles = middlesOf(before.prose.pages, after.prose.pages)
  const others = withoutSameShapes(before.canvas.pages, after.canvas.pages)
  const changed = (body: DocumentBody): DocumentBody => shortened(onlyChanged(body, before, after), middles)
  const [old, now] = [before, after].map((body) => writeBody(withCanvas(changed(body), others))) as [string, string]
  const names = blobReferencesIn(now)
  const missesFrom = (text: string): boolean => {
    const known = new Set(blobReferencesIn(text))
    return names.some((hash) => !known.has(hash))
  }
  // A shape that both bodies share may reference the blob already, so the check is repeated with these shapes.
  const addsBlobs = missesFrom(old) && (others.size === 0 || missesFrom(writeBody(changed(before))))
  return { bytes: utf8Length(now) - utf8Length(old), addsBlobs }
}

/** A change of a body, and by how much the body grew. */
export interface MeasuredChange {
  readonly before: DocumentBody
  readonly after: DocumentBody
  readonly growth: BodyGrowth
}

/**
 * Returns the growth from `before` to `after`, computed from the measured growth of the same change to another body. The cost is that
 * of comparing the two bodies before the change, and the two after it, however much the change adds. `addsBlobs` may be true although no blob is added.
 */
export function growthLike(measured: MeasuredChange, before: DocumentBody, after: DocumentBody): BodyGrowth {
  const back = bodyGrowth(before, measured.before)
  return {
    bytes: back.bytes + measured.growth.bytes + bodyGrowth(measured.after, after).bytes,
    // A blob that only the other body references may be new in `after`. To be safe, such a blob counts as added.
    addsBlobs: measured.growth.addsBlobs || back.addsBlobs,
  }
}

/** Returns `body` without the parts that are the same object in `before` and `after`, since these take equal space. */
function onlyChanged(body: DocumentBody, before: DocumentBody, after: DocumentBody): DocumentBody {
  return {
    ...body,
    canvas: { ...body.canvas, pages: changedPages(body.canvas.pages, before.canvas.pages, after.canvas.pages) },
    prose: { ...body.prose, pages: changedPages(body.prose.pages, before.prose.pages, after.prose.pages) },
    references: before.references === after.references ? undefined : body.references,
    fields: before.fields === after.fields ? undefined : body.fields,
  }
}

/** Returns the changed pages, and one page that both lists have: with it neither list is empty, and every changed page costs a comma in both. */
function changedPages<T>(pages: readonly T[], before: readonly T[], after: readonly T[]): readonly T[] {
  if (before === after) return []
  const [old, now] = [new Set(before), new Set(after)]
  const kept = before.find((page) => now.has(page))
  return pages.filter((page) => page === kept || !(old.has(page) && now.has(page)))
}

/**
 * The equal start and the equal end of a changed page's HTML take equal space in both bodies, so they are cut off. This
 * many characters of each are kept, so that no hash is cut.
 */
const margin = 128

/** Equal ends are compared in steps of this many characters, which is faster than one by one. */
const stride = 4096

/** For each changed page, the part of its HTML that differs, in the first and in the second body. */
function middlesOf(before: readonly ProsePage[], after: readonly ProsePage[]): ReadonlyMap<ProsePage, string> {
  const middles = new Map<ProsePage, string>()
  const known = new Map(before.map((page) => [page.id, page]))
  for (const page of after) {
    const old = known.get(page.id)
    if (old === undefined || old === page || middles.has(old)) continue
    const [a, b] = [old.content, page.content]
    const limit = Math.min(a.length, b.length)
    let start = 0
    while (start + stride <= limit && a.slice(start, start + stride) === b.slice(start, start + stride)) start += stride
    while (start < limit && a.charCodeAt(start) === b.charCodeAt(start)) start++
    const most = limit - start
    const tail = (text: string, end: number) => text.slice(text.length - end - stride, text.length - end)
    let end = 0
    while (end + stride <= most && tail(a, end) === tail(b, end)) end += stride
    while (end < most && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++
    const [from, rest] = [Math.max(0, start - margin), Math.max(0, end - margin)]
    // A cut between the two halves of one character would count two characters.
    const isCut = isHalf(a, from) || isHalf(a, a.length - rest)
    if (isCut) continue
    middles.set(old, a.slice(from, a.length - rest))
    middles.set(page, b.slice(from, b.length - rest))
  }
  return middles
}

function isHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

function shortened(body: DocumentBody, middles: ReadonlyMap<ProsePage, string>): DocumentBody {
  const pages = body.prose.pages.map((page) => {
    const middle = middles.get(page)
    return middle === undefined ? page : { ...page, content: middle }
  })
  return { ...body, prose: { ...body.prose, pages } }
}

/**
 * Returns, for each changed canvas page, the page without the shapes that are the same value in both bodies. One such shape is kept, so that no list of
 * shapes becomes empty. Pages with groups are left as they are, because a group decides how other shapes are written.
 */
function withoutSameShapes(before: readonly CanvasPage[], after: readonly CanvasPage[]): ReadonlyMap<CanvasPage, CanvasPage> {
  const others = new Map<CanvasPage, CanvasPage>()
  const known = new Map(before.map((page) => [page.id, page]))
  for (const page of after) {
    const old = known.get(page.id)
    if (old === undefined || after.includes(old) || before.includes(page) || others.has(old)) continue
    if (old.shapesForm !== page.shapesForm || hasGroups(old) || hasGroups(page)) continue
    const values = new Map(old.shapes.map(({ id, value }) => [id, value]))
    const same = new Set(page.shapes.filter(({ id, value }) => values.get(id) === value).map(({ id }) => id))
    const [kept] = same
    if (kept === undefined) continue
    same.delete(kept)
    for (const each of [old, page]) others.set(each, { ...each, shapes: each.shapes.filter(({ id }) => !same.has(id)) })
  }
  return others
}

function hasGroups({ shapes }: CanvasPage): boolean {
  return shapes.some(({ value }) => childrenOf(value).length > 0)
}

function withCanvas(body: DocumentBody, others: ReadonlyMap<CanvasPage, CanvasPage>): DocumentBody {
  return { ...body, canvas: { ...body.canvas, pages: body.canvas.pages.map((page) => others.get(page) ?? page) } }
}

const encoder = new TextEncoder()

function utf8Length(text: string): number {
  return encoder.encode(text).length
}
