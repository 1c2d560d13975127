import { describe, expect, it } from 'vitest'
import type { EditRequest } from '../../documents/residents.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { toolCall } from '../testing/tool-call.ts'
import { TOOL_ROWS } from './all-tools.ts'
import { editDocumentTool, type StepDeps } from './edit-document.ts'
import type { Editable } from './edit-tool.ts'

const rename = { tool: 'rename_document', arguments: { name: 'x' } }
const diagram = { tool: 'generate_diagram', arguments: { pageId: 'c', nodes: [{ id: 'a' }] } }
const steps = (count: number) => Array.from({ length: count }, () => rename)

describe('edit_document', () => {
  it('[AG-58] takes one write token for each ten steps or part of ten, at most five, also for unchecked arguments', () => {
    const tool = TOOL_ROWS.find(({ name }) => name === 'edit_document')
    const price = (args: unknown) => tool?.tokens?.(args)
    expect(tool?.bucket).toBe('write')
    expect([1, 10, 11, 20, 21, 50, 5_000].map((count) => price({ steps: steps(count) }))).toEqual([1, 1, 2, 2, 3, 5, 5])
    for (const args of [null, 'x', {}, { steps: 7 }, { steps: [] }]) expect(price(args)).toBe(1)
  })

  it('[AG-58] all steps reach the document as one edit, which has the deadline of one edit and fails as a whole', async () => {
    const asked: Pick<EditRequest, 'edit' | 'args'>[] = []
    const { run } = opened({ onEdit: (request) => asked.push(request) })
    expect(await run(steps(50))).toMatchObject({ kind: 'failure', code: 'ERR_ID_NOT_FOUND' })
    expect(asked).toMatchObject([{ edit: 'edit_document', args: { steps: { length: 50 } } }])
  })

  it('[AG-58] [DIAG-17] when a diagram of a step is not laid out in time, the call fails and no edit begins', async () => {
    let edits = 0
    const { run } = opened({
      onEdit: () => edits++,
      prepare: () => Promise.reject(new RelayError('UNAVAILABLE', 'The diagram could not be laid out in time.')),
    })
    await expect(run([rename, diagram])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(edits).toBe(0)
  })
})

/** Makes the tool over a document service that refuses every edit. */
function opened(given: { onEdit(request: Pick<EditRequest, 'edit' | 'args'>): void; prepare?: StepDeps['layouts']['prepare'] }) {
  const documents = {
    require: async () => ({ version: 1 }),
    edit: async (_: unknown, request: Pick<EditRequest, 'edit' | 'args'>) => {
      given.onEdit(request)
      return { kind: 'refused', code: 'ERR_ID_NOT_FOUND', message: 'no such block', facts: {} }
    },
    get: async () => ({ record: { body: new TextEncoder().encode('{}') } }),
  }
  const deps = {
    documents,
    layouts: { prepare: given.prepare ?? (async () => []) },
    timers: { after: () => () => undefined },
    icons: { icons: [] },
  } as unknown as StepDeps
  const tool = editDocumentTool(documents as unknown as Editable, deps, TOOL_ROWS)
  return { run: (list: readonly object[]) => tool.run(toolCall({ docId: 'd', steps: list })) }
}
