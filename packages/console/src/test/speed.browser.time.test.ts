import type { Page } from 'playwright-core'
import { stopwatch } from '@docrelay/server/kernel/testing/patience'
import { expect, it } from 'vitest'
import { openConsole } from './open-console.ts'
import { badge, editorOf, largeDocument, minutes } from './pages.ts'

// Other load on the machine only slows a measurement, so the best of several attempts shows what the page can do.
const ATTEMPTS = 5
const KEYS = 'the quick brown fox jumps over it '
const BETWEEN_KEYS_MS = 80

it('[CON-28] half of all keys are saved and painted for another person within 25 ms, and 95 of 100 within 120 ms', async (context) => {
  const { rest, openAs } = await openConsole(context)
  const client = await rest('ann')
  await client.putDocument('minutes', minutes())
  await client.shareDocument('minutes', [{ userId: 'ben', permission: 'edit' }])
  const [ann, ben] = await Promise.all([openAs('ann', '#doc/minutes'), openAs('ben', '#doc/minutes')])
  await Promise.all([badge(ann, 'saved').waitFor(), badge(ben, 'saved').waitFor()])
  await editorOf(ann).click()
  await ann.keyboard.press('Control+End')

  const attempts: Attempt[] = []
  while (attempts.length < ATTEMPTS && !attempts.some(isFast)) {
    await Promise.all([noteKeys(ann), notePaintedCharacters(ben)])
    const quietMs = stopwatch()
    const began = performance.now()
    await ann.keyboard.type(KEYS, { delay: BETWEEN_KEYS_MS })
    await expect.poll(() => noted(ben, 'painted')).toHaveLength(KEYS.length)
    await expect.poll(() => noted(ann, 'saved')).toHaveLength(KEYS.length)
    const quiet = quietMs() / (performance.now() - began)
    const [keys, saved, painted] = await Promise.all([noted(ann, 'keys'), noted(ann, 'saved'), noted(ben, 'painted')])
    const since = (times: readonly number[]) => times.map((time, at) => (time - (keys[at] as number)) * quiet)
    attempts.push({ saved: since(saved), painted: since(painted), busy: 1 / quiet })
  }
  const told = attempts.map(inWords).join('; ')
  process.stdout.write(`${told}\n`)
  expect(attempts.some(isFast), told).toBe(true)
})

it('[CON-28] 3,000 blocks and 2,000 shapes open within 3 s, and a drag frame takes 16 ms of CPU at most', async (context) => {
  const { rest, openAs } = await openConsole(context)
  await (await rest('ann')).putDocument('large', largeDocument())
  const openings: number[] = []
  while (openings.length < ATTEMPTS && !openings.some((took) => took <= 3_000)) {
    const ann = await openAs('ann')
    await ann.getByRole('link', { name: 'Minutes' }).waitFor()
    const quietMs = stopwatch()
    const began = performance.now()
    const took = await timeToPaint(ann, '#doc/large', '.prose-text[contenteditable=true] p:nth-of-type(3000)')
    openings.push((took * quietMs()) / (performance.now() - began))
    await ann.context().close()
  }
  process.stdout.write(`3,000 blocks and 2,000 shapes opened in ${openings.map(Math.round).join(', ')} ms\n`)
  expect(Math.min(...openings)).toBeLessThanOrEqual(3_000)

  const ann = await openAs('ann', '#doc/large/board')
  const shape = ann.locator('.canvas-drawing [data-shape="shape-0"]').first()
  const { x, y, width, height } = (await shape.boundingBox()) as NonNullable<Awaited<ReturnType<typeof shape.boundingBox>>>
  const drags: number[] = []
  while (drags.length < ATTEMPTS && !drags.some((took) => took <= 16)) {
    await ann.mouse.move(x + width / 2, y + height / 2)
    await ann.mouse.down()
    drags.push(await processorTimeOfFrames(ann, () => ann.mouse.move(x + width / 2 + 60, y + height / 2 + 60, { steps: 60 })))
    await ann.keyboard.press('Escape')
    await ann.mouse.up()
  }
  process.stdout.write(`a frame of a drag took ${drags.map((took) => took.toFixed(1)).join(', ')} ms of the processor\n`)
  expect(Math.min(...drags)).toBeLessThanOrEqual(16)
})

/** The times since each key, in milliseconds of a quiet machine. */
interface Attempt {
  readonly saved: readonly number[]
  readonly painted: readonly number[]
  /** How many times slower the machine was than a quiet one. */
  readonly busy: number
}

function isFast({ saved, painted }: Attempt): boolean {
  return [saved, painted].every((times) => part(times, 0.5) <= 25 && part(times, 0.95) <= 120)
}

function part(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * share) - 1] as number
}

function figures(times: readonly number[]): string {
  return `p50 ${part(times, 0.5).toFixed(0)} ms, p95 ${part(times, 0.95).toFixed(0)} ms of ${times.length}`
}

function inWords({ saved, painted, busy }: Attempt): string {
  return `from a key to saved ${figures(saved)}, to painted ${figures(painted)}, on a machine ${busy.toFixed(1)} times slower`
}

/** Records when each key went down, and when the page showed it as saved. */
function noteKeys(page: Page): Promise<void> {
  return page.evaluate(() => {
    const keys: number[] = []
    const saved: number[] = []
    Object.assign(window, { keys, saved })
    addEventListener('keydown', ({ timeStamp }) => keys.push(performance.timeOrigin + timeStamp), true)
    const word = document.querySelector('[data-saved]') as HTMLElement
    new MutationObserver(() => {
      if (word.dataset['saved'] !== 'saved') return
      while (saved.length < keys.length) saved.push(performance.timeOrigin + performance.now())
    }).observe(word, { attributes: true, attributeFilter: ['data-saved'] })
  })
}

/** Records when each received character was on the screen: after the first frame that contained it. */
function notePaintedCharacters(page: Page): Promise<void> {
  return page.evaluate(() => {
    const painted: number[] = []
    Object.assign(window, { painted })
    const text = document.querySelector('.prose-text p') as Element
    const characters = () => {
      const copy = text.cloneNode(true) as Element
      for (const caret of copy.querySelectorAll('.docrelay-caret')) caret.remove()
      return copy.textContent.length
    }
    const before = characters()
    new MutationObserver(() => {
      const now = characters() - before
      requestAnimationFrame(() =>
        setTimeout(() => {
          while (painted.length < now) painted.push(performance.timeOrigin + performance.now())
        }),
      )
    }).observe(text, { subtree: true, characterData: true, childList: true })
  })
}

function noted(page: Page, what: 'keys' | 'saved' | 'painted'): Promise<readonly number[]> {
  return page.evaluate((list) => (window as unknown as Record<string, number[]>)[list] as number[], what)
}

/** Opens a place of the page, and measures until the wanted content is painted. */
function timeToPaint(page: Page, place: string, wanted: string): Promise<number> {
  return page.evaluate(
    ([hash, selector]) =>
      new Promise<number>((resolve) => {
        const began = performance.now()
        const look = (): void => {
          if (document.querySelector(selector) === null) return
          waiting.disconnect()
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
        }
        const waiting = new MutationObserver(look)
        waiting.observe(document.body, { childList: true, subtree: true })
        location.hash = hash
      }),
    [place, wanted] as const,
  )
}

/** Returns the processor time of the page per frame in which the canvas was drawn during `work`, including layout and painting. */
async function processorTimeOfFrames(page: Page, work: () => Promise<void>): Promise<number> {
  const tools = await page.context().newCDPSession(page)
  await tools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const taskMs = async () => {
    const { metrics } = await tools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value as number) * 1_000
  }
  await page.evaluate(() => {
    Object.assign(window, { frames: 0 })
    new PerformanceObserver((list) => {
      ;(window as unknown as { frames: number }).frames += list.getEntriesByName('canvas-draw').length
    }).observe({ type: 'measure' })
  })
  const frames = () => page.evaluate(() => (window as unknown as { frames: number }).frames)
  const before = await taskMs()
  await work()
  await expect.poll(frames).toBeGreaterThan(0)
  const spent = (await taskMs()) - before
  await tools.detach()
  return spent / (await frames())
}
