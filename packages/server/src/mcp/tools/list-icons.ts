import type { Fix } from '@docrelay/model/edit'
import { quote } from '@docrelay/model/quote'
import { badArgument } from '../arguments.ts'
import { success, withFixes } from '../results.ts'
import { findIcons, type IconCatalogue, type IconQuery } from './icon-catalogue.ts'
import { annotations, input, INTEGER, TEXT } from './schema.ts'
import { output } from './output-schema.ts'
import type { ToolRow } from './tool-row.ts'

/** The fix for a blank query. [AG-33] */
const BLANK_QUERY: Fix = { action: 'dropped_invalid', field: 'query', reason: 'blank text counts as absent' }

/** The tool `list_icons`. [TOOL-list_icons] */
export function listIcons(catalogue: IconCatalogue): ToolRow {
  return {
    name: 'list_icons',
    place: 11,
    title: 'List icons',
    description: 'Find an iconId. Returns 50 or limit (1-200).',
    errors: {},
    examples: [{ query: 'database', limit: 5 }],
    needless: { query: { told: { query: ' ' } } },
    // The schema states no limits, because a limit outside 1-200 is replaced by the nearest bound. [ICON-2]
    inputSchema: input({}, { query: TEXT, category: TEXT, limit: INTEGER, cursor: TEXT }),
    outputSchema: output(['icons', 'returned', 'total'], ['categories', 'nextCursor']),
    annotations: annotations('RO', 'ID'),
    toolset: 'read',
    access: 'none',
    bucket: 'read',
    async run({ args }) {
      const { cursor, ...query } = args as Omit<IconQuery, 'after'> & { readonly cursor?: string }
      const after = cursor === undefined ? null : readCursor(cursor)
      if (cursor !== undefined && after === null) {
        const expected = 'the nextCursor of an earlier answer'
        return badArgument('cursor', `cursor must be ${expected}.`, { expected, got: quote(cursor) })
      }
      const { icons, total, next } = findIcons(catalogue, { ...query, after })
      const nextCursor = next === null ? {} : { nextCursor: writeCursor(next) }
      // The whole list of categories goes with the first page only. [AG-42]
      const categories = after === null ? { categories: catalogue.categories } : {}
      const found = success({ icons, returned: icons.length, total, ...categories, ...nextCursor })
      return withFixes(found, query.query?.trim() === '' ? [BLANK_QUERY] : [])
    },
  }
}

function writeCursor(id: string): string {
  return Buffer.from(id).toString('base64url')
}

function readCursor(cursor: string): string | null {
  const id = Buffer.from(cursor, 'base64url').toString()
  return /^builtin:[a-z0-9-]{1,100}$/.test(id) && writeCursor(id) === cursor ? id : null
}
