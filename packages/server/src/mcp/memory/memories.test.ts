import { describe, expect, it } from 'vitest'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { callerDigest, callerOf, createCallers } from './callers.ts'
import { LASTS_MS, Memories } from './memories.ts'

const ref = (id: string, workspaceId = 'ws'): DocumentRef => ({ workspaceId, id })

function start(maxBytes?: number) {
  const time = manualTime(0)
  const held: string[] = []
  const memories = new Memories({
    clock: time.clock,
    timers: time.timers,
    ...(maxBytes !== undefined && { maxBytes }),
    hold: ({ workspaceId, id }) => {
      held.push(`${workspaceId}/${id}`)
      return () => void held.splice(held.indexOf(`${workspaceId}/${id}`), 1)
    },
  })
  const see = (caller: string, document: DocumentRef, blocks: readonly string[] = ['a#0000']) =>
    memories.update(caller, document, (memory) => memory.saw([{ pageId: 'p', blocks }], { given: null, next: null }))
  return { time, held, memories, see }
}

describe('the memories of callers', () => {
  it('[AG-17] a memory lasts 30 minutes after the last answer, and ends by itself', async () => {
    const { time, held, memories, see } = start()
    see('ann', ref('d'))
    await time.advance(LASTS_MS - 1)
    see('ann', ref('d'))
    await time.advance(LASTS_MS)
    expect(memories.of('ann', ref('d'))).not.toBeNull()
    await time.advance(1)
    expect(memories.of('ann', ref('d'))).toBeNull()
    await time.advance(60_000)
    expect([memories.size, memories.bytes, held]).toEqual([0, 0, []])
  })

  it('[AG-17] memories of different callers, workspaces and documents are separate', () => {
    const { held, memories, see } = start()
    see('ann', ref('d'))
    for (const [caller, document] of [
      ['ben', ref('d')],
      ['ann', ref('e')],
      ['ann', ref('d', 'other')],
    ] as const)
      expect(memories.of(caller, document)).toBeNull()
    see('ben', ref('d'))
    memories.forget('ann', ref('d'))
    expect(held).toEqual(['ws/d'])
  })

  it('[AG-18] a caller has 32 memories and the process 64 MiB of them; the least recently used goes first', () => {
    const { held, memories, see } = start()
    see('ben', ref('d0'))
    for (let i = 0; i <= 32; i++) see('ann', ref(`d${i}`))
    see('ann', ref('d1'))
    expect(memories.of('ann', ref('d0'))).toBeNull()
    expect(memories.of('ben', ref('d0'))).not.toBeNull()
    see('ann', ref('d33'))
    expect([memories.of('ann', ref('d1')) !== null, memories.of('ann', ref('d2'))]).toEqual([true, null])
    expect(held).toHaveLength(33)
    const small = start(10_000)
    const many = Array.from({ length: 60 }, (_, i) => `block-${i}#0000`)
    small.see('ann', ref('d'), many)
    small.see('ben', ref('d'), many)
    expect([small.memories.size, small.held]).toEqual([1, ['ws/d']])
    expect(small.memories.bytes).toBeLessThanOrEqual(10_000)
  })
})

describe('who a caller is', () => {
  const access = { sub: 'ann', workspaceId: 'ws' } as never
  const from = { session: null, clientName: 'Client', address: '1.1.1.1', meta: undefined }

  it('[AG-18] a caller is known by its own name, else its session, else its client name, per principal and workspace', () => {
    const callers = createCallers(manualTime(0).clock)
    const key = (given: object, more: object = {}) =>
      callers.of({
        access: { sub: 'ann', workspaceId: 'ws', ...more } as never,
        isStatic: false,
        caller: callerOf({ ...from, ...given }),
      }).key
    const meta = { 'docrelay/caller': 'me' }
    const keys = [
      key({}),
      key({ clientName: null }),
      key({ clientName: 'Other' }),
      key({ session: { id: 's' } }),
      key({ session: { id: 't' } }),
      key({ meta }),
      key({ meta }, { sub: 'ben' }),
      key({ meta }, { workspaceId: 'other' }),
    ]
    expect(new Set(keys).size).toBe(keys.length)
    expect(key({ meta, session: { id: 's' } })).toBe(key({ meta }))
    for (const name of ['', 'x'.repeat(65), 7]) expect(key({ meta: { 'docrelay/caller': name } })).toBe(key({}))
  })

  it('[AG-66] [AG-68] records of calls name a caller by a digest that is equal at every address and hides the session', () => {
    const digest = (given: object, more: object = {}) =>
      callerDigest({
        access: { sub: 'ann', workspaceId: 'ws', ...more } as never,
        isStatic: false,
        caller: callerOf({ ...from, ...given }),
      })
    const session = { id: 'secret-session' }
    const digests = [digest({}), digest({ session }), digest({ session: { id: 't' } }), digest({ session }, { sub: 'ben' })]
    expect(new Set(digests).size).toBe(digests.length)
    expect(digest({ session, address: '2.2.2.2', clientName: 'Other' })).toBe(digest({ session }))
    expect(digests.join()).not.toContain('secret')
  })

  it('[AG-18] a caller name used by several sessions or addresses within 30 minutes counts as shared', async () => {
    const time = manualTime(0)
    const callers = createCallers(time.clock)
    const isShared = (given: object) => callers.of({ access, isStatic: false, caller: callerOf({ ...from, ...given }) }).isShared
    expect([isShared({}), isShared({}), isShared({ address: '2.2.2.2' }), isShared({})]).toEqual([false, false, true, true])
    await time.advance(LASTS_MS)
    expect(isShared({ address: '2.2.2.2' })).toBe(true)
    await time.advance(1)
    expect(isShared({ address: '2.2.2.2' })).toBe(false)
    const meta = { 'docrelay/caller': 'me' }
    const sessions = ['s', 't'].map((id) => isShared({ meta, session: { id } }))
    expect(sessions).toEqual([false, true])
    expect(['u', 'v'].map((id) => isShared({ session: { id } }))).toEqual([false, false])
  })
})
