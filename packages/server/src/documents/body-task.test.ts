import { describe, expect, it } from 'vitest'
import { runBodyTask } from './body-task.ts'

const MIB = 1_048_576

describe('settling the title of a prepared body again', () => {
  it('[BODY-10] [CFG-2] settling again changes only the title, and shows an empty one as Untitled Document', () => {
    const bytes = Buffer.from('{"name":"Plan","title":"","version":7,"tags":["a"]}')
    const prepared = runBodyTask({ kind: 'prepare', bytes, docId: 'd', storedTitle: null, maxBytes: MIB })
    if (prepared.kind !== 'prepared') throw new Error(prepared.kind)
    expect(prepared.body.facts).toMatchObject({ title: 'Plan', clientVersion: 7 })
    const settled = runBodyTask({ kind: 'resettle', body: prepared.body, storedTitle: 'Plan' })
    if (settled.kind !== 'prepared') throw new Error(settled.kind)
    expect(JSON.parse(Buffer.from(settled.body.bytes).toString())).toMatchObject({ name: '', title: '' })
    expect(settled.body.facts).toEqual({ ...prepared.body.facts, title: 'Untitled Document' })
  })
})
