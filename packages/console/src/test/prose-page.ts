import type { Page } from 'playwright-core'

/** The text of the prose page as a person reads it, block by block, without carets of others. */
export function textOf(page: Page): Promise<string> {
  return page.locator('.prose-text').evaluate((text) => {
    const copy = text.cloneNode(true) as HTMLElement
    for (const caret of copy.querySelectorAll('.docrelay-caret')) caret.remove()
    return [...copy.querySelectorAll('p, h1, h2, h3, pre')]
      .map((block) => block.textContent?.replaceAll('\u2060', '') ?? '')
      .join('\n')
  })
}

/** Waits until the page says that everything is durable. */
export async function saved(page: Page): Promise<void> {
  await page.locator('[data-saved="saved"][data-link="live"]').waitFor()
}

/**
 * Begins to measure in a page. `saved`: from each key to the word that says so. `painted`: from each change of the text to the frame that
 * shows it.
 */
export async function keyTimes(page: Page, what: 'saved' | 'painted'): Promise<void> {
  await page.evaluate((measured) => {
    const times: number[] = []
    Object.assign(window, { [measured]: times })
    if (measured === 'painted') {
      const text = document.querySelector('.prose-text') as Element
      new MutationObserver(() => {
        const changed = performance.now()
        requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - changed)))
      }).observe(text, { subtree: true, characterData: true, childList: true })
      return
    }
    let waiting: number[] = []
    window.addEventListener('keydown', () => waiting.push(performance.now()), true)
    const badge = document.querySelector('[data-saved]') as HTMLElement
    new MutationObserver(() => {
      if (badge.dataset['saved'] !== 'saved') return
      for (const pressed of waiting) times.push(performance.now() - pressed)
      waiting = []
    }).observe(badge, { attributes: true, attributeFilter: ['data-saved'] })
  }, what)
}

/** Median and 95th percentile of what was measured, in words. */
export async function figures(page: Page, what: 'saved' | 'painted'): Promise<string> {
  const times = await page.evaluate((measured) => (window as unknown as Record<string, number[]>)[measured] ?? [], what)
  const sorted = times.toSorted((one, other) => one - other)
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN).toFixed(0)
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms of ${sorted.length}`
}
