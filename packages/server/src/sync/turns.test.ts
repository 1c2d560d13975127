import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Turn, Turns } from './turns.ts'

interface Piece {
  readonly workspaceId: string
  readonly connection: number
  readonly tookMs: number
}

const turn = ({ workspaceId, connection, tookMs }: Piece, estimateMs = tookMs): Turn<Piece> => ({
  workspaceId,
  connection,
  estimateMs,
  work: { workspaceId, connection, tookMs },
})

/** A simulated processor that runs one turn after another. */
class Processor {
  readonly turns = new Turns<Piece>()
  nowMs = 0
  readonly usedMs = new Map<string, number>()

  /** Runs the next turn and returns its work, or `null` when no turn waits. */
  step(): Piece | null {
    const taken = this.turns.take(this.nowMs)
    if (taken === null) return null
    const { work } = taken
    this.nowMs += work.tookMs
    this.turns.done(taken, work.tookMs, this.nowMs)
    for (const name of [work.workspaceId, `${work.workspaceId}/${work.connection}`])
      this.usedMs.set(name, (this.usedMs.get(name) ?? 0) + work.tookMs)
    return work
  }

  used(name: string): number {
    return this.usedMs.get(name) ?? 0
  }
}

/** Runs the processor until `untilMs`. Each connection in `everybody` has `deep` waiting turns all the time. */
function alwaysBusy(processor: Processor, everybody: readonly Piece[], untilMs: number, deep = 3): void {
  for (let i = 0; i < deep; i++) for (const piece of everybody) processor.turns.add(turn(piece))
  while (processor.nowMs < untilMs) processor.turns.add(turn(processor.step() as Piece))
}

const ms = fc.double({ min: 1, max: 8, noNaN: true })

describe('sharing a processor between workspaces', () => {
  it('[WS-12] workspaces that always have work get equal shares, for any number of connections and any length of turns', () => {
    const workspace = fc.record({ connections: fc.integer({ min: 1, max: 12 }), tookMs: ms })
    fc.assert(
      fc.property(fc.array(workspace, { minLength: 2, maxLength: 6 }), (workspaces) => {
        const processor = new Processor()
        let next = 0
        const everybody = workspaces.flatMap(({ connections, tookMs }, w) =>
          Array.from({ length: connections }, () => ({ workspaceId: `w${w}`, connection: ++next, tookMs })),
        )
        alwaysBusy(processor, everybody, 5_000)
        const fair = processor.nowMs / workspaces.length
        for (let w = 0; w < workspaces.length; w++)
          expect(Math.abs(processor.used(`w${w}`) - fair)).toBeLessThan(fair * 0.05 + 20)
      }),
      { numRuns: 25 },
    )
  })

  it('[WS-12] connections of one workspace get equal shares', () => {
    fc.assert(
      fc.property(fc.array(ms, { minLength: 2, maxLength: 5 }), (costs) => {
        const processor = new Processor()
        alwaysBusy(
          processor,
          costs.map((tookMs, i) => ({ workspaceId: 'w', connection: i + 1, tookMs })),
          5_000,
        )
        const fair = processor.nowMs / costs.length
        for (let i = 1; i <= costs.length; i++) expect(Math.abs(processor.used(`w/${i}`) - fair)).toBeLessThan(fair * 0.05 + 20)
      }),
      { numRuns: 25 },
    )
  })

  it('[WS-12] a waiting turn is taken within 30 s, even with a large debt and while other turns keep arriving', () => {
    const others = fc.array(fc.record({ tookMs: ms, estimateMs: ms }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(others, fc.double({ min: 0, max: 5_000, noNaN: true }), (given, owedMs) => {
        const processor = new Processor()
        processor.turns.charge('waits', 99, owedMs, 0)
        processor.turns.add(turn({ workspaceId: 'waits', connection: 99, tookMs: 1 }))
        const newcomers = given.map(({ tookMs }, i) => ({ workspaceId: `w${i}`, connection: i + 1, tookMs }))
        for (const [i, piece] of newcomers.entries()) processor.turns.add(turn(piece, given[i]?.estimateMs))
        for (;;) {
          const piece = processor.step() as Piece
          if (piece.workspaceId === 'waits') break
          processor.turns.add(turn(piece, given[Number(piece.workspaceId.slice(1))]?.estimateMs))
        }
        expect(processor.nowMs).toBeLessThan(30_000)
      }),
      { numRuns: 50 },
    )
  })

  it('[WS-12] a workspace that uses little waits at most for the running turn, however busy other workspaces are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }), ms, (workspaces, connections, tookMs) => {
        const processor = new Processor()
        for (let i = 0; i < workspaces * connections * 3; i++)
          processor.turns.add(
            turn({ workspaceId: `w${i % workspaces}`, connection: 1 + (i % (workspaces * connections)), tookMs }),
          )
        for (let i = 0; i < workspaces; i++) processor.step()
        for (let i = 0; i < 20; i++) {
          const busy = processor.step()
          if (busy === null) break
          processor.turns.add(turn(busy))
          processor.turns.add(turn({ workspaceId: 'quiet', connection: 999, tookMs: 0.01 }))
          expect(processor.step()?.workspaceId).toBe('quiet')
        }
      }),
      { numRuns: 50 },
    )
  })

  it('[WS-12] the processor is idle only when no turn waits', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ workspace: fc.nat(3), tookMs: ms }), { maxLength: 60 }), (given) => {
        const processor = new Processor()
        for (const { workspace, tookMs } of given)
          processor.turns.add(turn({ workspaceId: `w${workspace}`, connection: workspace + 1, tookMs }))
        expect(processor.turns.size).toBe(given.length)
        for (const _ of given) expect(processor.step()).not.toBeNull()
        expect(processor.turns.size).toBe(0)
        expect(processor.step()).toBeNull()
        expect(processor.nowMs).toBeCloseTo(given.reduce((sum, { tookMs }) => sum + tookMs, 0))
      }),
    )
  })

  it('[WS-11] turns of one connection stay in order', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ connection: fc.integer({ min: 1, max: 3 }), tookMs: ms }), { maxLength: 40 }), (given) => {
        const turns = new Turns<number>()
        given.forEach(({ connection, tookMs }, i) => turns.add({ workspaceId: 'w', connection, estimateMs: tookMs, work: i }))
        const seen = new Map<number, number>()
        for (let taken = turns.take(0); taken !== null; taken = turns.take(0)) {
          expect(taken.work).toBeGreaterThan(seen.get(taken.connection) ?? -1)
          seen.set(taken.connection, taken.work)
        }
      }),
    )
  })

  it('[WS-12] a debt halves every second until it is forgotten, and is never negative', () => {
    const turns = new Turns<null>()
    turns.charge('w', 1, 800, 0)
    expect([turns.workspaceOwesMs('w', 1_000), turns.connectionOwesMs(1, 3_000)]).toEqual([400, 100])
    const taken = { workspaceId: 'w', connection: 1, estimateMs: 5_000, work: null }
    turns.done(taken, 1, 3_000)
    expect(turns.workspaceOwesMs('w', 3_000)).toBe(0)
    turns.sweep(60_000)
    expect(turns.connectionOwesMs(1, 60_000)).toBe(0)
  })

  it('[WS-12] taking a turn charges its estimate at once, so the next turn goes to a workspace without debt', () => {
    const turns = new Turns<null>()
    for (const workspaceId of ['a', 'a', 'a', 'b']) turns.add({ workspaceId, connection: 1, estimateMs: 100, work: null })
    expect([0, 0, 0, 0].map(() => turns.take(0)?.workspaceId)).toEqual(['a', 'b', 'a', 'a'])
  })

  it('[WS-12] a client that reconnects under a new connection number still has the debt of its workspace', () => {
    const turns = new Turns<null>()
    turns.charge('noisy', 1, 2_000, 0)
    turns.add({ workspaceId: 'noisy', connection: 2, estimateMs: 1, work: null })
    turns.add({ workspaceId: 'quiet', connection: 3, estimateMs: 1, work: null })
    expect(turns.take(10)?.workspaceId).toBe('quiet')
  })

  it('[WS-12] time that a workspace used on other processors adds to its debt, and is not reported back to them', () => {
    const [one, other] = [new Turns<null>(), new Turns<null>()]
    one.charge('noisy', 1, 500, 0)
    other.spentElsewhere(one.takeSpent(), 0)
    expect(other.workspaceOwesMs('noisy', 0)).toBe(500)
    expect([one.takeSpent(), other.takeSpent()]).toEqual([[], []])
  })

  it('[WS-12] time of a workspace is told once it reaches 5 ms, whole and only once', () => {
    const turns = new Turns<null>()
    for (let ms = 0; ms < 4; ms++) turns.charge('w1', 1, 1, 0)
    turns.charge('w2', 2, 4.5, 0)
    expect(turns.takeSpent()).toEqual([])
    for (let ms = 0; ms < 3; ms++) turns.charge('w1', 1, 1, 0)
    expect([turns.takeSpent(), turns.takeSpent()]).toEqual([[['w1', 7]], []])
    turns.charge('w1', 1, 6, 0)
    turns.charge('w2', 2, 0.5, 0)
    expect(turns.takeSpent()).toEqual([
      ['w1', 6],
      ['w2', 5],
    ])
  })

  it('[WS-12] a workspace that uses 5 ms again after its debt was forgotten is told of once', () => {
    const turns = new Turns<null>()
    turns.charge('w1', 1, 6, 0)
    // Forgets the 6 ms too, which are a minute old.
    turns.sweep(60_000)
    turns.charge('w1', 1, 7, 60_000)
    expect(turns.takeSpent()).toEqual([['w1', 7]])
    expect(turns.takeSpent()).toEqual([])
  })
})
