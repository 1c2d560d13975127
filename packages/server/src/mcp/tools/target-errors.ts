import type { JsonObject } from '../tool.ts'
import type { OwnErrors } from './tool-row.ts'

/** The refusal of a writing tool, beside `targetErrors`, when the stamp behind an id is not that of the block. */
export function stampErrors(others: JsonObject): OwnErrors {
  return { ERR_BLOCK_CHANGED: { pageId: 'p', ...others, id: 'blk-a#0000' } }
}

/** The refusals of a tool that names a block of the page `p` by `id` or `anchor`. `others`: its other arguments. */
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
