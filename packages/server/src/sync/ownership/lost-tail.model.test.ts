import { expect, it } from 'vitest'

/**
 * A model of two nodes that append to the log of one document. Each node may take the document over at any moment, and the database may come
 * back once without its last commits. `explore` visits every state that any order of steps can reach.
 *
 * Acknowledged edits that were in the missing commits do not count as lost. But no later edit may be acknowledged that builds on an edit that
 * is not in the log, because no client could show it.
 */
interface Rules {
  readonly comparesEpoch: boolean
  /** True when an append is refused unless the log ends at the place that the room expects. */
  readonly comparesEnd: boolean
  readonly mayLoseTail: boolean
}

interface Store {
  readonly log: readonly number[]
  readonly owner: number
  readonly epoch: number
}
interface Append {
  readonly epoch: number
  /** All edits that the room had before this edit. */
  readonly before: readonly number[]
  readonly edit: number
}
interface Room {
  readonly epoch: number
  readonly view: readonly number[]
}
interface Node {
  readonly room: Room | null
  readonly queue: readonly Append[]
}
interface State {
  readonly store: Store
  /** The copy with which the database comes back. Is `null` before the copy is made and after the failover. */
  readonly copy: Store | null
  readonly hasFailedOver: boolean
  readonly acked: readonly number[]
  readonly begun: number
  readonly nodes: readonly Node[]
}
type Step = readonly [name: string, next: State, violation?: string | null]

const EDITS = 4
const EPOCHS = 3
const CLOSED: Node = { room: null, queue: [] }
const FIRST: State = {
  store: { log: [], owner: -1, epoch: 0 },
  copy: null,
  hasFailedOver: false,
  acked: [],
  begun: 0,
  nodes: [CLOSED, CLOSED],
}
const LOST = 'an acknowledged edit is not in the log'
const UNSEEN = 'an acknowledged edit builds on one that the log lacks'

function* steps(state: State, rules: Rules): Generator<Step> {
  const { store, copy, hasFailedOver, acked, begun, nodes } = state
  if (rules.mayLoseTail && copy === null && !hasFailedOver) yield ['copy', { ...state, copy: store }]
  if (copy !== null) {
    const kept = acked.filter((edit) => copy.log.includes(edit))
    yield ['fail over', { ...state, store: copy, copy: null, hasFailedOver: true, acked: kept }]
  }
  for (const [i, { room, queue }] of nodes.entries()) {
    const becomes = (node: Node): State => ({ ...state, nodes: nodes.with(i, node) })
    if (room === null && queue.length === 0 && store.epoch < EPOCHS) {
      const epoch = store.epoch + 1
      yield [
        `acquire ${i}`,
        { ...becomes({ room: { epoch, view: store.log }, queue: [] }), store: { ...store, owner: i, epoch } },
      ]
    }
    if (room !== null && begun < EDITS) {
      const view = [...room.view, begun]
      const append: Append = { epoch: room.epoch, before: room.view, edit: begun }
      yield [`edit ${begun} in ${i}`, { ...becomes({ room: { ...room, view }, queue: [...queue, append] }), begun: begun + 1 }]
    }
    const [next, ...rest] = queue
    if (next !== undefined) yield execution(state, i, next, { room, queue: rest }, rules)
  }
}

function execution(state: State, i: number, { epoch, before, edit }: Append, after: Node, rules: Rules): Step {
  const { store, acked, nodes } = state
  const isOwner = !rules.comparesEpoch || (store.owner === i && store.epoch === epoch)
  const isAtEnd = !rules.comparesEnd || store.log.length === before.length
  if (!isOwner || !isAtEnd) return [`append of ${edit} refused`, { ...state, nodes: nodes.with(i, CLOSED) }]
  const log = [...store.log, edit]
  const next = { ...state, store: { ...store, log }, acked: [...acked, edit], nodes: nodes.with(i, after) }
  return [`append of ${edit}`, next, before.every((one) => log.includes(one)) ? null : UNSEEN]
}

function explore(changed: Partial<Rules>): {
  readonly states: number
  readonly violation: string | null
  readonly trace: readonly string[]
} {
  const rules = { comparesEpoch: true, comparesEnd: true, mayLoseTail: true, ...changed }
  const known = new Set([JSON.stringify(FIRST)])
  const visits: { readonly state: State; readonly trace: readonly string[] }[] = [{ state: FIRST, trace: [] }]
  for (const { state, trace } of visits) {
    for (const [name, next, found] of steps(state, rules)) {
      const isLost = next.acked.some((edit) => !next.store.log.includes(edit))
      const violation = found ?? (isLost ? LOST : null)
      if (violation !== null) return { states: known.size, violation, trace: [...trace, name] }
      const key = JSON.stringify(next)
      if (known.has(key)) continue
      known.add(key)
      visits.push({ state: next, trace: [...trace, name] })
    }
  }
  return { states: known.size, violation: null, trace: [] }
}

it.each([
  ['that compare the epoch and the end of the log, on a database that may lose its last commits', {}],
  ['that compare only the end of the log, on a database that loses nothing', { comparesEpoch: false, mayLoseTail: false }],
] as const)('[LIFE-26] no order of steps loses an acknowledged edit with appends %s', (_, rules) => {
  const { states, ...found } = explore(rules)
  expect(found).toEqual({ violation: null, trace: [] })
  expect(states).toBeGreaterThan(1_000)
})

it.each([
  [
    'that do not compare the epoch, once another node has stored as many edits as the database lost',
    { comparesEpoch: false },
    UNSEEN,
  ],
  ['that do not compare the end of the log', { comparesEnd: false }, UNSEEN],
] as const)('[LIFE-26] the search finds an acknowledged edit that no client can show with appends %s', (_, rules, violation) => {
  expect(explore(rules).violation).toBe(violation)
})
