import { expect, it } from 'vitest'
import { compareTables, readTables } from './spec-tables.ts'

const METRIC_TABLE = '| **OPS-4** Metric | Type |\n|---|---|\n'

it('the rows of a table are found by the id in its head, without those marked not yet', () => {
  const tables = readTables([
    `${METRIC_TABLE}| a{code}, b | counter |\n| c (not yet) | gauge |\n| d (in part) | gauge |\n\n| other | x |`,
  ])
  expect(tables).toEqual(new Map([['OPS-4', ['a{code}, b', 'd']]]))
})

it('the rows of a table are found by the id in the list item above it', () => {
  const page =
    '- **TOOL-29** A tool takes.\n\n| ID | Arguments |\n|---|---|\n| TOOL-get_page (tested as TOOL-1) | D |\n\n| ID | Arguments |\n|---|---|\n| TOOL-get_shape | D |\n'
  expect(readTables([page])).toEqual(new Map([['TOOL-29', ['TOOL-get_page', 'TOOL-get_shape']]]))
})

it('a metric without a row and a row without a metric are reported', () => {
  const problems = compareTables(readTables([`${METRIC_TABLE}| relay_made_up_total{code} | counter |`]))
  expect(problems).toContain('relay_made_up_total is a row in table OPS-4 of docs/spec and not in the code')
  expect(problems).toContain('relay_build_info has no row in table OPS-4 of docs/spec (one marked (not yet) is none)')
})

it('a key, a route and a command without a row are reported', () => {
  const problems = compareTables(new Map())
  const noRow = (name: string, table: string) =>
    `${name} has no row in table ${table} of docs/spec (one marked (not yet) is none)`
  expect(problems).toContain(noRow('[server] port', 'CFG-10'))
  expect(problems).toContain(noRow('config check', 'CFG-11'))
  expect(problems).toContain(noRow('GET /api/docs/:id', 'REST-30 or REST-38'))
})

it('a row with several keys or routes is split', () => {
  const problems = compareTables(
    new Map([
      ['CFG-10', ['[metrics] expose; port', '[blobs] access_key_id, secret_access_key §']],
      ['REST-30', ['GET, PUT /api/collections', 'GET /livez, /readyz']],
    ]),
  )
  for (const found of ['[metrics] port', '[blobs] secret_access_key', 'PUT /api/collections', 'GET /readyz']) {
    expect(problems.some((problem) => problem.startsWith(`${found} `))).toBe(false)
  }
})
