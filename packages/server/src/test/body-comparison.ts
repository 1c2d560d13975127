/**
 * Compares two REST bodies of a document. It scans canonical HTML itself and shares no code with the relay, so that it can check the answers of
 * tools. [AG-100]
 */
export interface BodyComparison {
  /** Ids of text blocks that were added, removed or changed. A block that moved to another page, list, table or box counts as changed. */
  readonly created: ReadonlySet<string>
  readonly removed: ReadonlySet<string>
  readonly changed: ReadonlySet<string>
  /** Ids of the removed shapes. */
  readonly removedShapes: ReadonlySet<string>
  /** For each list, table or box that changed in more than its words: its handles, and the ids in it before and after. */
  readonly frames: readonly ReadonlySet<string>[]
  /** The least and the largest valid count of changed parts. There is a range, because a move can be described in several ways. */
  readonly least: number
  readonly most: number
}

interface Part {
  readonly html: string
  /** Ids of the text blocks in this part, in order. */
  readonly ids: readonly string[]
  readonly isText: boolean
  /** The HTML without the content of its text blocks. */
  readonly frame: string
}

interface Page {
  readonly parts: readonly Part[]
  readonly texts: ReadonlyMap<string, string>
}

const VOID = new Set(['br', 'hr', 'img'])
const TEXT = /^(p|h[1-6]|pre)$/

function readPage(page: Json): Page {
  const html = String(page['content'] ?? '')
  const parts: Part[] = []
  const texts = new Map<string, string>()
  let [depth, start, frame, textStart, textDepth] = [0, 0, '', -1, 0]
  let [ids, textId]: [string[], string] = [[], '']
  for (const token of html.matchAll(/<(\/?)([a-z][a-z0-9]*)([^<>]*)>|[^<]+/g)) {
    const [whole, slash, tag = '', attrs = ''] = token
    const end = token.index + whole.length
    if (depth === 0) [start, frame, ids] = [token.index, '', []]
    if (slash === '' && TEXT.test(tag) && textStart < 0) {
      textId = / id="([^"]*)"/.exec(attrs)?.[1] ?? `nameless ${String(page['id'])} ${parts.length} ${ids.length}`
      ;[textStart, textDepth] = [token.index, depth]
      ids.push(textId)
      frame += `[${textId}]`
    } else if (textStart < 0) frame += whole
    if (slash === '' && !VOID.has(tag)) depth++
    if (slash === '/') depth--
    if (textStart >= 0 && depth === textDepth) {
      texts.set(textId, html.slice(textStart, end).replace(/ id="[^"]*"/, ''))
      textStart = -1
    }
    if (depth === 0) parts.push({ html: html.slice(start, end), ids, frame, isText: ids.length === 1 && frame === `[${ids[0]}]` })
  }
  return { parts, texts }
}

type Json = Readonly<Record<string, unknown>>

interface Found {
  readonly created: Set<string>
  readonly removed: Set<string>
  readonly changed: Set<string>
  readonly removedShapes: Set<string>
  readonly frames: ReadonlySet<string>[]
  least: number
  most: number
}

export function compareBodies(before: Json, after: Json): BodyComparison {
  const found: Found = {
    ...{ created: new Set(), removed: new Set(), changed: new Set(), removedShapes: new Set() },
    ...{ frames: [], least: 0, most: 0 },
  }
  const texts = (body: Json) =>
    new Map(
      pagesOf(body, 'richTextPages').flatMap((page) =>
        [...readPage(page).texts].map(([id, html]) => [id, { html, page: page['id'] }] as const),
      ),
    )
  const [was, is] = [texts(before), texts(after)]
  for (const [id, text] of was)
    if (!is.has(id)) found.removed.add(id)
    else if (is.get(id)?.html !== text.html || is.get(id)?.page !== text.page) found.changed.add(id)
  for (const id of is.keys()) if (!was.has(id)) found.created.add(id)
  comparePages(before, after, 'richTextPages', found, (old, now) => compareParts(readPage(old), readPage(now), found))
  comparePages(before, after, 'pages', found, (old, now) => {
    const { gone } = compareItems(itemsOf(old['shapes'] as Json[]), itemsOf(now['shapes'] as Json[]), found)
    for (const id of gone) found.removedShapes.add(id)
  })
  for (const library of ['references', 'fields']) compareItems(libraryOf(before, library), libraryOf(after, library), found)
  if (before['name'] !== after['name']) count(found, 1)
  const words = found.created.size + found.removed.size + found.changed.size
  return { ...found, least: found.least + words, most: Math.max(1, found.most + words) }
}

function count(found: Found, least: number, most = least): void {
  found.least += least
  found.most += most
}

const pagesOf = (body: Json, member: string): readonly Json[] => (body[member] ?? []) as readonly Json[]
const EMPTY: Json = { content: '', shapes: [] }

function comparePages(before: Json, after: Json, member: string, found: Found, inside: (old: Json, now: Json) => void): void {
  const [was, is] = [pagesOf(before, member), pagesOf(after, member)]
  const byId = (pages: readonly Json[]) => new Map(pages.map((page) => [String(page['id']), page]))
  const { gone, came } = compareItems(byId(was.map(head)), byId(is.map(head)), found)
  const [old, now] = [byId(was), byId(is)]
  for (const [id, page] of old) inside(page, gone.includes(id) ? EMPTY : (now.get(id) as Json))
  for (const id of came) inside(EMPTY, now.get(id) as Json)
}

/** Returns a page without its content and shapes. */
function head(page: Json): Json {
  const { content: _, shapes: __, ...members } = page
  return members
}

function itemsOf(list: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(list.map((item) => [String(item['id']), item]))
}

function libraryOf(body: Json, name: string): ReadonlyMap<string, Json> {
  const library = (body[name] ?? {}) as { readonly [member: string]: unknown }
  const items = (library['items'] ?? library['fields'] ?? {}) as Readonly<Record<string, Json>>
  const order = (library['itemOrder'] ?? library['order'] ?? Object.keys(items)) as readonly string[]
  return new Map(order.map((id) => [id, items[id] as Json]))
}

function compareItems(was: ReadonlyMap<string, Json>, is: ReadonlyMap<string, Json>, found: Found) {
  const gone = [...was.keys()].filter((id) => !is.has(id))
  const came = [...is.keys()].filter((id) => !was.has(id))
  const changed = [...was].filter(([id, value]) => is.has(id) && sorted(value) !== sorted(is.get(id)))
  count(found, gone.length + came.length + changed.length)
  const moved = movedIn([...was.keys()], [...is.keys()])
  count(found, Math.max(0, moved - changed.length), moved)
  return { gone, came }
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/** Returns how many of the common keys must move at least to turn one order into the other. */
function movedIn(was: readonly string[], is: readonly string[]): number {
  const places = new Map(is.map((key, index) => [key, index]))
  const both = was.flatMap((key) => places.get(key) ?? [])
  const longest: number[] = []
  for (const [i, place] of both.entries())
    longest.push(1 + Math.max(0, ...longest.filter((_, j) => j < i && (both[j] as number) < place)))
  return both.length - Math.max(0, ...longest)
}

function compareParts(was: Page, is: Page, found: Found): void {
  const keys = keysOf(was.parts, is.parts)
  const [old, now] = [new Map(keys.was.map((key, i) => [key, i])), new Map(keys.is.map((key, i) => [key, i]))]
  let [framed, words, left, fresh] = [0, 0, 0, 0]
  for (const [key, i] of old) {
    const part = was.parts[i] as Part
    const index = now.get(key)
    const other = index === undefined ? undefined : (is.parts[index] as Part)
    if (other === undefined) {
      if (part.isText) continue
      left++
      found.frames.push(new Set([`@${i}`, ...part.ids]))
    } else if (part.isText) words += other.html === part.html ? 0 : 1
    else if (other.frame !== part.frame) {
      framed++
      found.frames.push(new Set([`@${i}`, `@${index}`, ...part.ids, ...other.ids]))
    }
  }
  for (const [key, i] of now) {
    const part = is.parts[i] as Part
    if (old.has(key) || part.isText) continue
    fresh++
    found.frames.push(new Set([`@${i}`, ...part.ids]))
  }
  // Text blocks that moved to another container, or between a container and the top level.
  const owner = (page: Page, own: readonly string[]) => new Map(page.parts.flatMap(({ ids }, i) => ids.map((id) => [id, own[i]])))
  const [from, to] = [owner(was, keys.was), owner(is, keys.is)]
  const crossed = [...from].filter(([id, key]) => to.has(id) && to.get(id) !== key && !found.changed.has(id)).map(([id]) => id)
  count(found, crossed.length)
  for (const id of crossed) found.changed.add(id)
  found.least -= crossed.length
  found.most -= crossed.length
  count(found, framed + Math.max(left, fresh), framed + left + fresh)
  const moved = movedIn(keys.was, keys.is)
  count(found, Math.max(0, moved - framed - words), moved)
}

/** Returns a key for each part of two versions of a page: a text block by its id, a container by an id in it, a part without ids by its HTML. */
function keysOf(was: readonly Part[], is: readonly Part[]) {
  const names = new Map<string, string>()
  const counted = (key: string, counts: Map<string, number>) => {
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    return `${count} ${key}`
  }
  const plain = (part: Part) => part.html.replaceAll(/ id="[^"]*"/g, '')
  const [countsWas, countsIs] = [new Map<string, number>(), new Map<string, number>()]
  const before = was.map((part, i) => {
    const key = part.isText ? `text ${part.ids[0]}` : part.ids.length > 0 ? `box ${i}` : counted(plain(part), countsWas)
    if (!part.isText) for (const id of part.ids) names.set(id, key)
    return key
  })
  const taken = new Set<string>()
  const after = is.map((part, i) => {
    if (part.isText) return `text ${part.ids[0]}`
    if (part.ids.length === 0) return counted(plain(part), countsIs)
    const known = part.ids.map((id) => names.get(id)).find((key) => key !== undefined && !taken.has(key))
    if (known === undefined) return `new box ${i}`
    taken.add(known)
    return known
  })
  return { was: before, is: after }
}
