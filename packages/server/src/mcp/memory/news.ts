import type { ChangeRecord, RecordedChange, Who } from '../../documents/change-record.ts'
import type { DocumentMemory } from './caller-memory.ts'

/** What others changed since a caller's last answer. [AG-22] */
export interface News {
  /** The version of the caller's last answer. */
  readonly since: number
  /** Who made the changes: ids, with names where known. Empty when nobody recorded who it was. */
  readonly by: readonly string[]
  readonly blocks?: number
  readonly shapes?: number
  readonly ids?: readonly string[]
  readonly pages?: readonly string[]
  /** A list is shortened. */
  readonly more?: true
}

const MOST_BYTES = 300
const MOST_NAMES = 3
const MOST_IDS = 5
const MOST_PAGES = 3

/** Returns what others changed since the caller's last answer; `null` when no change is known. `version`: the current one, if known. */
export function newsFor(
  memory: DocumentMemory,
  record: ChangeRecord | null,
  caller: string,
  version: number | null,
): News | null {
  const changes = record?.since(memory.toldTo, caller, memory.version) ?? []
  if (changes.length > 0) return told(memory.version, changes)
  // A recorded change may explain the new version, and the caller made it or was already notified of it. [AG-23]
  const isExplained = record?.explains(memory.partOf, memory.version) === true
  return version !== null && version > memory.version && !isExplained ? { since: memory.version, by: [] } : null
}

/** @param changes the latest first */
export function told(since: number, changes: readonly RecordedChange[]): News {
  const lists = {
    by: distinct(changes.map(({ who }) => shownAs(who))),
    ids: distinct(changes.flatMap(({ kind, id }) => (kind === 'block' && id !== null && isPrintable(id) ? id : []))),
    pages: distinct(changes.flatMap(({ pageId }) => (isPrintable(pageId) ? pageId : []))),
  }
  const shapes = changes.filter(({ kind }) => kind === 'shape').length
  const counts = { blocks: changes.filter(({ kind }) => kind === 'block').length, ...(shapes > 0 && { shapes }) }
  for (let cut = 0; ; cut++) {
    const kept = {
      by: lists.by.slice(0, Math.max(0, MOST_NAMES - Math.max(0, cut - MOST_IDS - MOST_PAGES))),
      ids: lists.ids.slice(0, Math.max(0, MOST_IDS - cut)),
      pages: lists.pages.slice(0, Math.max(0, MOST_PAGES - Math.max(0, cut - MOST_IDS))),
    }
    const isCut = (['by', 'ids', 'pages'] as const).some((name) => kept[name].length < lists[name].length)
    const news: News = { since, by: kept.by, ...counts, ids: kept.ids, pages: kept.pages, ...(isCut && { more: true }) }
    if (Buffer.byteLength(JSON.stringify(news)) <= MOST_BYTES || cut >= MOST_IDS + MOST_PAGES + MOST_NAMES) return news
  }
}

/** A name is never shown without the id that was verified. [AG-21] */
function shownAs({ id, name }: Who): string {
  return name === undefined ? id : `${name} (${id})`
}

/** Whether an id may appear in news: editors can store any text as an id, and that text must not instruct the agent. [AG-12] */
function isPrintable(id: string): boolean {
  return /^[A-Za-z0-9_.:-]{1,64}$/.test(id)
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)]
}
