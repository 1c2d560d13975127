import { Reader } from '@docrelay/protocol/bytes'
import { awarenessFrame, readAwareness as readFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect } from 'vitest'
import { readAwareness, writeAwareness } from '../room/awareness.ts'
import { until } from './node-bench.ts'
import type { TextEditor } from './text-editor.ts'

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Types `count` letters into the middle of the text, one every 2 ms. */
export async function type(editor: TextEditor, letter: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    editor.text.insert(Math.floor(editor.text.length / 2), letter)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

export function countOf(editor: TextEditor, letter: string): number {
  return [...editor.text.toString()].filter((one) => one === letter).length
}

export async function expectEqual(editors: readonly TextEditor[], length: number): Promise<void> {
  await until(() => editors.every((one) => one.text.length === length))
  expect(new Set(editors.map((one) => one.text.toString())).size).toBe(1)
  for (const one of editors) {
    expect(one.client.of(TAG.error)).toEqual([])
    expect(one.client.socket.readyState).toBe(one.client.socket.OPEN)
  }
}

export function presenceOf({ doc }: TextEditor, clock: number, name: string): Uint8Array {
  const state = new TextEncoder().encode(JSON.stringify({ user: { name } }))
  return awarenessFrame(writeAwareness([{ client: doc.clientID, clock, state }]))
}

/** Returns the entries in the AWARENESS frames that the editor has got. */
export function presenceSeen({ client }: TextEditor) {
  return client.of(TAG.awareness).flatMap((frame) => readAwareness(readFrame(frame.subarray(1)) ?? new Uint8Array()) ?? [])
}

/** Returns the presence states that the editor has got, as text. */
export function statesSeen(editor: TextEditor): string[] {
  return presenceSeen(editor).map(({ json }) => new TextDecoder().decode(json))
}

/** Returns the presence clocks that the editor has got for one client id. */
export function clocksSeen(editor: TextEditor, id: number): number[] {
  return presenceSeen(editor).flatMap(({ client, clock }) => (client === id ? [clock] : []))
}

export function ackedOf({ client }: TextEditor): number {
  return Math.max(0, ...client.of(TAG.syncAck).map((frame) => new Reader(frame.subarray(1)).varUint()))
}
