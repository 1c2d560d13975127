import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { type Edited, isRefusal, type Refusal } from '../edit.ts'
import { runEdit } from '../edits.ts'
import { contentOf, countingEnvironment, proseBody } from '../prose/testing/editing.ts'
import { ANN, by, saw, stampOf } from '../seen/testing/callers.ts'
import type { Seen } from '../seen/seen.ts'
import { prosePage } from '../testing/builders.ts'

const step = (tool: string, args: object) => ({ tool, arguments: args })
const run = (body: DocumentBody, steps: readonly object[], seen?: Seen) =>
  runEdit('edit_document', body, { steps }, { ...countingEnvironment(), ...(seen && { seen }) })

function done(outcome: Edited<object> | Refusal): DocumentBody {
  if (isRefusal(outcome)) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome.body
}

describe('blocks in several steps', () => {
  const PAGE = '<h1 id="blk-h">Head</h1><p id="blk-a">by Ann</p><h1 id="blk-n">Next</h1>'
  const heading = `blk-h#${stampOf('<h1>Head</h1>')}`
  const demote = step('restructure_outline', { pageId: 'p', op: 'demote', id: heading })
  const remove = (id: string) => step('delete_section', { pageId: 'p', id })
  const outlineOnly = saw('<h1 id="blk-h">Head</h1><h1 id="blk-n">Next</h1>', [], { isWhole: false })

  it('[AG-27] [AG-56] what the memory does not know is not removed along with a heading named by a stamped id, also when an earlier step changed the heading', () => {
    const current = { content: 'by Ann' }
    expect(run(proseBody(PAGE), [remove(heading)], outlineOnly)).toMatchObject({ code: 'ERR_BLOCK_CHANGED', facts: { current } })
    for (const steps of [
      [demote, remove(heading)],
      [demote, demote, remove(heading)],
    ]) {
      const refused = run(proseBody(PAGE), steps, outlineOnly)
      expect(refused).toMatchObject({ code: 'ERR_BLOCK_CHANGED', facts: { current, step: steps.length } })
    }
  })

  it('[AG-27] [AG-56] a heading that an earlier step changed is removed by its stamp of before with what the caller had seen, or without any memory', () => {
    for (const seen of [saw(PAGE), saw(PAGE, [], { isWhole: false }), undefined])
      expect(contentOf(done(run(proseBody(PAGE), [demote, remove(heading)], seen)))).toBe('<h1 id="blk-n">Next</h1>')
  })

  it('[AG-27] [AG-56] a heading that earlier steps changed and moved to another page is found there by its stamp of before', () => {
    const body = proseBody(PAGE, {}, prosePage('q', '<p id="blk-q">q</p>'))
    const move = step('restructure_outline', { pageId: 'p', op: 'move', id: heading, toPageId: 'q' })
    const removed = done(run(body, [demote, move, step('delete_section', { pageId: 'q', id: heading })], saw(PAGE)))
    expect([contentOf(removed), contentOf(removed, 'q')]).toEqual(['<h1 id="blk-n">Next</h1>', '<p id="blk-q">q</p>'])
  })

  it('[AG-28] [AG-56] a heading that an earlier step changed may be overwritten by its stamp of before, whatever the memory says that others changed', () => {
    const set = step('set_prose', { pageId: 'p', id: heading, content: '# Mine' })
    const stale = saw(PAGE.replace('Head', 'Old'), [by(ANN, 'blk-h')])
    expect(contentOf(done(run(proseBody(PAGE), [demote, set], stale)))).toContain('Mine</h')
  })
})
