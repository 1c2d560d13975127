import type { CanvasPage, ProsePage } from '../body.ts'
import { pageName } from '../pages.ts'
import { quote } from '../quote.ts'
import type { ChangeSet, MemberChange, PageEntry } from './change-set.ts'
import { type Kept, undoList } from './undo-list.ts'
import { undoMembers } from './undo-members.ts'

interface PageRules<P> {
  readonly list: readonly P[]
  readonly change: ChangeSet['prose'] | ChangeSet['canvas']
  hash(page: P): number
  /** Whether a page that the call made has to stay although nobody wrote on the page. */
  mustStay?(page: P): boolean
}

/** Removes the pages that the call created, and puts back the pages that the call removed or moved. */
export function undoPages<P extends ProsePage | CanvasPage>(
  { list, change, hash, mustStay = () => false }: PageRules<P>,
  kept: Kept[],
): readonly P[] {
  return undoList<P, PageEntry>(
    {
      // The last page of a kind stays, since no tool deletes the last page either.
      mayGo: (page, remaining) => (remaining > 0 || change?.wasEmpty === true) && !mustStay(page),
      list,
      entries: change?.list ?? [],
      hash,
      text: pageName,
      restored: ({ before }) => before as unknown as P,
    },
    kept,
  )
}

export function withUndoneMembers<P extends ProsePage | CanvasPage>(page: P, changes: readonly MemberChange[], kept: Kept[]): P {
  const members = undoMembers(page.members, changes, () => kept.push({ id: page.id, text: quote(pageName(page)) }))
  return members === page.members ? page : { ...page, members }
}
