import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { UpdateGuard } from '../guard/guard.ts'
import { reconcileFragment } from '../prose/prose-fragment.ts'
import { textsIn } from '../testing/late-scene.ts'
import { page, root, shown, tree } from '../testing/live-page.ts'
import { buildSound, RELAY, rememberRemovals } from './room-content.ts'
import { cutWrite, type CutOwner } from './room-cut.ts'
import { ClientIdBudget, ROOM_OPTIONS, type RoomHost, type RoomTurn } from './room-host.ts'
import { newMember } from './room-members.ts'

it('[C5] the watchdog watches the search and the placing of late words of an update that is applied in pieces', async () => {
  const [before, after] = ['<p id="a">one</p>', '<h2 id="a">one</h2>']
  const ann = page(before)
  const live = buildSound([Y.encodeStateAsUpdate(ann)], systemRandom)
  live.doc.getMap('prosePages').set('p', {})
  rememberRemovals(live, () => 0)
  live.doc.transact(() => reconcileFragment(live.doc.getXmlFragment(root), tree(before), tree(after)), RELAY)
  textsIn(ann.getXmlFragment(root))[0]?.insert(3, ' late')

  let isWatched = false
  const [foundUnderWatch, placedUnderWatch]: [boolean[], boolean[]] = [[], []]
  const find = live.late.find.bind(live.late)
  live.late.find = (...args) => {
    foundUnderWatch.push(isWatched)
    return find(...args)
  }
  live.doc.on('beforeTransaction', ({ origin }: Y.Transaction) => origin === RELAY && placedUnderWatch.push(isWatched))
  const member = newMember({ connection: 1, join: 1, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true })
  const host = {
    processorMs: () => 0,
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    watch: { begin: () => (isWatched = true), end: () => (isWatched = false) },
    options: ROOM_OPTIONS,
    guard: new UpdateGuard(),
    clientIds: new ClientIdBudget(),
    turns: { ask: (turn: RoomTurn) => turn.run(1e9), charge: () => undefined },
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
    formerClients: () => new Set<number>(),
  } as unknown as CutOwner
  const write = { ordinal: 1, update: Y.encodeStateAsUpdate(ann), isStep2: false, readOnly: false, refusal: null }
  expect(await cutWrite(owner, member, write, () => undefined)).toMatchObject({ kind: 'applied' })
  expect([shown(live.doc), foundUnderWatch, placedUnderWatch, isWatched]).toEqual([
    '<h2 id="a">one late</h2>',
    [true],
    [true],
    false,
  ])
})
