import { chunkFrames, readChunk } from '@docrelay/protocol/codec'
import type { ChunkFrame } from '@docrelay/protocol/frames'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addChunk, CHUNK_LIMITS, type ChunkBudget, chunksExpired, clearChunks, newChunkBox } from './chunks.ts'

const budget = (maxBytes = CHUNK_LIMITS.bytes * 4): ChunkBudget => ({ usedBytes: 0, maxBytes })
const piece = (id: number, seq: number, total: number, payload = new Uint8Array(8)): ChunkFrame => ({
  messageId: new Uint8Array(16).fill(id),
  seq,
  total,
  payload,
})

describe('reassembling SYNC_CHUNK messages', () => {
  it('[WS-35] pieces in any order and with any repetition reassemble the message', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 600 }),
        fc.integer({ min: 10, max: 100 }),
        fc.infiniteStream(fc.nat()),
        (frame, size, picks) => {
          const pieces = chunkFrames(frame, new Uint8Array(16).fill(9), size).map(
            (chunk) => readChunk(chunk.subarray(1)) as ChunkFrame,
          )
          const box = newChunkBox()
          const shared = budget()
          const left = new Set(pieces.keys())
          let complete: Uint8Array | null = null
          while (left.size > 0) {
            const at = (picks.next().value as number) % pieces.length
            const outcome = addChunk(box, shared, pieces[at] as ChunkFrame, 0)
            if (!left.delete(at)) expect(outcome.kind).toBe('ignored')
            if (outcome.kind === 'complete') complete = outcome.frame
          }
          expect([...(complete ?? [])]).toEqual([...frame])
          expect([box.bytes, shared.usedBytes]).toEqual([0, 0])
        },
      ),
    )
  })

  it.each([
    ['total 0', piece(1, 0, 0)],
    ['total 65', piece(1, 0, 65)],
    ['seq = total', piece(1, 2, 2)],
    ['bytes', piece(1, 0, 2, new Uint8Array(CHUNK_LIMITS.bytes + 1))],
  ])('[WS-36] a piece with invalid %s refuses its message once, and later pieces are ignored', (_name, bad) => {
    const box = newChunkBox()
    const shared = budget()
    expect(addChunk(box, shared, bad, 0)).toEqual({ kind: 'refused', fault: 'client' })
    expect(addChunk(box, shared, piece(1, 0, 2), 0)).toEqual({ kind: 'ignored' })
    expect(shared.usedBytes).toBe(0)
  })

  it('[WS-36] a fifth message in progress is refused, and the four others can complete', () => {
    const box = newChunkBox()
    const shared = budget()
    for (let id = 1; id <= 4; id++) expect(addChunk(box, shared, piece(id, 0, 2), 0).kind).toBe('waiting')
    expect(addChunk(box, shared, piece(5, 0, 2), 0)).toEqual({ kind: 'refused', fault: 'client' })
    expect(addChunk(box, shared, piece(1, 1, 2), 0).kind).toBe('complete')
  })

  it('[WS-36] a piece with another total restarts the message of its id', () => {
    const box = newChunkBox()
    const shared = budget()
    addChunk(box, shared, piece(1, 0, 2, Uint8Array.of(1)), 0)
    expect(addChunk(box, shared, piece(1, 0, 3, Uint8Array.of(2)), 0).kind).toBe('waiting')
    addChunk(box, shared, piece(1, 1, 3, Uint8Array.of(3)), 0)
    const outcome = addChunk(box, shared, piece(1, 2, 3, Uint8Array.of(4)), 0)
    expect(outcome.kind === 'complete' && [...outcome.frame]).toEqual([2, 3, 4])
    expect(shared.usedBytes).toBe(0)
  })

  it('[WS-36] a message without a new piece for 10 s expires; a repeated piece does not extend the time', () => {
    const box = newChunkBox()
    const shared = budget()
    addChunk(box, shared, piece(1, 0, 2), 1_000)
    addChunk(box, shared, piece(1, 0, 2), 9_000)
    expect(chunksExpired(box, 10_999)).toBe(false)
    expect(chunksExpired(box, 11_000)).toBe(true)
    clearChunks(box, shared)
    expect([chunksExpired(box, 99_000), shared.usedBytes]).toEqual([false, 0])
  })

  it('[W5] a piece above the memory limit of the process is refused with fault process, not client', () => {
    const shared = budget(10)
    expect(addChunk(newChunkBox(), shared, piece(1, 0, 2), 0).kind).toBe('waiting')
    expect(addChunk(newChunkBox(), shared, piece(1, 0, 2), 0)).toEqual({ kind: 'refused', fault: 'process' })
    expect(shared.usedBytes).toBe(8)
  })
})
