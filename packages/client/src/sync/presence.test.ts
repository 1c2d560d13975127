import { awarenessFrame } from '@docrelay/protocol/codec'
import { Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { Presence } from './presence.ts'

it('[WS-45] an idle peer is seen again right after a reconnect, although its clock is unchanged', () => {
  const [mine, other] = [new Awareness(new Y.Doc()), new Awareness(new Y.Doc())]
  other.setLocalState({ user: { name: 'Ben' } })
  const shown = awarenessFrame(encodeAwarenessUpdate(other, [other.clientID])).subarray(1)
  const presence = new Presence(mine, { canSend: false, send() {} })
  const seen = () => mine.getStates().get(other.clientID)
  presence.received(shown)
  expect(seen()).toEqual({ user: { name: 'Ben' } })
  presence.left()
  expect(seen()).toBeUndefined()
  presence.received(shown)
  expect(seen()).toEqual({ user: { name: 'Ben' } })
  for (const awareness of [mine, other]) awareness.destroy()
})

it('[WS-47] the awareness clock of a client goes on after a reconnect, so others accept its next state', () => {
  const mine = new Awareness(new Y.Doc())
  const sent: Uint8Array[] = []
  const presence = new Presence(mine, { canSend: true, send: (frame) => void sent.push(frame) })
  mine.setLocalState({ user: { name: 'Ann' } })
  const clock = () => mine.meta.get(mine.clientID)?.clock
  const before = clock()
  presence.left()
  expect([clock(), mine.getLocalState()]).toEqual([before, { user: { name: 'Ann' } }])
  presence.joined()
  expect(sent).toHaveLength(2)
  mine.destroy()
})

it('[WS-46] a client that others are told is gone, as when its earlier connection ends late, shows itself again', () => {
  const [mine, former] = [new Awareness(new Y.Doc()), new Awareness(new Y.Doc())]
  const sent: Uint8Array[] = []
  const presence = new Presence(mine, { canSend: true, send: (frame) => void sent.push(frame) })
  mine.setLocalState({ user: { name: 'Ann' } })
  former.clientID = mine.clientID
  former.setLocalState({ user: { name: 'Ann' } })
  for (let i = 0; i < 5; i++) former.setLocalState({ user: { name: 'Ann' } })
  sent.length = 0
  presence.received(awarenessFrame(encodeAwarenessUpdate(former, [mine.clientID], new Map())).subarray(1))
  const clock = Number(former.meta.get(mine.clientID)?.clock) + 1
  expect([mine.getLocalState(), mine.meta.get(mine.clientID)?.clock]).toEqual([{ user: { name: 'Ann' } }, clock])
  expect(sent).toEqual([awarenessFrame(encodeAwarenessUpdate(mine, [mine.clientID]))])
  presence.goodbye()
  mine.setLocalState(null)
  sent.length = 0
  presence.received(awarenessFrame(encodeAwarenessUpdate(former, [mine.clientID], new Map())).subarray(1))
  expect(sent).toEqual([])
  for (const awareness of [mine, former]) awareness.destroy()
})
