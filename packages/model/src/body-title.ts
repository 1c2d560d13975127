import type { DocumentBody } from './body.ts'
import type { Json } from './json.ts'

const UNTITLED = 'Untitled Document'
/** Most UTF-16 units of a title in a head. */
const MOST_SHOWN = 1_024

/** Returns the title in the body: `name`, else `title`; `undefined` when neither is a string. [BODY-10] */
export function storedTitle(body: DocumentBody): string | undefined {
  const [name, title] = [body.members.get('name'), body.members.get('title')]
  return typeof name === 'string' ? name : typeof title === 'string' ? title : undefined
}

/** Returns the title that people see. An empty title counts as none, and the placeholder is never stored. [BODY-10] */
export function shownTitle(body: DocumentBody): string {
  const [name, title] = [body.members.get('name'), body.members.get('title')]
  if (typeof name === 'string' && name !== '') return name
  return typeof title === 'string' && title !== '' ? title : UNTITLED
}

/**
 * Returns a title as heads show it: its first 1,024 characters, without half a character at the end. This title is
 * only shown and compared, and never written into a body. [BODY-16]
 */
export function headTitle(title: string): string {
  if (title.length <= MOST_SHOWN) return title
  const last = title.charCodeAt(MOST_SHOWN - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  // Joined from its characters, since a slice would keep the whole title in memory.
  return Array.from(title.slice(0, isHalf ? MOST_SHOWN - 1 : MOST_SHOWN)).join('')
}

/**
 * Returns the title of a PUT in which `name` and `title` differ: the one that the caller changed, or `name` if both changed.
 * [BODY-10] `before` is the title in the head of the stored document, `null` for a new document. A head has only the
 * beginning of a long title, so long titles are compared by their beginning. When `name` and `title` both begin like
 * `before`, `name` wins.
 */
export function settleTitle(name: string, title: string, before: string | null): string {
  const isKept = (given: string): boolean => before !== null && headTitle(given) === headTitle(before)
  return isKept(name) && !isKept(title) ? title : name
}

/** Sets each of `name` and `title` that the body has, or `name` when it has neither. [BODY-10] */
export function withTitle(body: DocumentBody, title: string): DocumentBody {
  const names = ['name', 'title'].filter((member) => body.members.has(member))
  return withMembers(body, new Map((names.length === 0 ? ['name'] : names).map((member) => [member, title])))
}

/** Returns a copy with these top-level members set; `body` itself when it has them already. */
export function withMembers(body: DocumentBody, set: ReadonlyMap<string, Json>): DocumentBody {
  if ([...set].every(([name, value]) => body.members.has(name) && body.members.get(name) === value)) return body
  const added = [...set.keys()].filter((name) => !body.memberOrder.includes(name))
  return { ...body, memberOrder: [...body.memberOrder, ...added], members: new Map([...body.members, ...set]) }
}

/**
 * Marks a body as changed by the relay: sets an existing `modifiedAt` to now, and existing `lastModifiedBy` and
 * `lastModifiedByName` to the last writer. Adds no missing member. [BODY-10]
 */
export function stampBody(body: DocumentBody, nowMs: number, sub: string): DocumentBody {
  const stamps: readonly (readonly [string, Json])[] = [
    ['modifiedAt', nowMs],
    ['lastModifiedBy', sub],
    ['lastModifiedByName', sub],
  ]
  return withMembers(body, new Map(stamps.filter(([name]) => body.members.has(name))))
}
