import { beforeEach, describe, expect, it } from 'vitest'
import type { SessionFacts, SessionHint } from './session-facts.port.ts'

/** Opens nodes that share session facts. `limit`: for how many sessions of one owner facts are kept. */
export interface OpenSessionFacts {
  open(limit?: number): Promise<SessionFacts>
}

/** Registers the tests that every driver of `SessionFacts` must pass. Each test uses new names, so a driver may keep its state. */
export function describeSessionFactsContract(name: string, nodes: OpenSessionFacts): void {
  describe(`SessionFacts: ${name}`, () => {
    let tests = 0
    let session = ''
    beforeEach(() => {
      session = `session-${tests++}`
    })
    const NOTHING = { isClosed: false, logLevel: null, subscriptions: [] }

    it('[MCP-31] every node reads the level and subscriptions that another node stored for a session', async () => {
      const [one, other] = [await nodes.open(), await nodes.open()]
      expect(await other.read(session)).toEqual(NOTHING)
      await one.setLogLevel(session, 'ann', 'debug')
      expect(await one.subscribe(session, 'ann', 'relay://doc/a', 100)).toBe('added')
      expect(await other.subscribe(session, 'ann', 'relay://doc/b', 100)).toBe('added')
      expect(await other.subscribe(session, 'ann', 'relay://doc/a', 100)).toBe('had')
      const kept = await other.read(session)
      expect({ ...kept, subscriptions: kept?.subscriptions.toSorted() }).toEqual({
        isClosed: false,
        logLevel: 'debug',
        subscriptions: ['relay://doc/a', 'relay://doc/b'],
      })
      await other.unsubscribe(session, 'relay://doc/a')
      expect((await one.read(session))?.subscriptions).toEqual(['relay://doc/b'])
    })

    it('[MCP-38] several nodes that subscribe at once never exceed the limit of subscriptions', async () => {
      const [one, other] = [await nodes.open(), await nodes.open()]
      await one.setLogLevel(session, 'ann', 'debug')
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : other).subscribe(session, 'ann', `relay://doc/${i}`, 7)),
      )
      expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(7)
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(13)
      expect((await one.read(session))?.subscriptions).toHaveLength(7)
    })

    it('[MCP-34] a closed session is closed for every node and loses its level and subscriptions', async () => {
      const [one, other] = [await nodes.open(), await nodes.open()]
      await one.subscribe(session, 'ann', 'relay://doc/a', 100)
      await one.close(session)
      await other.setLogLevel(session, 'ann', 'debug')
      expect(await other.subscribe(session, 'ann', 'relay://doc/b', 100)).not.toBe('added')
      expect(await other.read(session)).toEqual({ isClosed: true, logLevel: null, subscriptions: [] })
    })

    it('[MCP-34] a closed session stays closed when its owner has facts for more sessions than the limit', async () => {
      const facts = await nodes.open(2)
      const owner = `${session} ann`
      await facts.setLogLevel(session, owner, 'debug')
      await facts.close(session)
      for (const later of ['a', 'b', 'c']) await facts.setLogLevel(`${session}-${later}`, owner, 'debug')
      expect(await facts.read(session)).toEqual({ isClosed: true, logLevel: null, subscriptions: [] })
    })

    it('[MCP-34] above the limit of one owner the least recently changed session loses its facts', async () => {
      const facts = await nodes.open(2)
      const [a, b, c, others] = ['a', 'b', 'c', 'others'].map((each) => `${session}-${each}`) as [string, string, string, string]
      await facts.setLogLevel(others, `${session} ben`, 'debug')
      for (const each of [a, b]) await facts.setLogLevel(each, `${session} ann`, 'debug')
      await new Promise((resolve) => setTimeout(resolve, 5))
      await facts.subscribe(a, `${session} ann`, 'relay://doc/a', 100)
      await new Promise((resolve) => setTimeout(resolve, 5))
      await facts.setLogLevel(c, `${session} ann`, 'debug')
      const levels = await Promise.all([a, b, c, others].map(async (each) => (await facts.read(each))?.logLevel))
      expect(levels).toEqual(['debug', null, 'debug', 'debug'])
    })

    it('[MCP-37] [MCP-15] every listening node receives all hints of a session in the same order', async () => {
      const [one, other] = [await nodes.open(), await nodes.open()]
      const heard: SessionHint[][] = [[], []]
      one.listen(session, (hint) => void heard[0]?.push(hint))
      const leave = other.listen(session, (hint) => void heard[1]?.push(hint))
      await Promise.all([one.read(session), other.read(session)])
      const told: SessionHint[] = [
        { kind: 'stream', token: 't' },
        { kind: 'cancel', requestId: 7 },
        { kind: 'cancel', requestId: 'seven' },
        { kind: 'changed' },
      ]
      for (const hint of told) one.tell(session, hint)
      one.tell(`${session}-other`, { kind: 'changed' })
      await expect.poll(() => heard).toEqual([told, told])
      leave()
      await other.read(session)
      one.tell(session, { kind: 'changed' })
      await expect.poll(() => heard[0]).toHaveLength(5)
      await other.read(session)
      expect(heard[1]).toHaveLength(4)
    })
  })
}
