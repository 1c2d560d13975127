import { beforeEach, describe, expect, it } from 'vitest'
import type { Seats } from './seats.port.ts'

/** Registers the tests that every driver of `Seats` passes. Each test uses new workspaces, so a driver may keep its state. */
export function describeSeatsContract(name: string, open: () => Promise<Seats>): void {
  describe(`Seats: ${name}`, () => {
    let seats: Seats
    let workspaceId: string
    let tests = 0
    const unlimited = { connections: null, editors: null }
    const editor = (connectionId: string) => ({ workspaceId, connectionId, editor: true })
    const viewer = (connectionId: string) => ({ workspaceId, connectionId, editor: false })

    beforeEach(async () => {
      seats = await open()
      workspaceId = `workspace-${tests++}`
    })

    it('[WS-15] [WS-17] a connection and an editor seat are taken together and counted until they are released', async () => {
      const limits = { connections: 2, editors: 1 }
      expect(await seats.take(editor('a'), limits)).toBe('taken')
      expect(await seats.take(editor('b'), limits)).toBe('editor-limit')
      expect(await seats.take(viewer('c'), limits)).toBe('taken')
      expect(await seats.take(viewer('d'), limits)).toBe('connection-limit')
      await seats.release(workspaceId, 'a')
      expect(await seats.take(editor('b'), limits)).toBe('taken')
      expect(await seats.editors(workspaceId)).toBe(1)
      expect(await seats.connections(workspaceId)).toBe(2)
    })

    it('[WS-17] the limit of connections is checked before the limit of editors', async () => {
      const limits = { connections: 1, editors: 1 }
      await seats.take(editor('a'), limits)
      expect(await seats.take(editor('b'), limits)).toBe('connection-limit')
    })

    it('[WS-17] a refused connection takes no seat', async () => {
      await seats.take(editor('a'), unlimited)
      for (let i = 0; i < 5; i++) await seats.take(editor('b'), { connections: null, editors: 1 })
      expect(await seats.take(viewer('c'), { connections: 2, editors: 1 })).toBe('taken')
      expect(await seats.editors(workspaceId)).toBe(1)
    })

    it('[WS-17] a connection that asks for a seat several times is counted once', async () => {
      const limits = { connections: 1, editors: 1 }
      for (let i = 0; i < 3; i++) expect(await seats.take(editor('a'), limits)).toBe('taken')
      expect(await seats.editors(workspaceId)).toBe(1)
      await seats.release(workspaceId, 'a')
      expect(await seats.take(editor('b'), limits)).toBe('taken')
    })

    it('[WS-17] [LIM-5] a viewer takes no editor seat, whatever the editor limit', async () => {
      const limits = { connections: null, editors: 0 }
      expect(await seats.take(viewer('a'), limits)).toBe('taken')
      expect(await seats.take(editor('b'), limits)).toBe('editor-limit')
      expect(await seats.editors(workspaceId)).toBe(0)
    })

    it('[Q5] of 50 simultaneous requests exactly as many get a seat as there are seats', async () => {
      const limits = { connections: 25, editors: 10 }
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) => seats.take(i % 2 === 0 ? editor(`e${i}`) : viewer(`v${i}`), limits)),
      )
      const count = (outcome: string): number => outcomes.filter((other) => other === outcome).length
      expect(count('taken')).toBeLessThanOrEqual(25)
      expect(await seats.editors(workspaceId)).toBeLessThanOrEqual(10)
      expect(count('taken') + count('connection-limit') + count('editor-limit')).toBe(50)
      // All 25 seats were given out: none was lost to a refused request.
      expect(count('taken')).toBe(25)
    })

    it('[WS-19] a downgrade frees the editor seat; an upgrade without a free seat changes nothing', async () => {
      const limits = { connections: 2, editors: 1 }
      await seats.take(editor('a'), limits)
      await seats.take(viewer('b'), limits)
      expect(await seats.change(editor('b'), limits)).toBe('editor-limit')
      expect(await seats.editors(workspaceId)).toBe(1)
      expect(await seats.change(viewer('a'), limits)).toBe('taken')
      expect(await seats.editors(workspaceId)).toBe(0)
      expect(await seats.change(editor('b'), limits)).toBe('taken')
      expect(await seats.take(viewer('c'), limits)).toBe('connection-limit')
    })

    it('[WS-19] changing a held seat is never refused for the limit of connections, also after that limit was lowered', async () => {
      await seats.take(editor('a'), unlimited)
      await seats.take(editor('b'), unlimited)
      expect(await seats.change(viewer('a'), { connections: 1, editors: 1 })).toBe('taken')
      expect(await seats.change(editor('b'), { connections: 1, editors: 0 })).toBe('taken')
    })

    it('[Q5] releasing a seat twice frees it once', async () => {
      const limits = { connections: 2, editors: 2 }
      await seats.take(editor('a'), limits)
      await seats.take(editor('b'), limits)
      for (let i = 0; i < 3; i++) await seats.release(workspaceId, 'a')
      await seats.release(workspaceId, 'unknown')
      expect(await seats.take(editor('c'), limits)).toBe('taken')
      expect(await seats.take(editor('d'), limits)).toBe('connection-limit')
    })

    it('[WS-17] workspaces are counted separately', async () => {
      const limits = { connections: 1, editors: 1 }
      await seats.take(editor('a'), limits)
      expect(await seats.take({ ...editor('a'), workspaceId: `${workspaceId}-other` }, limits)).toBe('taken')
      await seats.release(`${workspaceId}-other`, 'a')
      expect([await seats.editors(workspaceId), await seats.editors(`${workspaceId}-other`)]).toEqual([1, 0])
    })
  })
}
