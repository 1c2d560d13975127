import type { DocumentBody } from '../body.ts'
import type { Router } from '../canvas/route.ts'
import type { EditEnvironment, Warning } from '../edit.ts'
import { fieldValue } from '../fields/list-fields.ts'
import { type Json, type JsonObject, memberOf } from '../json.ts'
import type { ChangeSet, MemberChange } from './change-set.ts'
import { undoCanvas } from './undo-canvas.ts'
import { undoLibrary } from './undo-library.ts'
import type { Kept } from './undo-list.ts'
import { undoMembers } from './undo-members.ts'
import { undoProse } from './undo-prose.ts'

export interface Undone {
  /** The given body (`===`) when nothing could be taken back. */
  readonly body: DocumentBody
  /** The parts that the undo leaves as they are because somebody changed them since. [AG-70] */
  readonly kept: readonly Kept[]
  readonly warnings: readonly Warning[]
}

/**
 * Undoes what a call changed, except for the parts that somebody changed since. When nobody wrote since, the document is as before the call.
 * [AG-69, AG-70, AG-71]
 *
 * `route` routes the connectors at shapes that the undo moves, also connectors that somebody made since. [CANVAS-21]
 */
export function undoChanges(body: DocumentBody, set: ChangeSet, environment: EditEnvironment, route: Router): Undone {
  const kept: Kept[] = []
  const references = undoLibrary(body.references, set.references, kept)
  const fields = undoLibrary(body.fields, set.fields, kept)
  const isFieldKept = kept.length > 0
  const changedFields = changedValues(body.fields, fields, set)
  const prose = undoProse({ ...body, references, fields }, set, { kept, changedFields, isFieldKept, environment })
  const canvas = undoCanvas(prose, set, { kept, route, nowMs: environment.nowMs })
  const result = undoBodyMembers(canvas.body, set, kept)
  return { body: isSameBody(body, result) ? body : result, kept, warnings: canvas.warnings }
}

/** Returns the names of those fields of the call whose values the undo changed. */
function changedValues(
  before: DocumentBody['fields'],
  after: DocumentBody['fields'],
  { fields }: ChangeSet,
): ReadonlySet<string> {
  const valueOf = (library: DocumentBody['fields'], name: string) => {
    const item = library?.kind === 'fields' ? library.items.get(name) : undefined
    return item && fieldValue(item)
  }
  const names = (fields?.items ?? []).map(({ id }) => id)
  return new Set(names.filter((name) => valueOf(before, name) !== valueOf(after, name)))
}

function isSameBody(a: DocumentBody, b: DocumentBody): boolean {
  return (
    a.members === b.members &&
    a.references === b.references &&
    a.fields === b.fields &&
    a.canvas.pages === b.canvas.pages &&
    a.prose.pages === b.prose.pages &&
    a.prose.members === b.prose.members
  )
}

/** Undoes changes of the title and other members. `activePageId` goes back only to a page that exists. */
function undoBodyMembers(body: DocumentBody, { members = [], proseMembers = [] }: ChangeSet, kept: Kept[]): DocumentBody {
  const isPage = (id: Json | undefined) => [...body.prose.pages, ...body.canvas.pages].some((page) => page.id === id)
  const mayReturn = ({ name, before }: MemberChange) => name !== 'activePageId' || isPage(before)
  const told = (name: string) => {
    if (name !== 'activePageId') kept.push({ id: name, text: '' })
  }
  const own = undoMembers(Object.fromEntries(body.members), members.filter(mayReturn), told)
  const prose = undoMembers(body.prose.members, proseMembers.filter(mayReturn), told)
  const isSame = members.every(({ name }) => body.members.get(name) === memberOf(own, name))
  const withOwn = isSame ? body : { ...body, members: new Map(Object.entries(own)), memberOrder: orderOf(body, own) }
  return prose === body.prose.members ? withOwn : { ...withOwn, prose: { ...withOwn.prose, members: prose } }
}

function orderOf({ memberOrder }: DocumentBody, own: JsonObject): readonly string[] {
  return [...memberOrder, ...Object.keys(own).filter((name) => !memberOrder.includes(name))]
}
