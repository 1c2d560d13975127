import { describe, expect, it } from 'vitest'
import { hashOf, type IndexRow, keyAndClass, planRows, rowId, rowRange } from './index-rows.ts'

const row = (words: string, placeClass = 3): IndexRow => ({ placeClass, words, hash: hashOf(words) })
const stored = (key: number, rows: readonly IndexRow[]) => planRows(key, [], rows).add.map(({ id, hash }) => ({ id, hash }))

describe('rows of a document in an index', () => {
  it('[AG-64] only changed texts of a document are written; moved texts keep their rows', () => {
    const before = ['a', 'b', 'b', 'c'].map((words) => row(words))
    const rows = stored(7, before)
    expect(planRows(7, rows, before.toReversed())).toEqual({ remove: [], add: [] })
    const plan = planRows(7, rows, [row('new'), ...before.slice(0, 3)])
    expect(plan.remove).toEqual([rows[3]?.id])
    expect(plan.add.map(({ words }) => words)).toEqual(['new'])
  })

  it('[AG-64] a text that becomes a heading gets another row', () => {
    const rows = stored(7, [row('a')])
    const plan = planRows(7, rows, [row('a', 2)])
    expect([plan.remove, plan.add.map(({ id }) => keyAndClass(id))]).toEqual([[rows[0]?.id], [7 * 4 + 2]])
  })

  it('[AG-64] ids of index rows are safe integers within the range of their document, and none is given twice', () => {
    const key = 2 ** 31 - 1
    const { first, last } = rowRange(key)
    expect([Number.isSafeInteger(last), last - first]).toEqual([true, 2 ** 22 - 1])
    expect(last + 1).toBe(rowRange(key + 1).first)
    expect([rowId(key, 0, 0), rowId(key, 3, 2 ** 20 - 1)]).toEqual([first, last])
    const rows = stored(
      key,
      ['a', 'b', 'c'].map((words) => row(words)),
    )
    const { add } = planRows(
      key,
      [rows[1] ?? { id: 0, hash: 0 }],
      ['x', 'y', 'b'].map((words) => row(words)),
    )
    expect(new Set([...add.map(({ id }) => id), rows[1]?.id]).size).toBe(3)
  })
})
