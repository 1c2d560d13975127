import type { JsonObject } from '../tool.ts'
import type { OwnErrors } from './tool-row.ts'

/** Returns an example call for the refusal of a stale stamp. `others`: the other arguments of the tool. */
export function stampErrors(others: JsonObject): OwnErrors {
  return { ERR_BLOCK_CHANGED: { pageId: 'p', ...others, id: 'blk-a#0000' } }
}

/** Returns example calls for the refusals of `id` and `anchor` on the page `p`. `others`: the other arguments of the tool. */
export function targetErrors(others: JsonObject): OwnErrors {
  const at = { pageId: 'p', ...others }
  return {
    ERR_ANCHOR_EMPTY: { ...at, anchor: ' ' },
    ERR_ANCHOR_NOT_FOUND: { ...at, anchor: 'Alph' },
    ERR_ANCHOR_AMBIGUOUS: { ...at, anchor: 'Same' },
    ERR_ID_NOT_FOUND: { ...at, id: 'blk-q' },
    ERR_ID_AMBIGUOUS: { ...at, id: 'blk-x' },
    ERR_ID_ANCHOR_MISMATCH: { ...at, id: 'blk-a', anchor: 'Same' },
  }
}
