import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import type { LoadedLog } from '../update-log.port.ts'
import { UpdateGuard } from '../guard/guard.ts'
import { quadratic } from '../testing/update-writer.ts'
import { isBodyOver, isLogOver, isTaskOver, LIGHT_BOUNDS } from './room-bounds.ts'
import type { RoomTask } from '../worker-messages.ts'

const guard = new UpdateGuard()

function logOf(...updates: readonly Uint8Array[]): Extract<LoadedLog, { kind: 'loaded' }> {
  const records = updates.map((update, i) => ({ seq: i + 1, atMs: 0, actor: 'ann', update }))
  return { kind: 'loaded', snapshot: null, records, removals: [] } as unknown as Extract<LoadedLog, { kind: 'loaded' }>
}

function textOf(length: number): Uint8Array {
  const doc = new Y.Doc()
  doc.getText('t').insert(0, 'x'.repeat(length))
  return Y.encodeStateAsUpdate(doc)
}

const bodyOf = (text: string, head: Partial<DocumentHead> = {}) => ({
  head: { bodyAhead: false, lastSeq: 0, ...head } as DocumentHead,
  body: Buffer.from(text),
})

describe('the bounds of light rooms', () => {
  it('[C8] a log with too many bytes is over the bounds, whether the bytes are in one record or in many', () => {
    expect(isLogOver(LIGHT_BOUNDS, guard, logOf(textOf(10_000)))).toBe(false)
    expect(isLogOver(LIGHT_BOUNDS, guard, logOf(textOf(LIGHT_BOUNDS.stateBytes)))).toBe(true)
    expect(isLogOver(LIGHT_BOUNDS, guard, logOf(...Array.from({ length: 3 }, () => textOf(9_000))))).toBe(true)
    expect(isLogOver(LIGHT_BOUNDS, guard, { ...logOf(), removals: ['x'.repeat(LIGHT_BOUNDS.stateBytes + 1)] })).toBe(true)
  })

  it('[C8] [G9] a short log that is slow to load is over the bounds', () => {
    const slow = quadratic(900)
    expect(slow.length).toBeLessThan(LIGHT_BOUNDS.stateBytes)
    expect(isLogOver(LIGHT_BOUNDS, guard, logOf(slow))).toBe(true)
  })

  it('[C8] a log that the guard would refuse is over the bounds', () => {
    expect(isLogOver(LIGHT_BOUNDS, guard, logOf(Uint8Array.of(1, 2, 3, 255)))).toBe(true)
  })

  it('[C8] a body is over the bounds when it has too many bytes or would become too many structs', () => {
    const paragraphs = '<p>a</p>'.repeat(200)
    expect(isBodyOver(LIGHT_BOUNDS, bodyOf('x'.repeat(20_000)))).toBe(false)
    expect(isBodyOver(LIGHT_BOUNDS, bodyOf('x'.repeat(LIGHT_BOUNDS.stateBytes + 1)))).toBe(true)
    expect(isBodyOver(LIGHT_BOUNDS, bodyOf(paragraphs))).toBe(false)
    expect(isBodyOver(LIGHT_BOUNDS, bodyOf(paragraphs, { bodyAhead: true }))).toBe(true)
    expect(isBodyOver(LIGHT_BOUNDS, bodyOf('<p>a</p>', { bodyAhead: true }))).toBe(false)
  })

  it('[C8] [LIFE-13] a cold write to a document with live state is over the bounds unless it is small', () => {
    const long = 'x'.repeat(LIGHT_BOUNDS.callBytes + 1)
    expect(isBodyOver(LIGHT_BOUNDS, bodyOf(long, { bodyAhead: true, lastSeq: 3 }))).toBe(true)
    expect(isBodyOver(LIGHT_BOUNDS, bodyOf(long, { bodyAhead: true }))).toBe(false)
  })

  it('[C8] a call is over the bounds when its arguments and the state together are too large; other tasks never are', () => {
    const edit = (args: unknown) => ({ kind: 'edit', request: { args } }) as RoomTask
    const put = (bytes: number) => ({ kind: 'put', request: { body: { bytes: new Uint8Array(bytes) } } }) as unknown as RoomTask
    expect(isTaskOver(LIGHT_BOUNDS, edit({ content: 'short' }), 1_000)).toBe(false)
    expect(isTaskOver(LIGHT_BOUNDS, edit({ content: 'short' }), 4_096)).toBe(true)
    expect(isTaskOver(LIGHT_BOUNDS, edit({ shapes: Array.from({ length: 300 }, (_, i) => ({ id: `${i}`, x: i })) }), 0)).toBe(
      true,
    )
    expect(isTaskOver(LIGHT_BOUNDS, put(3_000), 1_000)).toBe(false)
    expect(isTaskOver(LIGHT_BOUNDS, put(3_200), 1_000)).toBe(true)
    expect(isTaskOver(LIGHT_BOUNDS, { kind: 'evict' }, 1_000_000)).toBe(false)
  })
})
