import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { delayedWrites } from './delayed-writes.ts'
import { pause } from './wire-client.ts'

it('bytes with a shorter delay, or none, are written after the bytes of earlier calls', async () => {
  const written: number[] = []
  const send = delayedWrites((_, bytes) => void written.push(...bytes))
  const [socket, other] = [{ destroyed: false } as Socket, { destroyed: false } as Socket]
  send(socket, Uint8Array.of(1), 0)
  expect(written).toEqual([1])
  send(socket, Uint8Array.of(2), 60)
  send(socket, Uint8Array.of(3), 10)
  send(socket, Uint8Array.of(4), 0)
  send(other, Uint8Array.of(9), 0)
  expect(written).toEqual([1, 9])
  while (written.length < 5) await pause(5)
  expect(written).toEqual([1, 9, 2, 3, 4])
  send(socket, Uint8Array.of(5), 0)
  expect(written.at(-1)).toBe(5)
})
