import { jsonFrame, syncFrame } from '@docrelay/protocol/codec'
import { type ErrorFrame, SYNC, TAG } from '@docrelay/protocol/frames'
import * as Y from 'yjs'
import type { LiveDocument } from '../live/live-document.ts'
import type { Persistence } from '../live/persistence.ts'
import { createRelay } from '../relay.ts'
import type { TokenCallback } from '../tokens.ts'
import { playedEnvironment } from './played-environment.ts'

/** A relay object of Ann whose other end is a test. `says` grants the token of the newest socket and then sends `frames`. */
export function playedRelay({
  persist,
  token = () => 'a.token',
}: {
  readonly persist?: Persistence
  readonly token?: TokenCallback
} = {}) {
  const { environment, ...played } = playedEnvironment()
  /** The REST requests so far; every write succeeds. */
  const asked: string[] = []
  const fetch = async (url: string, { method }: RequestInit) => {
    asked.push(`${method} ${new URL(url).pathname}`)
    return Response.json({ newVersion: 1 })
  }
  const relay = createRelay({
    ...{ url: 'https://relay.example', token, userId: 'ann' },
    environment: { ...environment, fetch: fetch as typeof globalThis.fetch },
    ...(persist && { persist }),
  })
  const says = async (...frames: readonly Uint8Array[]) => {
    await played.settled()
    const socket = played.sockets.at(-1)
    socket?.open()
    socket?.receive(jsonFrame(TAG.authResponse, { success: true, userId: 'ann' }), ...frames)
    await played.settled()
  }
  return { relay, asked, says, ...played }
}

/** The frames that the relay sends to a client that joins an empty document, without any ack. */
export function joined(docId = 'plan'): readonly Uint8Array[] {
  const nothing = new Y.Doc()
  return [
    jsonFrame(TAG.joined, { docId, level: 'owner', lineage: 'L', serverVersion: 1 }),
    syncFrame(SYNC.step1, Y.encodeStateVector(nothing)),
    syncFrame(SYNC.step2, Y.encodeStateAsUpdate(nothing)),
  ]
}

export function refusal(code: ErrorFrame['code']): Uint8Array {
  return jsonFrame(TAG.error, { error: code, code, requestId: null })
}

export function deletedFor(successor: string, docId = 'plan'): Uint8Array {
  return jsonFrame(TAG.docEvent, { eventType: 'deleted', docId, successor })
}

export const field = ({ ydoc }: LiveDocument, key: string) => ydoc.getMap('fields').set(key, 1)
export const fields = ({ ydoc }: LiveDocument) => [...ydoc.getMap('fields').keys()].sort()
