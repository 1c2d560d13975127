import type { DocumentBody } from './body.ts'
import { refused, type EditEnvironment, type Refusal } from './edit.ts'
import { memberOf, type JsonObject } from './json.ts'
import { quote, quoteList } from './quote.ts'

export type PageKind = 'canvas' | 'prose'

/** Returns the name that people see; a page without a name is shown by its id. */
export function pageName(page: { readonly id: string; readonly members: JsonObject }): string {
  const name = memberOf(page.members, 'name')
  return typeof name === 'string' ? name : page.id
}

const MAX_PAGES = 20
const MAX_SHOWN_IDS = 100

/**
 * Refuses an id that no page of this kind has. The facts name the existing pages and a page of the other kind with that
 * id. When the call sent the name of a page instead of an id, the message says the id. [ERR_PAGE_NOT_FOUND]
 */
export function pageNotFound(body: DocumentBody, pageId: string, kind: PageKind): Refusal {
  const otherKind: PageKind = kind === 'prose' ? 'canvas' : 'prose'
  const isOther = body[otherKind].pages.some((page) => page.id === pageId)
  const all = body[kind].pages.map((page) => ({ id: page.id, name: quote(pageName(page)) }))
  const named = all.filter(({ name }) => name === quote(pageId)).map((page) => page.id)
  const known = quoteList(all.map((page) => `${page.id} ("${page.name}")`))
  const why = isOther
    ? `it is a ${otherKind} page`
    : named.length > 0
      ? `it is a name, that of ${quoteList(named)}`
      : 'the document has none with this id'
  return refused(
    'ERR_PAGE_NOT_FOUND',
    `"${quote(pageId)}" is not the id of a ${kind} page: ${why}. The ${kind} pages are: ${known === '' ? 'none' : known}.`,
    { pageId: quote(pageId), kind, ...(isOther ? { otherKind } : {}), pages: all.slice(0, MAX_PAGES) },
  )
}

/** Refuses to delete the only page of its kind. [ERR_LAST_PAGE] */
export function lastPage(pageId: string, kind: PageKind): Refusal {
  return refused('ERR_LAST_PAGE', `"${quote(pageId)}" is the only ${kind} page of the document; add another one first.`, {
    pageId,
    kind,
  })
}

/** Returns why `order` does not name each of `ids` exactly once; `null` when it does. [ERR_NOT_PERMUTATION] */
export function notPermutation(order: readonly string[], ids: readonly string[]): Refusal | null {
  const [given, known] = [new Set(order), new Set(ids)]
  const missing = ids.filter((id) => !given.has(id))
  const unknown = [...given].filter((id) => !known.has(id))
  const seen = new Set<string>()
  const duplicate = [...new Set(order.filter((id) => seen.size === seen.add(id).size))]
  if (missing.length + unknown.length + duplicate.length === 0) return null
  const told = Object.entries({ missing, unknown, duplicate })
    .filter(([, list]) => list.length > 0)
    .map(([word, list]) => `${word}: ${quoteList(list.map(quote))}`)
  return refused('ERR_NOT_PERMUTATION', `order must name each id exactly once; ${told.join('; ')}.`, {
    missing: shownIds(missing),
    unknown: shownIds(unknown),
    duplicate: shownIds(duplicate),
  })
}

/** Returns the ids that a refusal repeats: only some, since a caller may send any number of ids. */
function shownIds(ids: readonly string[]): readonly string[] {
  return ids.slice(0, MAX_SHOWN_IDS).map(quote)
}

/**
 * Returns `Prose`, then `Prose p.N` with N one above the highest number in use. [TOOL-add_prose_page,
 * TOOL-add_canvas_page]
 */
export function nextPageName(word: string, pages: readonly { readonly id: string; readonly members: JsonObject }[]): string {
  let highest = 0
  for (const page of pages) {
    const name = pageName(page)
    if (name === word) highest = Math.max(highest, 1)
    else if (name.startsWith(`${word} p.`) && /^\d{1,9}$/.test(name.slice(word.length + 3)))
      highest = Math.max(highest, Number(name.slice(word.length + 3)))
  }
  return highest === 0 ? word : `${word} p.${highest + 1}`
}

/** Returns the id for a new page of either kind. [TOOL-12] */
export function freePageId(body: DocumentBody, environment: EditEnvironment): string {
  const taken = new Set([...body.canvas.pages, ...body.prose.pages].map((page) => page.id))
  for (;;) {
    const id = `page-${environment.random(12)}`
    if (!taken.has(id) && !body.prose.pages.some((page) => page.content.includes(id))) return id
  }
}
