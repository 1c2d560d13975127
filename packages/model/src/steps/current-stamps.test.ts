import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { shapeStamp } from '../canvas/shape-stamp.ts'
import { type Edited, isRefusal, type Refusal } from '../edit.ts'
import { runEdit } from '../edits.ts'
import type { JsonObject } from '../json.ts'
import { contentOf, countingEnvironment, proseBody } from '../prose/testing/editing.ts'
import { ANN, by, saw, stampOf } from '../seen/testing/callers.ts'
import type { Seen } from '../seen/seen.ts'
import { body as bodyWith, canvasPage, prosePage, rectangle } from '../testing/builders.ts'

const step = (tool: string, args: object) => ({ tool, arguments: args })
const run = (body: DocumentBody, steps: readonly object[], seen?: Seen) =>
  runEdit('edit_document', body, { steps }, { ...countingEnvironment(), ...(seen && { seen }) })

function done(outcome: Edited<object> | Refusal): DocumentBody {
  if (isRefusal(outcome)) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome.body
}

describe('shapes in several steps', () => {
  const size = { width: 100, height: 60 }
  const shapes = [
    rectangle('s1', { ...size, label: 'One' }),
    rectangle('s2', { x: 300, ...size }),
    rectangle('s3', { x: 600, ...size }),
  ]
  const connector = { id: 'k1', type: 'connector', x: 0, y: 0, x2: 9, y2: 9, startShapeId: 's2', endShapeId: 's3' }
  const other = canvasPage('c2', rectangle('s1', { ...size, label: 'Other' }))
  const body = bodyWith({ pages: [canvasPage('c', ...shapes, connector), other], richTextPages: [prosePage('p', '<p>x</p>')] })
  const stored = (given: DocumentBody, page = 0) => given.canvas.pages[page]?.shapes[0]?.value as JsonObject
  const [name, otherName] = [0, 1].map((page) => `s1#${shapeStamp(stored(body, page))}`) as [string, string]
  const change = step('update_shape', { pageId: 'c', id: name, patch: { text: 'API' } })

  it.each([
    ['connect', { pageId: 'c', fromId: name, toId: 's2' }],
    ['connect', { pageId: 'c', fromId: 's2', toId: name }],
    ['update_shape', { pageId: 'c', id: name, patch: { w: 200 } }],
    ['update_shape', { pageId: 'c', id: 'k1', patch: { startShapeId: name } }],
    ['delete_shape', { pageId: 'c', id: name }],
    ['reorder_shapes', { pageId: 'c', order: ['s3', 's2', name, 'k1'] }],
    ['add_shape', { pageId: 'c', shape: { kind: 'connector', startShapeId: name, endShapeId: 's2' } }],
    ['add_shapes', { pageId: 'c', shapes: [{ kind: 'connector', startShapeId: 's2', endShapeId: name }] }],
    ['generate_diagram', { pageId: 'c', nodes: [{ id: 'a', shapeId: name }] }],
    ['generate_diagram', { pageId: 'c', nodes: [{ id: 'a' }], near: name }],
    ['edit_text', { pageId: 'c', scope: 'canvas', edits: [{ find: 'API', replace: 'Gateway', id: name }] }],
    ['edit_text', { scope: 'all', edits: [{ find: 'API', replace: 'Gateway', id: name }] }],
  ])('[AG-56] a shape that an earlier step changed passes with the stamp it had before in %s %j', (tool, args) => {
    expect(done(run(body, [change, step(tool, args)]))).not.toBe(body)
  })

  it('[AG-56] a shape that an earlier step changed passes in every later step, and with no stamp that it did not have before', () => {
    const again = (id: string, text: string) => step('update_shape', { pageId: 'c', id, patch: { text } })
    expect(stored(done(run(body, [change, again(name, 'two'), again(name, 'three')])))['label']).toBe('three')
    for (const id of ['s1#0000', otherName])
      expect(run(body, [change, again(id, 'two')])).toMatchObject({ code: 'ERR_SHAPE_CHANGED', facts: { step: 2 } })
  })

  it('[AG-56] a shape that an earlier step changed is not taken for a shape with the same id on another page', () => {
    const there = (id: string) => step('update_shape', { pageId: 'c2', id, patch: { text: 'two' } })
    expect(stored(done(run(body, [change, there(otherName)])), 1)['label']).toBe('two')
    expect(run(body, [change, there(name)])).toMatchObject({ code: 'ERR_SHAPE_CHANGED', facts: { step: 2 } })
  })

  it('[AG-56] a shape that an earlier step removed is not found by the stamp it had before', () => {
    const steps = [step('delete_shape', { pageId: 'c', id: name }), change]
    expect(run(body, steps)).toMatchObject({ code: 'ERR_SHAPE_NOT_FOUND', facts: { step: 2 } })
  })
})

describe('blocks in several steps', () => {
  const PAGE = '<h1 id="blk-h">Head</h1><p id="blk-a">by Ann</p><h1 id="blk-n">Next</h1>'
  const heading = `blk-h#${stampOf('<h1>Head</h1>')}`
  const demote = step('restructure_outline', { pageId: 'p', op: 'demote', id: heading })
  const remove = (id: string) => step('delete_section', { pageId: 'p', id })
  const outlineOnly = saw('<h1 id="blk-h">Head</h1><h1 id="blk-n">Next</h1>', [], { isWhole: false })

  it('[AG-27] [AG-56] after a step changed a heading, its old stamp removes no section that was not shown', () => {
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

  it('[AG-27] [AG-56] after a step changed a heading, its old stamp removes a section that was shown', () => {
    for (const seen of [saw(PAGE), saw(PAGE, [], { isWhole: false }), undefined])
      expect(contentOf(done(run(proseBody(PAGE), [demote, remove(heading)], seen)))).toBe('<h1 id="blk-n">Next</h1>')
  })

  it('[AG-27] [AG-56] a heading that earlier steps changed and moved to another page is found there by its old stamp', () => {
    const body = proseBody(PAGE, {}, prosePage('q', '<p id="blk-q">q</p>'))
    const move = step('restructure_outline', { pageId: 'p', op: 'move', id: heading, toPageId: 'q' })
    const removed = done(run(body, [demote, move, step('delete_section', { pageId: 'q', id: heading })], saw(PAGE)))
    expect([contentOf(removed), contentOf(removed, 'q')]).toEqual(['<h1 id="blk-n">Next</h1>', '<p id="blk-q">q</p>'])
  })

  it('[AG-28] [AG-56] a heading that an earlier step changed is overwritten by its old stamp, whatever others did', () => {
    const set = step('set_prose', { pageId: 'p', id: heading, content: '# Mine' })
    const stale = saw(PAGE.replace('Head', 'Old'), [by(ANN, 'blk-h')])
    expect(contentOf(done(run(proseBody(PAGE), [demote, set], stale)))).toContain('Mine</h')
  })
})
