import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Reader, varUintLength, writeVarUint } from './bytes.ts'
import {
  awarenessFrame,
  chunkAckFrame,
  chunkFrames,
  HEARTBEAT_FRAME,
  isWriteBearing,
  jsonFrame,
  readAwareness,
  readChunk,
  readJson,
  readSync,
  readSyncAck,
  syncAckFrame,
  syncFrame,
} from './codec.ts'
import { closeReason, CLOSE_CODES, ERROR_CODES, retryAfterMs, wireErrorText } from './codes.ts'
import { TAG } from './frames.ts'
import { acceptsProtocolVersion, PROTOCOL_MINOR, PROTOCOL_VERSION } from './version.ts'

const bytes = (maxLength = 600) => fc.uint8Array({ maxLength })

describe('encoding and decoding of frames', () => {
  it('[WS-8] the tags are exactly those of the protocol table', () => {
    expect(TAG).toEqual({
      sync: 0,
      awareness: 1,
      auth: 2,
      docEvent: 7,
      error: 8,
      authResponse: 9,
      joinDoc: 10,
      syncChunk: 14,
      syncChunkAck: 15,
      heartbeat: 16,
      syncAck: 17,
      joined: 18,
    })
    expect([...HEARTBEAT_FRAME]).toEqual([16])
    expect([...chunkAckFrame(new Uint8Array(16).fill(9))]).toEqual([15, ...new Array(16).fill(9)])
  })

  it('[WS-8] [WS-10] a SYNC frame is tag, sub-type, length and bytes, and reads back equal', () => {
    expect([...syncFrame(2, Uint8Array.of(7, 8))]).toEqual([0, 2, 2, 7, 8])
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 2) as fc.Arbitrary<0 | 1 | 2>, bytes(), (subType, payload) => {
        const frame = syncFrame(subType, payload)
        expect(readSync(frame.subarray(1))).toEqual({ subType, payload })
        expect(isWriteBearing(frame.subarray(1))).toBe(subType !== 0)
      }),
    )
  })

  it('[WS-10] a SYNC message that is cut, longer than its length, or of another sub-type reads as null', () => {
    const message = syncFrame(1, Uint8Array.of(1, 2, 3)).subarray(1)
    expect(readSync(message.subarray(0, 4))).toBeNull()
    expect(readSync(Uint8Array.of(...message, 0))).toBeNull()
    expect(readSync(Uint8Array.of(3, 0))).toBeNull()
    expect(readSync(new Uint8Array(0))).toBeNull()
  })

  it('[WS-8] reading arbitrary bytes never throws', () => {
    fc.assert(
      fc.property(bytes(64), (message) => {
        for (const read of [readSync, readAwareness, readSyncAck, readChunk, readJson]) expect(() => read(message)).not.toThrow()
      }),
      { numRuns: 2000 },
    )
  })

  it('[WS-42] an AWARENESS frame is tag, length and bytes', () => {
    fc.assert(
      fc.property(bytes(), (update) => {
        expect(readAwareness(awarenessFrame(update).subarray(1))).toEqual(update)
      }),
    )
  })

  it('[WS-9] JSON frames contain UTF-8 JSON, and invalid JSON reads as undefined', () => {
    const frame = jsonFrame(TAG.joinDoc, { docId: 'ä€𝄞' })
    expect(frame[0]).toBe(10)
    expect(readJson(frame.subarray(1))).toEqual({ docId: 'ä€𝄞' })
    expect(readJson(Uint8Array.of(0xff))).toBeUndefined()
    expect(readJson(Uint8Array.of(0x7b))).toBeUndefined()
  })

  it('[WS-8] [WS-35] chunks cut a frame into pieces that join to the same frame', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 900 }), fc.integer({ min: 1, max: 400 }), (frame, pieceBytes) => {
        const messageId = new Uint8Array(16).fill(5)
        const pieces = chunkFrames(frame, messageId, pieceBytes).map((chunk) => {
          expect(chunk[0]).toBe(14)
          return readChunk(chunk.subarray(1))
        })
        expect(pieces.map((piece) => piece?.seq)).toEqual(pieces.map((_, seq) => seq))
        expect(pieces.every((piece) => piece?.total === pieces.length && piece.messageId[3] === 5)).toBe(true)
        expect(pieces.flatMap((piece) => [...(piece?.payload ?? [])])).toEqual([...frame])
      }),
    )
    expect(chunkFrames(new Uint8Array(262_145), new Uint8Array(16)).map((chunk) => chunk.length)).toEqual([262_169, 26])
    expect(readChunk(new Uint8Array(23))).toBeNull()
  })

  it('[WS-8] SYNC_ACK contains a varUint ordinal', () => {
    expect([...syncAckFrame(300)]).toEqual([17, 0xac, 0x02])
    fc.assert(
      fc.property(fc.maxSafeNat(), (ordinal) => {
        expect(readSyncAck(syncAckFrame(ordinal).subarray(1))).toBe(ordinal)
      }),
    )
  })

  it('[WS-8] a varUint is read up to 2^53-1, and a larger one fails', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const target = new Uint8Array(varUintLength(value))
        expect(writeVarUint(target, 0, value)).toBe(target.length)
        const reader = new Reader(target)
        expect([reader.varUint(), reader.failed, reader.remaining]).toEqual([value, false, 0])
      }),
    )
    const beyond = new Reader(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f))
    beyond.varUint()
    expect(beyond.failed).toBe(true)
  })
})

describe('protocol versions and codes', () => {
  it('[WS-2] version 4 with or without a minor number is accepted, nothing else', () => {
    expect([PROTOCOL_VERSION, PROTOCOL_MINOR]).toEqual([4, 2])
    expect([null, '4', '4.0', '4.17'].map(acceptsProtocolVersion)).toEqual([true, true, true, true])
    expect(['', '3', '5', '4.', '4.x', '04', '4.1.0', ' 4', '4 '].map(acceptsProtocolVersion)).toEqual(new Array(9).fill(false))
  })

  it('[WS-57] a close reason is the word and, if given, the retry-after', () => {
    expect(closeReason('restarting', 1234)).toBe('restarting;retry-after=1234')
    expect(retryAfterMs('restarting;retry-after=1234')).toBe(1234)
    expect(closeReason('forbidden')).toBe('forbidden')
    expect(retryAfterMs('forbidden')).toBeNull()
  })

  it('[WS-58] the close codes and words are exactly those of the protocol table', () => {
    expect(CLOSE_CODES).toEqual({
      4401: ['token-expired', 'token-revoked', 'token-invalid'],
      4403: ['forbidden'],
      4408: ['auth-timeout'],
      4409: ['connection-limit', 'editor-limit'],
      1003: ['protocol'],
      1009: ['frame-too-large', 'chunk-expired'],
      1012: ['restarting', 'room-reset', 'unavailable', 'keys'],
      1013: ['slow-consumer', 'busy'],
    })
  })

  it('[WS-59] four error codes have no text, and all other codes have one', () => {
    expect(Object.entries(ERROR_CODES).flatMap(([code, form]) => (form === 'bare' ? [code] : []))).toEqual([
      'ERR_UNKNOWN_DOC',
      'ERR_DELETED',
      'ERR_RATE_LIMIT',
      'ERR_MESSAGE_TOO_LARGE',
    ])
    expect(wireErrorText('ERR_DELETED', 'gone')).toBe('ERR_DELETED')
    expect(wireErrorText('ERR_SYNC_GAP', 'send more')).toBe('ERR_SYNC_GAP: send more')
  })
})
