import { expect, it } from 'vitest'

/**
 * A model of the nodes that may change a document. Nodes open the document, a database executes their statements, and a client is
 * connected to an edge. A crash, a lost answer and the end of a lease may come at any moment. `explore` visits every state that any order of
 * steps can reach, and looks for a state that must not occur. Statements compare no sequences, so that the model shows that comparing the
 * epoch is enough to refuse the statements of former owners.
 */
interface Rules {
  readonly nodes: number
  readonly edits: number
  /** `epochs` and `crashes` limit the search: at most this many acquisitions and crashes occur. */
  readonly epochs: number
  readonly crashes: number
  /** True when bodies are saved and read. */
  readonly hasBodies: boolean
  readonly hasHandOver: boolean
  readonly hasEdge: boolean
  /** The rules of the protocol. When any one of them is left out, the search must find a violation. */
  readonly comparesEpoch: boolean
  readonly readsLookAtRow: boolean
  /**
   * The record after which an edge asks a new owner for the rest of the log: the last record that the edge knows to be durable, or the
   * last record that it has seen.
   */
  readonly since: 'durable' | 'seen'
  /**
   * True when an owner refuses an edge whose record of `since` lies after the end of the owner's durable log. Such an owner has lost the
   * document and has not noticed it.
   */
  readonly turnsAway: boolean
}

const TWO_NODES: Rules = {
  ...{ nodes: 2, edits: 2, epochs: 3, crashes: 1, hasBodies: true, hasHandOver: true, hasEdge: false },
  ...{ comparesEpoch: true, readsLookAtRow: true, since: 'durable', turnsAway: true },
}

/** The live document of a node. `view` has its edits in order, and the first `durable` of them are stored. */
interface Room {
  readonly epoch: number
  readonly view: readonly number[]
  readonly durable: number
}
/**
 * A statement on its way to the database. For an append, `at` is the sequence that the room expects. For a saved body, `at` is the sequence
 * through which the body contains the log.
 */
interface Statement {
  readonly kind: 'append' | 'save'
  readonly epoch: number
  readonly at: number
  readonly edits: readonly number[]
}
interface Node {
  readonly room: Room | null
  readonly queue: readonly Statement[]
}
/** A client at an edge. `node` is the owner to which the edge is linked. This owner has sent it the first `at` edits of its room. */
interface Edge {
  readonly node: number
  readonly at: number
  readonly since: number
  readonly has: readonly number[]
}
interface State {
  readonly owner: number
  readonly epoch: number
  readonly isLeaseOver: boolean
  /** True while the owner has not yet opened a document that was handed over to it. */
  readonly isHandedOver: boolean
  readonly log: readonly number[]
  readonly lastEpoch: number
  readonly covered: number
  readonly acked: readonly number[]
  readonly crashes: number
  /** How many edits have begun so far. All edits are alike, so they begin only in the order of their numbers. */
  readonly begun: number
  readonly nodes: readonly Node[]
  readonly edge: Edge
}
type Step = readonly [name: string, next: State, violation?: string | false]

const EDGE = { hasEdge: true, hasBodies: false, crashes: 0 } as const
const LACKING = 'an edge lacks an edit that its owner takes it to have'
const NOBODY = -1
const CLOSED: Node = { room: null, queue: [] }
const added = (edits: readonly number[], edit: number) => (edits.includes(edit) ? edits : [...edits, edit].sort())
const withNode = (s: State, i: number, node: Partial<Node>): State => {
  const isLinked = s.edge.node === i && node.room === null
  return {
    ...s,
    nodes: s.nodes.with(i, { ...(s.nodes[i] as Node), ...node }),
    edge: isLinked ? { ...s.edge, node: NOBODY } : s.edge,
  }
}

function* steps(s: State, rules: Rules): Generator<Step> {
  for (const [i, { room, queue }] of s.nodes.entries()) {
    if (room === null) yield* openings(s, i, rules)
    else {
      yield* edits(s, i, room, rules)
      if (room.durable === room.view.length && queue.length === 0) yield* whenDurable(s, i, room, rules)
    }
    if (queue[0] !== undefined) yield* executions(s, i, queue[0], rules)
    if (s.crashes < rules.crashes) yield [`crash ${i}`, withNode({ ...s, crashes: s.crashes + 1 }, i, CLOSED)]
  }
  if (s.owner !== NOBODY && !s.isLeaseOver) yield ['the lease ends', { ...s, isLeaseOver: true }]
  if (rules.hasEdge) yield* edgeSteps(s, rules)
}

function* openings(s: State, i: number, rules: Rules): Generator<Step> {
  const open = (epoch: number): State => {
    const room = { epoch, view: s.log, durable: s.log.length }
    return withNode({ ...s, owner: i, epoch, isLeaseOver: false, isHandedOver: false }, i, { room })
  }
  if (s.owner === i && s.isHandedOver) yield [`open ${i}`, open(s.epoch)]
  if ((s.owner === NOBODY || s.owner === i || s.isLeaseOver) && s.epoch < rules.epochs) yield [`acquire ${i}`, open(s.epoch + 1)]
}

/** The steps in which a client sends an edit to a node, for the first time or again after a loss. */
function* edits(s: State, i: number, room: Room, rules: Rules): Generator<Step> {
  const { queue } = s.nodes[i] as Node
  for (let edit = 0; edit < Math.min(rules.edits, s.begun + 1); edit++) {
    if (s.acked.includes(edit)) continue
    const place = room.view.indexOf(edit)
    if (place >= 0 && place < room.durable) yield [`ack ${edit} again by ${i}`, { ...s, acked: added(s.acked, edit) }]
    if (place >= 0 || queue.length >= 2) continue
    const view = [...room.view, edit]
    const append: Statement = { kind: 'append', epoch: room.epoch, at: view.length, edits: [edit] }
    yield [
      `edit ${edit} in ${i}`,
      withNode({ ...s, begun: Math.max(s.begun, edit + 1) }, i, { room: { ...room, view }, queue: [...queue, append] }),
    ]
  }
}

function* whenDurable(s: State, i: number, room: Room, rules: Rules): Generator<Step> {
  const isOwner = s.owner === i && s.epoch === room.epoch
  const body: Statement = { kind: 'save', epoch: room.epoch, at: room.view.length, edits: room.view }
  if (rules.hasBodies) yield [`save ${i}`, withNode(s, i, { queue: [body] })]
  if (isOwner || !rules.comparesEpoch) yield [`release ${i}`, withNode({ ...s, owner: NOBODY }, i, { room: null })]
  if (rules.hasHandOver && isOwner && s.epoch < rules.epochs) {
    for (let to = 0; to < rules.nodes; to++) {
      const given = { ...s, owner: to, epoch: s.epoch + 1, isLeaseOver: false, isHandedOver: true }
      if (to !== i && s.nodes[to]?.room === null) yield [`hand over ${i} to ${to}`, withNode(given, i, { room: null })]
    }
  }
  if (!rules.hasBodies) return
  // A node with a settled room answers a read from the stored body, so this body must contain everything that was acknowledged.
  const isSettled = s.covered >= room.view.length && (isOwner || !rules.readsLookAtRow)
  const isStale = s.acked.some((edit) => s.log.indexOf(edit) >= s.covered)
  if (isSettled && isStale) yield [`read at ${i}`, s, 'a read lacks an acknowledged edit']
}

/** The steps in which the database executes a statement, even that of a paused node. The answer may be lost. */
function* executions(s: State, i: number, { kind, epoch, at, edits: carried }: Statement, rules: Rules): Generator<Step> {
  const { room, queue } = s.nodes[i] as Node
  const isDone = !rules.comparesEpoch || (s.owner === i && s.epoch === epoch)
  const isAppend = isDone && kind === 'append'
  const isSave = isDone && kind === 'save'
  const log = isAppend ? [...s.log, ...carried] : s.log
  const stored = { ...s, log, lastEpoch: isAppend ? epoch : s.lastEpoch, covered: isSave ? at : s.covered }
  const isWrong =
    (isAppend && epoch < s.lastEpoch && 'a record of a former owner stands behind one of its successor') ||
    (isSave &&
      (at < s.covered || carried.some((edit, place) => s.log[place] !== edit)) &&
      'a body holds what its writer did not have')
  const rest = queue.slice(1)
  yield [
    `${kind} of ${i}, answer lost`,
    withNode(stored, i, { queue: rest, ...(room?.epoch === epoch && { room: null }) }),
    isWrong,
  ]
  if (room?.epoch !== epoch) return
  if (!isDone || (isAppend && log.length !== at)) yield [`${kind} of ${i}, refused`, withNode(stored, i, CLOSED), isWrong]
  else if (!isAppend) yield [`${kind} of ${i}`, withNode(stored, i, { queue: rest }), isWrong]
  else {
    const acked = added(s.acked, carried[0] as number)
    yield [`${kind} of ${i}`, withNode({ ...stored, acked }, i, { queue: rest, room: { ...room, durable: at } }), isWrong]
  }
}

function* edgeSteps(s: State, rules: Rules): Generator<Step> {
  const { node, at, since, has } = s.edge
  for (const [i, { room }] of s.nodes.entries()) {
    if (node !== NOBODY || room === null || (rules.turnsAway && since > room.durable)) continue
    // The owner sends the log after `since` first, and its live edits afterwards.
    const sent = Math.max(since, room.durable)
    const got = room.view.slice(since, room.durable).reduce(added, has)
    yield [`link to ${i}`, { ...s, edge: { node: i, at: sent, since, has: got } }]
  }
  const room = s.nodes[node]?.room
  if (room === null || room === undefined) return
  const isLacking = room.view.slice(0, at).some((edit) => !has.includes(edit))
  yield ['unlink', { ...s, edge: { ...s.edge, node: NOBODY } }, isLacking && LACKING]
  if (at < room.view.length) {
    const seen = { node, at: at + 1, since: rules.since === 'seen' ? at + 1 : since, has: added(has, room.view[at] as number) }
    yield ['forward', { ...s, edge: seen }]
  }
  const durable = Math.min(room.durable, at)
  if (durable > since) yield ['tell what is durable', { ...s, edge: { ...s.edge, since: durable } }]
}

/** Returns the state as text. All nodes are alike, so states that differ only in the order of the nodes have the same text. */
function keyOf(s: State): string {
  const nodes = s.nodes.map(({ room, queue }, i) => {
    const marks = `${s.owner === i ? 'o' : ''}${s.edge.node === i ? 'e' : ''}`
    const statements = queue.map(({ kind, epoch, at, edits: carried }) => `${kind[0]}${epoch}${at}${carried.join('')}`).join()
    return room === null ? `${marks}|${statements}` : `${marks}${room.epoch}/${room.view.join('')}/${room.durable}|${statements}`
  })
  const flags = `${s.owner === NOBODY ? 'n' : ''}${s.isLeaseOver ? 'l' : ''}${s.isHandedOver ? 'h' : ''}`
  const edge = `${s.edge.at}${s.edge.since}${s.edge.has.join('')}`
  return `${flags}${s.epoch};${s.log.join('')};${s.lastEpoch}${s.covered}${s.crashes}${s.begun};${s.acked.join('')};${edge};${nodes.sort().join(';')}`
}

interface Found {
  readonly states: number
  readonly violation: string | null
  /** The names of the steps on the shortest way to the violation. */
  readonly trace: readonly string[]
}

function explore(changed: Partial<Rules> = {}): Found {
  const rules = { ...TWO_NODES, ...changed }
  interface Visit {
    readonly state: State
    readonly step: string
    readonly from: Visit | null
  }
  const first: State = {
    ...{
      owner: NOBODY,
      epoch: 0,
      isLeaseOver: false,
      isHandedOver: false,
      log: [],
      lastEpoch: 0,
      covered: 0,
      acked: [],
      crashes: 0,
      begun: 0,
    },
    nodes: Array.from({ length: rules.nodes }, () => CLOSED),
    edge: { node: NOBODY, at: 0, since: 0, has: [] },
  }
  const known = new Set([keyOf(first)])
  const visits: Visit[] = [{ state: first, step: '', from: null }]
  for (const visit of visits) {
    for (const [step, state, found] of steps(visit.state, rules)) {
      const lost = state.acked.some((edit) => !state.log.includes(edit)) && 'an acknowledged edit is not in the log'
      const violation = found || lost
      if (violation) {
        const trace = [step]
        for (let at: Visit | null = visit; at?.from; at = at.from) trace.unshift(at.step)
        return { states: known.size, violation, trace }
      }
      const key = keyOf(state)
      if (known.has(key)) continue
      known.add(key)
      visits.push({ state, step, from: visit })
    }
  }
  return { states: known.size, violation: null, trace: [] }
}

it.each([
  ['two nodes, with takeovers, handovers, saves and reads', {}],
  ['an edge that is linked to one owner after the other', EDGE],
  ['three nodes', { nodes: 3, hasBodies: false }],
] as const)('[LIFE-26] no order of steps violates the protocol: %s', (_, rules) => {
  const { states, ...found } = explore(rules)
  expect(found).toEqual({ violation: null, trace: [] })
  expect(states).toBeGreaterThan(5_000)
})

it.each([
  [
    'without the epoch',
    { comparesEpoch: false, hasBodies: false },
    'a record of a former owner stands behind one of its successor',
  ],
  ['with reads that do not look at the row', { readsLookAtRow: false }, 'a read lacks an acknowledged edit'],
  ['when an edge asks for the edits after the last edit that it saw', { ...EDGE, since: 'seen' }, LACKING],
  ['when a former owner serves an edge that knows more of the log', { ...EDGE, turnsAway: false }, LACKING],
] as const)('[LIFE-26] the search finds a violation %s', (_, rules, violation) => {
  expect(explore(rules).violation).toBe(violation)
})
