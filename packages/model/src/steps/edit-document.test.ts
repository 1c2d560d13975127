import { describe, expect, it } from 'vitest'
import { isRefusal } from '../edit.ts'
import { runEdit } from '../edits.ts'
import { blockStamp } from '../prose/block-stamp.ts'
import { parseHtml } from '../prose/html.ts'
import type { ProseElement } from '../prose/node.ts'
import { contentOf, countingEnvironment, proseBody } from '../prose/testing/editing.ts'
import type { StepsDone } from './edit-document.ts'

const PAGE = '<h1 id="blk-h">Head</h1><p id="blk-a">Alpha</p><p id="blk-b">Beta</p>'
const body = proseBody(PAGE)
const stampOf = (html: string): string => blockStamp(parseHtml(html, { source: 'stored' }).tree[0] as ProseElement)
const alpha = `blk-a#${stampOf('<p>Alpha</p>')}`
const step = (tool: string, args: object) => ({ tool, arguments: { pageId: 'p', ...args } })
const run = (...steps: readonly object[]) => runEdit('edit_document', body, { steps }, countingEnvironment())

function done(...steps: readonly object[]) {
  const answer = run(...steps)
  if (isRefusal(answer)) throw new Error(`${answer.code}: ${answer.message}`)
  return { ...answer, html: contentOf(answer.body), result: answer.result as StepsDone }
}

describe('several edits as one', () => {
  it('[TOOL-edit_document] [AG-57] steps run in order on one body, and the answer has changes and new ids of each', () => {
    const { html, result } = done(
      step('insert_block', { id: 'blk-a', content: '<p>New</p>', format: 'html' }),
      step('edit_text', { edits: [{ find: 'New', replace: 'Newer' }] }),
      step('delete_block', { id: 'blk-b' }),
    )
    expect(html).toBe('<h1 id="blk-h">Head</h1><p id="blk-a">Alpha</p><p id="blk-0000000001">Newer</p>')
    expect(result.steps.map(({ tool, changed }) => [tool, changed])).toEqual([
      ['insert_block', 1],
      ['edit_text', 1],
      ['delete_block', 1],
    ])
    expect(result.steps[0]?.result).toMatchObject({ blocks: [{ id: expect.stringMatching(/^blk-0000000001#/) }] })
  })

  it('[AG-55] a reference in an id stands for a value in the result of an earlier step; content is never scanned', () => {
    const { html } = done(
      step('insert_block', { id: 'blk-a', content: '<p>$1.blocks[0].id</p>', format: 'html' }),
      step('set_block', { id: '$1.blocks[0].id', level: 2 }),
      step('insert_block', { id: '$2.blocks[0].id', content: '<p>after</p>', format: 'html' }),
    )
    expect(html).toContain('<h2 id="blk-0000000001">$1.blocks[0].id</h2><p id="blk-0000000002">after</p>')
  })

  it.each(['$1.blocks[9].id', '$2.blocks[0].id', '$3.blocks[0].id', '$1.blocks', '$1.pageId.length'])(
    '[AG-55] the reference %s is refused with the members of the result that the reference names',
    (id) => {
      const refused = run(step('insert_block', { id: 'blk-a', content: 'x' }), step('delete_block', { id }))
      expect(refused).toMatchObject({ kind: 'refused', code: 'ERR_STEP_REF', facts: { step: 2, reference: id } })
    },
  )

  it('[AG-56] a block that an earlier step changed is accepted with its stamp from before the call, and with no other', () => {
    const { html } = done(
      step('edit_text', { edits: [{ find: 'Alpha', replace: 'Omega' }] }),
      step('set_block', { id: alpha, level: 3 }),
    )
    expect(html).toContain('<h3 id="blk-a">Omega</h3>')
    const refused = run(
      step('edit_text', { edits: [{ find: 'Alpha', replace: 'Omega' }] }),
      step('set_block', { id: 'blk-a#0000', level: 3 }),
    )
    expect(refused).toMatchObject({ code: 'ERR_BLOCK_CHANGED', facts: { step: 2 } })
  })

  it('[AG-57] a failing step gives its own code, its number and its tool, and nothing of the call is kept', () => {
    const refused = run(step('delete_block', { id: 'blk-a' }), step('delete_block', { id: 'blk-a' }))
    expect(refused).toMatchObject({ code: 'ERR_ID_NOT_FOUND', facts: { step: 2, id: 'blk-a' } })
    expect(isRefusal(refused) && refused.message).toMatch(/^step 2 \(service_delete_block\): /)
    expect(contentOf(body)).toBe(PAGE)
  })

  it('[AG-57] a failure that shows blocks after earlier steps wrote says that these writes are not stored', () => {
    const note =
      ' Nothing of the call is stored: what earlier steps wrote, ids and stamps included, is shown for this step alone.'
    const missing = step('delete_block', { id: 'blk-none' })
    const messageOf = (...steps: readonly object[]) => (run(...steps) as { readonly message: string }).message
    const after = messageOf(step('insert_block', { id: 'blk-b', content: 'x' }), missing)
    expect(messageOf(step('set_block', { id: 'blk-h', level: 1 }), missing)).not.toContain(note)
    expect(after.endsWith(note)).toBe(true)
    expect(messageOf(missing)).not.toContain(note)
    expect(messageOf(step('insert_block', { id: 'blk-b', content: 'x' }), step('set_block', { id: 'blk-a' }))).not.toContain(note)
  })

  it('[AG-57] fixes and warnings have the number of their step', () => {
    const { fixes, warnings } = done(
      step('set_block', { id: 'blk-a', type: 'heading' }),
      step('insert_section', { title: 'x', level: 9 }),
    )
    expect(warnings).toMatchObject([{ field: 'level', step: 1 }])
    expect(fixes).toMatchObject([{ field: 'level', step: 2 }])
  })

  it('[AG-48] word edits of several steps in one block are reported one after the other', () => {
    const { textChanges } = done(
      step('edit_text', { edits: [{ find: 'Alpha', replace: 'Alpine' }] }),
      step('edit_text', { edits: [{ find: 'Alpine', replace: 'Alpaca' }] }),
    )
    expect(textChanges).toMatchObject([{ id: 'blk-a', steps: [[{ insert: 'ine' }], [{ insert: 'aca' }]] }])
  })
})
