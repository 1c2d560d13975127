import { syncAckFrame } from '@docrelay/protocol/codec'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { field, fields, joined, playedRelay, refusal } from '../testing/played-relay.ts'
import type { DivergedEvent, GoneEvent } from './live-document.ts'

/** A document that was just opened. */
function bench() {
  const played = playedRelay()
  return { ...played, document: played.relay.open('plan') }
}

it('[WS-64] `reconnect` joins a document that was unknown when it was opened and exists now', async () => {
  const { relay, document, says } = bench()
  await says(refusal('ERR_UNKNOWN_DOC'))
  await expect(document.ready).rejects.toMatchObject({ code: 'ERR_UNKNOWN_DOC' })
  expect(document.state).toMatchObject({ link: 'stopped', saved: 'refused' })
  document.reconnect()
  expect(document.state).toMatchObject({ link: 'connecting', saved: 'saved', error: null })
  await says(...joined(), syncAckFrame(1))
  expect(document.state).toMatchObject({ link: 'live', saved: 'saved', level: 'owner', error: null })
  await relay.close()
})

it('[WS-62] `reconnect` does not merge a copy of another lineage, and `diverged` is emitted once', async () => {
  const { relay, document, sockets, settled, says } = bench()
  const told: string[] = []
  document.on('diverged', ({ error }) => told.push(error.code))
  await says(refusal('ERR_LINEAGE'))
  document.reconnect()
  await settled()
  expect([told, sockets.length, document.state.link]).toEqual([['ERR_LINEAGE'], 1, 'stopped'])
  await relay.close()
})

/** Has the relay refuse an edit, and returns the event `diverged`. */
async function diverged({ document, says }: ReturnType<typeof bench>): Promise<DivergedEvent> {
  const told = new Promise<DivergedEvent>((resolve) => document.on('diverged', resolve))
  await says(...joined(), syncAckFrame(1))
  field(document, 'early')
  await says(refusal('ERR_DOC_FULL'))
  return told
}

it('[WS-62] `copyAs` and `localUpdate` contain what was typed after `diverged`', async () => {
  const opened = bench()
  const event = await diverged(opened)
  field(opened.document, 'late')
  const kept = new Y.Doc()
  Y.applyUpdate(kept, event.localUpdate)
  expect([...kept.getMap('fields').keys()]).toEqual(['early', 'late'])
  const copying = event.copyAs('copy')
  await opened.says(...joined('copy'), syncAckFrame(1))
  expect(fields(await copying)).toEqual(['early', 'late'])
  await opened.relay.close()
})

it('[WS-62] a `copyAs` that the relay refuses leaves no document on the relay and no open connection', async () => {
  const opened = bench()
  const { copyAs } = await diverged(opened)
  const failed = expect(copyAs('copy')).rejects.toMatchObject({ code: 'ERR_DOC_FULL' })
  await opened.says(...joined('copy'), refusal('ERR_DOC_FULL'))
  await failed
  expect(opened.asked).toEqual(['PUT /api/docs/copy', 'DELETE /api/docs/copy'])
  expect(opened.sockets.at(-1)?.closedWith).not.toBeNull()
  await opened.relay.close()
})

it('[WS-64] `copyAs` makes a new document of one that ended with unsaved words', async () => {
  const { relay, document, says } = bench()
  const gone = new Promise<GoneEvent>((resolve) => document.on('gone', resolve))
  await says(...joined(), syncAckFrame(1))
  field(document, 'unsent')
  await says(refusal('ERR_VIEW_FORBIDDEN'))
  expect(await gone).toEqual({ reason: 'forbidden', successor: null, unsaved: true })
  const copying = document.copyAs('copy')
  await says(...joined('copy'), syncAckFrame(1))
  expect(fields(await copying)).toEqual(['unsent'])
  await relay.close()
})
