import { awarenessFrame } from '@docrelay/protocol/codec'
import { describe, expect, it } from 'vitest'
import { readAwareness, writeAwareness } from '../room/awareness.ts'
import { keptPresence, noteShown, type OwnPresence, replayed } from './own-presence.ts'

type Told = readonly (readonly [client: number, clock: number, state: unknown])[]

const ANN = 1
const VIC = 2

function update(states: Told): Uint8Array {
  const bytes = (state: unknown) => (state === null ? null : new TextEncoder().encode(JSON.stringify(state)))
  return writeAwareness(states.map(([client, clock, state]) => ({ client, clock, state: bytes(state) })))
}

/** The presence that a gateway has noted. `sends` passes in a frame of a connection, and `tells` a frame of the room. */
function gateway() {
  const shown = new Map<number, number>()
  const kept = new Map<number, OwnPresence | null>()
  const left = new Set<number>()
  const tells = (connection: number, ...states: Told): void =>
    noteShown(shown, awarenessFrame(update(states)), connection, (id) => !left.has(id))
  return {
    sends: (connection: number, ...states: Told) =>
      kept.set(connection, keptPresence(kept.get(connection) ?? null, update(states), shown, connection)),
    tells,
    leaves(connection: number, ...states: Told): void {
      left.add(connection)
      tells(connection, ...states)
    },
    replays(connection: number) {
      const { ids, update: payload } = replayed(kept.get(connection) ?? null, shown, connection)
      const entries = readAwareness(payload ?? new Uint8Array([0])) ?? []
      return {
        ids,
        states: entries.map(({ client, clock, json }) => [client, clock, JSON.parse(new TextDecoder().decode(json))]),
      }
    },
  }
}

describe('presence that the next home of a room gets', () => {
  it('[WS-44] [C6] the next home gets the newest states of a connection, and their ids once the room has shown them', () => {
    const { sends, tells, replays } = gateway()
    sends(ANN, [7, 1, { at: 1 }])
    expect(replays(ANN)).toEqual({ ids: [], states: [[7, 1, { at: 1 }]] })
    tells(ANN, [7, 1, { at: 1 }])
    sends(ANN, [7, 2, { at: 2 }])
    sends(ANN, [8, 1, { second: true }])
    tells(ANN, [8, 1, { second: true }])
    sends(ANN, [8, 2, { second: true }], [7, 3, { at: 3 }])
    expect(replays(ANN)).toEqual({
      ids: [7, 8],
      states: [
        [7, 3, { at: 3 }],
        [8, 2, { second: true }],
      ],
    })
  })

  it('[WS-44] the next home gets no forged or repeated state under the id of another connection', () => {
    const { sends, tells, replays } = gateway()
    tells(ANN, [7, 1, { name: 'Ann' }])
    tells(0, [9, 1, { name: 'of another node' }])
    sends(VIC, [7, 9, { name: 'forged' }], [9, 9, { name: 'repeated' }])
    expect(replays(VIC)).toEqual({ ids: [], states: [] })
    sends(VIC, [8, 1, { name: 'Vic' }])
    tells(VIC, [8, 1, { name: 'Vic' }])
    expect(replays(VIC)).toEqual({ ids: [8], states: [[8, 1, { name: 'Vic' }]] })
  })

  it('[WS-44] when a second connection takes over an id, the next home gets the id only from the second connection', () => {
    const { sends, tells, replays } = gateway()
    for (const connection of [ANN, VIC]) {
      sends(connection, [7, connection, {}])
      tells(connection, [7, connection, {}])
    }
    expect([replays(ANN), replays(VIC)]).toEqual([
      { ids: [], states: [] },
      { ids: [7], states: [[7, VIC, {}]] },
    ])
  })

  it.each([
    ['was not renewed', 0],
    ['was taken back by its connection', ANN],
  ])('[WS-44] [C6] the next home gets no state under the id of another joined connection whose state %s', (_, by) => {
    const { sends, tells, replays } = gateway()
    sends(ANN, [7, 1, {}])
    tells(ANN, [7, 1, {}])
    tells(by, [7, 2, null])
    sends(VIC, [7, 9, { name: 'forged' }])
    expect(replays(VIC)).toEqual({ ids: [], states: [] })
    expect(replays(ANN).ids).toEqual([7])
  })

  it('[WS-44] [C6] the next home gets a state under an id whose former connection has left', () => {
    const { sends, tells, leaves, replays } = gateway()
    sends(ANN, [7, 1, {}])
    tells(ANN, [7, 1, {}])
    leaves(ANN, [7, 2, null])
    sends(VIC, [7, 9, { name: 'Vic' }])
    expect(replays(VIC)).toEqual({ ids: [], states: [[7, 9, { name: 'Vic' }]] })
  })

  it('[WS-43] [C6] the next home gets states of up to 16 KiB; a larger state does not replace the state before it', () => {
    const { sends, tells, replays } = gateway()
    const large = { note: 'x'.repeat(15_000) }
    sends(ANN, [7, 1, {}])
    tells(ANN, [7, 1, {}])
    sends(ANN, [7, 2, large])
    sends(ANN, [7, 3, { note: 'x'.repeat(17_000) }])
    expect(replays(ANN).states).toEqual([[7, 2, large]])
  })

  it('[WS-43] the next home gets at most four ids of a connection, and first those that the room has shown', () => {
    const { sends, tells, replays } = gateway()
    sends(ANN, ...[1, 2, 3, 4, 5].map((id) => [id, 1, {}] as const))
    expect(replays(ANN).states.map(([id]) => id)).toEqual([1, 2, 3, 4])
    tells(ANN, ...[3, 6, 7, 8].map((id) => [id, 1, {}] as const))
    sends(ANN, ...[6, 7, 8].map((id) => [id, 2, {}] as const))
    expect(replays(ANN).ids).toEqual([3, 6, 7, 8])
  })
})
