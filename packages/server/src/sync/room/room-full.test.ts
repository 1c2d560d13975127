import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { UpdateGuard } from '../guard/guard.ts'
import { GUARD_LIMITS } from '../guard/guard-table.ts'
import { UpdateWriter } from '../testing/update-writer.ts'
import { buildSound } from './room-content.ts'
import { applyWrites, type TurnOwner } from './room-edits.ts'
import { ClientIdBudget, noWatch, ROOM_OPTIONS, type RoomHost } from './room-host.ts'
import { newMember } from './room-members.ts'

/** A room whose document has these limits of client ids and structs. `refused` collects its refusals. */
function roomOf(limits: Partial<typeof GUARD_LIMITS>) {
  const live = buildSound([], systemRandom)
  const member = newMember({ connection: 1, join: 1, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true })
  const refused: unknown[] = []
  const host = {
    processorMs: () => 0,
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    watch: noWatch,
    options: ROOM_OPTIONS,
    guard: new UpdateGuard({ ...GUARD_LIMITS, ...limits }),
    clientIds: new ClientIdBudget(),
    count: () => undefined,
    log: silentLogger,
  } as unknown as RoomHost
  const owner = {
    host,
    refuse: (_, __, code, text, full) => refused.push({ code, text, full }),
    formerClients: () => new Set<number>(),
    broken: (_, error) => refused.push(error),
  } as Partial<TurnOwner> as TurnOwner
  const write = (update: Uint8Array) =>
    applyWrites(owner, live, member, [{ ordinal: 1, update, isStep2: false, readOnly: false, refusal: null }], 0)
  return { live, refused, write }
}

const typed = (client: number, letters = 1) =>
  new UpdateWriter().block(client, 0, letters, (w, i) => w.string(`text${i}`, 'abc')).deletes([])

it('[WS-68] a document at its limit of client ids refuses a new id, names limit and remedy, and accepts deletions', () => {
  const { live, refused, write } = roomOf({ clients: 3 })
  for (const client of [1, 2, 3]) write(typed(client))
  expect(refused).toEqual([])
  const before = Y.encodeStateAsUpdate(live.doc)
  write(typed(4))
  expect(refused).toEqual([
    {
      code: 'ERR_DOC_FULL',
      text: expect.stringMatching(/may have content of 3 Yjs client ids.*takes deletions.*recovery point of it and restore that/),
      full: { kind: 'full', bound: 'clientIds', limit: 3 },
    },
  ])
  expect(Y.encodeStateAsUpdate(live.doc)).toEqual(before)
  write(new UpdateWriter().blocks(0).deletes([[1, 0, 3]]))
  expect([refused.length, live.doc.getText('text0').toJSON().length]).toEqual([1, 6])
})

it('[WS-68] [G7] a document at its limit of structs refuses an update that adds a struct, and names the limit', () => {
  const { refused, write } = roomOf({ addedStructs: 4 })
  write(typed(1, 4))
  write(typed(2))
  expect(refused).toMatchObject([{ code: 'ERR_DOC_FULL', full: { bound: 'structs', limit: 4 } }])
})

it('[WS-34] [WS-33] an update with more client ids than any document may have is refused as bad', () => {
  const { refused, write } = roomOf({ clients: 3 })
  const update = new UpdateWriter().blocks(4)
  for (let i = 1; i <= 4; i++) update.rawBlock(i, 0, 1, (w) => w.gc(1))
  write(update.deletes([]))
  expect(refused).toMatchObject([{ code: 'ERR_BAD_UPDATE' }])
})
