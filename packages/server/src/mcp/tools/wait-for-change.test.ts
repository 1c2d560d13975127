import { describe, expect, it } from 'vitest'
import type { Who } from '../../documents/change-record.ts'
import { createChangeRecords } from '../../documents/change-records.ts'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { RelayError } from '../../kernel/errors.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { TELL_MS } from '../../sync/room/room-changes.ts'
import type { EndWait } from '../streams.ts'
import { toolCall } from '../testing/tool-call.ts'
import type { JsonObject, ToolCall } from '../tool.ts'
import { waitTool } from './wait-for-change.ts'

const REF = { workspaceId: 'default', id: 'd' }
const ANN: Who = { id: 'ann', kind: 'person' }
const BOT: Who = { id: 'bot', kind: 'agent' }

function start() {
  const time = manualTime(0)
  const records = createChangeRecords()
  records.hold(REF)
  const head = { ...REF, version: 4 } as { version: number } & DocumentHead
  /** `refusal`: the error that the store throws. `held`: a promise that the store awaits before it answers. */
  const store: { refusal: RelayError | null; held: Promise<void> | null } = { refusal: null, held: null }
  const documents = {
    async require() {
      await store.held
      if (store.refusal !== null) throw store.refusal
      return head
    },
  }
  const tool = waitTool({ documents, records, wasDeleted: async () => true, timers: time.timers })
  const note = (who = ANN, caller: string | null = null, id = 'b', version?: number) =>
    records.note(REF, { who, caller }, [{ kind: 'block', pageId: 'p', id, isRemoved: false }], 0, version)
  const elsewhere = (version: number) => records.noteElsewhere(REF, { who: ANN, caller: null }, version, 0)
  const told = { version: 4, sequence: 0, partOf: 0 }
  const wait = (args: JsonObject = {}, more: Partial<Omit<ToolCall, 'access'>> = {}) => {
    const state: { outcome: JsonObject | Error | null } = { outcome: null }
    const glance = { author: { who: BOT, caller: 'me' }, told } as never
    void tool.run(toolCall({ docId: 'd', ...args }, { glance, ...more })).then(
      (outcome) => {
        state.outcome = outcome.kind === 'success' ? outcome.structured : { code: outcome.code, ...outcome.facts }
      },
      (error: Error) => {
        state.outcome = error
      },
    )
    return state
  }
  return { time, note, elsewhere, wait, head, store, told }
}

const EDITED = { edited: true, serverVersion: 4, source: 'relay' }
const QUIET = { edited: false, serverVersion: 4, source: 'relay' }

describe('wait_for_change', () => {
  it('[AG-74] wait_for_change answers 2 s after the last change of a person', async () => {
    const { time, note, wait } = start()
    const state = wait()
    await time.advance(1_000)
    note()
    await time.advance(1_900)
    note()
    await time.advance(1_999)
    expect(state.outcome).toBeNull()
    await time.advance(1)
    expect(state.outcome).toEqual({ ...EDITED, news: { since: 4, by: ['ann'], blocks: 1, ids: ['b'], pages: ['p'] } })
  })

  it('[AG-74] wait_for_change answers 10 s after the first change of a person who continues to edit', async () => {
    const { time, note, wait } = start()
    const state = wait()
    await time.advance(0)
    for (let i = 0; i < 10; i++) {
      note()
      await time.advance(999)
    }
    expect(state.outcome).toBeNull()
    await time.advance(10)
    expect(state.outcome).toMatchObject(EDITED)
  })

  it('[AG-105] wait_for_change answers within 3 s of a change of a person that a worker reports late', async () => {
    for (let i = 0; i < 20; i++) {
      const { time, note, wait } = start()
      const state = wait()
      await time.advance(137 * i)
      const changedAtMs = time.clock.monotonicMs()
      await time.advance(TELL_MS)
      expect(state.outcome).toBeNull()
      note()
      while (state.outcome === null) await time.advance(50)
      expect(state.outcome).toMatchObject({ edited: true })
      expect(time.clock.monotonicMs() - changedAtMs).toBeLessThanOrEqual(3_000)
    }
  })

  it('[AG-74] wait_for_change answers after 25 s, or after timeoutSecs, that nobody changed anything', async () => {
    const { time, wait } = start()
    const [standard, short] = [wait(), wait({ timeoutSecs: 3 })]
    await time.advance(2_999)
    expect(short.outcome).toBeNull()
    await time.advance(1)
    expect([short.outcome, standard.outcome]).toEqual([QUIET, null])
    await time.advance(22_000)
    expect(standard.outcome).toEqual(QUIET)
  })

  it('[AG-74] wait_for_change counts changes of other agents only on request, and own changes never', async () => {
    const { time, note, wait } = start()
    const [people, all] = [wait({ timeoutSecs: 5 }), wait({ timeoutSecs: 5, agents: true })]
    note(BOT, 'me')
    await time.advance(2_500)
    expect([people.outcome, all.outcome]).toEqual([null, null])
    note(BOT, 'other')
    await time.advance(2_000)
    expect([people.outcome, all.outcome]).toEqual([null, expect.objectContaining({ edited: true })])
    await time.advance(500)
    expect(people.outcome).toEqual(QUIET)
  })

  it('[AG-75] a change after the last answer of the caller counts at once, and so does an older version in since', async () => {
    const { time, note, wait, told } = start()
    note()
    const [missed, older, now] = [
      wait(),
      wait({ since: 3 }),
      wait(
        { since: 4, timeoutSecs: 1 },
        { glance: { author: { who: BOT, caller: 'me' }, told: { ...told, sequence: 1, partOf: 1 } } as never },
      ),
    ]
    await time.advance(0)
    expect([missed.outcome, older.outcome]).toEqual([expect.objectContaining(EDITED), expect.objectContaining(EDITED)])
    await time.advance(1_000)
    expect(now.outcome).toEqual(QUIET)
  })

  it('[AG-23] [AG-74] a change noted on another node counts, unless the caller made or saw it', async () => {
    const { time, wait, elsewhere, note } = start()
    elsewhere(4)
    const own = wait({ timeoutSecs: 5 })
    await time.advance(500)
    elsewhere(5)
    await time.advance(500)
    note(BOT, 'me', 'b', 5)
    await time.advance(4_000)
    expect(own.outcome).toEqual(QUIET)
    const other = wait({ timeoutSecs: 5 })
    await time.advance(500)
    elsewhere(6)
    await time.advance(2_000)
    expect(other.outcome).toMatchObject({ ...EDITED, news: { by: ['ann'] } })
  })

  it('[AG-75] without an earlier answer and without since, changes count from the beginning of the call', async () => {
    const { time, note, wait } = start()
    note()
    const state = wait({ timeoutSecs: 5 }, { glance: { author: { who: BOT, caller: 'me' }, told: null } as never })
    await time.advance(1_000)
    note(ANN, null, 'c')
    await time.advance(2_000)
    expect(state.outcome).toEqual({ ...EDITED, news: { since: 4, by: ['ann'], blocks: 1, ids: ['c'], pages: ['p'] } })
  })

  it('[AG-75] a new version without a recorded change counts as a change of a person', async () => {
    const { time, wait, head } = start()
    const state = wait()
    await time.advance(500)
    head.version = 5
    await time.advance(2_000)
    expect(state.outcome).toMatchObject({ edited: true, serverVersion: 5 })
  })

  it('[AG-75] wait_for_change ends when the document is deleted or the caller loses the right to read', async () => {
    for (const [refusal, code] of [
      [new RelayError('NOT_FOUND', 'gone'), 'ERR_DOC_NOT_FOUND'],
      [new RelayError('VIEW_FORBIDDEN', 'no'), 'ERR_VIEW_FORBIDDEN'],
    ] as const) {
      const { time, wait, store } = start()
      const state = wait()
      await time.advance(1_000)
      store.refusal = refusal
      await time.advance(2_000)
      expect(state.outcome).toMatchObject({ code, docId: 'd' })
    }
  })

  it('[AG-76] wait_for_change takes a stream place, ends with credential or relay, and gives the place back', async () => {
    const { time, wait, note } = start()
    let open = 0
    const ends: EndWait[] = []
    const take = (end: EndWait) => {
      open++
      ends.push(end)
      return () => void open--
    }
    const full = wait({}, { wait: () => null })
    const [lapsed, stopped, heard] = [wait({}, { wait: take }), wait({}, { wait: take }), wait({}, { wait: take })]
    await time.advance(0)
    expect([full.outcome, open]).toEqual([{ code: 'ERR_STREAM_LIMIT', open: 16, max: 16 }, 3])
    ends[0]?.('credential')
    ends[1]?.('shutdown')
    await time.advance(0)
    expect([lapsed.outcome, stopped.outcome, open]).toEqual([{ code: 'ERR_VIEW_FORBIDDEN', docId: 'd' }, QUIET, 1])
    note()
    await time.advance(2_000)
    expect([heard.outcome, open, time.waiting()]).toEqual([expect.objectContaining(EDITED), 0, 0])
  })

  it.each(['answered', 'failed'])(
    '[AG-76] a call that ends while it reads the head, which is %s later, reads no further head',
    async (how) => {
      const { time, wait, store } = start()
      const look = Promise.withResolvers<void>()
      const state = wait({ timeoutSecs: 3 })
      await time.advance(1_000)
      store.held = look.promise
      await time.advance(1_500)
      store.held = null
      await time.advance(500)
      expect(state.outcome).toEqual(QUIET)
      if (how === 'answered') look.resolve()
      else look.reject(new RelayError('UNAVAILABLE', 'The store does not answer.'))
      await time.advance(60_000)
      expect(time.waiting()).toBe(0)
    },
  )

  it('[AG-76] a caller that gives up gets no answer, and its place, timers and listeners are released', async () => {
    const { time, wait } = start()
    const controller = new AbortController()
    let open = 1
    const state = wait({}, { signal: controller.signal, wait: () => () => void open-- })
    await time.advance(500)
    controller.abort(new Error('left'))
    await time.advance(0)
    expect([(state.outcome as Error).message, open, time.waiting()]).toEqual(['left', 0, 0])
  })
})
