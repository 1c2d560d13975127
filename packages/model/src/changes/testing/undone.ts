import type { DocumentBody } from '../../body.ts'
import { pageRouter } from '../../canvas/page-router.ts'
import { isRefusal, type EditEnvironment } from '../../edit.ts'
import { type EditName, runEdit } from '../../edits.ts'
import { changesBetween } from '../changes-between.ts'
import { undoChanges } from '../undo-changes.ts'

let minted = 0
/** Never returns an id twice, as in a real document. */
export const environment: EditEnvironment = { nowMs: 1, random: (length) => String(++minted).padStart(length, '0') }

/** Returns the body after one call. Throws when the call is refused. */
export function edited(given: DocumentBody, name: EditName, args: object): DocumentBody {
  const answer = runEdit(name, given, { format: 'html', ...args }, environment)
  if (isRefusal(answer)) throw new Error(answer.message)
  return answer.body
}

/** Undoes the call that turned `before` into `after`, in the body `present`, which others may have changed since. The record goes through JSON. */
export function undone(before: DocumentBody, after: DocumentBody, present: DocumentBody) {
  const { set } = changesBetween(before, after, {})
  return undoChanges(present, JSON.parse(JSON.stringify(set)) as typeof set, environment, pageRouter)
}

export function contentOf({ prose }: DocumentBody, id = 'p'): string {
  return prose.pages.find((page) => page.id === id)?.content ?? ''
}
