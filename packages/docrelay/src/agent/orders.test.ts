import { describe, expect, it } from 'vitest'
import { openPoints, openPointsAnswer, readOrder, unansweredLines } from './orders.ts'

const PAGE = `<!-- blk-title#w5ca -->
# Weekly minutes

<!-- blk-one#0d7e -->
@agent list the open points

<!-- blk-answer#g3gs -->
↳ 1 point is open:

<!-- @4#nvr3 -->
- <!-- blk-a#gzyg -->
  Ask legal

<!-- blk-two#1baw -->
@Agent  add a row: Legal\\*, Friday

<!-- @8#jgjd -->
- <!-- blk-t1#maws -->
  [x] Order the new disks
- <!-- blk-t2#vq9e -->
  [ ] Ask legal about the retention\\_time
- <!-- blk-t3#prqj -->
  [ ] @agent what can you do

<!-- @9#9k3c -->
> [!TIP]
> <!-- blk-tip#0k8a -->
> Ask @agent here.
>
> <!-- blk-ask#0d7e -->
> @agent list the open points
>
> <!-- blk-asked#1d7e -->
> @agent add a row
>
> <!-- blk-told#2d7e -->
> ↳ The table has a new row.

<!-- blk-mail#0k8b -->
@agents are welcome
`

describe('lines that ask the agent', () => {
  it('begin with @agent and have no answer after them', () => {
    expect(unansweredLines(PAGE)).toEqual([
      { blockId: 'blk-two#1baw', words: 'add a row: Legal*, Friday', isItem: false },
      { blockId: 'blk-t3#prqj', words: 'what can you do', isItem: true },
      { blockId: 'blk-ask#0d7e', words: 'list the open points', isItem: false },
    ])
  })

  it('are none on an empty page', () => {
    expect(unansweredLines('<!-- @0#bk6k -->\n<p></p>\n')).toEqual([])
  })

  it.each([
    ['list the open points', { kind: 'list-open-points' }],
    ['please list all open tasks', { kind: 'list-open-points' }],
    ['add a row', { kind: 'add-row', values: [] }],
    ['Add a row: Legal, Friday', { kind: 'add-row', values: ['Legal', 'Friday'] }],
    ['add another row Sales', { kind: 'add-row', values: ['Sales'] }],
    ['', { kind: 'unknown' }],
    ['delete everything', { kind: 'unknown' }],
    ['add a rowing boat', { kind: 'unknown' }],
  ])('"%s" is read as an order', (words, order) => {
    expect(readOrder(words)).toEqual(order)
  })
})

describe('open points', () => {
  it('are the unticked tasks, except orders', () => {
    expect(openPoints(PAGE)).toEqual(['Ask legal about the retention_time'])
  })

  it('are counted and listed by the answer', () => {
    expect(openPointsAnswer(['a', 'b'])).toBe('↳ 2 points are open:\n\n- a\n- b')
    expect(openPointsAnswer(['a'])).toBe('↳ 1 point is open:\n\n- a')
    expect(openPointsAnswer([])).toBe('↳ Nothing is open.')
  })
})
