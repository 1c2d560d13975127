import { expect, it } from 'vitest'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { UpdateGuard } from '../guard/guard.ts'
import { UpdateWriter } from '../testing/update-writer.ts'
import { buildSound } from './room-content.ts'
import { cutWrite } from './room-cut.ts'
import { applyWrites, type Write } from './room-edits.ts'
import { ClientIdBudget, noWatch, ROOM_OPTIONS, type RoomHost, type RoomTurn } from './room-host.ts'
import { newMember } from './room-members.ts'

/** A room whose every step takes `stepMs` of processor time, and whose measured load takes `loadMs`. */
function slowRoom(stepMs: number, loadMs: number | null) {
  const live = buildSound([], systemRandom)
  const member = newMember({ connection: 1, join: 1, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true })
  let spentMs = 0
  const measured: number[] = []
  const broken: unknown[] = []
  const host = {
    processorMs: () => (spentMs += stepMs),
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    watch: noWatch,
    options: ROOM_OPTIONS,
    guard: new UpdateGuard(),
    clientIds: new ClientIdBudget(),
    turns: { ask: (turn: RoomTurn) => turn.run(1e9), charge: () => undefined },
    scratch: {
      loadMs: async (_: string, state: Uint8Array) => {
        measured.push(state.length)
        return loadMs
      },
    },
    count: () => undefined,
    log: silentLogger,
  } as unknown as RoomHost
  const owner = {
    host,
    id: 1,
    workspaceId: 'ws',
    isReady: true,
    sequence: 1,
    live: () => live,
    collect: <T>(work: () => T) => ({ result: work(), emitted: [] }),
    refuse: (...refusal: readonly unknown[]) => void broken.push(refusal),
    formerClients: () => new Set<number>(),
    former: () => undefined,
    gap: () => undefined,
    dropped: () => undefined,
    broken: (_: unknown, error: unknown) => void broken.push(error),
  }
  let ordinal = 0
  const write = async (): Promise<void> => {
    const update = new UpdateWriter().block(7, ordinal, 1, (w) => w.gc(1)).deletes([])
    const next: Write = { ordinal: ++ordinal, update, isStep2: false, readOnly: false, refusal: null }
    const handled = applyWrites(owner, live, member, [next], 0)
    if (handled !== 'broken' && handled.costly) await cutWrite(owner, member, next, () => undefined)
  }
  return { live, measured, broken, write }
}

it('[G9] many small steps together cause a measurement of the load, and a load within its limit starts the count anew', async () => {
  const { live, measured, broken, write } = slowRoom(15, 30)
  for (let i = 0; i < 66; i++) await write()
  expect(measured).toEqual([])
  for (let i = 0; i < 4; i++) await write()
  expect([measured.length, broken, live.smallStepsMs < 100]).toEqual([1, [], true])
  for (let i = 0; i < 50; i++) await write()
  expect(measured).toHaveLength(1)
})

it('[G9] an update is not accepted when small steps before it made the document too slow to load', async () => {
  const { broken, write } = slowRoom(15, 5_000)
  for (let i = 0; i < 70 && broken.length === 0; i++) await write()
  expect(broken).toEqual([expect.stringContaining('loading the document would take 50')])
})

it('[G9] a document near its limit is not measured at every small step', async () => {
  const { measured, write } = slowRoom(15, 950)
  for (let i = 0; i < 130; i++) await write()
  expect(measured.length).toBeGreaterThan(2)
  expect(measured.length).toBeLessThan(25)
})
