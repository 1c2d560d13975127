import type { SearchPage } from '@docrelay/client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { searchTexts } from './text-search.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const page = (more: object): SearchPage => ({ hits: [], next: null, ...more }) as unknown as SearchPage

/** A relay that gives these answers one after the other, and repeats the last one. */
function answering(...answers: readonly (SearchPage | Error)[]) {
  let asked = 0
  const search = async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)] as SearchPage | Error
    if (answer instanceof Error) throw answer
    return answer
  }
  return { search, asked: () => asked }
}

it('[CON-25] [AG-63] a search is repeated until the relay has searched everything', async () => {
  const relay = answering(page({ incomplete: true }), page({ behind: 2 }), page({ hits: [{ docId: 'minutes' }] }))
  const told: (SearchPage | null)[] = []
  const end = searchTexts(relay, 'month', (answer) => told.push(answer))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told.map((answer) => answer?.hits.length)).toEqual([0, 0, 1])
  end()
})

it('[CON-25] a failed search is not repeated, and a search that never completes is repeated a few times only', async () => {
  const failing = answering(new Error('switched off'))
  const told: (SearchPage | null)[] = []
  searchTexts(failing, 'month', (answer) => told.push(answer))
  await vi.advanceTimersByTimeAsync(60_000)
  expect([told, failing.asked()]).toEqual([[null], 1])
  const lacking = answering(page({ incomplete: true }))
  searchTexts(lacking, 'month', () => undefined)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(lacking.asked()).toBe(15)
})

it('[CON-25] a search that was ended reports nothing more', async () => {
  const relay = answering(page({ incomplete: true }))
  let told = 0
  const end = searchTexts(relay, 'month', () => told++)
  await vi.advanceTimersByTimeAsync(0)
  end()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([told, relay.asked()]).toEqual([1, 1])
})
