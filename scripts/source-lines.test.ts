import type { SourceMapPayload } from 'node:module'
import { expect, it } from 'vitest'
import { sourceFrame, sourceLines } from './source-lines.ts'

const CODE = ['import "./prelude.mjs";', 'function one() {', '\treturn two();', '}'].join('\n')
/** Line 2 comes from line 7 of a.ts, and line 3 from line 3 of b.ts. Columns count from the first non-blank character. */
const MAP: SourceMapPayload = {
  version: 3,
  file: 'chunk.mjs',
  sources: ['../src/a.ts', '../src/b.ts'],
  sourcesContent: [],
  names: [],
  sourceRoot: '',
  // The segments `AAMA` and `CCJE` hold column, source, line and column, each as the difference from the segment before.
  mappings: ';AAMA;CCJE;',
}

it('a table names the source and the line of each line that has one', () => {
  expect(sourceLines(CODE, MAP, (source) => source.replace('../', 'packages/'))).toEqual({
    sources: ['packages/src/a.ts', 'packages/src/b.ts'],
    lines: [-1, 0, 0, 7, 1, 3, -1, 0],
  })
})

it('a frame gets the file and the line of its source, and stays as it is where the table has none', () => {
  const table = { sources: ['packages/server/src/a.ts'], lines: [-1, 0, 0, 7] }
  const tableOf = (url: string) => (url === 'file:///app/dist/chunk-a.mjs' ? table : null)
  expect(sourceFrame('async Log.append (file:///app/dist/chunk-a.mjs:2:14)', tableOf)).toBe(
    'async Log.append (packages/server/src/a.ts:7)',
  )
  for (const frame of [
    'one (file:///app/dist/chunk-a.mjs:1:1)',
    'one (file:///app/dist/chunk-a.mjs:9:1)',
    'one (file:///app/dist/chunk-b.mjs:2:1)',
    'node:internal/process/task_queues:105:5',
  ])
    expect(sourceFrame(frame, tableOf)).toBe(frame)
})
