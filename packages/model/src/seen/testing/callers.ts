import { readStoredBody } from '../../body-parse.ts'
import { type Edited, isRefusal, type Refusal } from '../../edit.ts'
import { type EditArgs, type EditName, runEdit } from '../../edits.ts'
import { blockStamp } from '../../prose/block-stamp.ts'
import { parseHtml } from '../../prose/html.ts'
import type { ProseTree } from '../../prose/node.ts'
import type { Seen, SeenChange } from '../seen.ts'
import { shownBlocks } from '../shown.ts'

export function treeOf(html: string): ProseTree {
  return parseHtml(html, { source: 'stored' }).tree
}

const bodyOf = (content: string) =>
  readStoredBody(
    new TextEncoder().encode(
      JSON.stringify({
        pages: [],
        richTextPages: [
          { id: 'p', name: 'P', content },
          { id: 'q', name: 'Q', content: '' },
        ],
      }),
    ),
  )

/** Returns the stamp of the first block of some HTML. */
export function stampOf(html: string): string {
  return blockStamp(treeOf(html)[0] as never)
}

export const ANN = { id: 'ann', kind: 'person', name: 'Ann' } as const

export function by(who: SeenChange['who'], id: string, isRemoved = false): SeenChange {
  return { kind: 'block', pageId: 'p', id, isRemoved, who }
}

/** Returns what a caller knows that was shown this HTML of the page `p`, by default the whole page; with `null`, a caller that was shown nothing. */
export function saw(
  html: string | null,
  changes: readonly SeenChange[] = [],
  more: { isWhole?: boolean; blind?: Seen['blind'] } = {},
): Seen {
  const { isWhole = true, blind = 'warn' } = more
  const pages = html === null ? [] : [{ pageId: 'p', isWhole, blocks: shownBlocks(treeOf(html)) }]
  return { pages, changes, blind }
}

/** Runs an edit of the page `p`, which has the content `stored`, for a caller that has seen `seen`. */
export function run<N extends EditName>(
  stored: string,
  seen: Seen | undefined,
  edit: N,
  args: Omit<EditArgs<N>, 'pageId'>,
): Refusal | Done {
  let minted = 0
  const environment = { nowMs: 1, random: () => `minted${String(++minted).padStart(4, '0')}`, ...(seen && { seen }) }
  const outcome = runEdit(edit, bodyOf(stored), { pageId: 'p', ...args }, environment)
  return isRefusal(outcome) ? outcome : { ...outcome, html: outcome.body.prose.pages[0]?.content ?? '' }
}

export type Done = Edited<object> & { readonly html: string }

export function done(outcome: Refusal | Done): Done {
  if (isRefusal(outcome)) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome
}

export function refusal(outcome: Refusal | Done): Refusal {
  if (!isRefusal(outcome)) throw new Error(`it was done: ${outcome.html}`)
  return outcome
}
